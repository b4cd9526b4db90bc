import { memoryFolder, shown, shownFrom } from '../core/paths.js';
import { plural } from '../core/text.js';
import { streamGit } from '../git/client.js';
import { listBrought } from '../git/held-commits.js';
import { findRecords } from '../git/memory.js';
import { storeAudit, storeRecords, surroundings } from '../ledger/append.js';
import { untilSettled } from '../ledger/read.js';
import { parseLine, recordId, TIERS, type Tier } from '../ledger/rules/record.js';
import { type Container, scanContainer } from '../ledger/store/files.js';
import { journalStamp, readJournal } from '../ledger/store/journal.js';
import type { Context } from '../project/project.js';
import { readUnjudged } from './state.js';
import { containersOf, heldCommits, type MemoryBefore } from './witness.js';

/** A record that came to a file. */
export interface Stranger {
  id: string;
  tier: Tier;
  file: string;
  place: string;
}

/** Records that stand where none stood, and that the journal does not know. */
function readSince(context: Context, before: MemoryBefore): Map<string, Stranger> {
  const found = new Map<string, Stranger>();
  for (const container of containersOf(context)) {
    const was = before.files.get(shown(context.layout, container.path));
    if (was?.stat !== container.stat) readFrom(context, container, was?.size ?? 0, found);
  }
  const { layout } = context;
  for (const id of before.journal.keys()) found.delete(id);
  if (found.size > 0)
    readJournal(layout, journalStamp(layout).size, (bytes) => found.delete(recordId(bytes)));
  return found;
}

/** Files of memory only grow at their ends; what changed otherwise is for verification to find. */
function readFrom(
  { layout }: Context,
  { path, size }: Container,
  start: number,
  found: Map<string, Stranger>,
): void {
  const file = shown(layout, path);
  const ignore = (): void => {};
  const line = (bytes: Buffer, number: number, offset: number): void => {
    if (offset < start) return;
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind !== 'record' || parsed.record.kind === 'genesis') return;
    const id = recordId(bytes);
    found.set(id, { id, tier: parsed.record.tier, file, place: `${file}:${number}` });
  };
  scanContainer(path, size, { line, long: ignore, tail: ignore });
}

/** Without those that some commit had before the command, or that came from elsewhere: its own commits vouch for nothing. */
async function dropCommitted(
  { git, layout, repository, world }: Context,
  { commits }: MemoryBefore,
  found: ReadonlyMap<string, Stranger>,
): Promise<Stranger[]> {
  if (!git || !repository || !commits) return [...found.values()];
  const brought = await listBrought(git, repository);
  const committed = await findRecords(git, streamGit(repository.root, world.env), {
    folder: shownFrom(repository.root, memoryFolder(layout)),
    wanted: new Set(found.keys()),
    where: { commits: [...brought, ...commits] },
  });
  return [...found].filter(([id]) => !committed.has(id)).map(([, stranger]) => stranger);
}

/**
 * LTM-12: records that came since and that neither forge's journal nor any commit has but those that the command made.
 * Somebody wrote them into the ledgers by hand. What forge itself recorded meanwhile, for whomever, is none.
 */
export async function newStrangers(context: Context, before: MemoryBefore): Promise<Stranger[]> {
  // Under the lock: who records writes to a segment first, and then to the journal.
  const found = context.disk.withLock(() => untilSettled(() => readSince(context, before)));
  // Mostly so; git is asked only about what looks strange.
  if (found.size === 0) return [];
  return dropCommitted(context, before, found);
}

/** As violations of the cycle, one for each ledger. */
export const describeStrangers = (strangers: readonly Stranger[]): string[] =>
  TIERS.flatMap((tier) => {
    const [first, ...more] = strangers.filter((stranger) => stranger.tier === tier);
    if (!first) return [];
    const count = more.length + 1;
    return `${plural(count, 'record')} of the ${tier} ledger ${count === 1 ? 'was' : 'were'} not written by forge (${first.place})`;
  });

/** What the command of a cycle wrote by hand whose forge was killed before it could look. */
export interface Unseen {
  key: string;
  violations: string[];
}

/** Git and people went on since, so here whatever has been committed is let be. Null when all commands were looked at. */
export async function judgeUnseen(context: Context): Promise<Unseen | null> {
  const left = readUnjudged(context.disk);
  if (!left) return null;
  const files = new Map(Object.entries(left.files));
  const commits = await heldCommits(context);
  const strangers = await newStrangers(context, { files, journal: new Map(), anchors: null, commits });
  await voidStrangers(context, strangers, left.key);
  return { key: left.key, violations: describeStrangers(strangers) };
}

/** So many ids fit into a record. */
const AT_ONCE = 10_000;

/**
 * Declares them void in their ledgers, so that wherever these are read nobody shows, weighs or counts them. The cycle's own
 * record follows: one that bears its key by hand is none, and what it makes due is weighed without them.
 */
export async function voidStrangers(
  context: Context,
  strangers: readonly Stranger[],
  key: string,
): Promise<void> {
  if (strangers.length === 0) return;
  const around = await surroundings(context);
  const decision = { by: 'forge', reason: `not written by forge, but during cycle ${key}` };
  const repairs = TIERS.flatMap((tier) => {
    const ids = strangers.filter((stranger) => stranger.tier === tier).map(({ id }) => id);
    return chunksOf(ids, AT_ONCE).flatMap((voided) => {
      const draft = { kind: 'repair', ...decision, bytes: [], lost: [], voided };
      const [record] = storeRecords(context, around, tier, [draft], { despite: true });
      return record ? [{ tier, record, bytes: 0, lost: 0, voided: voided.length }] : [];
    });
  });
  storeAudit(context, around, { kind: 'repaired', ...decision, repairs }, { despite: true });
}

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
