import { formatArgv } from '../core/argv.js';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { commitsTouching } from '../git/read.js';
import { gitFolder } from '../ledger/files.js';
import { type Status, statusOf, verifyReadOnly } from '../ledger/integrity.js';
import { derive, type Identified, type Memory, readMemory } from '../ledger/memory.js';
import { numberIn, textIn, textsIn } from '../ledger/record.js';
import type { Context } from '../project/project.js';
import { assess, whyWaiting } from './consolidation.js';
import { LATE_WRITE } from './evaluation.js';
import {
  firstOpen,
  type KnownPattern,
  listKnown,
  openCandidates,
  type PatternCandidate,
  readKnowledge,
} from './knowledge.js';
import { objectsIn } from './proven.js';

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
  consolidation: NextConsolidation;
}

/** How many more evaluated cycles make consolidation due, and why it waits. */
interface NextConsolidation {
  due_in: number;
  waits: string | null;
}

/** `forge memory report`: reads only. Works while memory is halted. */
export async function reportMemory(
  context: Context,
  { from, to }: { from?: number; to?: number } = {},
): Promise<MemoryReport> {
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
    exit_code: numberIn(exit_code),
    classification: textIn(judged?.classification),
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
  const named = textIn(knowledge_id);
  const known = named && (names.get(named) ?? named.slice(0, 12));
  const words = [action, reset, known ?? subject, message, reason, by === undefined ? undefined : `(${by})`];
  const text = words.filter((word) => typeof word === 'string' && word !== '').join(' ');
  return { id, at, kind, text };
}

/** What memory holds as known, and what may become knowledge. */
export interface Learned {
  known: KnownPattern[];
  candidates: PatternCandidate[];
  consolidation: NextConsolidation;
}

export function listLearned(context: Context): Learned {
  const { due_in, ...learned } = derive(context, 'learned', () => {
    const { due_in, memory } = assess(context);
    return {
      due_in,
      known: listKnown(context, memory),
      candidates: firstOpen(openCandidates(memory, readKnowledge(context, memory))),
    };
  });
  const waits = due_in > 0 ? null : whyWaiting(context, readMemory(context));
  return { ...learned, consolidation: { due_in, waits } };
}

/** One cycle that shows a piece of knowledge. */
interface Link {
  cycle: number | null;
  task_id: string | null;
  classification: string | null;
  at: string | null;
  /** The ids of the records. */
  evaluation: string;
  execution: string | null;
  exit_code: number | null;
  /** Commands that forge ran in this cycle. */
  commands: string[];
  /** The file of the ledger that has the evaluation, and the commit that has the file. */
  file: string | null;
  commit: string | null;
}

/** LTM-06: why something counts as known: fact, cycles, records, commits. */
export interface Chain {
  knowledge: KnownPattern;
  /** The records about it, oldest first: promoted, confirmed, contested, corrected. */
  records: { id: string; kind: string; at: string | null }[];
  evidence: Link[];
}

const MAX_LINKS = 50;

/** Exit 2 without knowledge of that id. */
export async function showChain(context: Context, { id }: { id: string }): Promise<Chain> {
  const memory = readMemory(context);
  const knowledge = listKnown(context, memory).find(({ knowledge_id }) => knowledge_id === id);
  if (!knowledge)
    throw usage('knowledge.unknown', `There is no knowledge ${JSON.stringify(oneLine(id, 40))}.`, {
      hint: 'forge memory report',
    });
  const records = memory.records('knowledge').filter(({ record }) => record.knowledge_id === id);
  const ids = new Set(records.flatMap(({ record }) => textsIn(record.evidence)));
  const executions = new Map(memory.records('execution').map((entry) => [entry.id, entry.record]));
  const commits = new Map<string, string | null>();
  const evaluations = memory.records('evaluation').filter((each) => ids.has(each.id));
  const evidence: Link[] = [];
  for (const { id: evaluation, record } of evaluations.slice(-MAX_LINKS)) {
    const { cycle, task_id, classification, execution, at = null } = record;
    const file = memory.graph.containers.find((each) => each.ids.includes(evaluation))?.name ?? null;
    if (file !== null && !commits.has(file)) commits.set(file, await commitOf(context, file));
    evidence.push({
      ...{ cycle: numberIn(cycle), task_id: textIn(task_id), classification: textIn(classification), at },
      ...{ evaluation, execution: textIn(execution) },
      exit_code: numberIn(executions.get(String(execution))?.exit_code),
      commands: objectsIn(record.evidence).map(({ argv }) => formatArgv(textsIn(argv))),
      ...{ file, commit: commits.get(file ?? '') ?? null },
    });
  }
  return {
    knowledge,
    records: records.map((entry) => ({
      ...{ id: entry.id, kind: entry.record.kind, at: entry.record.at ?? null },
    })),
    evidence,
  };
}

/** The last commit that changed a file of the ledger. Null while it is not committed. */
const commitOf = async (context: Context, file: string): Promise<string | null> =>
  context.git ? ((await commitsTouching(context.git, `${gitFolder(context)}/${file}`, 1))[0] ?? null) : null;
