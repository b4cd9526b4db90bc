import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, type AgentName } from '../../src/agent/agents.js';
import { changeWiring, type WiringWish } from '../../src/agent/install.js';
import { type AgentStatus, projectPlace, statusOf } from '../../src/agent/place.js';
import { systemWorld } from '../../src/index.js';
import { openContext } from '../../src/project/project.js';
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
): ReturnType<typeof changeWiring> => changeWiring(placeOf(project), { agents, isInstall, ...more });

const look = (project: Project): Record<string, AgentStatus['state']> =>
  Object.fromEntries(statusOf(placeOf(project), AGENT_NAMES).map(({ name, state }) => [name, state]));

const wired = (...agents: AgentName[]): Record<string, string> =>
  Object.fromEntries(AGENT_NAMES.map((name) => [name, agents.includes(name) ? 'wired' : 'absent']));

async function rig(): Promise<Project> {
  const project = await makeForge();
  project.write(SETTINGS, OWN_HOOK);
  project.write('.codex/config.toml', OWN_CONFIG);
  return project;
}

describe('several agents', () => {
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
});

describe('every agent', () => {
  it('AGT-01 is recognized in a project and at home, and removed completely', async () => {
    for (const name of AGENT_NAMES)
      for (const isUser of [false, true]) {
        const project = await makeForge();
        const place = { ...placeOf(project), isUser };
        const before = snapshot(project.dir);
        changeWiring(place, { agents: [name], command: 'npx --no-install forge', isInstall: true });
        const again = changeWiring(place, { agents: [name], isInstall: true });
        expect(again.map((file) => file.change)).toEqual(again.map(() => 'unchanged'));
        changeWiring(place, { agents: [name], isInstall: false });
        expect([name, isUser, differences(before, snapshot(project.dir))]).toEqual([name, isUser, []]);
      }
  });
});
