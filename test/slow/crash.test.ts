import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type SessionOverview, type StartedSession, systemWorld } from '../../src/index.js';
import { hasStrace } from '../support/faults.js';
import { BIN, forgeJson } from '../support/forge.js';
import { abandon, expectEachOnce, expectWhole, isFar, killAfter, kills, measure } from '../support/kills.js';
import { cyclesOf } from '../support/memory.js';
import { changedPaths, type Project } from '../support/project.js';
import type { Ended } from '../support/typed.js';
import { makeForgeRepository, typed, typedJson } from '../support/typed.js';

/** This process is the holder, as the binary is. */
const ME = { world: { holder: () => systemWorld(process.env, false).self() } };
const START = ['session', 'start', '--take-over'];
const END = (n: number) => ['session', 'end', '--learned', `lesson ${n}`, '--next', `step ${n}`];

/** Adds an acknowledged line, in this process because it is faster. */
async function note(project: Project, text: string): Promise<string> {
  await forgeJson(project, ['progress', 'add', text], ME);
  return text;
}

/** Must hold after any kill and one more command. */
async function expectAllBack(project: Project, lines: readonly string[]): Promise<void> {
  expectEachOnce(project, lines);
  expectWhole(project);
  const { sessions, active } = await forgeJson<SessionOverview>(project, 'session list --limit 1000', ME);
  expect(active?.status).toBe('running');
  expect(sessions.filter(({ status }) => !['ended', 'interrupted'].includes(status))).toEqual([]);
  const { text } = await forgeJson<{ text: string }>(project, ['briefing'], ME);
  if (sessions[0]?.next) expect(text).toContain(sessions[0].next);
}

/** Abandons a session with a line, lets `kill` kill `session start`, and starts again. */
async function survivesStart(
  project: Project,
  n: number,
  lines: string[],
  kill: () => unknown,
): Promise<void> {
  lines.push(await note(project, `line ${n}`));
  await forgeJson(project, ['progress', 'next', `step ${n}`], ME);
  abandon(project);
  await kill();
  const next = typedJson<StartedSession>(project, START);
  expect(next.briefing.text).toContain(`step ${n}`);
  await expectAllBack(project, lines);
}

/**
 * Adds a line and lets `kill` kill `session end`: the session ended, or runs with all its lines. Then the same end again
 * completes what was begun, and stores nothing twice.
 */
async function survivesEnd(project: Project, n: number, lines: string[], kill: () => unknown): Promise<void> {
  const { session } = await forgeJson<StartedSession>(project, START, ME);
  lines.push(await note(project, `line ${n}`));
  await kill();
  let next = typedJson<StartedSession>(project, START);
  if (next.session.id === session.id) {
    expectEachOnce(project, lines);
    typed(project, END(n));
    next = typedJson<StartedSession>(project, START);
  }
  expect(next.session.id).not.toBe(session.id);
  const learned = project.read('.forge/memory/long-term/knowledge.json');
  expect(learned.match(new RegExp(`"lesson ${n}"`, 'g'))).toHaveLength(1);
  const cycles = (await cyclesOf(project, 'evaluation')).map(({ record }) => JSON.stringify(record.patterns));
  expect(cycles.filter((patterns) => patterns.includes(`lesson ${n}"`))).toHaveLength(1);
  expect(next.briefing.text).toContain(`step ${n}`);
  await expectAllBack(project, lines);
}

/** What is killed the n-th time, and what holds then. */
const COMMANDS = [
  ['start', () => START, survivesStart],
  ['end', END, survivesEnd],
] as const;

interface Striker {
  (args: readonly string[], part: number): Promise<void>;
  killed(): number;
}

/** Kills a command after a part of its time. A command that ended before gives a new measurement. */
function striker(project: Project, time: number): Striker {
  let [span, killed] = [time, 0];
  const strike = async (args: readonly string[], part: number): Promise<void> => {
    const begin = performance.now();
    if (await killAfter(project, args, span * part)) killed++;
    else span = performance.now() - begin;
  };
  return Object.assign(strike, { killed: () => killed });
}

describe('a kill at any moment', () => {
  it.each(COMMANDS)('SES-06 SES-07 of session %s loses and blocks nothing', async (_, args, survives) => {
    const project = makeForgeRepository();
    typed(project, START);
    abandon(project);
    const strike = striker(project, await measure(project, args(-1)));
    const count = kills(8, 150);
    const lines: string[] = [];
    for (let n = 0; n < count || strike.killed() <= count / 3; n++)
      await survives(project, n, lines, () => strike(args(n), (n % count) / count));
    await settled(project);
  });
});

/** Waits for git processes of a killed forge. Then the next session end commits everything. */
async function settled(project: Project): Promise<void> {
  await expect.poll(() => project.has('.git/index.lock')).toBe(false);
  const ended = await forgeJson<Ended>(project, ['session', 'end', '--learned', 'kills lose nothing'], ME);
  expect(ended.commit_skipped).toBeUndefined();
  expectWhole(project);
  expect(changedPaths(project)).toEqual([]);
  expect(project.git('fsck', '--strict', '--no-dangling')).toBe('');
}

/** System calls that change the disk; most of them only in the long run. */
const CALLS = ['rename', ...(isFar ? ['unlink', 'link', 'mkdir', 'fsync'] : [])];

/** Runs the binary and has the kernel end it at the n-th of these system calls; false when it makes fewer. */
function killAt(project: Project, args: readonly string[], call: string, n: number): boolean {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${n}`];
  const { status, signal, stderr } = spawnSync(
    'strace',
    ['-qq', '-o', '/dev/null', ...inject, process.execPath, BIN, ...args, '--quiet'],
    { cwd: project.dir, encoding: 'utf8' },
  );
  expect({ call, n, stderr, status: status ?? 0 }).toMatchObject({ stderr: '', status: 0 });
  return signal === 'SIGKILL';
}

describe.skipIf(!hasStrace)('a kill at every change it makes on the disk', () => {
  it.each(COMMANDS.flatMap(([name, ...rest]) => CALLS.map((call) => [name, call, ...rest] as const)))(
    'SES-06 SES-07 of session %s, at each %s',
    async (_name, call, args, survives) => {
      const project = makeForgeRepository();
      typed(project, START);
      const lines: string[] = [];
      let n = 1;
      for (let killed = true; killed; n++)
        await survives(project, n, lines, () => {
          killed = killAt(project, args(n), call, n);
        });
      expect(n).toBeGreaterThan(2);
      await settled(project);
    },
  );
});
