import { describe, expect, it } from 'vitest';
import type { EndedSession, StartedSession } from '../../src/index.js';
import { ada, at, bob, start } from '../support/agents.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, snapshot } from '../support/forge-project.js';
import { makeInterrupted } from '../support/gates.js';
import { add, ask, KFR, list, makeWorking, patch } from '../support/kfrs.js';
import { changedPaths } from '../support/project.js';

const RESOLVE = { op: 'resolve', id: 'kfr-1', resolution: 'sid' };

const PARK = { op: 'park', id: 'kfr-1', reason: 'ask Ada' };

describe('the resolution gate', () => {
  it.each([
    ['session end', ['session', 'end', '--no-commit', '--learned', 'x'], 'The session cannot end'],
    ['session discard', ['session', 'discard'], 'The session cannot be discarded'],
    ['focus set to another task', ['focus', 'set', '--task', 'another'], 'The task cannot change'],
    ['focus clear', ['focus', 'clear'], 'The focus cannot be cleared'],
    ['kfr clear', ['kfr', 'clear', '--yes'], 'The KFR cannot be cleared'],
  ])(
    'KFR-09 KFR-08 SES-05 SES-06 keeps closed for %s, names entry and way out, and parking opens it not',
    async (_, words, what) => {
      const project = await makeWorking('--task', 'logout');
      await patch(project, [add('OpenQuestion', 'which cookie?'), add('Goal', 'g')]);
      for (const operations of [[], [PARK]]) {
        if (operations.length > 0) await patch(project, operations);
        const before = snapshot(project.dir);
        const error = await forgeError(project, words);
        expect(error).toMatchObject({
          exitCode: 3,
          kind: 'refused',
          code: 'gate.closed',
          message: `${what}: 1 entry ${operations.length > 0 ? 'waits for a person' : 'requires resolution'}: kfr-1 (OpenQuestion) which cookie?${operations.length > 0 ? ' (parked: ask Ada)' : ''}`,
          entries: [
            { id: 'kfr-1', kind: 'OpenQuestion', text: 'which cookie?', parked: operations.length > 0 },
          ],
        });
        expect(error.hint).toMatch(/--resolve kfr-1="|--dismiss-all "/);
        expect(differences(before, snapshot(project.dir))).toEqual([]);
      }
      await patch(project, [RESOLVE]);
      expect((await runForge(project, words)).exitCode).toBe(0);
    },
  );

  it('KFR-09 SES-05 allows the same task, its files, and a first task', async () => {
    const project = await makeWorking();
    await ask(project);
    for (const words of [
      ['--task', 'logout'],
      ['--task', 'logout', '--phase', 'BUILD'],
      ['--file', 'a.js'],
    ])
      expect((await runForge(project, ['focus', 'set', ...words])).exitCode).toBe(0);
    expect((await list(project)).entries).toHaveLength(1);
  });

  it('KFR-09 SES-07 refuses a fresh start over an interrupted session, and writes nothing', async () => {
    const { project, id } = await makeInterrupted();
    const before = snapshot(project.dir);
    for (const words of [[], ['--task', 'other'], ['--take-over']]) {
      const isHeld = words.includes('--take-over');
      const error = await forgeError(project, ['session', 'start', ...words], {
        world: at(bob, 30, isHeld ? 'alive' : 'gone'),
      });
      expect(error).toMatchObject({
        exitCode: 3,
        code: 'gate.closed',
        message: `Session ${id} ${isHeld ? 'belongs to another agent' : 'was interrupted'} and cannot be left: 1 entry requires resolution: kfr-1 (OpenQuestion) which cookie?`,
        // Nothing wipes what waits for a person.
        hint: isHeld
          ? 'forge start --join   # work in it too; ask the user first'
          : `forge start --resume ${id}   # takes them along`,
      });
    }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const resumed = await start(project, at(bob, 30, 'gone'), '--resume', id);
    expect(resumed.session.resumed_from).toBe(id);
  });
});

