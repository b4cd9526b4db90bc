import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { corrupted } from '../../core/error.js';
import { type Layout, shown } from '../../core/paths.js';
import { LedgerGraph, type OnRecord, type Source } from '../rules/graph.js';
import {
  type ArchiveManifest,
  digestOf,
  type GraphResult,
  type LastGood,
  type Place,
} from '../rules/problem.js';
import { parseLine, TIERS, type Tier } from '../rules/record.js';
import { identify, redactedIn } from '../rules/tombstone.js';
import { type Container, eachLine, readRange, scanContainer } from './files.js';
import { readRedacted } from './redacted.js';

export interface ScanOptions {
  /** Containers that HEAD's tree has as they are, as shown paths. */
  committed?: ReadonlySet<string>;
  onRecord?: OnRecord;
  /** Bytes read so far. */
  onProgress?: (bytes: number) => void;
}

export interface Scanned {
  graph: LedgerGraph;
  result: GraphResult;
  bytes: number;
}

/** Every line of a tier's containers and of its archives, checked as one set. Needs no lock: reads up to known sizes. */
export function scanTier(
  layout: Layout,
  tier: Tier,
  live: readonly Container[],
  archives: readonly Container[],
  options: ScanOptions = {},
): Scanned {
  const graph = new LedgerGraph(tier, options.onRecord, readRedacted(layout).keys());
  const own = archives.filter((container) => tierOfArchive(container) === tier);
  const rewritten = own.filter((container) => scanInto(graph, layout, container, true, options));
  for (const container of live) scanInto(graph, layout, container, false, options);
  checkSeals(graph, layout, rewritten);
  return { graph, result: graph.finish(), bytes: live.reduce((sum, { size }) => sum + size, 0) };
}

/** True when something in it was redacted. */
function scanInto(
  graph: LedgerGraph,
  layout: Layout,
  { path, size }: Container,
  archived: boolean,
  { committed, onProgress }: ScanOptions,
): boolean {
  const file = shown(layout, path);
  graph.source = { committed: committed?.has(file) ?? false } satisfies Source;
  let last: LastGood = null;
  let wasRedacted = false;
  const place = (line: number, offset: number): Place => ({ file, line, offset });
  const name = archived ? createHash('sha256') : null;
  scanContainer(path, size, {
    line: (bytes, line, offset) => {
      name?.update(bytes).update(LF);
      wasRedacted ||= redactedIn(bytes) !== null;
      last = graph.add(bytes, place(line, offset), last);
      onProgress?.(bytes.length + 1);
    },
    long: (line, offset, digest) => {
      name?.update(digest.sha256);
      const message = `it has ${digest.length} bytes; a record has 1 MB at most`;
      graph.report('edited', message, digest, place(line, offset), last);
    },
    tail: (bytes, line, offset) => {
      name?.update(bytes);
      graph.report('torn', describeTail(bytes), digestOf(bytes), place(line, offset), last);
    },
  });
  const sha256 = name?.digest('hex');
  if (sha256 && `${sha256}.jsonl` !== basename(path))
    graph.report(
      'archive',
      'its bytes are not those that its name was made of',
      { length: size, sha256 },
      place(0, 0),
      null,
    );
  return wasRedacted;
}

/**
 * An archive is named by its bytes, so once something in it was redacted it has another name than its manifest says. Its
 * ids are the same: some manifest of this ledger must have their digest, or more was changed than that.
 */
function checkSeals(graph: LedgerGraph, layout: Layout, rewritten: readonly Container[]): void {
  for (const { path, size } of rewritten) {
    const { count, ids_sha256 } = manifestOf([{ path, size }]);
    if (graph.manifests.some((manifest) => manifest.ids_sha256 === ids_sha256 && manifest.count === count))
      continue;
    const message = 'its records are not those of any archive that this ledger sealed';
    const sha256 = createHash('sha256')
      .update(readRange(path, 0, size))
      .digest('hex');
    graph.report(
      'archive',
      message,
      { length: size, sha256 },
      { file: shown(layout, path), line: 0, offset: 0 },
      null,
    );
  }
}

/** How many records some containers hold, and the digest of their ids; what was redacted counts. */
export function manifestOf(
  containers: readonly Pick<Container, 'path' | 'size'>[],
): Omit<ArchiveManifest, 'archive'> {
  const numbers: number[] = [];
  const ids: string[] = [];
  eachLine(containers, (bytes) => {
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind !== 'record' && parsed.kind !== 'tombstone') return;
    numbers.push(parsed.kind === 'record' ? parsed.record.n : parsed.tombstone.n);
    ids.push(identify(bytes));
  });
  numbers.sort((a, b) => a - b);
  return { count: ids.length, ids_sha256: digestIds(ids), from: numbers[0] ?? 0, to: numbers.at(-1) ?? 0 };
}

/** SHA-256 of the sorted ids, each followed by LF. */
export function digestIds(ids: readonly string[]): string {
  const lines = ids.map((id) => `${id}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex');
}

const LF = Buffer.from('\n');

function describeTail(bytes: Buffer): string {
  if (bytes.every((byte) => byte === 0))
    return `it is filled with ${bytes.length} zero bytes, as a power loss leaves it`;
  return 'it does not end in a line feed: writing it was cut off';
}

/** An archive holds records of one tier; its start says which. One that was damaged there is somebody's too. */
export function tierOfArchive({ path, size }: Container): Tier {
  const start = readRange(path, 0, Math.min(size, 64)).toString('latin1');
  const name = /^\{"v":1,"tier":"([a-z]+)"/.exec(start)?.[1];
  return TIERS.find((tier) => tier === name) ?? 'execution';
}

/** One line tells which containers these are and that none was touched. */
export function digestContainers(containers: readonly Container[]): string {
  const hash = createHash('sha256');
  for (const { path, stat } of containers) hash.update(`${basename(path)}\0${stat}\n`);
  return hash.digest('hex');
}

/** What stops an append: links that break, lines that are none. */
export function refuseDamaged({ result, graph }: Scanned): void {
  const found = result.unreadable[0] ?? result.missing[0] ?? result.problems[0];
  if (!found) return;
  const at = `${found.file}:${found.line}`;
  throw corrupted('memory.corrupted', `${at}: the ${graph.tier} ledger is damaged: ${found.message}.`, {
    file: found.file,
    line: found.line,
    offset: found.offset,
    hint: 'forge memory verify',
  });
}
