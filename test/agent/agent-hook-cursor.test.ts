import { describe, expect, it } from 'vitest';
import { claude, hook, payload } from '../support/agent-hooks.js';
import type { Outcome, RunOptions } from '../support/forge.js';
import { makeForge, snapshot } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import { makePlainProject, type Project } from '../support/project.js';
import { hookLists } from '../support/wirings.js';

const SILENT = { stdout: '', stderr: '', exitCode: 0 };
const GOAL = { op: 'replace', kind: 'Goal', text: 'logout works' };

const cursor = (project: Project, event: string, change: object = {}, options: RunOptions = {}) =>
  hook(
    project,
    ['cursor', event],
    payload('cursor', event, { workspace_roots: [project.dir], ...change }),
    options,
  );

/** The one field of an answer, which is all there is. */
function told({ stdout, stderr, exitCode }: Outcome, field: string): string {
  expect([stderr, exitCode]).toEqual(['', 0]);
  const answer = JSON.parse(stdout);
  expect(Object.keys(answer)).toEqual([field]);
  return answer[field];
}

async function talking(): Promise<Project> {
  const project = await makeForge();
  await cursor(project, 'session-start');
  return project;
}

describe('forge hook cursor', () => {
  it('AGT-01 SES-01 starts a session in the first of the folders, and hands over the briefing', async () => {
    const project = await makeForge();
    const elsewhere = { cwd: () => '/' };
    const context = told(await cursor(project, 'session-start', {}, elsewhere), 'additional_context');
    expect(context).toMatch(/^FORGE briefing, \d{4}-\d\d-\d\d-session-001\n/);
    const session = project.json<{ holder: { agent: string } }>('.forge/memory/short-term/session.json');
    expect(session.holder.agent).toBe('cursor-0d9f4a0e-5b0c-4f1f-9a0f-3c1f6a1d7b52');
  });

  it('KFR-04 hands over working memory after a tool, since a prompt takes none', async () => {
    const project = await talking();
    await patch(project, [GOAL]);
    expect(await cursor(project, 'before-submit-prompt')).toEqual(SILENT);
    expect(told(await cursor(project, 'post-tool-use'), 'additional_context')).toContain(
      '[kfr-1] logout works',
    );
    expect(await cursor(project, 'post-tool-use')).toEqual(SILENT);
    expect(await cursor(project, 'pre-compact', { trigger: 'manual' })).toEqual(SILENT);
    expect(told(await cursor(project, 'post-tool-use'), 'additional_context')).toContain(
      '[kfr-1] logout works',
    );
    expect(await cursor(project, 'pre-tool-use')).toEqual(SILENT);
  });

  it('KFR-09 follows up a stop while a question is open, five times at most', async () => {
    const project = await talking();
    expect(await cursor(project, 'stop')).toEqual(SILENT);
    await ask(project);
    const first = told(await cursor(project, 'stop'), 'followup_message');
    expect(first).toContain('before you stop, 1 entry of working memory must be settled');
    for (let i = 1; i < 5; i++) {
      await patch(project, [{ op: 'add', kind: 'Constraint', text: `rule ${i}` }]);
      // Whether Cursor hands a follow-up to this hook or not: nobody spoke.
      await cursor(project, 'before-submit-prompt', { prompt: first });
      told(await cursor(project, 'stop', { loop_count: i }), 'followup_message');
    }
    expect(await cursor(project, 'stop', { loop_count: 5 })).toEqual(SILENT);
    // Nothing had changed, so it was parked.
    await cursor(project, 'before-submit-prompt');
    expect(await cursor(project, 'stop', { loop_count: 5 })).toEqual(SILENT);
  });

  it('KFR-09 follows up nothing that somebody or an error stopped', async () => {
    const project = await talking();
    await ask(project);
    expect(await cursor(project, 'stop', { status: 'aborted' })).toEqual(SILENT);
    expect(await cursor(project, 'stop', { status: 'error' })).toEqual(SILENT);
  });

  it('AGT-01 SES-07 parks the session at its end', async () => {
    const project = await talking();
    project.write('work.txt', 'x');
    expect(await cursor(project, 'session-end')).toEqual(SILENT);
    const session = project.json('.forge/memory/short-term/session.json');
    expect(session).toMatchObject({ parked: { agent: expect.stringMatching(/^cursor-/) } });
  });

  it('AGT-01 says nothing to what is no payload, nor outside of a project', async () => {
    const project = await talking();
    for (const input of ['', '{', '[]', 'null', '{"workspace_roots":{"0":1},"loop_count":"x","status":7}'])
      expect(await hook(project, ['cursor', 'stop'], input)).toEqual(SILENT);
    const outside = makePlainProject();
    expect(await cursor(outside, 'session-start')).toEqual(SILENT);
    expect(outside.has('.forge')).toBe(false);
  });
});

describe("Claude Code's hooks, run by another agent", () => {
  const inCursor = (project: Project, event: string, name: string, change: object = {}) =>
    hook(project, ['claude', event], payload('cursor', name, { workspace_roots: [project.dir], ...change }));

  function wire(project: Project, file: string, hooks: object): void {
    project.write(file, JSON.stringify({ version: 1, hooks }));
  }

  it('AGT-01 leave it to the hooks of Cursor where forge has some, and change nothing', async () => {
    const project = await makeForge();
    wire(project, '.cursor/hooks.json', hookLists('cursor'));
    const before = snapshot(project.dir);
    for (const [event, name] of [
      ['session-start', 'session-start'],
      ['user-prompt-submit', 'before-submit-prompt'],
      ['stop', 'stop'],
      ['session-end', 'session-end'],
    ] as const)
      expect(await inCursor(project, event, name)).toEqual(SILENT);
    expect(snapshot(project.dir)).toEqual(before);
    expect((await claude(project, 'session-start')).stdout).toContain('FORGE briefing');
  });

  it('AGT-01 answer where Cursor has no hooks of forge, in the form that was asked for', async () => {
    const project = await makeForge();
    wire(project, '.cursor/hooks.json', {
      sessionStart: [{ command: 'lint hook cursor start' }, null, 7],
      stop: 7,
    });
    const { stdout } = await inCursor(project, 'session-start', 'session-start');
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('FORGE briefing');
    await ask(project);
    const { stdout: held } = await inCursor(project, 'stop', 'stop');
    expect(JSON.parse(held)).toMatchObject({ decision: 'block' });
    expect(await inCursor(project, 'stop', 'stop', { status: 'aborted' })).toEqual(SILENT);
  });

  it('AGT-01 answer whatever stands in the file of Cursor', async () => {
    const project = await makeForge();
    for (const text of ['', 'null', '{"hooks":null}', '{"hooks":[["x"]]}', '"forge hook cursor "']) {
      project.write('.cursor/hooks.json', text);
      expect((await inCursor(project, 'session-start', 'session-start')).stdout).toContain('FORGE briefing');
    }
  });

  it('AGT-01 leave it to the hooks of Copilot, which tells the time in its payloads', async () => {
    const project = await makeForge();
    const inCopilot = () => claude(project, 'session-start', { timestamp: '2026-11-21T15:47:43.141Z' });
    expect((await inCopilot()).stdout).toContain('FORGE briefing');
    wire(project, '.github/hooks/forge.json', {
      sessionStart: [{ bash: 'forge hook copilot session-start' }],
    });
    expect(await inCopilot()).toEqual(SILENT);
  });
});
