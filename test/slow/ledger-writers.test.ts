import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hasShim, shimEnv } from '../support/faults.js';
import { type FailedForge, forgeJson, runForge, startBinary } from '../support/forge.js';
import { kills, report } from '../support/kills.js';
import { begun, record } from '../support/limits.js';
import { containerOf, linesOf } from '../support/memory.js';
import { countTorn, expectIntact, expectKept, foundRecords, recordArgs } from '../support/memory-truth.js';
import { killWriter, startLibraryWriter, startShellWriter, type Writer } from '../support/memory-writers.js';
import { commitAll, type Ended, follow, type Project } from '../support/project.js';
import { makeForgeRepository } from '../support/typed.js';

/** The binary in the background, with its outcome. */
function run(project: Project, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return follow(startBinary(project.dir, args, env)).ended;
}

/** Again where others held the lock for longer than it waits. */
async function runInTurn(project: Project, args: readonly string[]): Promise<Ended> {
  const ended = await run(project, args);
  return ended.exitCode !== 0 && errorIn(ended).code === 'lock.held' ? runInTurn(project, args) : ended;
}

const errorIn = ({ stderr }: Ended): FailedForge =>
  (JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as { error: FailedForge }).error;
const names = (count: number, name: string): string[] => [...Array(count).keys()].map((i) => `${name}-${i}`);

describe('many writers of memory', () => {
  it('B-52 LTM-16 32 concurrent appends are all stored once, in one complete chain', async () => {
    const project = makeForgeRepository();
    const keys = names(32, 'key');

    const ended = await Promise.all(keys.map((key) => runInTurn(project, record(key))));

    expect(ended.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    expectKept(project, keys);
    // Whoever had the lock later follows who had it before: one file, each line behind the one above.
    const lines = linesOf(project, containerOf(project)).map((line) => JSON.parse(line) as { n: number });
    expect(lines.map(({ n }) => n)).toEqual(lines.map((_, i) => i + 2));
    expect(lines.length).toBeGreaterThanOrEqual(64);
    await expectIntact(project);
  });

  it('B-58 concurrent writers with the same key make one record and get the same id', async () => {
    const project = begun();

    const ended = await Promise.all(names(8, 'caller').map(() => runInTurn(project, record('same'))));

    const said = ended.map(
      ({ stdout }) => JSON.parse(stdout) as { execution: object; evaluation: object; known?: true },
    );
    expect(
      new Set(said.map(({ execution, evaluation }) => JSON.stringify({ execution, evaluation }))).size,
    ).toBe(1);
    expect(said.filter(({ known }) => known).length).toBe(7);
    expectKept(project, ['first', 'same']);
    const again = await forgeJson<object>(project, recordArgs('same'));
    expect(again).toEqual(said.find(({ known }) => known));
  });

  it('B-56 B-57 LTM-16 during writes and commits a verification is never wrong, and readers see complete records, of which none disappears', async () => {
    const project = begun();
    const writers = names(4, 'writer').map((name) => startLibraryWriter(project, name, 100_000, 60_000));
    await Promise.all(writers.map(({ begun: first }) => first));
    const log = ['memory', 'log', '--tier', 'execution', '--limit', '100000'];
    let last = 0;
    let looks = 0;
    for (const end = performance.now() + kills(1500, 60_000); looks < 4 || performance.now() < end; looks++) {
      if (looks % 2 === 1) commitAll(project);
      await expectIntact(project, `look ${looks}`);
      const { records } = await forgeJson<{ records: object[] }>(project, log);
      expect(records.length).toBeGreaterThanOrEqual(last);
      last = records.length;
      const found = foundRecords(project).filter(({ tier }) => tier === 'execution');
      expect(found.length).toBeGreaterThanOrEqual(last);
    }
    for (const writer of writers) killWriter(writer);
    const keys = (await Promise.all(writers.map(({ ended }) => ended))).flat();
    expectKept(project, keys);
    report(`verified ${looks} times while 4 writers stored ${keys.length} records`);
  });
});

const lock = (project: Project): string => project.path('.forge/local/lock');

/** Waits until the process has stopped at its fault. */
const stopped = (pid: number): Promise<void> =>
  expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /);

