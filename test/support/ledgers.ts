import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Integrity, RecordedCycle } from '../../src/index.js';
import { recordId } from '../../src/ledger/record.js';
import { forgeJson, type RunOptions, runForge } from './forge.js';
import { makeForge } from './forge-project.js';
import { verify } from './memory.js';
import { commitAll, makeFolder, type Project, projectAt } from './project.js';

/** The ids of acknowledged records. */
export type Ids = readonly string[];

/** A working copy in which somebody records, with git and forge as they would be typed. */
export interface Desk extends Project {
  /** Of all that was acknowledged at this desk, in its order. */
  ids: string[];
  /** One cycle with its evaluation. */
  record(task?: string, options?: RunOptions): Promise<string[]>;
  /** Many cycles at once. */
  records(count: number): Promise<string[]>;
  note(text?: string): Promise<string[]>;
  start(options?: RunOptions): Promise<void>;
  end(options?: RunOptions): Promise<void>;
  verify(): Promise<Integrity>;
  /** All that is not committed, with a change of the code. */
  commit(message?: string): string;
}

const SUCCESS = ['--exit-code', '0', '--classification', 'SUCCESS', '--signal', 'tests=pass'];
const idsOf = ({ execution, evaluation }: RecordedCycle): string[] =>
  [execution.id, evaluation?.id].filter((id) => id !== undefined);

let files = 0;

export function deskAt(dir: string): Desk {
  const project = projectAt(dir);
  const json = <T>(args: string[], options?: RunOptions): Promise<T> => forgeJson<T>(project, args, options);
  const ids: string[] = [];
  const keep = (more: string[]): string[] => {
    ids.push(...more);
    return more;
  };
  return {
    ...project,
    ids,
    record: async (task = 'T-1', options) =>
      keep(idsOf(await json<RecordedCycle>(['memory', 'record', '--task', task, ...SUCCESS], options))),
    records: async (count) => {
      const line = { task_id: 'T-2', exit_code: 0, classification: 'SUCCESS', quality_signals: { tests: 1 } };
      const stdin = `${JSON.stringify(line)}\n`.repeat(count);
      const { records } = await json<{ records: RecordedCycle[] }>(['memory', 'record', '-'], { stdin });
      return keep(records.flatMap(idsOf));
    },
    note: async (text = 'Keep it small') => keep([(await json<{ id: string }>(['note', 'add', text])).id]),
    start: async (options) => void (await json(['session', 'start'], options)),
    end: async (options) => void (await json(['session', 'end'], options)),
    verify: () => verify(project),
    commit: (message = 'Work') => {
      project.write(`src/file-${files++}.js`, `export const made = ${files};\n`);
      return commitAll(project, message);
    },
  };
}

/** A repository where forge is initialised and committed, on `main`. */
export const makeDesk = async (): Promise<Desk> => deskAt((await makeForge()).dir);

/** A bare repository with what `desk` has, which is its `origin` from now on. */
export function makeServer(desk: Desk): Project {
  const server = projectAt(join(makeFolder(), 'server.git'));
  desk.git('clone', '-q', '--bare', desk.dir, server.dir);
  desk.git('remote', 'add', 'origin', server.dir);
  desk.git('push', '-q', '-u', 'origin', 'main');
  return server;
}

export function cloneDesk(server: Pick<Project, 'dir'>, ...options: string[]): Desk {
  const dir = join(makeFolder(), 'clone');
  projectAt(makeFolder()).git('clone', '-q', ...options, server.dir, dir);
  return deskAt(dir);
}

const LEDGER = '.forge/memory/ledger';

/** Every file of the ledger, as paths from the project's top. */
export function containers(desk: Pick<Project, 'path'>): string[] {
  if (!existsSync(desk.path(LEDGER))) return [];
  return readdirSync(desk.path(LEDGER))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => `${LEDGER}/${name}`);
}

/** Whole lines without their indentation; not what stands after the last LF. */
const linesOf = (bytes: Buffer): string[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => line.replace(/^ */, ''));

