import type { Graph } from './graph.js';

/** `large` from 80 MB, `paused` from 100 MB: consolidation waits for a human (LTM-11). */
export type Growth = 'normal' | 'large' | 'paused';
const WARN_BYTES = 80_000_000;
const PAUSE_BYTES = 100_000_000;

/** `accepted`: how large memory was when a human accepted its size; it may double from there. */
export function growthOf(bytes: number, accepted = 0): Growth {
  if (bytes >= Math.max(PAUSE_BYTES, 2 * accepted)) return 'paused';
  return bytes >= WARN_BYTES ? 'large' : 'normal';
}

/** The size of memory that a human accepted last; 0 when nobody has. */
export const acceptedGrowth = (graph: Graph): number =>
  graph.marks('acknowledged').reduce((max, { growth = 0 }) => Math.max(max, growth), 0);
