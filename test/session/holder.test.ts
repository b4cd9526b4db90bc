import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Holder, type HolderQuestion, judgeHolder, sameProcess } from '../../src/core/holder.js';

const me: Holder = { pid: 100, started: '5', boot: 'boot-1', host: 'laptop' };
const other: Holder = { ...me, pid: 200 };
const foreign: Holder = { ...other, host: 'server', boot: 'boot-9' };
const NOON = Date.parse('2026-03-01T12:00:00Z');
const MINUTE = 60_000;

const typed = { terminal: true } as const;

/** `other` is gone and was last active `minutes` ago, unless something else is said. */
const ask = (change: Partial<HolderQuestion>, minutes = 60): HolderQuestion => ({
  holder: other,
  me,
  liveness: 'gone',
  lastUsed: NOON - minutes * MINUTE,
  now: NOON,
  ...change,
});

describe('who holds the session', () => {
  it.each<[string, HolderQuestion, string, string?]>([
    ['the same process', ask({ holder: me, liveness: 'alive' }), 'same'],
    ['the same process long ago', ask({ holder: me }), 'same'],
    [
      'the same agent in another process',
      ask({ holder: { ...other, agent: 'a1' }, me: { ...me, agent: 'a1' } }),
      'same',
    ],
    [
      'another agent, alive',
      ask({ holder: { ...other, agent: 'a1' }, me: { ...me, agent: 'a2' }, liveness: 'alive' }),
      'held',
      'process 200 is running',
    ],
    [
      'another conversation of the same agent process',
      ask({ holder: { ...me, agent: 'a1' }, me: { ...me, agent: 'a2' }, liveness: 'alive' }),
      'same',
    ],
    [
      'a named agent, alive, asked by a process without a name',
      ask({ holder: { ...other, agent: 'a1' }, liveness: 'alive' }),
      'held',
    ],
    [
      'another terminal of the same person',
      ask({ holder: { ...other, ...typed }, me: { ...me, ...typed }, liveness: 'alive' }),
      'same',
    ],
    [
      'a person at a terminal, asked by an agent',
      ask({ holder: { ...other, ...typed }, liveness: 'alive' }),
      'held',
    ],
    ['another process, alive', ask({ liveness: 'alive' }), 'held', 'process 200 is running'],
    ['another process, alive and silent for a week', ask({ liveness: 'alive' }, 10_080), 'held'],
    ['gone and silent', ask({}), 'interrupted', 'process 200 is gone'],
    ['gone, and forge was used just now', ask({}, 0), 'interrupted', 'process 200 is gone'],
    [
      'another host, used a while ago',
      ask({ holder: foreign, liveness: 'unknown' }, 59),
      'held',
      'it runs on another host (server), which cannot be checked from here',
    ],
    [
      'another host, silent for an hour',
      ask({ holder: foreign, liveness: 'unknown' }, 60),
      'interrupted',
      'nothing was heard from host server',
    ],
    [
      'another host, and nothing is known of its use',
      ask({ holder: foreign, liveness: 'unknown', lastUsed: null }),
      'interrupted',
    ],
    [
      'the same process number on another host',
      ask({ holder: { ...me, host: 'server' }, liveness: 'unknown' }, 1),
      'held',
    ],
    [
      'an agent of the same name on another host',
      ask(
        { holder: { ...other, host: 'server', agent: 'a' }, me: { ...me, agent: 'a' }, liveness: 'unknown' },
        1,
      ),
      'held',
    ],
  ])('SES-07 SES-09 B-55 judges %s', (_name, question, state, why) => {
    expect(judgeHolder(question)).toEqual({
      state,
      ...(state === 'same' ? {} : { why: why ?? expect.any(String) }),
    });
  });

  it('B-67 B-69 ignores the wall clock on the same host', () => {
    const times = fc.integer({ min: -1, max: 4_102_444_800_000 });
    fc.assert(
      fc.property(times, times, fc.constantFrom('alive', 'gone'), (lastUsed, now, liveness) => {
        expect(judgeHolder(ask({ liveness, lastUsed, now }))).toEqual(judgeHolder(ask({ liveness })));
      }),
    );
  });

  it('B-67 holds a foreign session when the clock went back, rather than taking it', () => {
    const lastUsed = NOON + 24 * 60 * MINUTE;
    expect(judgeHolder(ask({ holder: foreign, liveness: 'unknown', lastUsed })).state).toBe('held');
  });
});

describe('sameProcess', () => {
  it.each<[string, Partial<Holder>, boolean]>([
    ['nothing', {}, true],
    ['the number', { pid: 101 }, false],
    ['the start: the number was used again', { started: '6' }, false],
    ['the boot', { boot: 'boot-2' }, false],
    ['the host', { host: 'server' }, false],
  ])('B-55 tells processes apart that differ in %s', (_name, change, same) => {
    expect(sameProcess(me, { ...me, ...change })).toBe(same);
  });
});
