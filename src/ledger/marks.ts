import type { Mark } from './container.js';
import type { Graph } from './graph.js';

/** An audit record that waits for a human. */
export type Open = Mark & { id: string };

/** Of these kinds and without an answer: acknowledged, or settled by a repair. */
function openMarks(graph: Graph, isWanted: (mark: Mark) => boolean): Open[] {
  const answered = graph.subjects('acknowledged', 'repaired');
  return graph.marks().filter((mark) => isWanted(mark) && !answered.has(mark.id));
}

/** Every writing command waits for these (LTM-13). */
export const openHalts = (graph: Graph): Open[] => openMarks(graph, ({ halts: stops }) => stops === true);

/** Damage that is gone: `cycle`, `loop` and `promote` wait until a human has looked. */
export const openDamage = (graph: Graph): Open[] => openMarks(graph, ({ kind }) => kind === 'damage');

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
