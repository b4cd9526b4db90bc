import { describe, expect, it } from 'vitest';
import { hook, payload } from '../support/agent-hooks.js';
import type { Outcome } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import { makePlainProject, type Project } from '../support/project.js';

const SILENT = { stdout: '', stderr: '', exitCode: 0 };
const GOAL = { op: 'replace', kind: 'Goal', text: 'logout works' };

const copilot = (project: Project, event: string, change: object = {}) =>
  hook(project, ['copilot', event], payload('copilot', event, { cwd: project.dir, ...change }));

/** The whole answer, which has to be this agent's. */
function answer({ stdout, stderr, exitCode }: Outcome): Record<string, string> {
  expect([stderr, exitCode]).toEqual(['', 0]);
  return JSON.parse(stdout);
}

async function talking(): Promise<Project> {
  const project = await makeForge();
  await copilot(project, 'session-start');
  return project;
}

describe('forge hook copilot', () => {
  it('AGT-01 SES-01 starts a session and hands over the briefing', async () => {
    const project = await makeForge();
    expect(answer(await copilot(project, 'session-start'))).toEqual({
      additionalContext: expect.stringMatching(/^FORGE briefing, \d{4}-\d\d-\d\d-session-001\n/),
    });
    const session = project.json('.forge/memory/short-term/session.json');
    expect(session).toMatchObject({ holder: { agent: 'copilot-3c1d4add-9113-4ac4-9937-681cde658835' } });
  });

  it('KFR-04 hands over working memory once, with a prompt, and after a tool when it was lost', async () => {
    const project = await talking();
    expect(await copilot(project, 'user-prompt-submitted')).toEqual(SILENT);
    await patch(project, [GOAL]);
    expect(await copilot(project, 'pre-tool-use')).toEqual(SILENT);
    expect(await copilot(project, 'post-tool-use')).toEqual(SILENT);
    const told = { additionalContext: expect.stringContaining('[kfr-1] logout works') };
    expect(answer(await copilot(project, 'user-prompt-submitted'))).toEqual(told);
    expect(await copilot(project, 'user-prompt-submitted')).toEqual(SILENT);
    await ask(project);
    expect(await copilot(project, 'pre-compact')).toEqual(SILENT);
    expect(answer(await copilot(project, 'post-tool-use'))).toEqual(told);
  });

  it('KFR-09 holds it back while a question is open; what it is told then comes back as a prompt', async () => {
    const project = await talking();
    expect(await copilot(project, 'agent-stop')).toEqual(SILENT);
    await ask(project);
    const { decision, reason } = answer(await copilot(project, 'agent-stop'));
    expect([decision, reason]).toEqual([
      'block',
      expect.stringContaining('- kfr-1 (OpenQuestion) which cookie?'),
    ]);
    for (let i = 1; i < 8; i++) {
      await patch(project, [{ op: 'add', kind: 'Constraint', text: `rule ${i}` }]);
      await copilot(project, 'user-prompt-submitted', { prompt: reason });
      expect(answer(await copilot(project, 'agent-stop', { stop_hook_active: true })).decision).toBe('block');
    }
    await copilot(project, 'user-prompt-submitted', { prompt: reason });
    expect(await copilot(project, 'agent-stop', { stop_hook_active: true })).toEqual(SILENT);
    // Nothing had changed, so it was parked.
    await copilot(project, 'user-prompt-submitted');
    expect(await copilot(project, 'agent-stop')).toEqual(SILENT);
  });

  it('AGT-01 SES-07 parks the session at its end', async () => {
    const project = await talking();
    project.write('work.txt', 'x');
    expect(await copilot(project, 'session-end')).toEqual(SILENT);
    const session = project.json('.forge/memory/short-term/session.json');
    expect(session).toMatchObject({ parked: { agent: expect.stringMatching(/^copilot-/) } });
  });

  it('AGT-01 says nothing to what is no payload, at other events, nor outside of a project', async () => {
    const project = await talking();
    for (const input of ['', '{', '[]', 'null', '{"sessionId":{},"cwd":7,"stop_hook_active":"yes"}'])
      expect(await hook(project, ['copilot', 'agent-stop'], input)).toEqual(SILENT);
    await ask(project);
    expect(await hook(project, ['copilot', 'subagentStop'], payload('copilot', 'agent-stop'))).toEqual(
      SILENT,
    );
    const outside = makePlainProject();
    expect(await copilot(outside, 'session-start')).toEqual(SILENT);
    expect(outside.has('.forge')).toBe(false);
  });
});
