import { usage } from '../core/error.js';
import { type MemoryStats, memoryStats } from '../ledger/log.js';
import type { Identified } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { assess, whyWaiting } from './consolidation.js';
import { LATE_WRITE } from './evaluation.js';
import { type KnownPattern, listKnown } from './knowledge.js';
import { namesOf, textsOf } from './proven.js';

/** LTM, "Compliance Reporting Extension", for one cycle. */
interface CycleReport {
  cycle: number;
  /** Its execution record. */
  execution: string;
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
  /** What the consolidation that it made due promoted, contested and reinstated. */
  promoted: string[];
  contested: string[];
  reinstated: string[];
}

/** Another record of the audit ledger. */
interface ReportedEvent {
  id: string;
  at: string;
  kind: string;
  text: string;
}

interface ReportInput {
  executions: readonly Identified[];
  evaluations: readonly Identified[];
  knowledge: readonly Identified[];
  audit: readonly Identified[];
  from?: number | undefined;
  to?: number | undefined;
}

type Events = Record<'breaches' | 'overrides' | 'repairs', ReportedEvent[]>;

interface Reported extends Events {
  /** Whether the range has cycles, and each was written when it ended. */
  memory_write_performed: boolean;
  knowledge_promoted: boolean;
  knowledge_conflict_detected: boolean;
  counts: Record<'cycles' | 'evaluated' | 'promoted' | 'contested' | 'reinstated' | keyof Events, number>;
  cycles: CycleReport[];
  by_classification: Record<string, number>;
}

/** LTM-15: the four fields over a range of cycles, and what they are made of. */
export interface MemoryReport extends Reported {
  from: number | null;
  to: number | null;
  memory_integrity_status: MemoryStats['status'];
  knowledge: KnownPattern[];
  /** How many more evaluated cycles make consolidation due, and why it waits. */
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
  const [executions, evaluations, knowledge, audit] = (
    ['execution', 'evaluation', 'knowledge', 'audit'] as const
  ).map((tier) => memory.records(tier)) as [Identified[], Identified[], Identified[], Identified[]];
  const { cycles, by_classification, breaches, overrides, repairs, ...fields } = buildReport({
    ...{ executions, evaluations, knowledge, audit, from, to },
  });
  return {
    ...{ from: from ?? null, to: to ?? null },
    ...fields,
    memory_integrity_status: (await memoryStats(context)).status,
    ...{ cycles, by_classification, breaches, overrides, repairs },
    knowledge: listKnown(context, memory),
    consolidation: { due_in, waits: due_in === 0 ? whyWaiting(context, memory) : null },
  };
}

/** What the ledgers say of cycles `from` to `to`, both included. All inputs sorted by (n, id). */
export function buildReport(input: ReportInput): Reported {
  const { from, to } = input;
  const all = describeCycles(input);
  const cycles = all.filter(({ cycle }) => cycle >= (from ?? 0) && cycle <= (to ?? cycle));
  const by_classification: Record<string, number> = {};
  for (const { classification } of cycles) {
    const name = classification ?? 'not evaluated';
    by_classification[name] = (by_classification[name] ?? 0) + 1;
  }
  const events = describeEvents(input, timesOf(all, cycles, input));
  const total = (what: 'promoted' | 'contested' | 'reinstated'): number =>
    cycles.reduce((sum, cycle) => sum + cycle[what].length, 0);
  const counts = {
    cycles: cycles.length,
    evaluated: cycles.filter(({ classification }) => classification !== null).length,
    ...{ promoted: total('promoted'), contested: total('contested'), reinstated: total('reinstated') },
    breaches: events.breaches.length,
    overrides: events.overrides.length,
    repairs: events.repairs.length,
  };
  return {
    memory_write_performed: cycles.length > 0 && cycles.every((cycle) => cycle.memory_write_performed),
    knowledge_promoted: counts.promoted > 0,
    knowledge_conflict_detected: counts.contested > 0,
    ...{ counts, cycles, by_classification },
    ...events,
  };
}

