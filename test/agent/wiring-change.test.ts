import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, type AgentName } from '../../src/agent/agents.js';
import { changeWiring, type WiringWish } from '../../src/agent/install.js';
import { projectPlace } from '../../src/agent/place.js';
import { type AgentStatus, statusOf } from '../../src/agent/status.js';
import { systemWorld } from '../../src/index.js';
import { openContext } from '../../src/project/project.js';
import { failure } from '../support/failure.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

const SETTINGS = '.claude/settings.json';
const OWN_HOOK = '{"hooks": {"Stop": [{"command": "mine"}]}} // mine';
const OWN_CONFIG = '# mine\nmodel = "x"';

const placeOf = (project: Project) =>
  projectPlace(openContext(project.dir, systemWorld(process.env, false), false));

const change = (
  project: Project,
  isInstall: boolean,
  agents: readonly AgentName[],
  more: Partial<WiringWish> = {},
): ReturnType<typeof changeWiring> =>
  changeWiring(placeOf(project), {
    agents,
    isInstall,
    command: undefined,
    instructions: isInstall,
    ...more,
  });

const look = (project: Project): Record<string, AgentStatus['state']> =>
  Object.fromEntries(statusOf(placeOf(project), AGENT_NAMES).map(({ name, state }) => [name, state]));

const wired = (...agents: AgentName[]): Record<string, string> =>
  Object.fromEntries(AGENT_NAMES.map((name) => [name, agents.includes(name) ? 'wired' : 'absent']));

async function rig(): Promise<Project> {
  const project = await makeForge();
  project.write(SETTINGS, OWN_HOOK);
  project.write('.codex/config.toml', OWN_CONFIG);
  project.write('AGENTS.md', '# Mine\n');
  return project;
}

describe('agents that share files', () => {
  it('AGT-01 can be removed in any order, and the last one restores the bytes', async () => {
    for (const order of [
      AGENT_NAMES,
      AGENT_NAMES.toReversed(),
      ['copilot', 'codex', 'opencode', 'claude', 'cursor', 'gemini'] as const,
    ]) {
      const project = await rig();
      const before = snapshot(project.dir);
      change(project, true, AGENT_NAMES);
      expect(look(project)).toEqual(wired(...AGENT_NAMES));
      for (const [at, name] of order.entries()) {
        change(project, false, [name]);
        expect(look(project)).toEqual(wired(...order.slice(at + 1)));
      }
      expect(differences(before, snapshot(project.dir))).toEqual([]);
    }
  });

  it('AGT-01 keep their own entries when another one is removed, without a manifest too', async () => {
    const project = await rig();
    change(project, true, AGENT_NAMES);
    rmSync(project.path('.git/forge/wiring.json'));
    change(project, false, ['copilot', 'gemini', 'cursor']);
    expect(look(project)).toEqual(wired('claude', 'codex', 'opencode'));
    expect(project.read('AGENTS.md')).toBe('# Mine\n');
    change(project, false, AGENT_NAMES);
    expect(look(project)).toEqual(wired());
    expect([project.read(SETTINGS), project.read('.codex/config.toml')]).toEqual([OWN_HOOK, OWN_CONFIG]);
  });

  it('AGT-01 share the block of the last install', async () => {
    const project = await rig();
    change(project, true, ['codex']);
    change(project, true, ['copilot'], { command: 'npx --no-install forge' });
    expect(project.read('AGENTS.md')).toContain('`npx --no-install forge briefing`');
    change(project, false, ['copilot']);
    expect(project.read('AGENTS.md')).toContain('`forge briefing`');
  });

  it('AGT-01 are all left alone if one file is refused', async () => {
    const project = await rig();
    project.write('.opencode/plugins/forge.js', 'mine();\n');
    const before = snapshot(project.dir);
    const error = failure(() => change(project, true, AGENT_NAMES));
    expect([error.exit, error.message]).toEqual([
      3,
      ".opencode/plugins/forge.js: it is there already and is not forge's; nothing was written.",
    ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});

describe('every agent', () => {
  it('AGT-01 is recognized without a manifest, in a project and at home, and removed completely', async () => {
    for (const name of AGENT_NAMES)
      for (const isUser of [false, true]) {
        const project = await makeForge();
        const place = { ...placeOf(project), isUser };
        const before = snapshot(project.dir);
        const wish = { agents: [name], command: 'npx --no-install forge', instructions: true };
        changeWiring(place, { ...wish, isInstall: true });
        rmSync(project.path('.git/forge/wiring.json'));
        const again = changeWiring(place, { ...wish, isInstall: true });
        expect(again.map((file) => file.change)).toEqual(again.map(() => 'unchanged'));
        rmSync(project.path('.git/forge/wiring.json'));
        changeWiring(place, { ...wish, isInstall: false, command: undefined });
        expect([name, isUser, differences(before, snapshot(project.dir))]).toEqual([name, isUser, []]);
      }
  });
});
