import { usage } from '../core/error.js';
import { type MemoryStats, memoryStats } from '../ledger/log.js';
import type { Context } from '../project/project.js';
import { assess, whyWaiting } from './consolidation.js';
import { type KnownPattern, listKnown } from './knowledge.js';
import { buildReport, type Reported } from './report-rules.js';

/** LTM-15: the four fields over a range of cycles, and what they are made of. */
export interface MemoryReport extends Reported {
  from: number | null;
  to: number | null;
  /** Whether the range has cycles, and each was written when it ended. */
  memory_write_performed: boolean;
  knowledge_promoted: boolean;
  knowledge_conflict_detected: boolean;
  memory_integrity_status: MemoryStats['status'];
  counts: {
    cycles: number;
    evaluated: number;
    promoted: number;
    contested: number;
    reinstated: number;
    breaches: number;
    overrides: number;
    repairs: number;
  };
  knowledge: KnownPattern[];
  /** How many more evaluated cycles make consolidation due, and why it waits where it is. */
  consolidation: { due_in: number; waits: string | null };
}

/** `forge memory report`: reads only; works while memory is halted. */
export async function reportMemory(
  context: Context,
  { from, to }: { from?: number; to?: number } = {},
): Promise<MemoryReport> {
  if (from !== undefined && to !== undefined && from > to)
    throw usage('report.range', `The range ${from} to ${to} is empty: --from is above --to.`, {
      field: 'from',
    });
  const { due_in, memory } = assess(context);
  const reported = buildReport({
    executions: memory.records('execution'),
    evaluations: memory.records('evaluation'),
    knowledge: memory.records('knowledge'),
    audit: memory.records('audit'),
    from,
    to,
  });
  const { status } = await memoryStats(context);
  return {
    from: from ?? null,
    to: to ?? null,
    ...summarise(reported),
    memory_integrity_status: status,
    ...reported,
    knowledge: listKnown(context, memory),
    consolidation: { due_in, waits: due_in === 0 ? whyWaiting(context, memory) : null },
  };
}

function summarise({ cycles, breaches, overrides, repairs }: Reported) {
  const total = (what: 'promoted' | 'contested' | 'reinstated'): number =>
    cycles.reduce((sum, cycle) => sum + cycle[what].length, 0);
  const counts = {
    cycles: cycles.length,
    evaluated: cycles.filter(({ classification }) => classification !== null).length,
    promoted: total('promoted'),
    contested: total('contested'),
    reinstated: total('reinstated'),
    breaches: breaches.length,
    overrides: overrides.length,
    repairs: repairs.length,
  };
  return {
    memory_write_performed: cycles.length > 0 && cycles.every((cycle) => cycle.memory_write_performed),
    knowledge_promoted: counts.promoted > 0,
    knowledge_conflict_detected: counts.contested > 0,
    counts,
  };
}
