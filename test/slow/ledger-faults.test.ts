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

/** A command that stores something under a key. */
interface Command {
  args: (key: string) => string[];
  isStored: (project: Project, key: string) => boolean;
}

const RECORD: Command = {
  args: (key) => recordArgs(key, '--json', '--quiet'),
  isStored: (project, key) => ['execution', 'evaluation'].every((tier) => countKeys(project, tier).has(key)),
};

const NOTE: Command = {
  args: (key) => ['note', 'add', key, '--json', '--quiet'],
  isStored: (project, key) => foundRecords(project).some(({ tier, text }) => tier === 'note' && text === key),
};

/** A repository whose memory has records, committed and not, and what was acknowledged there. */
interface Rig {
  project: Project;
  command: Command;
  /** Keys of cycles. */
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
  return { project, command: RECORD, acknowledged, prepare: () => {}, torn: 0 };
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

/** `expectKept` counts the keys of cycles; a note has none. */
function acknowledge({ project, command, acknowledged }: Rig, key: string, what: unknown): void {
  expect({ what, stored: command.isStored(project, key) }).toEqual({ what, stored: true });
  if (command === RECORD) acknowledged.add(key);
}

/** What the command said about its record is so. A command that was killed has said nothing. */
function expectTruth(rig: Rig, key: string, ended: Ended, what: unknown): void {
  const { project, command, acknowledged } = rig;
  if (ended.exitCode === 0) acknowledge(rig, key, what);
  else if (ended.signal === null) {
    const { error } = JSON.parse(ended.stderr.trimEnd().split('\n').at(-1) ?? '') as {
      error: { exit: number; message: string };
    };
    expect(error, JSON.stringify(what, null, 1)).toMatchObject({ exit: 6 });
    if (command.isStored(project, key))
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
  const { project, command, acknowledged } = rig;
  const torn = await countTorn(project, what);
  expect(torn - rig.torn, JSON.stringify(what)).toBeLessThanOrEqual(mayTear ? 1 : 0);
  rig.torn = torn;
  const again = await runForge(project, command.args(key));
  expect({ what, ...again }).toMatchObject({ exitCode: 0 });
  acknowledge(rig, key, what);
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
  const ended = run(rig.command.args(key));
  const all = { ...what, key, ...ended };
  expectTruth(rig, key, ended, all);
  await expectGoesOn(rig, key, all, after);
}

/** All of them in the long run; else every `step`-th, beginning somewhere else for each fault. */
const RIGS = {
  'an open file': warmRig,
  'a new file': coldRig,
  'a note': (): Rig => ({ ...warmRig(), command: NOTE }),
};
const HOWS = ['error=EIO', 'error=ENOSPC', 'error=EINTR', 'error=EROFS', 'signal=KILL'];
const CASES = Object.keys(RIGS).flatMap((name, i) =>
  HOWS.map((how, j) => [how, name as keyof typeof RIGS, i + 2 * j] as const),
);

describe.skipIf(!hasStrace)('a record, when one of the system calls of its command fails', () => {
  it.each(CASES)('LTM-16 B-61 B-62 B-63 %s, with %s', async (how, name, offset) => {
    const rig = RIGS[name]();
    rig.prepare();
    const calls = traceCalls(rig.project, rig.command.args('traced'));
    acknowledge(rig, 'traced', name);
    expect(calls.length).toBeGreaterThan(15);
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