describe('working memory and sessions', () => {
  it('KFR-14 SES-05 all entries expire with another task or none, and are reported', async () => {
    for (const words of [
      ['focus', 'set', '--task', 'another'],
      ['focus', 'clear'],
    ]) {
      const project = await makeWorking('--task', 'logout');
      await patch(project, [add('Goal', 'g'), add('Constraint', 'c')]);
      const before = project.read(KFR);
      // With --dry-run they stay.
      expect((await runForge(project, [...words, '-n'])).exitCode).toBe(0);
      expect(project.read(KFR)).toBe(before);
      const { stderr, exitCode } = await runForge(project, words);
      expect(exitCode).toBe(0);
      expect(stderr).toContain(
        '2 KFR entries of the former task expired. Add again those that still hold: kfr-1 (Goal) g; kfr-2 (Constraint) c',
      );
      expect((await list(project)).entries).toEqual([]);
      const { archive, expired } = await forgeJson<EndedSession>(project, ['session', 'end', '--no-commit']);
      expect(expired).toEqual([]);
      expect(project.json(archive as string).kfr).toMatchObject({
        entries: [],
        closed: [
          { id: 'kfr-1', text: 'g', outcome: 'expired' },
          { id: 'kfr-2', text: 'c', outcome: 'expired' },
        ],
      });
    }
  });

  it('KFR-14 KFR-13 SES-06 session end lists and archives expired entries, and the next session has none', async () => {
    const project = await makeWorking();
    await patch(project, [add('Goal', 'g'), add('Constraint', 'c'), add('OpenQuestion', 'a?')]);
    await patch(project, [{ op: 'resolve', id: 'kfr-3', resolution: 'sid' }]);
    await forgeJson(project, ['note', 'promote', 'kfr-2']);
    const { session, archive, expired } = await forgeJson<EndedSession>(project, ['session', 'end']);
    expect(expired).toMatchObject([{ id: 'kfr-1', kind: 'Goal', text: 'g' }]);
    expect(project.json(archive as string).kfr).toMatchObject({
      entries: [{ id: 'kfr-1' }],
      closed: [
        { id: 'kfr-3', outcome: 'resolved', words: 'sid' },
        { id: 'kfr-2', outcome: 'promoted' },
      ],
    });
    expect(project.has(KFR)).toBe(false);
    expect(changedPaths(project)).toEqual([]);
    expect((await runForge(project, ['session', 'show', session.id])).stdout).toContain('kfr-1: Goal: g');
    await forgeJson(project, ['session', 'start']);
    expect((await list(project)).entries).toEqual([]);
    expect((await patch(project, [add('Goal', 'h')])).entries[0]?.id).toBe('kfr-1');
    const end = await runForge(project, ['session', 'end', '--no-commit']);
    expect(end.stdout).toContain('expired  kfr-1 (Goal) h');
  });

  it('KFR-13 SES-07 only --resume carries everything over, including closed entries and numbers', async () => {
    const { project, id } = await makeInterrupted();
    await patch(project, [add('Goal', 'logout works everywhere')], { world: at(ada, 1) });
    const resumed = await start(project, at(bob, 30, 'gone'), '--resume', 'latest');
    expect((resumed as StartedSession & { briefing: { text: string } }).briefing.text).toContain(
      '- [kfr-1, requires resolution] which cookie?',
    );
    const { session, entries } = await list(project);
    expect(session).toBe(resumed.session.id);
    expect(entries.map((entry) => entry.id)).toEqual(['kfr-1', 'kfr-3']);
    expect((await runForge(project, ['session', 'show', id])).stdout).toContain(
      'kfr-1: OpenQuestion, open: which cookie?',
    );
    expect(
      (await patch(project, [RESOLVE, add('Constraint', 'c')], { world: at(bob, 30) })).entries.at(-1)?.id,
    ).toBe('kfr-4');
    await forgeJson(project, ['session', 'end', '--no-commit'], { world: at(bob, 31) });
    await start(project, at(bob, 32));
    expect((await list(project)).entries).toEqual([]);
  });
});
