import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Holder, type HolderQuestion, judgeHolder } from '../../src/core/holder.js';

const me: Holder = { pid: 100, started: '5', boot: 'boot-1', host: 'laptop' };
const other: Holder = { ...me, pid: 200 };
const foreign: Holder = { ...other, host: 'server', boot: 'boot-9' };
const NOON = Date.parse('2026-03-01T12:00:00Z');
const MINUTE = 60_000;

/** `other` is gone and was last active `minutes` ago, unless something else is said. */
const ask = (change: Partial<HolderQuestion>, minutes = 60): HolderQuestion => ({
  holder: other,
  me,
  liveness: 'gone',
  lastUsed: NOON - minutes * MINUTE,
  now: NOON,
  ...change,
});
const alive = (holder: Holder, asking = me): HolderQuestion => ask({ holder, me: asking, liveness: 'alive' });
/** The holder is on another host. */
const abroad = (holder: Holder, minutes: number, asking = me): HolderQuestion =>
  ask({ holder: { ...holder, host: 'server' }, me: asking, liveness: 'unknown' }, minutes);
const named = (agent: string, of = other): Holder => ({ ...of, agent });
const typed = (of: Holder): Holder => ({ ...of, terminal: true });

describe('who holds the session', () => {
  it.each<[string, HolderQuestion, string, string?]>([
    ['the same process', alive(me), 'same'],
    ['the same agent in another process', ask({ holder: named('a1'), me: named('a1', me) }), 'same'],
    ['another agent, alive', alive(named('a1'), named('a2', me)), 'held', 'process 200 is running'],
    ['another conversation of the same agent process', alive(named('a1', me), named('a2', me)), 'same'],
    ['another terminal of the same person', alive(typed(other), typed(me)), 'same'],
    ['a person at a terminal, asked by an agent', alive(typed(other)), 'held'],
    ['another process, alive', alive(other), 'held', 'process 200 is running'],
    ['gone and silent', ask({}), 'interrupted', 'process 200 is gone'],
    [
      'another host, used a while ago',
      abroad(foreign, 59),
      'held',
      'it runs on another host (server), which cannot be checked from here',
    ],
    [
      'another host, silent for an hour',
      abroad(foreign, 60),
      'interrupted',
      'nothing was heard from host server',
    ],
    ['another host, never used here', { ...abroad(foreign, 60), lastUsed: null }, 'interrupted'],
    ['the same process number on another host', abroad(me, 1), 'held'],
    ['an agent of the same name on another host', abroad(named('a'), 1, named('a', me)), 'held'],
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
