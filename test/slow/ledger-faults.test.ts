import { describe, expect, it } from 'vitest';
import { type Call, hasShim, hasStrace, runFaulty, strikeCall, traceCalls } from '../support/faults.js';
import { runForge } from '../support/forge.js';
import { report, sample } from '../support/kills.js';
import {
  countKeys,
  countTorn,
  expectIntact,
  expectKept,
  foundRecords,
  recordArgs,
} from '../support/memory-truth.js';
import type { Ended, Project } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

/*
 * Every system call with which a command changes the disk goes wrong once, in each way that it can (the manner of
 * SQLite's tests of I/O errors). After each: what the exit code said is true, nothing acknowledged is missing,
 * `memory verify` finds no damage that the fault did not do, and the same key again makes no double.
 */

/** A repository whose memory has records, committed and not, and what was acknowledged there. */
interface Rig {
  project: Project;
  acknowledged: Set<string>;
  /** What brings about the surroundings that the command is to meet. */
  prepare: () => void;
  /** Lines that kills cut off so far. */
  torn: number;
}

/** A command that continues an open file. */
function warmRig(): Rig {
  const project = makeForgeRepository();
  const acknowledged = new Set(['first']);
  typed(project, recordArgs('first'));
  project.git('add', '.');
  project.git('commit', '-q', '-m', 'Memory');
  typed(project, recordArgs('second'));
  acknowledged.add('second');
  return { project, acknowledged, prepare: () => {}, torn: 0 };
}

/** A command that verifies everything first and begins a new file, since git has the former one. */
function coldRig(): Rig {
  const rig = warmRig();
  const prepare = (): void => {
    rig.project.git('add', '.');
    rig.project.git('commit', '-q', '-m', 'More');
  };
  return { ...rig, prepare };
}

/** Whether both records of a cycle are there. */
function isStored(project: Project, key: string): boolean {
  return ['execution', 'evaluation'].every((tier) => countKeys(project, tier).has(key));
}

/** What the command said about its record is so. A command that was killed has said nothing. */
function expectTruth({ project, acknowledged }: Rig, key: string, ended: Ended, what: unknown): void {
  if (ended.exitCode === 0) {
    expect({ what, stored: isStored(project, key) }).toEqual({ what, stored: true });
    acknowledged.add(key);
  } else if (ended.signal === null) {
    const { error } = JSON.parse(ended.stderr.trimEnd().split('\n').at(-1) ?? '') as {
      error: { exit: number; message: string };
    };
    expect(error, JSON.stringify(what, null, 1)).toMatchObject({ exit: 6 });
    if (isStored(project, key))
      expect(error.message, JSON.stringify(what, null, 1)).toMatch(/unknown|is done/);
  }
  expectKept(project, acknowledged, what);
}

interface Aftermath {
  /** A write was cut short by a kill: the one thing that leaves a torn line. */
  mayTear?: boolean;
}

/** Memory is intact or says exactly what happened, and the next try stores the record once. */
async function expectGoesOn(rig: Rig, key: string, what: unknown, { mayTear }: Aftermath): Promise<void> {
  const { project, acknowledged } = rig;
  const torn = await countTorn(project, what);
  expect(torn - rig.torn, JSON.stringify(what)).toBeLessThanOrEqual(mayTear ? 1 : 0);
  rig.torn = torn;
  const again = await runForge(project, recordArgs(key));
  expect({ what, ...again }).toMatchObject({ exitCode: 0 });
  acknowledged.add(key);
  expectKept(project, acknowledged, what);
  await expectIntact(project, what);
}

let counter = 0;

async function survives(
  rig: Rig,
  what: Record<string, unknown>,
  run: (args: string[]) => Ended,
  after: Aftermath = {},
): Promise<void> {
  const key = `key-${counter++}`;
  rig.prepare();
  const ended = run(recordArgs(key, '--json', '--quiet'));
  const all = { ...what, key, ...ended };
  expectTruth(rig, key, ended, all);
  await expectGoesOn(rig, key, all, after);
}

/** All of them in the long run; else every `step`-th, beginning somewhere else for each fault. */
const RIGS = { 'an open file': warmRig, 'a new file': coldRig };
const HOWS = ['error=EIO', 'error=ENOSPC', 'error=EINTR', 'error=EROFS', 'signal=KILL'];
const CASES = Object.keys(RIGS).flatMap((name, i) =>
  HOWS.map((how, j) => [how, name as keyof typeof RIGS, i + 2 * j] as const),
);

describe.skipIf(!hasStrace)('memory record, when one of its system calls fails', () => {
  it.each(CASES)('LTM-16 B-61 B-62 B-63 %s, with %s', async (how, name, offset) => {
    const rig = RIGS[name]();
    rig.prepare();
    const calls = traceCalls(rig.project, recordArgs('traced'));
    rig.acknowledged.add('traced');
    expect(calls.length).toBeGreaterThan(20);
    let hits = 0;
    const chosen: Call[] = sample(calls, 3, offset);
    for (const call of chosen)
      await survives(rig, { how, call: call.line.slice(0, 120) }, (args) => {
        const struck = strikeCall(rig.project.dir, args, calls, call, how);
        if (struck.hit !== undefined) hits++;
        return struck;
      });
    // A call that stands elsewhere this time is not struck.
    expect(hits).toBeGreaterThan(chosen.length * 0.6);
    report(`memory record with ${name}, ${how}: ${hits} calls struck`);
  });
});

