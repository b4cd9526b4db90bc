import { refused } from '../domain/error.js';
import { TIERS } from '../domain/ledger.js';
import { compactExecution } from '../store/ledger-compact.js';
import { dropReset } from '../store/ledger-reset.js';
import { type Context, requireSupervisor } from './context.js';
import { requireMemory } from './integrity.js';
import { type RecordRef, storeAudit, storeRecords } from './ledger.js';
import { foldAll, whyNotFold } from './memory-fold.js';

export interface Compacted {
  /** Records sealed now. */
  archived: number;
  /** The archive; null when nothing was old enough. */
  archive: string | null;
  audit?: RecordRef;
}

/** LTM-10: how many cycles stay live. */
export const LIVE_CYCLES = 1000;

/** Seals all but the last 1,000 cycles into an archive that stays part of the ledger. On the default branch. */
export async function compactMemory(context: Context): Promise<Compacted> {
  requireSupervisor(context, 'memory');
  const reason = await whyNotFold(context);
  if (reason)
    throw refused('compact.branch', `Nothing was compacted: ${reason}.`, {
      hint: 'Compact on the default branch, after the merge.',
    });
  const { around } = await requireMemory(context);
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
