import { parseLine, recordId, TIERS, type Tier } from '../../domain/ledger/ledger.js';
import { plural } from '../../domain/text.js';
import { shown } from '../../store/layout.js';
import { type Container, listArchives, listContainers, scanContainer } from '../../store/ledger/files.js';
import { journalStamp, readJournal } from '../../store/ledger/journal.js';
import type { Context } from '../context.js';
import { fromTop, gitFacts } from '../memory/facts.js';
import { untilSettled } from '../memory/read.js';
import { dropElsewhere } from '../supervisor/seal-look.js';

/** A record that came to a file. */
interface Stranger {
  tier: Tier;
  file: string;
  place: string;
}

/** What the files of memory are at one moment, by their paths. */
export type MemoryStamp = ReadonlyMap<string, Container>;

/** Takes no reading: the ledgers were verified just before. */
export const stampMemory = (context: Context): MemoryStamp =>
  untilSettled(() => new Map(containersOf(context).map((container) => [container.path, container])));

const containersOf = ({ layout }: Context): Container[] => [
  ...TIERS.flatMap((tier) => listContainers(layout, tier)),
  ...listArchives(layout),
];

/** Records that stand where none stood, and that the journal does not know. */
function readSince(context: Context, before: MemoryStamp): Map<string, Stranger> {
  const found = new Map<string, Stranger>();
  for (const container of containersOf(context)) {
    const was = before.get(container.path);
    if (was?.stat !== container.stat) readFrom(context, container, was?.size ?? 0, found);
  }
  const { layout } = context;
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
    found.set(recordId(bytes), { tier: parsed.record.tier, file, place: `${file}:${number}` });
  };
  scanContainer(path, size, { line, long: ignore, tail: ignore });
}

/** Without those that HEAD has as they stand, or that another commit has. */
async function dropCommitted(context: Context, found: ReadonlyMap<string, Stranger>): Promise<Stranger[]> {
  const git = await gitFacts(context);
  const committed = new Set(git ? [...git.tree.keys()].map((path) => fromTop(context, path)) : []);
  for (const { path } of git?.changed ?? []) committed.delete(fromTop(context, path));
  const ids = [...found].filter(([, { file }]) => !committed.has(file)).map(([id]) => id);
  return [...(await dropElsewhere(context, new Set(ids)))].map((id) => found.get(id) as Stranger);
}

/**
 * LTM-12: records that came since and that neither forge's journal nor any commit has. Somebody wrote them into the ledgers
 * by hand. What forge itself recorded meanwhile, for whomever, is none.
 */
export async function newStrangers(context: Context, before: MemoryStamp): Promise<string[]> {
  // Under the lock: who records writes to a segment first, and then to the journal.
  const found = context.disk.withLock(() => untilSettled(() => readSince(context, before)));
  // Mostly so; git is asked only about what looks strange.
  if (found.size === 0) return [];
  const left = await dropCommitted(context, found);
  return TIERS.flatMap((tier) => {
    const [first, ...more] = left.filter((stranger) => stranger.tier === tier);
    if (!first) return [];
    const count = more.length + 1;
    return `${plural(count, 'record')} of the ${tier} ledger ${count === 1 ? 'was' : 'were'} not written by forge (${first.place})`;
  });
}
