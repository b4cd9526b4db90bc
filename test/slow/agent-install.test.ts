import { describe, expect, it } from 'vitest';
import { KFR_HEADER } from '../../src/kfr/rules.js';
import { payload } from '../support/agent-hooks.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { SLOW_MOTION } from '../support/forge.js';
import { snapshot } from '../support/forge-project.js';
import { type Project, run } from '../support/project.js';
import { makeForgeRepository } from '../support/typed.js';

/** Where each agent that runs commands looks for them, and its payloads after a compaction and at a stop. */
const AGENTS = [
  ['claude', '.claude/settings.json', 'session-start-compact', 'stop'],
  ['codex', '.codex/hooks.json', 'session-start-compact', 'stop'],
  ['gemini', '.gemini/settings.json', 'before-agent', 'after-agent'],
  ['cursor', '.cursor/hooks.json', 'post-tool-use', 'stop'],
  ['copilot', '.github/hooks/forge.json', 'user-prompt-submitted', 'agent-stop'],
] as const;

/** Every command in a file of hooks that calls that event, whatever the file's form. */
function commandFor(project: Project, file: string, event: string): string {
  const found: string[] = [];
  JSON.stringify(project.json(file), (_key, value) => {
    if (typeof value === 'string' && value.includes(` ${event} `)) found.push(value);
    return value;
  });
  expect(found.length, `${file}: ${event}`).toBeGreaterThan(0);
  return found[0] as string;
}

describe('forge agent install all', () => {
  it.each(AGENTS)(
    'AGT-01 KFR-09 %s: briefing at the start, working memory after a compaction, the gate at the stop',
    (agent, file, compact, stop) => {
      const project = makeForgeRepository();
      const sh = (command: string, input = '') =>
        run(project.dir, 'sh', ['-c', command], { input, env: SLOW_MOTION });
      const before = snapshot(project.dir);
      expect(sh('forge agent install all')).toMatchObject({ exitCode: 0, stderr: '' });
      const call = (fixture: string) => {
        const place = { cwd: project.dir, workspace_roots: [project.dir] };
        const event = fixture.replace('session-start-compact', 'session-start');
        const known = payload(agent, fixture);
        const kept = Object.fromEntries(Object.entries(place).filter(([field]) => field in known));
        const outcome = sh(commandFor(project, file, event), JSON.stringify({ ...known, ...kept }));
        expect(outcome, fixture).toMatchObject({ exitCode: 0, stderr: '' });
        return outcome.stdout;
      };

      expect(call('session-start')).toContain('FORGE briefing, ');
      expect(call(stop)).not.toContain('requires');
      sh('forge kfr patch --goal "logout works" --add "OpenQuestion:which cookie holds the token?"');
      // What the agent knew is gone: it is told again, in whatever way it can be told.
      sh(`rm -rf .git/forge/agents`);
      const told = call(compact);
      expect(told).toContain(JSON.stringify(KFR_HEADER).slice(1, 60));
      expect(told).toContain('which cookie holds the token?');
      expect(call(stop)).toContain('before you stop, 1 entry of working memory must be settled');
      sh('forge kfr patch --resolve "kfr-2=sid"');
      expect(call(stop)).not.toContain('before you stop');

      expect(sh('forge agent uninstall all')).toMatchObject({ exitCode: 0, stderr: '' });
      const outside = (files: Record<string, string>) =>
        Object.fromEntries(Object.entries(files).filter(([path]) => !/^\.(git|forge)(\/|$)/.test(path)));
      expect(outside(snapshot(project.dir))).toEqual(outside(before));
    },
  );
});

describe('forge agent install at a terminal', () => {
  it.each([
    ['y\r', true],
    ['n\r', false],
  ])('AGT-07 asks about the everyday tools: %j', async (keys, allowed) => {
    const project = await makeForgeRepository();
    // One word of the question, which is wrapped.
    const answers = [['asking?', keys]] as const;
    const { exitCode } = await atTerminal(project, ['agent', 'install', 'claude'], answers);
    const { permissions } = project.json<{ permissions?: object }>('.claude/settings.json');
    expect([exitCode, permissions !== undefined]).toEqual([0, allowed]);
    expect((await atTerminal(project, ['agent', 'install', 'codex'])).shown).not.toContain('asking?');
  });
});
