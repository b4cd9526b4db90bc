import { join } from 'node:path';
import { streamGit } from '../adapters/git.js';
import { findRecords, memoryTree, readBlobs } from '../adapters/git-memory.js';
import type { MissingRecord } from '../domain/finding.js';
import { byNumber, recordId, TIERS, type Tier } from '../domain/ledger.js';
import { readJournal } from '../store/journal.js';
import { memoryFolder, shownFrom } from '../store/layout.js';
import { type Around, appendVerbatim, putBackSegment } from '../store/ledger.js';
import type { Context } from './context.js';
import { type RecordRef, storeAudit } from './ledger.js';

/** What was put back, of one tier. */
export interface Restored {
  tier: Tier;
  records: number;
  /** The lowest and the highest number. */
  from: number;
  to: number;
}

interface Line {
  id: string;
  n: number;
  bytes: Buffer;
}

/** A record's bytes, and the file of a commit that has them. */
interface Found {
  bytes: Buffer;
  commit?: string;
  /** From the worktree's top. */
  path?: string;
}

type Wanted = Pick<MissingRecord, 'id' | 'tier' | 'n' | 'source'>;

/** From git what was committed, with its file; from the journal the rest, and what git has no more. */
async function gather(
  context: Context,
  journalSize: number,
  wanted: readonly Wanted[],
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const committed = wanted.filter(({ source }) => source !== 'journal').map(({ id }) => id);
  await addFromGit(context, new Set(committed), found);
  const rest = new Set(wanted.map(({ id }) => id).filter((id) => !found.has(id)));
  readJournal(context.layout, journalSize, (bytes) => {
    const id = recordId(bytes);
    if (rest.has(id)) found.set(id, { bytes: Buffer.from(bytes) });
  });
  return found;
}

async function addFromGit(
  context: Context,
  wanted: ReadonlySet<string>,
  found: Map<string, Found>,
): Promise<void> {
  const { git, repository, layout, world } = context;
  if (wanted.size === 0 || !git || !repository) return;
  const folder = shownFrom(repository.root, memoryFolder(layout));
  const query = { folder, wanted, where: 'everywhere' as const };
  for (const [id, place] of await findRecords(git, streamGit(repository.root, world.env), query))
    found.set(id, place);
}

/**
 * Puts records back: a segment that is gone as a whole as it was, other lines verbatim in a new segment of their
 * tier. What is not at hand is left out. The audit ledger says what came back and why.
 */
export async function restoreRecords(
  context: Context,
  around: Around,
  journalSize: number,
  missing: readonly Wanted[],
  audit: Record<string, unknown>,
): Promise<{ restored: Restored[]; audit: RecordRef | null }> {
  const found = await gather(context, journalSize, missing);
  const standing = await putBackSegments(context, missing, found);
  const chains = readChains(
    context,
    journalSize,
    [...found.values()].map(({ bytes }) => bytes),
  );
  const restored: Restored[] = [];
  const ids: string[] = [];
  for (const tier of TIERS) {
    const lines = missing
      .filter((record) => record.tier === tier && found.has(record.id))
      .map(({ id, n }): Line => ({ id, n, bytes: (found.get(id) as Found).bytes }))
      .sort(byNumber);
    if (lines.length === 0) continue;
    const rest = lines.filter(({ id }) => !standing.has(id));
    if (rest.length > 0)
      appendVerbatim(context.disk, tier, [...parentsOf(rest, chains), ...rest.map(({ bytes }) => bytes)]);
    restored.push({ tier, records: lines.length, from: numberOf(lines[0]), to: numberOf(lines.at(-1)) });
    ids.push(...lines.map(({ id }) => id));
  }
  if (restored.length === 0) return { restored, audit: null };
  const sources = [...new Set(missing.map(({ source }) => source))];
  const named = { records: ids.slice(0, MAX_NAMED), count: ids.length };
  const record = { kind: 'restored', ...audit, restored, sources, ...named };
  return { restored, audit: storeAudit(context, around, record, { despite: true }) };
}

/** A parent that only its child names is known by its id alone. */
const numberOf = (line: Line | undefined): number =>
  line?.n || (line ? (JSON.parse(line.bytes.toString('utf8')) as { n: number }).n : 0);

/** Whole segments whose names are free; the ids of the wanted records in them. */
async function putBackSegments(
  context: Context,
  missing: readonly Wanted[],
  found: ReadonlyMap<string, Found>,
): Promise<Set<string>> {
  const standing = new Set<string>();
  const { git, repository, disk, world } = context;
  if (!git || !repository) return standing;
  const stream = streamGit(repository.root, world.env);
  const folder = shownFrom(repository.root, memoryFolder(context.layout));
  for (const { commit, path } of segmentsOf(found)) {
    const target = join(repository.root, path);
    const oid = disk.exists(target) ? undefined : (await memoryTree(git, commit, folder)).get(path);
    if (oid === undefined) continue;
    const lines: Buffer[] = [];
    await readBlobs(stream, [oid], (_oid, bytes) => lines.push(Buffer.from(bytes)));
    const ids = new Set(lines.map(recordId));
    const wanted = missing.filter(({ id }) => ids.has(id) && found.has(id));
    const journalled = wanted.map(({ id }) => (found.get(id) as Found).bytes);
    if (putBackSegment(disk, target, lines, journalled)) for (const { id } of wanted) standing.add(id);
  }
  return standing;
}

/** Fixed files and archives are not among them: what was cut out of one comes back beside it. */
function segmentsOf(found: ReadonlyMap<string, Found>): { commit: string; path: string }[] {
  const segments = new Map<string, { commit: string; path: string }>();
  for (const { commit, path } of found.values())
    if (commit !== undefined && path !== undefined && /\.d\/[^/]+\.jsonl$/.test(path))
      segments.set(path, { commit, path });
  return [...segments.values()];
}

interface Chained {
  prev: string | null;
  bytes: Buffer;
}

const prevOf = (bytes: Buffer): string | null =>
  (JSON.parse(bytes.toString('utf8')) as { prev: string | null }).prev;

/** All that the journal has, by id, if what comes back follows anything. */
function readChains(context: Context, journalSize: number, lines: readonly Buffer[]): Map<string, Chained> {
  const chains = new Map<string, Chained>();
  if (lines.every((line) => prevOf(line) === null)) return chains;
  readJournal(context.layout, journalSize, (line) => {
    const bytes = Buffer.from(line);
    if (bytes.includes('"prev":')) chains.set(recordId(bytes), { prev: prevOf(bytes), bytes });
  });
  return chains;
}

/**
 * The uncommitted records that these follow, whether they are here or in a stash: git may take the one file and leave
 * the other, so a segment has to stand for itself. Twice in the tree they are one.
 */
function parentsOf(lines: readonly Line[], chains: ReadonlyMap<string, Chained>): Buffer[] {
  const done = new Set(lines.map(({ id }) => id));
  const before: Buffer[] = [];
  for (const { bytes } of lines)
    for (let id = prevOf(bytes); id !== null && !done.has(id); ) {
      done.add(id);
      const parent = chains.get(id);
      if (!parent) break;
      before.push(parent.bytes);
      id = parent.prev;
    }
  return before;
}

/** A record is at most 1 MB. */
const MAX_NAMED = 1000;
