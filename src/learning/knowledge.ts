import { type Memory, readMemory } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { type Proven, readProven } from './proven.js';

/** What there is to know, by knowledge id. Works while memory is halted. */
export function readKnowledge(context: Context, memory = readMemory(context)): Map<string, Proven> {
  return readProven(memory.records('knowledge'), (id) => memory.graph.hasAnywhere(id));
}

/** A piece of knowledge as answers list it. */
export type KnownPattern = Pick<
  Proven,
  | 'knowledge_id'
  | 'pattern'
  | 'scope'
  | 'kind'
  | 'status'
  | 'tested'
  | 'reported'
  | 'evidence_cycles'
  | 'created_at'
>;

export const listKnown = (context: Context, memory?: Memory): KnownPattern[] =>
  [...readKnowledge(context, memory).values()].map(
    ({ record: _, contested: _contested, invalidated: _invalidated, answered: _answered, ...known }) => known,
  );