/** A command that is no record: what it must have done if it says so, and its name in the trace. */
interface Other {
  args: (n: number) => string[];
  prepare: (rig: Rig, n: number) => void;
  /** Whether it did what it was to do. */
  isDone: (project: Project, n: number) => boolean;
}

const hasNote = (project: Project, n: number): boolean =>
  foundRecords(project).some(({ tier, text }) => tier === 'note' && text === `note ${n}`);

const OTHERS: Record<string, Other> = {
  'note add': {
    args: (n) => ['note', 'add', `note ${n}`, '--json', '--quiet'],
    prepare: () => {},
    isDone: hasNote,
  },
};

interface Strike {
  calls: readonly Call[];
  call: Call;
  how: string;
}

async function survivesOther(
  rig: Rig,
  other: Other,
  n: number,
  { calls, call, how }: Strike,
): Promise<boolean> {
  const { project, acknowledged } = rig;
  other.prepare(rig, n);
  const struck = strikeCall(project.dir, other.args(n), calls, call, how);
  const what = JSON.stringify({ how, call: call.line.slice(0, 120), ...struck }, null, 1);
  if (struck.exitCode === 0) expect(other.isDone(project, n), what).toBe(true);
  else if (struck.signal === null) {
    expect(struck.exitCode, what).toBe(6);
    if (hasNote(project, n)) expect(struck.stderr, what).toMatch(/unknown|is done/);
  }
  expectKept(project, acknowledged, what);
  await expectIntact(project, what);
  const again = await runForge(project, other.args(n));
  expect(again, what).toMatchObject({ exitCode: 0 });
  expect(other.isDone(project, n), what).toBe(true);
  expectKept(project, acknowledged, what);
  return struck.hit !== undefined;
}

const OTHER_CASES = Object.keys(OTHERS).flatMap((name) => HOWS.map((how) => [name, how] as const));

describe.skipIf(!hasStrace)('other commands, when one of their system calls fails', () => {
  it.each(OTHER_CASES)('LTM-16 B-61 B-62 B-63 %s, %s', async (name, how) => {
    const rig = warmRig();
    const other = OTHERS[name] as Other;
    other.prepare(rig, 0);
    const calls = traceCalls(rig.project, other.args(0));
    let hits = 0;
    const chosen = sample(calls, 6, HOWS.indexOf(how));
    for (const [i, call] of chosen.entries())
      if (await survivesOther(rig, other, i + 1, { calls, call, how })) hits++;
    expect(hits).toBeGreaterThan(chosen.length * 0.6);
    await expectIntact(rig.project);
    report(`${name}, ${how}: ${hits} calls struck`);
  });
});

const LEDGER = '/memory/ledger/';
const FILES = [LEDGER, '/journal/', '/append.json', '/execution.jsonl', '/activity', '/.lock.'];
const SHORT = [0, 1, 20, 200];
const shortCases = FILES.flatMap((path, i) => SHORT.map((short) => ({ path, short, i })));

describe.skipIf(!hasShim)('memory record, after a short write', () => {
  it('LTM-16 B-62 writes the rest after a short write, or truncates it', async () => {
    const rig = warmRig();
    for (const { path, short } of sample(shortCases, 4, 1).filter(({ short }) => short > 0))
      await survives(rig, { path, short }, (args) => {
        const ended = runFaulty(rig.project.dir, args, { path, call: 'write', short });
        // Where Node does not go on by itself, the one write of the records is cut back. Whatever else is written goes on.
        expect(path === LEDGER ? [0, 6] : [0], `${path} ${short}`).toContain(ended.exitCode);
        return ended;
      });
  });

  it('LTM-16 B-23 leaves at most a torn line after a kill, and a way to repair it', async () => {
    const rig = coldRig();
    for (const { path, short } of sample(shortCases, 4, 2))
      await survives(
        rig,
        { path, short },
        (args) => runFaulty(rig.project.dir, args, { path, call: 'write', short, kill: true }),
        { mayTear: path === LEDGER && short > 0 },
      );
  });
});

describe('an unreliable file system', () => {
  it.skipIf(!hasShim)('B-65 is named once by session start and by memory verify', () => {
    const project = makeForgeRepository();
    const warning = 'is on NFS, where locks, renames and fsync are not reliable';
    const nfs = { path: '/.forge', statfs: 0x6969 };
    const started = runFaulty(project.dir, ['session', 'start'], nfs);
    expect([started.exitCode, started.stderr]).toEqual([0, expect.stringContaining(`/.forge ${warning}`)]);
    const verified = runFaulty(project.dir, ['memory', 'verify'], { ...nfs, path: '/.git' });
    expect(verified.stderr).toContain(`/.git/forge ${warning}`);
    expect(verified.stderr.match(/NFS/g)).toHaveLength(1);
    expect(typed(project, ['memory', 'verify'])).toContain('intact');
  });
});
