import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import { listFolder, readPlain, replaceFiles } from '../core/files.js';
import { MAX_CONTAINERS } from './compare.js';
import { type Container, MAX_CONTAINER_BYTES, parseContainer, segmentOf } from './container.js';
import { cacheFile, type LedgerContext, ledgerFolder } from './context.js';
import { Graph } from './graph.js';
import { recordId } from './record.js';

/** A change within this time of a read may leave every stamp the same. */
const CLOCK_TICK_MS = 50;

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

interface Cache {
  v: 1;
  containers: Container[];
}

/** Names and stamps. The caller holds the lock, so that no append is under way. */
export function listContainers({ layout, disk }: LedgerContext): Listed[] {
  const folder = ledgerFolder(layout);
  disk.requireOwn(folder);
  // One more than allowed, so that the check sees it.
  const names = listFolder(folder).slice(0, MAX_CONTAINERS + 1);
  return names.flatMap((name) => {
    const stat = lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
    if (!stat || (name.startsWith('.') && name.endsWith('.tmp'))) return [];
    const stamp = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
    const changedAt = Number(stat.ctimeNs / 1_000_000n);
    return [{ name, stamp, size: Number(stat.size), isFile: stat.isFile(), changedAt }];
  });
}

export const isSameList = (a: readonly Listed[], b: readonly Listed[]): boolean =>
  a.length === b.length && a.every(({ name, stamp }, i) => name === b[i]?.name && stamp === b[i]?.stamp);

/** Reads what the cache does not know. Needs no lock: containers only grow, and are read up to the listed size. */
export function readSnapshot(context: LedgerContext, listed: readonly Listed[]): Snapshot {
  const cache = readCache(context);
  const isOwn = ({ name }: Listed): boolean => segmentOf(name) !== null;
  let isChanged = false;
  const files = listed.filter(isOwn);
  const isKnown = ({ name, stamp }: Listed): boolean => cache.get(name)?.stamp === stamp;
  const total = files.reduce((sum, file) => sum + (isKnown(file) ? 0 : file.size), 0);
  let read = 0;
  const containers = files.map((file) => {
    const known = cache.get(file.name);
    if (known?.stamp === file.stamp) return known;
    isChanged = true;
    context.signal?.throwIfAborted();
    read += file.size;
    context.onProgress?.(read, total);
    return readContainer(context, file);
  });
  if (isChanged || cache.size !== containers.length) writeCache(context, listed, containers, cache);
  return {
    graph: new Graph(containers),
    listed: [...listed],
    others: listed.filter((file) => !isOwn(file)).map(({ name }) => name),
  };
}

function readContainer({ layout }: LedgerContext, { name, stamp, size, isFile }: Listed): Container {
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

function readCache({ layout }: LedgerContext): Map<string, Container> {
  try {
    const { v, containers } = JSON.parse(readFileSync(cacheFile(layout), 'utf8')) as Cache;
    return v === 1 ? new Map(containers.map((container) => [container.name, container])) : new Map();
  } catch {
    return new Map();
  }
}

/** A cache that cannot be written costs time, not correctness. */
function writeCache(
  context: LedgerContext,
  listed: readonly Listed[],
  containers: readonly Container[],
  known: ReadonlyMap<string, Container>,
): void {
  if (context.disk.dryRun) return;
  const changedAt = new Map(listed.map((file) => [file.name, file.changedAt]));
  const settled = Date.now() - CLOCK_TICK_MS;
  const kept = containers.filter(({ name }) => (changedAt.get(name) ?? 0) < settled);
  const isKnown = ({ name, stamp }: Container): boolean => known.get(name)?.stamp === stamp;
  if (kept.length === known.size && kept.every(isKnown)) return;
  try {
    const cache: Cache = { v: 1, containers: kept };
    replaceFiles([{ path: cacheFile(context.layout), bytes: Buffer.from(JSON.stringify(cache)) }]);
  } catch {
    // See above.
  }
}

/** The bytes of a container, for those who need its lines. None of a file that is not read: too large, or a link. */
export function containerBytes({ layout }: LedgerContext, name: string): Buffer {
  try {
    return readPlain(join(ledgerFolder(layout), name), MAX_CONTAINER_BYTES) ?? Buffer.alloc(0);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return Buffer.alloc(0);
    throw error;
  }
}
