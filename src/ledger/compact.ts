import { refused } from '../core/error.js';
import { fixedFile } from '../core/paths.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { type RecordRef, storeAudit, storeRecords } from './append.js';
import { foldAll, whyNotFold } from './fold.js';
import { requireMemory } from './integrity.js';
import { TIERS } from './rules/record.js';
import { compactExecution } from './store/compact.js';
import { describeContainer, eachLine } from './store/files.js';
import type { Around } from './store/ledger.js';
import { dropReset } from './store/reset.js';

export interface Compacted {
  /** Records sealed now. */
  archived: number;
  /** The archive; null when nothing was old enough. */
  archive: string | null;
  audit?: RecordRef;
}

/** LTM-10: how many cycles stay live. */
const LIVE_CYCLES = 1000;

/** Seals all but the last 1,000 cycles into an archive that stays part of the ledger. On the default branch. */
export async function compactMemory(context: Context): Promise<Compacted> {
  requireSupervisor(context, 'memory');
  const reason = await whyNotFold(context);
  if (reason)
    throw refused('compact.branch', `Nothing was compacted: ${reason}.`, {
      hint: 'Compact on the default branch, after the merge.',
    });
  const { around } = await requireMemory(context);
  return seal(context, around);
}

/** How many more may be live before a session's end seals them: no archive for every few cycles. */
const SLACK = 100;

/** LTM-10: needs no human. After the fold of a session's end. */
export function compactAtSessionEnd(context: Context, around: Around): void {
  if (countCycles(context) <= LIVE_CYCLES + SLACK) return;
  seal(context, around);
  // What says so is folded like the rest.
  foldAll(context);
}

/** In the fixed file alone: the segments were folded into it. */
function countCycles({ layout }: Context): number {
  const fixed = describeContainer(fixedFile(layout, 'execution'));
  // Fewer bytes than so many of the shortest cycles have.
  if (!fixed || fixed.size < LIVE_CYCLES * 300) return 0;
  let count = 0;
  eachLine([fixed], (bytes) => {
    if (bytes.includes(CYCLE)) count++;
  });
  return count;
}

const CYCLE = Buffer.from('"kind":"cycle"');

function seal(context: Context, around: Around): Compacted {
  return context.disk.withLock(() => {
    foldAll(context);
    // What a merge brought back of what was reset.
    for (const tier of TIERS) dropReset(context.disk, tier);
    const sealed = compactExecution(context.disk, LIVE_CYCLES, (anchor) => {
      storeRecords(context, around, 'execution', [{ kind: 'archive', ...anchor }]);
      foldAll(context);
    });
    if (!sealed) return { archived: 0, archive: null };
    const audit = storeAudit(context, around, {
      kind: 'compacted',
      of: 'execution',
      archive: sealed.archive,
      count: sealed.count,
    });
    return { archived: sealed.count, archive: sealed.archive, audit };
  });
}
