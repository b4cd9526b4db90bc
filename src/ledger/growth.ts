import type { Context } from '../project/project.js';
import { currentState, readMemory, storeAudit } from './memory.js';
import { type Listed, sizeOf } from './read.js';

/** `large` from 80 MB. `paused` from 100 MB: consolidation waits for a human (LTM-11). */
export type Growth = 'normal' | 'large' | 'paused';
const WARN_BYTES = 80_000_000;
export const PAUSE_BYTES = 100_000_000;

/** `accepted`: the size that a human accepted. Memory may grow to twice as much. */
function growthOf(bytes: number, accepted = 0): Growth {
  if (bytes >= Math.max(PAUSE_BYTES, 2 * accepted)) return 'paused';
  return bytes >= WARN_BYTES ? 'large' : 'normal';
}

interface Size {
  bytes: number;
  growth: Growth;
  /** The size that a human last accepted, or 0. */
  accepted: number;
}

/** The size of memory. `listed`: the ledger's files, if the caller has just listed them. */
export function readSize(context: Context, listed?: readonly Listed[]): Size {
  const bytes = listed ? sizeOf(listed) : currentState(context).bytes;
  if (growthOf(bytes) === 'normal') return { bytes, growth: 'normal', accepted: 0 };
  const { accepted } = currentState(context, listed);
  return { bytes, growth: growthOf(bytes, accepted), accepted };
}

export const ACCEPT = 'forge memory override acknowledge --reason "TEXT"';

/** Why consolidation waits (LTM-11). */
export const TOO_LARGE = `memory has more than 100 MB; a human accepts that with: ${ACCEPT}`;

const megabytes = (bytes: number): string => `Memory has ${Math.floor(bytes / 1_000_000)} MB`;

/** A warning for a person. Null if memory is small, or a human has accepted its size. */
export function describeSize({ bytes, growth, accepted }: Size): string | null {
  const size = megabytes(bytes);
  if (growth === 'paused') return `${size}: consolidation is paused. A human accepts that with: ${ACCEPT}`;
  return growth === 'large' && accepted === 0
    ? `${size}; at 100 MB consolidation pauses until a human accepts its size.`
    : null;
}

export function warnSize(context: Context, listed?: readonly Listed[]): Size {
  const size = readSize(context, listed);
  const text = describeSize(size);
  if (text !== null) context.warnings.push(text);
  return size;
}

/** LTM-11: warns about the size of memory and records one governance warning for a human. The caller holds the lock. */
export function guardGrowth(context: Context): void {
  const { bytes, growth, accepted } = warnSize(context);
  if (growth !== 'paused') return;
  const isRecorded = readMemory(context)
    .records('audit')
    .some(({ record }) => record.code === 'memory.size' && Number(record.bytes) >= 2 * accepted);
  if (isRecorded) return;
  const message = `${megabytes(bytes)}; consolidation is paused; human review is requested`;
  storeAudit(context, { kind: 'governance_warning', code: 'memory.size', bytes, message });
}