describe.skipIf(!hasShim)('a holder of the lock', () => {
  /** Stops a writer at this call, takes the lock from it, writes, and lets it go on. */
  async function overtake(
    call: string,
  ): Promise<{ project: Project; stoppedOne: Ended; waited: Ended; pid: number }> {
    const project = begun();
    const env = shimEnv({ path: '/memory/ledger/', call, stop: true });
    const child = startBinary(project.dir, record('stopped'), env);
    const { ended } = follow(child);
    const pid = child.pid as number;
    await stopped(pid);
    const waited = await run(project, record('waited'));
    // What the message tells a person to do who is sure.
    rmSync(lock(project));
    await forgeJson(project, recordArgs('overtaker'));
    child.kill('SIGCONT');
    return { project, stoppedOne: await ended, waited, pid };
  }

  async function expectFenced(call: string): Promise<void> {
    const { project, stoppedOne, waited, pid } = await overtake(call);
    expect(waited.exitCode).toBe(3);
    expect(errorIn(waited)).toMatchObject({
      code: 'lock.held',
      message: expect.stringContaining(`process ${pid} on`),
    });
    if (call === 'open') {
      expect(stoppedOne.exitCode).toBe(3);
      expect(errorIn(stoppedOne)).toMatchObject({ code: 'lock.lost' });
      expect(foundRecords(project).filter(({ key }) => key === 'stopped')).toEqual([]);
    }
    await expectIntact(project);
    await forgeJson(project, recordArgs('stopped'));
    await forgeJson(project, recordArgs('afterwards'));
    expectKept(project, ['first', 'overtaker', 'stopped', 'afterwards']);
    await expectIntact(project);
  }

  // Whoever waits waits for five seconds: both at once.
  it('B-54 that is stopped, before it opens the file or at its write, is named to others and damages nothing', async () => {
    await Promise.all(['open', 'write'].map(expectFenced));
  });
});

/** How many processes are killed. */
const KILLS = kills(20, 10_000);
/** A new repository after so many rounds, or reading it all again each time would take most of the time. */
const ROUNDS = 40;
const WRITERS = 8;

interface Tally {
  /** In this repository. */
  acknowledged: Set<string>;
  /** In all of them. */
  kept: number;
  killed: number;
  torn: number;
}

/** Eight at once, half of them shells that call the binary; each is killed after a time of its own. */
async function killRound(project: Project, round: number, tally: Tally): Promise<void> {
  const shells = kills(WRITERS / 2, round % 10 === 0 ? WRITERS / 2 : 1);
  const writers: Writer[] = names(WRITERS, `r${round}`).map((name, i) =>
    i < shells ? startShellWriter(project, name, 1000) : startLibraryWriter(project, name, 1000, 20_000),
  );
  // On a slow machine the first begins long before the others.
  const begins = writers.map(({ begun: first }) => first);
  await (round % 2 === 0 ? Promise.all(begins) : Promise.race(begins));
  await Promise.all(
    writers.map(async (writer) => {
      await pause(Math.random() * 150);
      killWriter(writer);
      for (const key of await writer.ended) tally.acknowledged.add(key);
      tally.killed++;
    }),
  );
  await settle(project, round, tally);
}

/** What a round left: everything acknowledged, once; intact, or torn where a write was cut, with its way out. */
async function settle(project: Project, round: number, tally: Tally): Promise<void> {
  tally.torn = await countTorn(project, `round ${round}`);
  expectKept(project, tally.acknowledged, `round ${round}`);
  if (round % 10 === 9) {
    project.git('add', '.forge');
    project.git('commit', '-q', '-m', `Round ${round}`);
  }
}

/** One repository, killed at until it has grown. */
async function killRounds(tally: Tally): Promise<void> {
  const project = makeForgeRepository();
  tally.acknowledged.clear();
  for (let round = 0; round < ROUNDS && tally.killed < KILLS; round++) await killRound(project, round, tally);
  expectKept(project, tally.acknowledged);
  expect((await runForge(project, recordArgs('last'))).exitCode).toBe(0);
  await expectIntact(project);
  tally.kept += tally.acknowledged.size;
  rmSync(project.dir, { recursive: true });
}

describe('writers that are killed', () => {
  it(`LTM-16 LTM-03 lose nothing that was acknowledged and leave no double, ${KILLS} times`, async () => {
    const tally: Tally = { acknowledged: new Set(), kept: 0, killed: 0, torn: 0 };
    const begin = performance.now();
    while (tally.killed < KILLS) await killRounds(tally);
    expect(tally.kept).toBeGreaterThan(tally.killed / 4);
    const seconds = Math.round((performance.now() - begin) / 1000);
    report(`${tally.killed} kills in ${seconds} s: ${tally.kept} records kept, ${tally.torn} torn lines`);
  });
});
