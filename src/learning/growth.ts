import { acceptedGrowth, type Growth, growthOf } from '../ledger/graph.js';
import { liveBytes, readMemory, storeAudit } from '../ledger/memory.js';
import type { Context } from '../project/project.js';

interface Size {
  bytes: number;
  growth: Growth;
  /** The size that a human accepted last; 0 when nobody has. */
  accepted: number;
}

/** How large memory is. What a human accepted is read only when it is large. */
export function readSize(context: Context, bytes = liveBytes(context)): Size {
  if (growthOf(bytes) === 'normal') return { bytes, growth: 'normal', accepted: 0 };
  const accepted = acceptedGrowth(readMemory(context).graph);
  return { bytes, growth: growthOf(bytes, accepted), accepted };
}

export const ACCEPT = 'forge memory override acknowledge --reason "TEXT"';

/** Why consolidation waits (LTM-11). */
export const TOO_LARGE = `memory has more than 100 MB; a human accepts that with: ${ACCEPT}`;

/** What a person should know of it; null while it is as usual, and once a human has accepted it. */
export function describeSize({ bytes, growth, accepted }: Size): string | null {
  const size = `memory has ${Math.floor(bytes / 1_000_000)} MB`;
  if (growth === 'paused') return `${size}: consolidation is paused. A human accepts that with: ${ACCEPT}`;
  return growth === 'large' && accepted === 0
    ? `${size}; at 100 MB consolidation pauses until a human accepts its size.`
    : null;
}

/** The same as a warning. `listed`: the containers as they were just listed. */
export function warnSize(context: Context, listed: readonly { size: number }[]): void {
  const bytes = listed.reduce((sum, { size }) => sum + size, 0);
  const text = describeSize(readSize(context, bytes));
  if (text !== null) context.warnings.push(capital(text));
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** LTM-11: warns about the size of memory, and records one governance warning for a human. Caller holds the lock. */
export function guardGrowth(context: Context): void {
  const size = readSize(context);
  const text = describeSize(size);
  if (text !== null) context.warnings.push(capital(text));
  if (size.growth !== 'paused') return;
  const { bytes, accepted } = size;
  const isRecorded = readMemory(context)
    .records('audit')
    .some(({ record }) => record.code === 'memory.size' && Number(record.bytes) >= 2 * accepted);
  if (isRecorded) return;
  const message = `memory has ${Math.floor(bytes / 1_000_000)} MB; consolidation is paused; human review is requested`;
  storeAudit(context, { kind: 'governance_warning', code: 'memory.size', bytes, message });
}
