import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, type AgentName } from '../../src/agent/event.js';
import type { AgentStatus } from '../../src/agent/status.js';
import { type ChangedFile, changeWiring, type WiringWish } from '../../src/agent/wiring-change.js';
import { projectPlace } from '../../src/agent/wiring-place.js';
import type { AgentWiring } from '../../src/agent/wiring-rules.js';
import { lookAtWiring } from '../../src/agent/wiring-status.js';
import { loadWirings, type Wirings } from '../../src/agent/wirings/wirings.js';
import { systemWorld } from '../../src/index.js';
import { openContext } from '../../src/project/project.js';
import { failure } from '../support/failure.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import type { Project } from '../support/project.js';
import { block, file, item, member, table, wiring } from '../support/wirings.js';

/** Agents with fixtures of all kinds, some of which they share. */
const WIRINGS: Wirings = new Map<AgentName, AgentWiring>(
  [
    wiring('claude', (command) => [
      item('claude', 'Stop', command).fixture,
      member('claude', command, '.mcp.json').fixture,
    ]),
    wiring('codex', (command) => [
      item('codex', 'Stop', command, '.codex/hooks.json').fixture,
      table('codex', command, '.codex/config.toml').fixture,
      block('codex', `Run ${command}.`).fixture,
    ]),
    wiring('cursor', (command) => [item('cursor', 'stop', command, '.cursor/hooks.json').fixture], {
      beginnings: { '.cursor/hooks.json': '{ "version": 1 }' },
    }),
    wiring('opencode', () => [file('opencode').fixture]),
    wiring('copilot', (command) => [
      item('copilot', 'Stop', command).fixture,
      member('copilot', command, '.mcp.json').fixture,
      block('copilot', `Run ${command}.`).fixture,
    ]),
  ].map((one) => [one.name, one]),
);

const ALL: AgentName[] = [...WIRINGS.keys()];

function placeOf(project: Project) {
  const context = openContext(project.dir, systemWorld(process.env, false), false);
  return projectPlace(context);
}

function change(
  project: Project,
  isInstall: boolean,
  agents: readonly AgentName[],
  more: Partial<WiringWish> = {},
): ChangedFile[] {
  return changeWiring(placeOf(project), WIRINGS, {
    agents,
    isInstall,
    command: undefined,
    instructions: false,
    ...more,
  });
}

const look = async (project: Project): Promise<Record<string, AgentStatus['state']>> => {
  const agents = await lookAtWiring(placeOf(project), WIRINGS, ALL, undefined);
  return Object.fromEntries(agents.map(({ name, state }) => [name, state]));
};

const wired = (...agents: AgentName[]): Record<string, string> =>
  Object.fromEntries(ALL.map((name) => [name, agents.includes(name) ? 'wired' : 'absent']));

async function rig(): Promise<Project> {
  const project = await makeForge();
  project.write('.agent/settings.json', '{"hooks": {"Stop": [{"command": "mine"}]}} // mine');
  project.write('.codex/config.toml', '# mine\nmodel = "x"');
  project.write('AGENTS.md', '# Mine\n');
  return project;
}

describe('agents that share files', () => {
  it('AGT-01 come and go in any order, and the last leaves the very bytes', async () => {
    for (const order of [
      ALL,
      ALL.toReversed(),
      ['copilot', 'codex', 'opencode', 'claude', 'cursor'] as const,
    ]) {
      const project = await rig();
      const before = snapshot(project.dir);
      change(project, true, ALL);
      expect(await look(project)).toEqual(wired(...ALL));
      for (const [at, name] of order.entries()) {
        change(project, false, [name]);
        expect(await look(project)).toEqual(wired(...order.slice(at + 1)));
      }
      expect(differences(before, snapshot(project.dir))).toEqual([]);
    }
  });

  it('AGT-01 one that goes leaves what the others have, without notes as well', async () => {
    const project = await rig();
    change(project, true, ALL);
    rmSync(project.path('.git/forge/wiring.json'));
    change(project, false, ['copilot']);
    expect(await look(project)).toEqual(wired('claude', 'codex', 'cursor', 'opencode'));
    expect(project.read('AGENTS.md')).toContain('forge:begin');
    change(project, false, ['codex']);
    expect(project.read('AGENTS.md')).toBe('# Mine\n');
    change(project, false, ALL);
    expect(await look(project)).toEqual(wired());
    expect(project.read('.agent/settings.json')).toBe('{"hooks": {"Stop": [{"command": "mine"}]}} // mine');
    expect(project.read('.codex/config.toml')).toBe('# mine\nmodel = "x"');
  });

  it('AGT-01 what they share says what the last install said', async () => {
    const project = await rig();
    change(project, true, ['claude']);
    change(project, true, ['copilot'], { command: 'npx --no-install forge' });
    expect(project.json('.mcp.json')).toEqual({
      mcpServers: { forge: { command: 'npx', args: ['--no-install', 'forge', 'mcp'] } },
    });
    change(project, false, ['copilot']);
    expect(project.json('.mcp.json')).toEqual({ mcpServers: { forge: { command: 'forge', args: ['mcp'] } } });
  });

  it('AGT-01 one refusal among all of them, and nothing is written', async () => {
    const project = await rig();
    project.write('plugin.js', 'mine();\n');
    const before = snapshot(project.dir);
    const error = failure(() => change(project, true, ALL));
    expect([error.exit, error.message]).toEqual([
      3,
      "plugin.js: it is there already and is not forge's; nothing was written.",
    ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('AGT-01 a version that uses another file leaves nothing in the old one', async () => {
    const project = await rig();
    const before = snapshot(project.dir);
    change(project, true, ['cursor']);
    const moved = new Map(WIRINGS).set(
      'cursor',
      wiring('cursor', (command) => [item('cursor', 'stop', command, '.cursor/new.json').fixture]),
    );
    const wish = { agents: ['cursor' as const], command: undefined, instructions: false };
    changeWiring(placeOf(project), moved, { ...wish, isInstall: true });
    expect([project.has('.cursor/hooks.json'), project.has('.cursor/new.json')]).toEqual([false, true]);
    changeWiring(placeOf(project), moved, { ...wish, isInstall: false });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});

describe('every agent that forge knows how to wire', () => {
  it('AGT-01 is known again without notes, in a project and at home, and leaves nothing', async () => {
    const wirings = await loadWirings();
    expect(AGENT_NAMES.filter((name) => wirings.has(name))).toEqual([...wirings.keys()]);
    for (const [name] of wirings)
      for (const isUser of [false, true]) {
        const project = await makeForge();
        const place = { ...placeOf(project), isUser };
        const before = snapshot(project.dir);
        const wish = { agents: [name], command: 'npx --no-install forge', instructions: true };
        changeWiring(place, wirings, { ...wish, isInstall: true });
        rmSync(project.path('.git/forge/wiring.json'));
        const again = changeWiring(place, wirings, { ...wish, isInstall: true });
        expect(again.map(({ change }) => change)).toEqual(again.map(() => 'unchanged'));
        rmSync(project.path('.git/forge/wiring.json'));
        changeWiring(place, wirings, { ...wish, isInstall: false, command: undefined });
        expect([name, isUser, differences(before, snapshot(project.dir))]).toEqual([name, isUser, []]);
      }
  });
});
