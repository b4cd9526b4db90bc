import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import { changedBy, formatStamp, readPlain } from '../core/files.js';
import { compareText } from '../core/text.js';
import type { Context } from '../project/project.js';
import {
  type Container,
  eachRecord,
  type Line,
  MAX_CONTAINER_BYTES,
  parseContainer,
  segmentOf,
} from './container.js';
import { ledgerFolder, openCache } from './files.js';
import { Graph } from './graph.js';
import { type Identified, type LedgerRecord, recordId, type Tier, type Tombstone } from './record.js';

/** A folder with more files is damaged: no project writes that many. */
export const MAX_CONTAINERS = 100_000;

/** A change this soon after a read may leave every stamp the same. */
const CLOCK_TICK_MS = 50;

/** One file of the ledger folder. */
export interface Listed {
  name: string;
  stamp: string;
  size: number;
  isFile: boolean;
  changedAt: number;
}

/** The containers of a working tree at one moment. */
export interface Snapshot {
  graph: Graph;
  listed: readonly Listed[];
}

/** Names and stamps. Without the lock an append may be in progress. */
export function listContainers({ layout, disk }: Context): Listed[] {
  const folder = ledgerFolder(layout);
  // One more than allowed, so that the check sees it.
  const names = disk.list(folder).slice(0, MAX_CONTAINERS + 1);
  return names.flatMap((name) => {
    const stat = lstatSync(`${folder}/${name}`, { throwIfNoEntry: false });
    if (!stat || (name.startsWith('.') && name.endsWith('.tmp'))) return [];
    const [stamp, changedAt] = [formatStamp(stat), changedBy(stat)];
    return [{ name, stamp, size: stat.size, isFile: stat.isFile(), changedAt }];
  });
}

/** Covers names and stamps, so that it changes when a file is edited in place. */
export const digestOf = (listed: readonly Pick<Listed, 'name' | 'stamp'>[]): string =>
  recordId(listed.map(({ name, stamp }) => `${name} ${stamp}`).join('\n'));

/** Whether no file changed so shortly before `at` that a later change could keep its stamp. */
export const isSettled = (listed: readonly Listed[], at = Date.now()): boolean =>
  listed.every(({ changedAt }) => changedAt < at - CLOCK_TICK_MS);

export const sizeOf = (listed: readonly { size: number }[]): number =>
  listed.reduce((sum, { size }) => sum + size, 0);

/** The last snapshot of this process. */
let latest: (Snapshot & { folder: string }) | null = null;

/** Reading files again up to this size and number costs less than writing the cache. */
const SPARE_BYTES = 200_000;
const SPARE_FILES = 50;

/** Parses the files that are not cached. Needs no lock: containers only grow and are read up to the listed size. */
export function readSnapshot(context: Context, listed: readonly Listed[]): Snapshot {
  const folder = ledgerFolder(context.layout);
  if (latest?.folder === folder && digestOf(latest.listed) === digestOf(listed)) return latest;
  const files = listed.filter(({ name }) => segmentOf(name) !== null);
  const settled = new Set(files.filter((file) => isSettled([file])).map(({ stamp }) => stamp));
  const cache = openCache<Cached[]>(context, 'containers.json');
  const before = latest?.folder === folder ? latest.graph.containers : cache.read()?.map(fromCache);
  const known = new Map(before?.map((container) => [container.name, container]));
  const fresh = files.filter(({ name, stamp }) => known.get(name)?.stamp !== stamp);
  const total = sizeOf(fresh);
  let read = 0;
  for (const file of fresh) {
    context.signal?.throwIfAborted();
    known.set(file.name, readContainer(context, file));
    read += file.size;
    context.onProgress?.(read, total);
  }
  const containers = files.map(({ name }) => known.get(name) as Container);
  if (total > SPARE_BYTES || fresh.length > SPARE_FILES)
    cache.write(containers.filter(({ stamp }) => settled.has(stamp)).map(toCache));
  latest = { folder, graph: new Graph(containers), listed };
  return latest;
}

/** One long text is read and written several times as fast as a hundred ids. */
type Cached = Omit<Container, 'ids'> & { ids: string };
const toCache = (container: Container): Cached => ({ ...container, ids: container.ids.join('') });
const fromCache = (cached: Cached): Container => ({ ...cached, ids: cached.ids.match(/.{64}/g) ?? [] });

function readContainer(context: Context, { name, stamp, size, isFile }: Listed): Container {
  const damaged = (reason: string): Container => {
    // Its bytes are not read. A person who vouches for it vouches for this file at this size.
    const problem = { line: 0, offset: 0, reason, sha256: recordId(`${name} ${size}`), last_good: null };
    return { ...parseContainer(name, Buffer.alloc(0), stamp), problems: [problem] };
  };
  if (!isFile) return damaged('not a regular file');
  if (size > MAX_CONTAINER_BYTES) return damaged(`larger than ${MAX_CONTAINER_BYTES} bytes`);
  return parseContainer(name, containerBytes(context, name).subarray(0, size), stamp);
}

/** The bytes of a container; none of one that is too large or not a plain file. */
export function containerBytes({ layout }: Context, name: string): Buffer {
  try {
    return readPlain(join(ledgerFolder(layout), name), MAX_CONTAINER_BYTES) ?? Buffer.alloc(0);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return Buffer.alloc(0);
    throw error;
  }
}

export interface ReadRecord extends Identified {
  /** Bytes of its line, with the line end. The line itself would keep the bytes of its file in memory. */
  size: number;
}

/** The records of one tier in order of (n, id), each once and without redacted ones. */
export function recordsOf(
  context: Context,
  graph: Graph,
  tier: Tier,
  files: readonly Container[] = graph.containers,
): ReadRecord[] {
  const redacted = graph.tombstones();
  const found: ReadRecord[] = [];
  for (const { name, tiers, ids, problems } of files) {
    if (!tiers[tier]) continue;
    const take = (id: string, record: LedgerRecord | Tombstone, { bytes }: Line): unknown =>
      redacted.has(id) || found.push({ id, record: record as LedgerRecord, size: bytes.length + 1 });
    // A damaged line has no id.
    eachRecord(containerBytes(context, name), take, tier, problems.length === 0 ? ids : []);
  }
  return found
    .sort((a, b) => a.record.n - b.record.n || compareText(a.id, b.id))
    .filter(({ id }, i) => id !== found[i - 1]?.id);
}

/** What this process derived: a server answers again and again, and the page writes no cache. */
const derived = new Map<string, { of: string; value: unknown }>();

/**
 * A value that depends on the records alone, cached until a file of the ledger changes. It must survive JSON, and callers
 * share it. `listed`: the ledger's files, if the caller has just listed them.
 */
export function derive<T>(
  context: Context,
  name: string,
  make: () => T,
  listed: readonly Listed[] = listContainers(context),
): T {
  const cache = openCache<{ of: string; value: T }>(context, `${name}.json`);
  const place = `${context.layout.state} ${name}`;
  const of = digestOf(listed);
  const here = derived.get(place);
  const known = here?.of === of ? here : cache.read();
  if (known?.of === of) {
    derived.set(place, known);
    return known.value as T;
  }
  const value = make();
  if (isSettled(listed)) {
    derived.set(place, { of, value });
    cache.write({ of, value });
  }
  return value;
}
