import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, type AgentName } from '../../src/agent/agents.js';
import type { WiringChange, WiringStatus } from '../../src/index.js';
import { forgeJson } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { makeFolder, makePlainProject, type Project } from '../support/project.js';

describe('several agents', () => {
  it('AGT-01 can be removed in any order, and the last one restores the bytes', async () => {
    const look = async (project: Project): Promise<Record<string, string>> => {
      const { agents } = await forgeJson<WiringStatus>(project, ['agent', 'status']);
      return Object.fromEntries(agents.map(({ name, state }) => [name, state]));
    };
    const wired = (...agents: AgentName[]): Record<string, string> =>
      Object.fromEntries(AGENT_NAMES.map((name) => [name, agents.includes(name) ? 'wired' : 'absent']));
    for (const order of [
      AGENT_NAMES,
      AGENT_NAMES.toReversed(),
      ['copilot', 'codex', 'opencode', 'claude', 'cursor', 'gemini'] as const,
    ]) {
      const project = await makeForge();
      project.write('.claude/settings.json', '{"hooks": {"Stop": [{"command": "mine"}]}} // mine');
      project.write('.codex/config.toml', '# mine\nmodel = "x"');
      const before = snapshot(project.dir);
      await forgeJson(project, ['agent', 'install', 'all']);
      expect(await look(project)).toEqual(wired(...AGENT_NAMES));
      for (const [at, name] of order.entries()) {
        await forgeJson(project, ['agent', 'uninstall', name]);
        expect(await look(project)).toEqual(wired(...order.slice(at + 1)));
      }
      expect(differences(before, snapshot(project.dir))).toEqual([]);
    }
  });

  it('AGT-01 each is wired at home, the second time without a change, and removed completely', async () => {
    const { dir } = makePlainProject();
    const env = { HOME: dir, XDG_STATE_HOME: makeFolder() };
    const before = snapshot(dir);
    for (const name of AGENT_NAMES) {
      const install = ['agent', 'install', name, '--user'];
      await forgeJson({ dir }, [...install, '--command', 'npx --no-install forge'], { env });
      const { files } = await forgeJson<WiringChange>({ dir }, install, { env });
      expect(files.map((file) => file.change)).toEqual(files.map(() => 'unchanged'));
      await forgeJson({ dir }, ['agent', 'uninstall', name, '--user'], { env });
      expect([name, differences(before, snapshot(dir))]).toEqual([name, []]);
    }
  });
});
