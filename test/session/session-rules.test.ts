import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkText } from '../../src/core/text.js';
import {
  type ArchivedSession,
  addEntry,
  bySequence,
  isStoredId,
  lastOnTask,
  matchSession,
  NO_FOCUS,
  nextNumber,
  parseProgress,
  setNext,
  startProgress,
} from '../../src/session/rules.js';
import { failure } from '../support/failure.js';

const A = '2026-03-01-session-001-aaaaaa';
const B = '2026-03-01-session-001-bbbbbb';
const C = '2026-03-01-session-002-cccccc';

const archived = (change: Partial<ArchivedSession>): ArchivedSession => ({
  schema_version: '1.0',
  id: A,
  seq: 1,
  started_at: '2026-03-01T10:00:00.000Z',
  branch: 'main',
  head: null,
  status: 'interrupted',
  ended_at: null,
  learned: [],
  failed: [],
  next: null,
  ...change,
});

describe('a session id', () => {
  it.each([
    [A, true],
    ['2026-03-01-session-1000-0a1b2c', true],
    ['2026-03-01-session-001', false],
    ['2026-03-01-session-001-AAAAAA', false],
    ['2026-03-01-session-001-aaaaaaa', false],
    ['../2026-03-01-session-001-aaaaaa', false],
    [`${A}\n`, false],
  ])('SES-02 B-02 is stored with its six hex digits: %j is one, %s', (id, is) => {
    expect(isStoredId(id)).toBe(is);
  });
});

describe('lastOnTask', () => {
  it('SES-03 is on the same feature under another name, or on the same text, not on one that begins alike', () => {
    const on = (task: string) => ({ ...NO_FOCUS, task });
    const sessions = [archived({ focus: on('F-1: Login') }), archived({ id: C, focus: on('fix: the form') })];
    const lastOn = (task: string) => lastOnTask(sessions, on(task), ['F-1'])?.id;
    expect(lastOn('F-1: Login works')).toBe(A);
    expect(lastOn('fix: the form')).toBe(C);
    expect(lastOn('fix: the table')).toBeUndefined();
  });
});

describe('nextNumber', () => {
  it.each([
    ['other days do not count', ['2026-02-28-session-007-aaaaaa'], 1],
    ['gaps stay gaps', [A, '2026-03-01-session-009-cccccc'], 10],
    ['by number, not by spelling', ['2026-03-01-session-999-aaaaaa', '2026-03-01-session-1000-aaaaaa'], 1001],
    ['in any order', [C, A, B], 3],
  ])('SES-02 counts on: %s', (_name, ids, n) => {
    expect(nextNumber('2026-03-01', ids)).toBe(n);
  });
});

describe('matchSession', () => {
  const all = [{ id: A }, { id: B }, { id: C }];

  it('SES-08 SES-02 reports an ambiguous short name, with both sessions', () => {
    const error = failure(() => matchSession(all, '2026-03-01-session-001'));
    expect(error).toMatchObject({ exit: 2, code: 'session.ambiguous' });
    expect(error.message).toBe(`"2026-03-01-session-001" is ambiguous: it matches ${A}, ${B}.`);
  });

  it('SES-08 SES-02 finds a session by its name in any case', () => {
    expect(matchSession(all, C.toUpperCase())).toEqual({ id: C });
  });
});

describe('the order of sessions', () => {
  it('is the same on every machine, by the end of two sessions of clones that did not know of each other', () => {
    const evening = archived({ id: A, seq: 3, ended_at: '2026-03-01T18:00:00.000Z' });
    const noon = archived({ id: B, seq: 3, ended_at: '2026-03-01T12:00:00.000Z' });
    const open = archived({ id: C, seq: 3, started_at: '2026-03-01T11:00:00.000Z', ended_at: null });
    expect([evening, noon, open].sort(bySequence)).toEqual([open, noon, evening]);
    const twins = [B, A].map((id) => archived({ id, seq: 3 }));
    expect(twins.sort(bySequence).map(({ id }) => id)).toEqual([A, B]);
  });
});

const at = (time: string): Date => new Date(`2025-12-24T${time}:59.999Z`);

const started = startProgress(at('11:00'), 'main', 2);

describe('progress.txt', () => {
  it('SES-04 B-11 returns every accepted text, byte for byte and in order', () => {
    const nasty = fc.constantFrom(
      '\n',
      ' ',
      '\t',
      '\u2028',
      'NEXT: ',
      '      ',
      '[10:00] ',
      '=== FORGE Session 2000-01-01 ===',
      'CHECKPOINT: ',
      'é',
      '😀',
      'a',
    );
    const isTaken = (text: string): boolean => {
      try {
        return checkText(text, { what: 'It' }) === text;
      } catch {
        return false;
      }
    };
    const text = fc
      .oneof(fc.string({ unit: nasty, maxLength: 8 }), fc.string({ unit: 'binary' }))
      .filter(isTaken);
    const step = fc.record({ text, next: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        let file = started;
        for (const { text: said, next } of steps)
          file = next ? setNext(file, said) : addEntry(file, at('12:00'), said);
        const progress = parseProgress(file);
        expect(progress.date).toBe('2025-12-24');
        expect(progress.lines.slice(2).map((line) => line.text)).toEqual(
          steps.filter(({ next }) => !next).map((one) => one.text),
        );
        expect(progress.next).toBe(steps.findLast(({ next }) => next)?.text);
      }),
      { numRuns: 300 },
    );
  });
});
