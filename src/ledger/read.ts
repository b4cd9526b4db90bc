import { appendFileSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import { readPlain } from '../core/files.js';
import type { Layout } from '../core/paths.js';
import type { Context } from '../project/project.js';
import { MAX_CONTAINERS } from './compare.js';
import {
  type Container,
  eachRecord,
  type Line,
  MAX_CONTAINER_BYTES,
  parseContainer,
  segmentOf,
} from './container.js';
import { cacheFile, ledgerFolder, writeCache } from './context.js';
import { Graph } from './graph.js';
import { byNumber, type LedgerRecord, recordId, type Tier, type Tombstone } from './record.js';

/** A change within this time of a read may leave every stamp the same. */
export const CLOCK_TICK_MS = 50;

/** One file of the ledger folder, as it was listed. */
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

/** Names and stamps. The caller holds the lock, so that no append is under way. */
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

/** Covers names and stamps, so that a file edited in place changes it. */
export function digestOf(listed: readonly Pick<Listed, 'name' | 'stamp'>[]): string {
  const digest =
    digests.get(listed) ?? recordId(listed.map(({ name, stamp }) => `${name} ${stamp}`).join('\n'));
  digests.set(listed, digest);
  return digest;
}

/** The last snapshot of this process. */
let latest: (Snapshot & { folder: string }) | null = null;

/** Reads what the cache does not know. Needs no lock: containers only grow, and are read up to the listed size. */
export function readSnapshot(context: Context, listed: readonly Listed[]): Snapshot {
  const folder = ledgerFolder(context.layout);
  if (latest?.folder === folder && digestOf(latest.listed) === digestOf(listed)) return latest;
  const cache = readCache(context.layout);
  const isOwn = ({ name }: Listed): boolean => segmentOf(name) !== null;
  const files = listed.filter(isOwn);
  const known = ({ name, stamp }: Listed): Container | null => {
    const container = cache.containers.get(name);
    return container?.stamp === stamp ? container : null;
  };
  const total = files.reduce((sum, file) => sum + (known(file) ? 0 : file.size), 0);
  let read = 0;
  const kept: Container[] = [];
  const fresh: Container[] = [];
  const containers = files.map((file) => {
    const found = known(file);
    if (!found) {
      context.signal?.throwIfAborted();
      read += file.size;
      context.onProgress?.(read, total);
    }
    const container = found ?? readContainer(context, file);
    const isSettled = found !== null || file.changedAt < Date.now() - CLOCK_TICK_MS;
    if (isSettled) kept.push(container);
    if (isSettled && !found) fresh.push(container);
    return container;
  });
  if (!context.disk.dryRun) updateCache(context.layout, cache.lines, kept, fresh);
  const others = listed.filter((file) => !isOwn(file)).map(({ name }) => name);
  latest = { folder, graph: new Graph(containers), listed: [...listed], others };
  return latest;
}

function readContainer({ layout }: Context, { name, stamp, size, isFile }: Listed): Container {
  const damaged = (reason: string): Container => {
    const empty = parseContainer(name, Buffer.alloc(0), stamp);
    // Its bytes are not read. A person who vouches for it vouches for this file at this size.
    const sha256 = recordId(`${name} ${size}`);
    const problem = { line: 0, offset: 0, reason, length: size, sha256, last_good: null };
    return { ...empty, problems: [problem] };
  };
  if (!isFile) return damaged('not a regular file');
  if (size > MAX_CONTAINER_BYTES) return damaged(`larger than ${MAX_CONTAINER_BYTES} bytes`);
  try {
    const bytes = readPlain(join(ledgerFolder(layout), name), MAX_CONTAINER_BYTES) ?? Buffer.alloc(0);
    return parseContainer(name, bytes.subarray(0, size), stamp);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return damaged(error.message);
    throw error;
  }
}

/** One line for each container. A later line of the same name counts. */
interface Cache {
  containers: Map<string, Container>;
  lines: number;
}

function readCache(layout: Layout): Cache {
  const cache: Cache = { containers: new Map(), lines: 0 };
  try {
    for (const line of readFileSync(cacheFile(layout), 'utf8').split('\n')) {
      if (line === '') continue;
      const container = JSON.parse(line) as Container;
      cache.containers.set(container.name, container);
      cache.lines++;
    }
    return cache;
  } catch {
    // No cache, or a writer was killed. Whole lines count, and the file is rewritten.
    return { ...cache, lines: Number.POSITIVE_INFINITY };
  }
}

/** Outdated lines that the cache may have. */
const SPARE_LINES = 100;

/** Without it all is read again: it costs time, not correctness. */
function updateCache(
  layout: Layout,
  lines: number,
  kept: readonly Container[],
  fresh: readonly Container[],
): void {
  const format = (containers: readonly Container[]): string =>
    containers.map((container) => `${JSON.stringify(container)}\n`).join('');
  const isShort = lines > 0 && lines + fresh.length <= 2 * kept.length + SPARE_LINES;
  try {
    if (!isShort) writeCache(cacheFile(layout), format(kept));
    else if (fresh.length > 0) appendFileSync(cacheFile(layout), format(fresh));
  } catch {
    // See above.
  }
}

/** The bytes of a container, for those who need its lines. None of a file that is not read: too large, or a link. */
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

/** The records of one tier in order of (n, id), each once; none that is redacted. Only its lines are parsed. */
export function recordsOf(
  context: Context,
  graph: Graph,
  tier: Tier,
  files: readonly Container[] = graph.containers,
): ReadRecord[] {
  const gone = graph.tombstones();
  const found = new Map<string, ReadRecord>();
  for (const { name, tiers } of files) {
    if (!tiers[tier]) continue;
    const take = (id: string, record: LedgerRecord | Tombstone, { bytes: line }: Line): unknown =>
      gone.has(id) || found.set(id, { id, record: record as LedgerRecord, line });
    eachRecord(containerBytes(context, name), take, tier);
  }
  return [...found.values()].sort((a, b) => byNumber({ ...a, n: a.record.n }, { ...b, n: b.record.n }));
}
