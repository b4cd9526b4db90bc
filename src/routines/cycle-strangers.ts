import { parseLine, recordId, TIERS, type Tier } from '../domain/ledger.js';
import { plural } from '../domain/text.js';
import { journalStamp, readJournal } from '../store/journal.js';
import { shown } from '../store/layout.js';
import { type Container, listArchives, listContainers, scanContainer } from '../store/ledger-files.js';
import type { Context } from './context.js';
import { fromTop, gitFacts } from './memory-facts.js';
import { untilSettled } from './memory-read.js';
import { dropElsewhere } from './seal-look.js';

/** A record that the journal does not know, in a file that HEAD does not have as it is. */
interface Stranger {
  tier: Tier;
  place: string;
}

/** Memory at one moment, as far as git does not vouch for it. */
export interface Strangers {
  /** Every container, and what it was. */
  stats: Map<string, string>;
  found: Map<string, Stranger>;
}

/** Looks at memory; what is the same as it was `before` is not read again. */
export async function findStrangers(context: Context, before?: Strangers): Promise<Strangers> {
  const git = await gitFacts(context);
  const committed = new Set(git ? [...git.tree.keys()].map((path) => fromTop(context, path)) : []);
  for (const { path } of git?.changed ?? []) committed.delete(fromTop(context, path));
  return untilSettled(() => {
    const { layout } = context;
    const containers = [...TIERS.flatMap((tier) => listContainers(layout, tier)), ...listArchives(layout)];
    const found = new Map<string, Stranger>();
    for (const container of containers)
      if (
        !committed.has(shown(layout, container.path)) &&
        before?.stats.get(container.path) !== container.stat
      )
        readInto(context, container, found);
    if (found.size > 0)
      readJournal(layout, journalStamp(layout).size, (bytes) => found.delete(recordId(bytes)));
    return { stats: new Map(containers.map(({ path, stat }) => [path, stat])), found };
  });
}

function readInto({ layout }: Context, { path, size }: Container, found: Map<string, Stranger>): void {
  const ignore = (): void => {};
  const line = (bytes: Buffer, number: number): void => {
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind !== 'record' || parsed.record.kind === 'genesis') return;
    found.set(recordId(bytes), { tier: parsed.record.tier, place: `${shown(layout, path)}:${number}` });
  };
  scanContainer(path, size, { line, long: ignore, tail: ignore });
}

/**
 * LTM-12: records that came since and that neither forge's journal nor any commit has. Somebody wrote them into the ledgers
 * by hand. What forge itself recorded meanwhile, for whomever, is none.
 */
export async function newStrangers(context: Context, before: Strangers): Promise<string[]> {
  const { found } = await findStrangers(context, before);
  const fresh = new Set([...found.keys()].filter((id) => !before.found.has(id)));
  const left = [...(await dropElsewhere(context, fresh))].map((id) => found.get(id) as Stranger);
  return TIERS.flatMap((tier) => {
    const [first, ...more] = left.filter((stranger) => stranger.tier === tier);
    if (!first) return [];
    const count = more.length + 1;
    return `${plural(count, 'record')} of the ${tier} ledger ${count === 1 ? 'was' : 'were'} not written by forge (${first.place})`;
  });
}
