import type { Identified } from './evidence.js';

/** Which of these records stand at or before the named heads in the hash graph, as bits by their position. */
export function markAncestors(records: readonly Identified[], heads: readonly string[]): Uint8Array {
  const marks = new Uint8Array(records.length);
  if (heads.length === 0) return marks;
  const positions = new Map(records.map(({ id }, at) => [id, at]));
  const open = [...heads];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const at = positions.get(id);
    if (at === undefined || marks[at] === 1) continue;
    marks[at] = 1;
    const { prev, seen } = (records[at] as Identified).record;
    if (prev !== null) open.push(prev);
    open.push(...seen);
  }
  return marks;
}

/** How many cycles there are that the heads do not reach. A cycle is its execution record. */
export function countUncovered(records: readonly Identified[], marks: Uint8Array): number {
  const cycles = new Set<string>();
  for (const [at, { id, record }] of records.entries())
    if (marks[at] === 0 && record.kind === 'cycle')
      cycles.add(typeof record.execution === 'string' ? record.execution : id);
  return cycles.size;
}
