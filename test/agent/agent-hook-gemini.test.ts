import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/agent/agents.js';
import { KFR_HEADER } from '../../src/kfr/rules.js';
import { contextOf, hook, payload } from '../support/agent-hooks.js';
import type { Outcome } from '../support/forge.js';
import { makeForge, SESSION } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import type { Project } from '../support/project.js';

const adapter = AGENTS.gemini;
const SILENT = { stdout: '', stderr: '', exitCode: 0 };
const GOAL = { op: 'replace', kind: 'Goal', text: 'logout works' };

/** Calls a hook as Gemini CLI does; `name`: the payload, where an event has several. */
const gemini = (project: Project, event: string, change: object = {}, name = event): Promise<Outcome> =>
  hook(project, ['gemini', event], payload('gemini', name, { cwd: project.dir, ...change }));

/** Why it has to go on; null when it may stop. */
async function denial(project: Project, name = 'after-agent'): Promise<string | null> {
  const { stdout, ...rest } = await gemini(project, 'after-agent', {}, name);
  expect(rest).toEqual({ stderr: '', exitCode: 0 });
  if (stdout === '') return null;
  expect(JSON.parse(stdout)).toMatchObject({ decision: 'deny', reason: expect.any(String) });
  return JSON.parse(stdout).reason;
}

/** A conversation that has begun, in a session of its own. */
async function talking(): Promise<Project> {
  const project = await makeForge();
  await gemini(project, 'session-start');
  return project;
}

describe('forge hook gemini', () => {
  it('AGT-01 SES-01 starts a session and hands over its briefing', async () => {
    const project = await makeForge();
    const outcome = await gemini(project, 'session-start');
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: expect.any(String) },
    });
    expect(contextOf(outcome)).toMatch(/^FORGE briefing, \d{4}-\d\d-\d\d-session-001\n/);
    expect(project.json(SESSION)).toMatchObject({
      holder: { agent: expect.stringMatching(/^gemini-39846134/) },
    });
  });

  it.each([...Object.keys(adapter.events).filter((word) => word !== 'session-start'), 'before-model'])(
    'AGT-01 has nothing to say at %s while nothing is open',
    async (event) => {
      const project = await talking();
      const input = event === 'before-model' ? {} : payload('gemini', event, { cwd: project.dir });
      expect(await hook(project, ['gemini', event], input)).toEqual(SILENT);
    },
  );

  it('AGT-01 KFR-04 gives back the working memory with the next prompt after a compression, and once', async () => {
    const project = await talking();
    await patch(project, [GOAL]);
    expect(contextOf(await gemini(project, 'before-agent'))).toContain(KFR_HEADER);
    expect(await gemini(project, 'before-agent')).toEqual(SILENT);
    expect(await gemini(project, 'pre-compress')).toEqual(SILENT);
    const told = await gemini(project, 'before-agent');
    expect(JSON.parse(told.stdout).hookSpecificOutput.hookEventName).toBe('BeforeAgent');
    expect(contextOf(told)).toContain('logout works');
    expect(await gemini(project, 'before-agent')).toEqual(SILENT);
  });

  it('AGT-01 KFR-04 does not repeat it after each tool, although each request looks like a compression', async () => {
    const project = await talking();
    await patch(project, [GOAL]);
    for (const _ of [1, 2]) {
      expect(await gemini(project, 'pre-compress', {}, 'pre-compress-auto')).toEqual(SILENT);
      expect(await gemini(project, 'after-tool')).toEqual(SILENT);
    }
    expect(contextOf(await gemini(project, 'before-agent'))).toContain('logout works');
  });

  it('AGT-01 KFR-09 keeps no compression waiting', async () => {
    const project = await talking();
    await ask(project);
    expect(await gemini(project, 'pre-compress')).toEqual(SILENT);
  });

  it('AGT-01 KFR-09 denies its stop while something is open, and lets it go once nothing changes', async () => {
    const project = await talking();
    await ask(project);
    for (let row = 0; row < 4; row += 1) {
      if (row > 0) await patch(project, [{ op: 'add', kind: 'Constraint', text: `rule ${row}` }]);
      // What it does next looks like a prompt, and like a stop of its own when it has called a tool.
      const reason = await denial(project, row % 2 === 0 ? 'after-agent' : 'after-agent-active');
      expect(reason).toMatch(/^forge: before you stop, 1 entry .*which cookie\?/s);
      await gemini(project, 'before-agent', { prompt: reason });
    }
    expect(await denial(project)).toBeNull();
    await gemini(project, 'before-agent');
    expect(await denial(project)).toBeNull();
  });

  it('AGT-01 SES-09 parks the session when Gemini CLI goes, and not at /clear', async () => {
    const project = await talking();
    project.write('work.txt', 'x');
    expect(await gemini(project, 'session-end', {}, 'session-end-clear')).toEqual(SILENT);
    expect(project.json(SESSION)).not.toHaveProperty('parked');
    await gemini(project, 'session-start', { source: 'clear' });
    expect(await gemini(project, 'session-end')).toEqual(SILENT);
    expect(project.json(SESSION)).toHaveProperty('parked');
  });
});
