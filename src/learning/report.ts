import { usage } from '../core/error.js';
import { textsIn } from '../ledger/record.js';
import { type Status, statusOf, verifyReadOnly } from '../ledger/integrity.js';
import type { Identified, Memory } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { assess } from './consolidation.js';
import { LATE_WRITE } from './evaluation.js';
import { type KnownPattern, listKnown } from './knowledge.js';

/** LTM, "Compliance Reporting Extension", for one cycle. */
interface CycleReport {
  cycle: number;
  /** The id and the number of its execution record. */
  execution: string;
  n: number;
  task_id: string;
  started_at: string;
  /** When it was over. */
  at: string;
  exit_code: number | null;
  classification: string | null;
  environment_valid: boolean | null;
  governance_violations: string[];
  regression_flags: string[];
  /** False: a later command wrote it. */
  memory_write_performed: boolean;
  /** What the consolidation after it promoted, contested and reinstated. */
  promoted: string[];
  contested: string[];
  reinstated: string[];
}

/** Another audit record. */
interface ReportedEvent {
  id: string;
  at: string;
  kind: string;
  text: string;
}

/** LTM-15: the four fields over a range of cycles, and their details. */
export interface MemoryReport {
  from: number | null;
  to: number | null;
  /** The range has cycles, and each was written when it ended. */
  memory_write_performed: boolean;
  knowledge_promoted: boolean;
  knowledge_conflict_detected: boolean;
  memory_integrity_status: Status;
  counts: Record<'cycles' | 'evaluated' | 'promoted' | 'contested' | 'reinstated', number>;
  by_classification: Record<string, number>;
  cycles: CycleReport[];
  breaches: ReportedEvent[];
  overrides: ReportedEvent[];
  repairs: ReportedEvent[];
  knowledge: KnownPattern[];
  /** How many more evaluated cycles make consolidation due, and why it waits. */
  consolidation: { due_in: number; waits: string | null };
}

/** `forge memory report`: reads only. Works while memory is halted. */
export async function reportMemory(
  context: Context,
  { from, to }: { from?: number; to?: number } = {},
): Promise<MemoryReport> {
  if (from !== undefined && to !== undefined && from > to)
    throw usage('report.range', `The range ${from} to ${to} is empty: --from is above --to.`, {
      field: 'from',
    });
  const { due_in, waits, memory } = assess(context);
  const known = listKnown(context, memory);
  const names = new Map(known.map(({ knowledge_id, pattern }) => [knowledge_id, pattern]));
  const all = describeCycles(memory, names);
  const cycles = all.filter(({ cycle }) => cycle >= (from ?? 0) && cycle <= (to ?? cycle));
  const total = (what: 'promoted' | 'contested' | 'reinstated'): number =>
    cycles.reduce((sum, cycle) => sum + cycle[what].length, 0);
  const counts = {
    cycles: cycles.length,
    evaluated: cycles.filter(({ classification }) => classification !== null).length,
    ...{ promoted: total('promoted'), contested: total('contested'), reinstated: total('reinstated') },
  };
  const by_classification: Record<string, number> = {};
  for (const { classification } of cycles) {
    const name = classification ?? 'not evaluated';
    by_classification[name] = (by_classification[name] ?? 0) + 1;
  }
  // A cycle is recorded when it ends, so what happened in it has a smaller number, above that of the cycle before.
  const isBefore = ({ cycle }: CycleReport): boolean => from !== undefined && cycle < from;
  const after = all.filter(isBefore).at(-1)?.n ?? 0;
  const until =
    to === undefined && (from === undefined || cycles.length > 0) ? Infinity : (cycles.at(-1)?.n ?? 0);
  const audit = memory.records('audit').filter(({ record: { n } }) => n > after && n <= until);
  const events = (kinds: readonly string[]): ReportedEvent[] =>
    audit.filter(({ record }) => kinds.includes(record.kind)).map((event) => describeEvent(event, names));
  return {
    ...{ from: from ?? null, to: to ?? null },
    memory_write_performed: cycles.length > 0 && cycles.every((cycle) => cycle.memory_write_performed),
    knowledge_promoted: counts.promoted > 0,
    knowledge_conflict_detected: counts.contested > 0,
    memory_integrity_status: statusOf(context, (await verifyReadOnly(context)).findings),
    ...{ counts, by_classification, cycles },
    breaches: events(['breach']),
    overrides: events(['override', 'acknowledged', 'reset', 'feature_override']),
    repairs: events(REPAIRS),
    knowledge: known,
    consolidation: { due_in, waits },
  };
}

const REPAIRS = [
  ...['damage', 'restored', 'repaired', 'discarded', 'redacted'],
  ...['governance_warning', 'paused', 'recovery'],
];

function describeCycles(memory: Memory, names: ReadonlyMap<string, string>): CycleReport[] {
  const judged = new Map(
    memory.records('evaluation').map(({ record }) => [String(record.execution), record]),
  );
  const reports = memory
    .records('execution')
    .filter(({ record }) => record.kind === 'cycle')
    .map(({ id, record }) => describeCycle(id, record, judged.get(id)));
  // Two clones may use the same number: the last cycle with it counts.
  const last = new Map(reports.map((report) => [report.cycle, report]));
  for (const { record } of memory.records('knowledge')) {
    const report = record.kind === 'consolidation' && last.get(Number(record.last_cycle));
    if (!report) continue;
    for (const what of ['promoted', 'contested', 'reinstated'] as const)
      report[what].push(...textsIn(record[what]).map((id) => names.get(id) ?? id));
  }
  return reports;
}

function describeCycle(
  id: string,
  { n, cycle, task_id, started_at, finished_at, at = '', exit_code }: Identified['record'],
  judged: Identified['record'] | undefined,
): CycleReport {
  const violations = textsIn(judged?.governance_violations);
  return {
    ...{ cycle: Number(cycle), execution: id, n, task_id: String(task_id) },
    ...{ started_at: String(started_at ?? at), at: String(finished_at ?? at) },
    exit_code: typeof exit_code === 'number' ? exit_code : null,
    classification: typeof judged?.classification === 'string' ? judged.classification : null,
    environment_valid: typeof judged?.environment_valid === 'boolean' ? judged.environment_valid : null,
    governance_violations: violations,
    regression_flags: textsIn(judged?.regression_flags),
    memory_write_performed: !violations.includes(LATE_WRITE),
    ...{ promoted: [], contested: [], reinstated: [] },
  };
}

/** The words of knowledge come from its own records, where they can be redacted. */
function describeEvent({ id, record }: Identified, names: ReadonlyMap<string, string>): ReportedEvent {
  const { at = '', kind, action, knowledge_id, message, reason, subject, reset = record.of, by } = record;
  const known =
    typeof knowledge_id === 'string' ? (names.get(knowledge_id) ?? knowledge_id.slice(0, 12)) : null;
  const words = [action, reset, known ?? subject, message, reason, by === undefined ? undefined : `(${by})`];
  const text = words.filter((word) => typeof word === 'string' && word !== '').join(' ');
  return { id, at, kind, text };
}
