import { describe, expect, it } from 'vitest';
import { hook, payload } from '../support/agent-hooks.js';
import type { Outcome } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import { makePlainProject, type Project } from '../support/project.js';

const SILENT = { stdout: '', stderr: '', exitCode: 0 };
const GOAL = { op: 'replace', kind: 'Goal', text: 'logout works' };

const opencode = (project: Project, event: string, change: object = {}) =>
  hook(project, ['opencode', event], payload('opencode', event, { cwd: project.dir, ...change }));

function answer({ stdout, stderr, exitCode }: Outcome): Record<string, string> {
  expect([stderr, exitCode]).toEqual(['', 0]);
  return JSON.parse(stdout);
}

async function talking(): Promise<Project> {
  const project = await makeForge();
  await opencode(project, 'session-start');
  return project;
}

describe("forge hook opencode, which forge's plugin calls", () => {
  it('AGT-01 SES-01 starts a session and hands over the briefing; to a part of a session it says nothing', async () => {
    const project = await makeForge();
    const child = { session_id: 'ses_2', parent_id: 'ses_1' };
    expect(await opencode(project, 'session-start', child)).toEqual(SILENT);
    expect(answer(await opencode(project, 'session-start'))).toEqual({
      context: expect.stringMatching(/^FORGE briefing, \d{4}-\d\d-\d\d-session-001\n/),
    });
    await ask(project);
    for (const event of ['prompt', 'after-tool', 'compacting', 'stop', 'session-end'])
      expect(await opencode(project, event, child)).toEqual(SILENT);
  });

  it('KFR-04 hands over working memory with a prompt, and to a compaction as often as it is asked', async () => {
    const project = await talking();
    const told = { context: expect.stringContaining('[kfr-1] logout works') };
    expect(await opencode(project, 'compacting')).toEqual(SILENT);
    await opencode(project, 'session-start', { source: 'compact' });
    await patch(project, [GOAL]);
    expect(await opencode(project, 'after-tool')).toEqual(SILENT);
    expect(answer(await opencode(project, 'prompt'))).toEqual(told);
    expect(await opencode(project, 'prompt')).toEqual(SILENT);
    expect(answer(await opencode(project, 'compacting'))).toEqual(told);
    expect(answer(await opencode(project, 'compacting'))).toEqual(told);
    // A summary may have lost it.
    expect(answer(await opencode(project, 'after-tool'))).toEqual(told);
    expect(await opencode(project, 'after-tool')).toEqual(SILENT);
  });

  it('KFR-09 holds it back while a question is open, five times at most', async () => {
    const project = await talking();
    expect(await opencode(project, 'stop')).toEqual(SILENT);
    await ask(project);
    for (let i = 0; i < 5; i++) {
      const { block } = answer(await opencode(project, 'stop'));
      expect(block).toContain('- kfr-1 (OpenQuestion) which cookie?');
      await patch(project, [{ op: 'add', kind: 'Constraint', text: `rule ${i}` }]);
      await opencode(project, 'prompt', { prompt: block });
    }
    expect(await opencode(project, 'stop')).toEqual(SILENT);
    await opencode(project, 'prompt');
    expect(answer(await opencode(project, 'stop'))).toEqual({ block: expect.any(String) });
  });

  it('AGT-01 SES-07 parks the session at its end', async () => {
    const project = await talking();
    project.write('work.txt', 'x');
    expect(await opencode(project, 'session-end')).toEqual(SILENT);
    const session = project.json('.forge/memory/short-term/session.json');
    expect(session).toMatchObject({ parked: { agent: expect.stringMatching(/^opencode-ses_/) } });
  });

  it('AGT-01 says nothing to what is no payload, nor outside of a project', async () => {
    const project = await talking();
    for (const input of ['', '{', '[]', 'null', '{"session_id":{},"cwd":7,"parent_id":[]}'])
      expect(await hook(project, ['opencode', 'stop'], input)).toEqual(SILENT);
    const outside = makePlainProject();
    expect(await opencode(outside, 'session-start')).toEqual(SILENT);
    expect(outside.has('.forge')).toBe(false);
  });
});
