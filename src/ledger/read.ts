import { appendFileSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import { readPlain } from '../core/files.js';
import type { Layout } from '../core/paths.js';
import type { Context } from '../project/project.js';
import {
  type Container,
  eachRecord,
  type Line,
  MAX_CONTAINER_BYTES,
  parseContainer,
  segmentOf,
} from './container.js';
import { cacheFile, ledgerFolder, readJson, writeCache } from './files.js';
import { Graph } from './graph.js';
import { byNumber, type LedgerRecord, recordId, type Tier, type Tombstone } from './record.js';

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
  listed: Listed[];
  /** Files that are not containers. */
  others: string[];
}

/** Names and stamps. The caller holds the lock, so no append is in progress. */
export function listContainers({ layout, disk }: Context): Listed[] {
  const folder = ledgerFolder(layout);
  // One more than allowed, so that the check sees it.
  const names = disk.list(folder).slice(0, MAX_CONTAINERS + 1);
  return names.flatMap((name) => {
    const stat = lstatSync(`${folder}/${name}`, { bigint: true, throwIfNoEntry: false });
    if (!stat || (name.startsWith('.') && name.endsWith('.tmp'))) return [];
    const stamp = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
    const changedAt = Number(stat.ctimeNs / 1_000_000n);
    return [{ name, stamp, size: Number(stat.size), isFile: stat.isFile(), changedAt }];
  });
}

const digests = new WeakMap<object, string>();

/** Covers names and stamps, so that it changes when a file is edited in place. */
export function digestOf(listed: readonly Pick<Listed, 'name' | 'stamp'>[]): string {
  const digest =
    digests.get(listed) ?? recordId(listed.map(({ name, stamp }) => `${name} ${stamp}`).join('\n'));
  digests.set(listed, digest);
  return digest;
}

/** Whether no file changed so shortly before `at` that a later change could keep its stamp. */
export const isSettled = (listed: readonly Listed[], at = Date.now()): boolean =>
  listed.every(({ changedAt }) => changedAt < at - CLOCK_TICK_MS);

export const sizeOf = (listed: readonly { size: number }[]): number =>
  listed.reduce((sum, { size }) => sum + size, 0);

/** The last snapshot of this process. */
let latest: (Snapshot & { folder: string }) | null = null;

/** Parses the files that are not cached. Needs no lock: containers only grow and are read up to the listed size. */
export function readSnapshot(context: Context, listed: readonly Listed[]): Snapshot {
  const folder = ledgerFolder(context.layout);
  if (latest?.folder === folder && digestOf(latest.listed) === digestOf(listed)) return latest;
  const cache = readCache(context.layout);
  const isContainer = ({ name }: Listed): boolean => segmentOf(name) !== null;
  const files = listed.filter(isContainer);
  const cached = ({ name, stamp }: Listed): Container | null => {
    const container = cache.containers.get(name);
    return container?.stamp === stamp ? container : null;
  };
  const total = sizeOf(files.filter((file) => !cached(file)));
  let read = 0;
  const kept: Container[] = [];
  const fresh: Container[] = [];
  const containers = files.map((file) => {
    const known = cached(file);
    if (!known) {
      context.signal?.throwIfAborted();
      read += file.size;
      context.onProgress?.(read, total);
    }
    const container = known ?? readContainer(context, file);
    if (known || isSettled([file])) {
      kept.push(container);
      if (!known) fresh.push(container);
    }
    return container;
  });
  if (!context.disk.dryRun) updateCache(context.layout, cache.lines, kept, fresh);
  const others = listed.filter((file) => !isContainer(file)).map(({ name }) => name);
  latest = { folder, graph: new Graph(containers), listed: [...listed], others };
  return latest;
}

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

/** One line for each container. A later line of the same name wins. */
interface Cache {
  containers: Map<string, Container>;
  lines: number;
}

function readCache(layout: Layout): Cache {
  const cache: Cache = { containers: new Map(), lines: 0 };
  try {
    for (const line of readFileSync(cacheFile(layout, CACHE), 'utf8').split('\n')) {
      if (line === '') continue;
      const container = JSON.parse(line) as Container;
      cache.containers.set(container.name, container);
      cache.lines++;
    }
    return cache;
  } catch {
    // There is no cache, or a writer was killed. Its whole lines are used, and the file is rewritten.
    return { ...cache, lines: Number.POSITIVE_INFINITY };
  }
}

const CACHE = 'records.jsonl';
/** Outdated lines that the cache may have. */
const SPARE_LINES = 100;

function updateCache(
  layout: Layout,
  lines: number,
  kept: readonly Container[],
  fresh: readonly Container[],
): void {
  const format = (containers: readonly Container[]): string =>
    containers.map((container) => `${JSON.stringify(container)}\n`).join('');
  const canGrow = lines > 0 && lines + fresh.length <= 2 * kept.length + SPARE_LINES;
  try {
    if (!canGrow) writeCache(cacheFile(layout, CACHE), format(kept));
    else if (fresh.length > 0) appendFileSync(cacheFile(layout, CACHE), format(fresh));
  } catch {
    // Without a cache everything is read again.
  }
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

export interface ReadRecord {
  id: string;
  record: LedgerRecord;
  /** Without indentation and line end. */
  line: Buffer;
}

/** The records of one tier in order of (n, id), each once and without redacted ones. */
export function recordsOf(
  context: Context,
  graph: Graph,
  tier: Tier,
  files: readonly Container[] = graph.containers,
): ReadRecord[] {
  const redacted = graph.tombstones();
  const found = new Map<string, ReadRecord>();
  for (const { name, tiers } of files) {
    if (!tiers[tier]) continue;
    const take = (id: string, record: LedgerRecord | Tombstone, { bytes: line }: Line): unknown =>
      redacted.has(id) || found.set(id, { id, record: record as LedgerRecord, line });
    eachRecord(containerBytes(context, name), take, tier);
  }
  return [...found.values()].sort((a, b) => byNumber({ ...a, n: a.record.n }, { ...b, n: b.record.n }));
}

/**
 * A value that depends on the records alone, cached until a file of the ledger changes. It must survive JSON.
 * `listed`: the ledger's files, if the caller has just listed them.
 */
export function derive<T>(
  context: Context,
  name: string,
  make: () => T,
  listed: readonly Listed[] = listContainers(context),
): T {
  const path = cacheFile(context.layout, `${name}.json`);
  const of = digestOf(listed);
  const isStable = isSettled(listed);
  const known = readJson<{ of: string; value: T }>(path);
  if (known?.of === of) return known.value;
  const value = make();
  if (isStable && !context.disk.dryRun) writeCache(path, JSON.stringify({ of, value }));
  return value;
}
