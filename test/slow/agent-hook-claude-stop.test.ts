import { describe, expect, it } from 'vitest';
import {
  blockOf,
  claude,
  contextOf,
  GOAL,
  QUESTION,
  SILENT,
  sessionOf,
  talking,
} from '../support/agent-hooks.js';
import { agent, forgeJson, runForge } from '../support/forge.js';
import { patch } from '../support/kfrs.js';

describe('forge hook claude stop and pre-compact', () => {
  it('KFR-09 a parked question allows a stop, but not a requested compaction', async () => {
    const project = await talking();
    await patch(project, [QUESTION, { op: 'park', id: 'kfr-1', reason: 'Ada decides' }]);
    expect(await claude(project, 'stop')).toEqual(SILENT);
    const asked = await claude(project, 'pre-compact', { name: 'pre-compact-manual' });
    expect(blockOf(asked)).toContain('before you compact the conversation, 1 entry');
    expect(blockOf(asked)).not.toContain('--park');
    expect(await claude(project, 'pre-compact', { name: 'pre-compact-auto' })).toEqual(SILENT);
  });

  it('KFR-09 AGT-01 never loop: a second stop without a change parks the question', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    expect(blockOf(await claude(project, 'stop'))).toContain('kfr-1');
    expect(await claude(project, 'stop', { name: 'stop-active' })).toEqual(SILENT);
    const { entries } = await forgeJson<{ entries: { parked?: { reason: string } }[] }>(project, 'kfr list');
    expect(entries[0]?.parked?.reason).toBe(
      'The agent was asked to settle it, changed nothing and stopped again.',
    );
    // A human decides: it is still open for the end of the session.
    expect((await runForge(project, ['session', 'end'])).exitCode).toBe(3);
  });

  it('KFR-09 SES-09 do not block an agent for the questions of a session that another agent works in', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const other = (liveness: 'alive' | 'gone') => ({
      session_id: 'other',
      options: { world: { agent: agent('other'), liveness: () => liveness, isBelow: () => false } },
    });
    for (const name of ['stop', 'pre-compact-manual'])
      expect(await claude(project, name.replace('-manual', ''), { name, ...other('alive') })).toEqual(SILENT);
    // Nobody else is there to settle it.
    expect(blockOf(await claude(project, 'stop', other('gone')))).toContain('kfr-1');
  });

  it('KFR-09 LTM-05 do not block while memory is halted and nothing can be settled', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    expect(blockOf(await claude(project, 'stop'))).not.toBeNull();
    project.write('.forge/memory/ledger/solo-00000000.jsonl', '{"a":1}\n');
    await runForge(project, ['memory', 'verify']);
    expect(await claude(project, 'stop')).toEqual(SILENT);
    expect(await claude(project, 'pre-compact', { name: 'pre-compact-manual' })).toEqual(SILENT);
  });
});

describe('forge hook claude session-end', () => {
  it('AGT-01 SES-07 marks the session parked without gate or commit; the next start offers it', async () => {
    const project = await talking();
    await runForge(project, ['progress', 'add', 'wired the button']);
    await patch(project, [GOAL]);
    const left = sessionOf(project).id;
    const commits = project.git('rev-list', '--all', '--count');
    expect(await claude(project, 'session-end')).toEqual(SILENT);
    expect(sessionOf(project)).toMatchObject({
      id: left,
      parked: { agent: expect.stringMatching(/^claude-8a0c/) },
    });
    expect(project.git('rev-list', '--all', '--count')).toBe(commits);
    const text = contextOf(await claude(project, 'session-start', { session_id: 'tomorrow' }));
    expect(text).toContain('session-002');
    expect(text).toContain('! Session');
    expect(text).toMatch(/was interrupted \(claude ended at .*session_start \{"resume"/);
    const resumed = await forgeJson<{ session: { resumed_from: string } }>(
      project,
      'session start --resume latest',
    );
    expect(left).toContain(resumed.session.resumed_from);
  });

  it('KFR-09 a session left with an open question is shown at the next start', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    await claude(project, 'session-end');
    const text = contextOf(await claude(project, 'session-start', { session_id: 'tomorrow' }));
    expect(text).toContain('[kfr-1, requires resolution] which cookie holds the token?');
    expect(text).toMatch(
      /no session was started\. .*was interrupted and cannot be left.*\n {2}→ forge start --resume/,
    );
  });

  it('AGT-01 a resumed conversation continues its session', async () => {
    const project = await talking();
    const { id } = sessionOf(project);
    project.write('work.txt', 'x');
    await claude(project, 'session-end');
    const text = contextOf(await claude(project, 'session-start', { source: 'resume' }));
    expect(text).not.toContain('was interrupted');
    expect(sessionOf(project).id).toBe(id);
    expect(sessionOf(project)).not.toHaveProperty('parked');
  });
});
