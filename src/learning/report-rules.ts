import type { Identified } from '../ledger/memory.js';
import { LATE_WRITE } from './evaluation.js';
import { namesOf, textsOf } from './proven.js';

/** LTM, "Compliance Reporting Extension", for one cycle. */
export interface CycleReport {
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
  /** False: it could not be written at first, and a later command did. */
  memory_write_performed: boolean;
  /** What the consolidation that it made due promoted, contested and reinstated. */
  promoted: string[];
  contested: string[];
  reinstated: string[];
}

/** Something else that the audit ledger keeps. */
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

export interface Reported {
  cycles: CycleReport[];
  by_classification: Record<string, number>;
  breaches: ReportedEvent[];
  overrides: ReportedEvent[];
  repairs: ReportedEvent[];
}

/** What the ledgers say of cycles `from` to `to`, both included. All inputs sorted by (n, id). */
export function buildReport(input: ReportInput): Reported {
  const { from = 0, to = Number.POSITIVE_INFINITY } = input;
  const all = describeCycles(input);
  const cycles = all.filter(({ cycle }) => cycle >= from && cycle <= to);
  const by_classification: Record<string, number> = {};
  for (const { classification } of cycles) {
    const name = classification ?? 'not evaluated';
    by_classification[name] = (by_classification[name] ?? 0) + 1;
  }
  const events = describeEvents(input, timesOf(all, cycles, input.from, input.to));
  return { cycles, by_classification, ...events };
}

function describeCycles({ executions, evaluations, knowledge }: ReportInput): CycleReport[] {
  const judged = new Map(evaluations.map(({ record }) => [String(record.execution), record]));
  const reports = executions
    .filter(({ record }) => record.kind === 'cycle')
    .map(({ id, record }) => describeCycle(id, record, judged.get(id)));
  // Clones may have used a number twice: the last that bears it counts.
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
    promoted: [],
    contested: [],
    reinstated: [],
  };
}

/** When some of the cycles ran: after the one, up to the other; open where no bound was given. */
function timesOf(
  all: readonly CycleReport[],
  cycles: readonly CycleReport[],
  from: number | undefined,
  to: number | undefined,
): { after: string; until: string } {
  const [first, last] = [cycles[0], cycles.at(-1)];
  const place = (cycle: CycleReport | undefined): number => (cycle ? all.indexOf(cycle) : all.length);
  return {
    after: from === undefined ? '' : beginningOf(all, place(first), '~'),
    until: to === undefined ? '~' : beginningOf(all, place(last) + 1, last ? '~' : ''),
  };
}

/** One that was recorded when it was over begins where the one before it ended. */
function beginningOf(all: readonly CycleReport[], place: number, beyond: string): string {
  const cycle = all[place];
  if (!cycle) return beyond;
  if (cycle.started_at < cycle.at) return cycle.started_at;
  return all[place - 1]?.at ?? '';
}

const REPAIRS: ReadonlySet<string> = new Set([
  ...['damage', 'restored', 'repaired', 'discarded', 'redacted'],
  ...['governance_warning', 'paused', 'recovery'],
]);
const OVERRIDES: ReadonlySet<string> = new Set(['override', 'acknowledged', 'reset', 'feature_override']);

function describeEvents(
  { audit, knowledge }: ReportInput,
  { after, until }: { after: string; until: string },
): Pick<Reported, 'breaches' | 'overrides' | 'repairs'> {
  const names = namesOf(knowledge);
  const within = audit.filter(({ record: { at = '' } }) => at > after && at <= until);
  const pick = (isWanted: (kind: string) => boolean): ReportedEvent[] =>
    within.filter(({ record }) => isWanted(record.kind)).map((event) => describeEvent(event, names));
  return {
    breaches: pick((kind) => kind === 'breach'),
    overrides: pick((kind) => OVERRIDES.has(kind)),
    repairs: pick((kind) => REPAIRS.has(kind)),
  };
}

/** Knowledge is called by the words that its own ledger has: what was redacted there is an id. */
function describeEvent({ id, record }: Identified, names: ReadonlyMap<string, string>): ReportedEvent {
  const { at = '', kind, action, knowledge_id, message, reason, subject, reset = record.of, by } = record;
  const known =
    typeof knowledge_id === 'string' ? (names.get(knowledge_id) ?? knowledge_id.slice(0, 12)) : null;
  const words = [action, reset, known ?? subject, message, reason, by === undefined ? undefined : `(${by})`];
  const text = words.filter((word) => typeof word === 'string' && word !== '').join(' ');
  return { id, at, kind, text };
}
