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