function describeCycles({ executions, evaluations, knowledge }: ReportInput): CycleReport[] {
  const judged = new Map(evaluations.map(({ record }) => [String(record.execution), record]));
  const reports = executions
    .filter(({ record }) => record.kind === 'cycle')
    .map(({ id, record }) => describeCycle(id, record, judged.get(id)));
  // Two clones may use the same number: the last cycle with it counts.
  const last = new Map(reports.map((report) => [report.cycle, report]));
  const names = namesOf(knowledge);
  for (const { record } of knowledge) {
    const report = record.kind === 'consolidation' && last.get(Number(record.last_cycle));
    if (!report) continue;
    for (const what of ['promoted', 'contested', 'reinstated'] as const)
      report[what].push(...textsOf(record[what]).map((id) => names.get(id) ?? id));
  }
  return reports;
}

function describeCycle(
  id: string,
  record: Identified['record'],
  judged: Identified['record'] | undefined,
): CycleReport {
  const violations = textsOf(judged?.governance_violations);
  return {
    cycle: Number(record.cycle),
    execution: id,
    task_id: String(record.task_id),
    started_at: String(record.started_at ?? record.at ?? ''),
    at: String(record.finished_at ?? record.at ?? ''),
    exit_code: typeof record.exit_code === 'number' ? record.exit_code : null,
    classification: typeof judged?.classification === 'string' ? judged.classification : null,
    environment_valid: typeof judged?.environment_valid === 'boolean' ? judged.environment_valid : null,
    governance_violations: violations,
    regression_flags: textsOf(judged?.regression_flags),
    memory_write_performed: !violations.includes(LATE_WRITE),
    ...{ promoted: [], contested: [], reinstated: [] },
  };
}

/** A cycle's time ends where the next one begins. One that was recorded when it was over begins where the last one ended. */
function timesOf(
  all: readonly CycleReport[],
  cycles: readonly CycleReport[],
  { from, to }: ReportInput,
): { after: string; until: string } {
  const begins = all.map(({ started_at, at }, i) => (started_at < at ? started_at : (all[i - 1]?.at ?? '')));
  const [first, last] = [cycles[0], cycles.at(-1)];
  return {
    after: from === undefined ? '' : ((first && begins[all.indexOf(first)]) ?? '~'),
    until: to === undefined ? '~' : last ? (begins[all.indexOf(last) + 1] ?? '~') : '',
  };
}

const KINDS: Record<keyof Events, readonly string[]> = {
  breaches: ['breach'],
  overrides: ['override', 'acknowledged', 'reset', 'feature_override'],
  repairs: [
    ...['damage', 'restored', 'repaired', 'discarded', 'redacted'],
    ...['governance_warning', 'paused', 'recovery'],
  ],
};

function describeEvents(
  { audit, knowledge }: ReportInput,
  { after, until }: { after: string; until: string },
): Events {
  const names = namesOf(knowledge);
  const within = audit.filter(({ record: { at = '' } }) => at > after && at <= until);
  const pick = (kinds: readonly string[]): ReportedEvent[] =>
    within.filter(({ record }) => kinds.includes(record.kind)).map((event) => describeEvent(event, names));
  return {
    breaches: pick(KINDS.breaches),
    overrides: pick(KINDS.overrides),
    repairs: pick(KINDS.repairs),
  };
}

/** The words of knowledge come from its own ledger, where they can be redacted. */
function describeEvent({ id, record }: Identified, names: ReadonlyMap<string, string>): ReportedEvent {
  const { at = '', kind, action, knowledge_id, message, reason, subject, reset = record.of, by } = record;
  const known =
    typeof knowledge_id === 'string' ? (names.get(knowledge_id) ?? knowledge_id.slice(0, 12)) : null;
  const words = [action, reset, known ?? subject, message, reason, by === undefined ? undefined : `(${by})`];
  const text = words.filter((word) => typeof word === 'string' && word !== '').join(' ');
  return { id, at, kind, text };
}
