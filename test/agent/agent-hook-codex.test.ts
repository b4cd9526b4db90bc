import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/agent/agents.js';
import { MAX_CONTEXT } from '../../src/agent/event.js';
import { KFR_HEADER } from '../../src/kfr/rules.js';
import { blockOf, contextOf, hook, payload } from '../support/agent-hooks.js';
import { type Outcome, runForge } from '../support/forge.js';
import { makeForge, SESSION } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import type { Project } from '../support/project.js';

const adapter = AGENTS.codex;
const SILENT = { stdout: '', stderr: '', exitCode: 0 };

/** Calls a hook as Codex does; `name`: the payload, where an event has several. */
const codex = (project: Project, event: string, change: object = {}, name = event): Promise<Outcome> =>
  hook(project, ['codex', event], payload('codex', name, { cwd: project.dir, ...change }));

/** A conversation that has begun, in a session of its own. */
async function talking(): Promise<Project> {
  const project = await makeForge();
  await codex(project, 'session-start');
  return project;
}

describe('forge hook codex', () => {
  it('AGT-01 SES-01 starts a session and hands over its briefing', async () => {
    const project = await makeForge();
    const outcome = await codex(project, 'session-start');
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: expect.any(String) },
    });
    expect(contextOf(outcome)).toMatch(/^FORGE briefing, \d{4}-\d\d-\d\d-session-001\n/);
    expect(project.json(SESSION)).toMatchObject({
      holder: { agent: expect.stringMatching(/^codex-0199a213/) },
    });
  });

  it('AGT-01 hands over no more bytes than Codex takes, in whatever script, and the working memory whole', async () => {
    const project = await talking();
    const words = 'кнопка выхода работает на всех страницах '.repeat(6);
    const texts = [1, 2, 3, 4, 5].map((n) => `${n}${n}${n} ${words}`.slice(0, 270).trimEnd());
    await patch(
      project,
      texts.map((text) => ({ op: 'add', kind: 'Constraint', text })),
    );
    await runForge(project, ['config', 'set', 'briefing.budget', '4000']);
    for (let line = 0; line < 12; line += 1)
      await runForge(project, ['knowledge', 'add', 'success', `${line} ${words.repeat(2)}`]);
    const context = contextOf(await codex(project, 'session-start', { source: 'resume' })) ?? '';
    expect(Buffer.byteLength(context)).toBeGreaterThan(5000);
    expect(Buffer.byteLength(context)).toBeLessThanOrEqual(MAX_CONTEXT);
    for (const text of texts) expect(context).toContain(text);
    expect(context).toMatch(/\n--- end [0-9a-f]+ ---(\n|$)/);
  });

  it.each([
    ...Object.keys(adapter.events).filter((word) => word !== 'session-start'),
    'post-compact',
    'permission-request',
  ])('AGT-01 has nothing to say at %s while nothing is open', async (event) => {
    const project = await talking();
    const input = event === 'permission-request' ? {} : payload('codex', event, { cwd: project.dir });
    expect(await hook(project, ['codex', event], input)).toEqual(SILENT);
  });

  it('AGT-01 KFR-04 gives back the working memory after a compaction, by whatever hook comes first, and once', async () => {
    const project = await talking();
    await patch(project, [{ op: 'replace', kind: 'Goal', text: 'logout works' }]);
    expect(contextOf(await codex(project, 'user-prompt-submit'))).toContain(KFR_HEADER);
    expect(await codex(project, 'pre-compact', {}, 'pre-compact-auto')).toEqual(SILENT);
    expect(contextOf(await codex(project, 'user-prompt-submit'))).toContain('logout works');
    expect(await codex(project, 'user-prompt-submit')).toEqual(SILENT);
    await codex(project, 'pre-compact');
    expect(contextOf(await codex(project, 'session-start', {}, 'session-start-compact'))).toContain(
      'logout works',
    );
    expect(await codex(project, 'user-prompt-submit')).toEqual(SILENT);
  });

  it('AGT-01 KFR-09 keeps no compaction waiting: Codex would only fail', async () => {
    const project = await talking();
    await ask(project);
    expect(await codex(project, 'pre-compact')).toEqual(SILENT);
  });

  it('AGT-01 KFR-09 holds back its stop while something is open, and lets it go once nothing changes', async () => {
    const project = await talking();
    await ask(project);
    expect(blockOf(await codex(project, 'stop'))).toMatch(
      /^forge: before you stop, 1 entry .*which cookie\?/s,
    );
    await patch(project, [{ op: 'add', kind: 'OpenQuestion', text: 'which header?' }]);
    expect(blockOf(await codex(project, 'stop', {}, 'stop-active'))).toMatch(/2 entries/);
    expect(await codex(project, 'stop', {}, 'stop-active')).toEqual(SILENT);
    await codex(project, 'user-prompt-submit');
    expect(await codex(project, 'stop')).toEqual(SILENT);
  });

  it('AGT-01 SES-09 parks the session at the end of a conversation, where Codex tells of it', async () => {
    const project = await talking();
    project.write('work.txt', 'x');
    expect(await codex(project, 'session-end')).toEqual(SILENT);
    expect(project.json(SESSION)).toHaveProperty('parked');
  });
});
