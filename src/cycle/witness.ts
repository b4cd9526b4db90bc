import { ForgeError } from '../core/error.js';
import { anchorsFile, journalFile, shown } from '../core/paths.js';
import { plural } from '../core/text.js';
import { listHeldCommits } from '../git/held-commits.js';
import { untilSettled } from '../ledger/read.js';
import { TIERS } from '../ledger/rules/record.js';
import { identify } from '../ledger/rules/tombstone.js';
import { type Anchors, readAnchors, writeAnchors } from '../ledger/store/anchors.js';
import { type Container, listArchives, listContainers, readRange } from '../ledger/store/files.js';
import { appendJournal, journalStamp, readJournal } from '../ledger/store/journal.js';
import { readRedacted } from '../ledger/store/redacted.js';
import type { Context } from '../project/project.js';
import { writeUnjudged } from './state.js';

/** What bears witness to memory as it was before a command, where that cannot reach it. */
export interface MemoryBefore {
  /** The files of memory, by their shown paths. */
  files: ReadonlyMap<string, Pick<Container, 'size' | 'stat'>>;
  /** The lines of the journal, by the ids of their records. */
  journal: ReadonlyMap<string, Buffer>;
  /** Null where there were none. */
  anchors: Anchors | null;
  /** All commits that led to something; null where git cannot tell. */
  commits: readonly string[] | null;
}

/**
 * Takes no reading of the ledgers: they were verified just before. The sizes of their files stay in the git dir too, should
 * forge be killed before it looks again: until somebody does, nothing is consolidated.
 */
export async function rememberMemory(context: Context, key: string): Promise<MemoryBefore> {
  const { disk, layout } = context;
  const files = untilSettled(
    () => new Map(containersOf(context).map((each) => [shown(layout, each.path), each])),
  );
  const sizes = [...files].map(([file, { size, stat }]) => [file, { size, stat }] as const);
  writeUnjudged(disk, { schema_version: '1.0', key, files: Object.fromEntries(sizes) });
  return {
    commits: await heldCommits(context),
    files,
    journal: readLines(context),
    anchors: disk.exists(anchorsFile(layout)) ? readAnchors(disk) : null,
  };
}

export const containersOf = ({ layout }: Context): Container[] => [
  ...TIERS.flatMap((tier) => listContainers(layout, tier)),
  ...listArchives(layout),
];

export async function heldCommits({ git, repository }: Context): Promise<string[] | null> {
  if (!git || !repository) return null;
  try {
    return await listHeldCommits(git);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return null;
  }
}

function readLines({ layout }: Context): Map<string, Buffer> {
  const lines = new Map<string, Buffer>();
  readJournal(layout, journalStamp(layout).size, (bytes) => lines.set(identify(bytes), Buffer.from(bytes)));
  return lines;
}

/**
 * LTM-16: what misses records that are taken away lies in the git dir, and a command can take that away with them. It is
 * written again, so that verification finds, and puts back, what is gone. What was gone is named.
 */
export function putBackWitness(context: Context, before: MemoryBefore): string[] {
  const { disk, layout } = context;
  return disk.withLock(() => {
    const [now, redacted] = [readLines(context), readRedacted(layout)];
    const gone = [...before.journal].filter(([id]) => !now.has(id) && !redacted.has(id));
    const lost: string[] = [];
    if (gone.length > 0) {
      const lines = gone.flatMap(([, bytes]) => [bytes, LF]);
      appendJournal(layout, Buffer.concat(isTorn(context) ? [LF, ...lines] : lines));
      lost.push(`${plural(gone.length, 'record')} of forge's journal`);
    }
    if (before.anchors && !disk.exists(anchorsFile(layout))) {
      writeAnchors(disk, before.anchors);
      lost.push('the commits at which memory was verified');
    }
    return lost.map((what) => `the command took ${what} away; forge put back what it knew`);
  });
}

/** Whether the command left half a line, which must not swallow the next one. */
function isTorn({ layout }: Context): boolean {
  const { size } = journalStamp(layout);
  return size > 0 && readRange(journalFile(layout), size - 1, size)[0] !== 0x0a;
}

const LF = Buffer.from('\n');
