import { memoryFolder, shownFrom } from '../core/paths.js';
import { streamGit } from '../git/client.js';
import { findRecords } from '../git/memory.js';
import type { Context } from '../project/project.js';
import { type RecordRef, storeAudit } from './append.js';
import type { MissingRecord } from './rules/finding.js';
import { byNumber, TIERS, type Tier } from './rules/record.js';
import { identify } from './rules/tombstone.js';
import { readJournal } from './store/journal.js';
import { type Around, appendVerbatim } from './store/ledger.js';
import { readRedacted } from './store/redacted.js';

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

type Wanted = Pick<MissingRecord, 'id' | 'tier' | 'n' | 'source' | 'tombstone'>;

/**
 * From git what was committed; from the journal the rest, and what git has no more. Of what was redacted only the
 * tombstone, whoever has the content.
 */
async function gather(
  context: Context,
  journalSize: number,
  wanted: readonly Wanted[],
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const graves = readRedacted(context.layout);
  for (const { id, tombstone } of wanted) {
    const grave = graves.get(id) ?? tombstone;
    if (grave) found.set(id, grave);
  }
  const committed = wanted
    .filter(({ id, source }) => source !== 'journal' && !found.has(id))
    .map(({ id }) => id);
  await addFromGit(context, new Set(committed), found);
  const rest = new Set(wanted.map(({ id }) => id).filter((id) => !found.has(id)));
  readJournal(context.layout, journalSize, (bytes) => {
    const id = identify(bytes);
    if (rest.has(id)) found.set(id, Buffer.from(bytes));
  });
  return found;
}

async function addFromGit(
  context: Context,
  wanted: ReadonlySet<string>,
  found: Map<string, Buffer>,
): Promise<void> {
  const { git, repository, layout, world } = context;
  if (wanted.size === 0 || !git || !repository) return;
  const folder = shownFrom(repository.root, memoryFolder(layout));
  const query = { folder, wanted, where: 'everywhere' as const };
  for (const [id, { bytes }] of await findRecords(git, streamGit(repository.root, world.env), query))
    found.set(id, bytes);
}

/**
 * Puts records back: their lines verbatim in a new segment of their tier. What is not at hand is left out. The audit ledger says what came back and why.
 */
export async function restoreRecords(
  context: Context,
  around: Around,
  journalSize: number,
  missing: readonly Wanted[],
  audit: Record<string, unknown>,
): Promise<{ restored: Restored[]; audit: RecordRef | null; ids: string[] }> {
  const found = await gather(context, journalSize, missing);
  const chains = readChains(context, journalSize, [...found.values()]);
  const restored: Restored[] = [];
  const ids: string[] = [];
  for (const tier of TIERS) {
    const lines = missing
      .filter((record) => record.tier === tier && found.has(record.id))
      .map(({ id, n }): Line => ({ id, n, bytes: found.get(id) as Buffer }))
      .sort(byNumber);
    if (lines.length === 0) continue;
    appendVerbatim(context.disk, tier, [...parentsOf(lines, chains), ...lines.map(({ bytes }) => bytes)]);
    restored.push({ tier, records: lines.length, from: numberOf(lines[0]), to: numberOf(lines.at(-1)) });
    ids.push(...lines.map(({ id }) => id));
  }
  if (restored.length === 0) return { restored, audit: null, ids };
  const sources = [...new Set(missing.map(({ source }) => source))];
  const named = { records: ids.slice(0, MAX_NAMED), count: ids.length };
  const record = { kind: 'restored', ...audit, restored, sources, ...named };
  return { restored, audit: storeAudit(context, around, record, { despite: true }), ids };
}

/** A parent that only its child names is known by its id alone. */
const numberOf = (line: Line | undefined): number =>
  line?.n || (line ? (JSON.parse(line.bytes.toString('utf8')) as { n: number }).n : 0);

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
    if (bytes.includes('"prev":')) chains.set(identify(bytes), { prev: prevOf(bytes), bytes });
  });
  for (const [id, bytes] of readRedacted(context.layout)) chains.set(id, { prev: prevOf(bytes), bytes });
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
