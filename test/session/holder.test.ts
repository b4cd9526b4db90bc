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
  activity: { boot: 'boot-1', uptime: 100_000 - minutes * 60, at: NOON - minutes * MINUTE },
  now: { boot: 'boot-1', uptime: 100_000, at: NOON },
  silenceMinutes: 10,
  unknownHostMinutes: 60,
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
    ['unseen and silent for just as long as is set', ask({ liveness: 'unknown' }, 10), 'interrupted'],
    [
      'unseen, and forge was used a while ago',
      ask({ liveness: 'unknown' }, 9),
      'held',
      'process 200 cannot be seen from here, and forge was used 9 min ago',
    ],
    ['unseen, and nothing is known of its use', ask({ liveness: 'unknown', activity: null }), 'interrupted'],
    [
      'unseen, and forge was used before the restart only',
      ask({ liveness: 'unknown', activity: { boot: 'boot-0', uptime: 99_999, at: NOON } }),
      'interrupted',
    ],
    [
      'another boot',
      ask({ holder: { ...other, boot: 'boot-0' } }, 0),
      'interrupted',
      'the machine was restarted since',
    ],
    [
      'another boot, the number taken by a live process',
      ask({ holder: { ...other, boot: 'boot-0' }, liveness: 'alive' }),
      'interrupted',
    ],
    [
      'a boot that nobody can tell, alive',
      ask({ holder: { ...other, boot: null }, liveness: 'alive' }),
      'held',
      'process 200 is running',
    ],
    [
      'no boot to compare with now, alive',
      ask({ now: { boot: null, uptime: 100_000, at: NOON }, liveness: 'alive' }),
      'held',
    ],
    [
      'another host, used a while ago',
      ask({ holder: foreign, liveness: 'unknown' }, 59),
      'held',
      'it runs on another host (server), where nobody can look from here',
    ],
    [
      'another host, silent for just as long as is set',
      ask({ holder: foreign, liveness: 'unknown' }, 60),
      'interrupted',
      'nothing was heard from host server',
    ],
    [
      'another host, and nothing is known of its use',
      ask({ holder: foreign, liveness: 'unknown', activity: null }),
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

  it('SES-07 keeps to the minutes that are set', () => {
    expect(judgeHolder(ask({ liveness: 'unknown', silenceMinutes: 90 })).state).toBe('held');
    expect(judgeHolder(ask({ holder: foreign, liveness: 'unknown', unknownHostMinutes: 90 })).state).toBe(
      'held',
    );
    expect(judgeHolder(ask({ liveness: 'unknown', silenceMinutes: 1 }, 1)).state).toBe('interrupted');
  });

  it('B-67 B-69 is not moved by a wall clock that jumps, on the same host', () => {
    const times = fc.integer({ min: -1, max: 4_102_444_800_000 });
    fc.assert(
      fc.property(
        times,
        times,
        fc.nat({ max: 30 }),
        fc.constantFrom('alive', 'gone'),
        (then, now, minutes, liveness) => {
          const question = ask({ liveness }, minutes);
          const jumped: HolderQuestion = {
            ...question,
            activity: question.activity && { ...question.activity, at: then },
            now: { ...question.now, at: now },
          };
          expect(judgeHolder(jumped)).toEqual(judgeHolder(question));
        },
      ),
    );
  });

  it('B-67 holds a foreign session when the clock went back, rather than taking it', () => {
    const activity = { boot: 'boot-1', uptime: 1, at: NOON + 24 * 60 * MINUTE };
    expect(judgeHolder(ask({ holder: foreign, liveness: 'unknown', activity })).state).toBe('held');
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