/** The ids of all records in the working tree: each line's hash, with nothing of forge between. */
export const idsHere = (desk: Pick<Project, 'path'>): Set<string> =>
  new Set(containers(desk).flatMap((path) => linesOf(readFileSync(desk.path(path))).map(recordId)));

/** Tracked memory files that are not as HEAD has them; what is only staged as new is none. */
const dirtyMemory = (desk: Pick<Project, 'git'>): string[] =>
  desk
    .git('status', '--porcelain', '--', '.forge/memory')
    .split('\n')
    .filter((line) => line !== '' && !/^(\?\?|A ) /.test(line));

/**
 * What must hold after any git flow, once a session has started: memory verifies, every record is here, no tracked
 * memory file was touched.
 */
export async function expectSettled(desk: Desk, ids: Ids = desk.ids): Promise<void> {
  await desk.start();
  await expectIntact(desk, ids);
}

export async function expectIntact(desk: Desk, ids: Ids): Promise<void> {
  const { status, problems, notes } = await desk.verify();
  expect({ status, problems, notes }).toMatchObject({ status: 'intact', problems: [] });
  const here = idsHere(desk);
  expect(ids.filter((id) => !here.has(id))).toEqual([]);
  const shown = new Set((await logged(desk)).map(({ id }) => id));
  expect(ids.filter((id) => !shown.has(id))).toEqual([]);
  expect(dirtyMemory(desk)).toEqual([]);
}

interface Logged {
  id: string;
  record: { kind: string; records?: string[] };
}

async function logged(desk: Desk, ...options: string[]): Promise<Logged[]> {
  const args = ['memory', 'log', '--limit', '100000', ...options];
  return (await forgeJson<{ records: Logged[] }>(desk, args)).records;
}

/** How many records the audit ledger says were put back. */
export async function restoredHere(desk: Desk): Promise<number> {
  const records = await logged(desk, '--tier', 'audit');
  return records.reduce(
    (sum, { record }) => sum + (record.kind === 'restored' ? (record.records?.length ?? 0) : 0),
    0,
  );
}

/** What git took away comes back (`restored`), or a person decides about it commit by commit (`removed`). */
type Ends = 'kept' | 'restored' | 'removed';
/** What it does at a desk, whose records have to be there afterwards. */
type Flow = (desk: Desk) => Promise<void>;
export type Flows = Partial<Record<Ends, Record<string, Flow>>>;

/** For `it.each`. */
export const eachFlow = (flows: Flows): [name: string, ends: Ends, flow: Flow][] =>
  Object.entries(flows).flatMap(([ends, group]) =>
    Object.entries(group).map(([name, flow]): [string, Ends, Flow] => [name, ends as Ends, flow]),
  );

/** Runs a flow at a fresh desk and checks all that has to hold after it. */
export async function expectFlow(_name: string, ends: Ends, flow: Flow): Promise<void> {
  const desk = await makeDesk();
  await desk.start();
  await flow(desk);
  if (ends === 'removed') await expectRemoved(desk);
  await expectSettled(desk);
  const restored = await restoredHere(desk);
  if (ends === 'restored') expect(restored).toBeGreaterThan(0);
  else expect(restored).toBe(0);
}

/** The finding names exactly the missing records, forge brings none of them back, and one answer puts them back. */
async function expectRemoved(desk: Desk): Promise<void> {
  await desk.start();
  const { exitCode } = await runForge(desk, ['memory', 'verify']);
  const { status, problems, restored } = await desk.verify();
  const gone = desk.ids.filter((id) => !idsHere(desk).has(id));
  expect({ exitCode, status, restored }).toEqual({ exitCode: 1, status: 'removed', restored: [] });
  expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['removed_by_commit']));
  expect(problems.flatMap((problem) => problem.ids).sort()).toEqual([...gone].sort());
  expect(gone).not.toEqual([]);
  await desk.record();
  await repair(desk);
}

/** `forge memory repair` as a person answers it. */
export const repair = (desk: Pick<Project, 'dir'>, ...options: string[]): Promise<object> =>
  forgeJson(desk, ['memory', 'repair', '--reason', 'it was an accident', ...options], { terminal: true });
