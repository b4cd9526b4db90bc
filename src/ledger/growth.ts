import type { Context } from '../project/project.js';
import { storeAudit } from './append.js';
import { readRecords } from './read.js';
import { TIERS } from './rules/record.js';
import { listContainers } from './store/files.js';
import type { Around } from './store/ledger.js';

/** LTM-11, bytes of live containers. Warned from the first; from the second on consolidation pauses. */
const WARN_BYTES = 80_000_000;
const PAUSE_BYTES = 100_000_000;

export type Growth = 'normal' | 'large' | 'paused';

export const growthOf = (bytes: number): Growth =>
  bytes >= PAUSE_BYTES ? 'paused' : bytes >= WARN_BYTES ? 'large' : 'normal';

/** Bytes of everything but archives. */
export const liveBytes = ({ layout }: Context): number =>
  TIERS.flatMap((tier) => listContainers(layout, tier)).reduce((sum, { size }) => sum + size, 0);

/** Says so when memory has grown too large, and leaves a governance warning once. Recording goes on. Caller holds the lock. */
export function guardGrowth(context: Context, around: Around): void {
  const bytes = liveBytes(context);
  const growth = growthOf(bytes);
  if (growth === 'normal') return;
  const size = `${Math.floor(bytes / 1_000_000)} MB`;
  if (growth === 'large') {
    context.warnings.push(
      `Memory has ${size}; at 100 MB consolidation pauses. Seal old cycles with: forge memory compact`,
    );
    return;
  }
  context.warnings.push(
    `Memory has ${size}: consolidation is paused until a human has looked. Run: forge memory compact`,
  );
  if (!hasWarned(context))
    storeAudit(context, around, {
      kind: 'governance_warning',
      code: 'memory.size',
      bytes,
      message: `live memory has ${size}; consolidation is paused; human review is requested`,
    });
}

/** Since the last compaction. */
function hasWarned(context: Context): boolean {
  let warned = false;
  for (const { record } of readRecords(context, 'audit')) {
    if (record.kind === 'compacted') warned = false;
    if (record.kind === 'governance_warning' && record.code === 'memory.size') warned = true;
  }
  return warned;
}
