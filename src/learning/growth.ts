import { acceptedGrowth, type Growth, growthOf } from '../ledger/growth.js';
import { liveBytes, readMemory, storeAudit } from '../ledger/memory.js';
import type { Context } from '../project/project.js';

interface Size {
  bytes: number;
  growth: Growth;
  /** The size that a human accepted last; 0 when nobody has. */
  accepted: number;
}

/** How large memory is. What a human accepted is read only when it is large. */
export function readSize(context: Context): Size {
  const bytes = liveBytes(context);
  if (growthOf(bytes) === 'normal') return { bytes, growth: 'normal', accepted: 0 };
  const accepted = acceptedGrowth(readMemory(context).graph);
  return { bytes, growth: growthOf(bytes, accepted), accepted };
}

const ACCEPT = 'forge memory override acknowledge --reason "…"';

/** Why consolidation waits (LTM-11). */
export const TOO_LARGE = `memory has more than 100 MB; a human accepts that with: ${ACCEPT}`;

/** LTM-11: warns about the size of memory, and records one governance warning for a human. Caller holds the lock. */
export function guardGrowth(context: Context): void {
  const { bytes, growth, accepted } = readSize(context);
  const size = `${Math.floor(bytes / 1_000_000)} MB`;
  if (growth === 'large' && accepted === 0)
    context.warnings.push(
      `Memory has ${size}; at 100 MB consolidation pauses until a human accepts its size.`,
    );
  if (growth !== 'paused') return;
  context.warnings.push(`Memory has ${size}: consolidation is paused. A human accepts that with: ${ACCEPT}`);
  const isRecorded = readMemory(context)
    .records('audit')
    .some(({ record }) => record.code === 'memory.size' && Number(record.bytes) >= 2 * accepted);
  if (isRecorded) return;
  const message = `memory has ${size}; consolidation is paused; human review is requested`;
  storeAudit(context, { kind: 'governance_warning', code: 'memory.size', bytes, message });
}
