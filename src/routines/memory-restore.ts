import { streamGit } from '../adapters/git.js';
import { findRecords } from '../adapters/git-memory.js';
import type { MissingRecord } from '../domain/finding.js';
import { byNumber, recordId, TIERS, type Tier } from '../domain/ledger.js';
import { readJournal } from '../store/journal.js';
import { memoryFolder, shownFrom } from '../store/layout.js';
import { type Around, appendVerbatim } from '../store/ledger.js';
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

type Line = { id: string; n: number; bytes: Buffer };

/** The bytes of records, from the journal and, for the rest, from anywhere in git. */
export async function gatherLines(
  context: Context,
  journalSize: number,
  wanted: ReadonlySet<string>,
): Promise<Map<string, Buffer>> {
  const lines = new Map<string, Buffer>();
  readJournal(context.layout, journalSize, (bytes) => {
    const id = recordId(bytes);
    if (wanted.has(id)) lines.set(id, Buffer.from(bytes));
  });
  const rest = new Set([...wanted].filter((id) => !lines.has(id)));
  const { git, repository, layout, world } = context;
  if (rest.size === 0 || !git || !repository) return lines;
  const folder = shownFrom(repository.root, memoryFolder(layout));
  const found = await findRecords(git, streamGit(repository.root, world.env), {
    folder,
    wanted: rest,
    where: 'everywhere',
  });
  for (const [id, { bytes }] of found) lines.set(id, bytes);
  return lines;
}

/**
 * Puts records back: their lines verbatim in a new segment of their tier. What is not at hand is left out. The audit
 * ledger says what came back and why.
 */
export async function restoreRecords(
  context: Context,
  around: Around,
  journalSize: number,
  missing: readonly Pick<MissingRecord, 'id' | 'tier' | 'n' | 'source'>[],
  audit: Record<string, unknown>,
): Promise<{ restored: Restored[]; audit: RecordRef | null }> {
  const bytes = await gatherLines(context, journalSize, new Set(missing.map(({ id }) => id)));
  const chains = readChains(context, journalSize, [...bytes.values()]);
  const restored: Restored[] = [];
  const ids: string[] = [];
  for (const tier of TIERS) {
    const lines = missing
      .filter((record) => record.tier === tier && bytes.has(record.id))
      .map(({ id, n }): Line => ({ id, n, bytes: bytes.get(id) as Buffer }))
      .sort(byNumber);
    if (lines.length === 0) continue;
    const before = parentsOf(lines, chains);
    appendVerbatim(context.disk, tier, [...before, ...lines.map((line) => line.bytes)]);
    restored.push({ tier, records: lines.length, from: (lines[0] as Line).n, to: (lines.at(-1) as Line).n });
    ids.push(...lines.map(({ id }) => id));
  }
  if (restored.length === 0) return { restored, audit: null };
  const sources = [...new Set(missing.map(({ source }) => source))];
  const record = {
    kind: 'restored',
    ...audit,
    restored,
    sources,
    records: ids.slice(0, MAX_NAMED),
    count: ids.length,
  };
  return { restored, audit: storeAudit(context, around, record, { despite: true }) };
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
