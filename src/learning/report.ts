import { formatArgv } from '../core/argv.js';
import { objectsIn } from '../core/json.js';
import { noSuch } from '../core/text.js';
import { commitsTouching } from '../git/read.js';
import { gitFolder } from '../ledger/files.js';
import { statusOf, verifyReadOnly } from '../ledger/integrity.js';
import { type Identified, type Memory, readMemory } from '../ledger/memory.js';
import { numberIn, textIn, textsIn } from '../ledger/record.js';
import type { Context } from '../project/project.js';
import { assess } from './consolidation.js';
import { LATE_WRITE } from './evaluation.js';
import { listKnown } from './knowledge.js';

/** LTM-15: the four fields over a range of cycles, and their details. */
export type MemoryReport = Awaited<ReturnType<typeof reportMemory>>;
type CycleReport = ReturnType<typeof describeCycle>;

/** `forge memory report`: reads only. Works while memory is halted. */
export async function reportMemory(context: Context, { from, to }: { from?: number; to?: number } = {}) {
  const { memory, ...consolidation } = assess(context);
  const knowledge = listKnown(memory);
  const names = new Map(knowledge.map(({ knowledge_id, pattern }) => [knowledge_id, pattern]));
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
  const after = all.findLast(({ cycle }) => from !== undefined && cycle < from)?.n ?? 0;
  const until =
    to === undefined && (from === undefined || cycles.length > 0) ? Infinity : (cycles.at(-1)?.n ?? 0);
  const audit = memory.records('audit').filter(({ record: { n } }) => n > after && n <= until);
  const events = (kinds: readonly string[]) =>
    audit.filter(({ record }) => kinds.includes(record.kind)).map((event) => describeEvent(event, names));
  return {
    ...{ from: from ?? null, to: to ?? null },
    /** The range has cycles, and each was written when it ended. */
    memory_write_performed: cycles.length > 0 && cycles.every((cycle) => cycle.memory_write_performed),
    knowledge_promoted: counts.promoted > 0,
    knowledge_conflict_detected: counts.contested > 0,
    memory_integrity_status: statusOf(context, (await verifyReadOnly(context)).findings),
    ...{ counts, by_classification, cycles },
    breaches: events(['breach']),
    overrides: events(['override', 'acknowledged', 'reset', 'feature_override']),
    repairs: events(REPAIRS),
    ...{ knowledge, consolidation },
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

/** LTM, "Compliance Reporting Extension", for one cycle. */
function describeCycle(
  execution: string,
  { n, cycle, task_id, started_at, finished_at, at = '', exit_code }: Identified['record'],
  judged: Identified['record'] | undefined,
) {
  const governance_violations = textsIn(judged?.governance_violations);
  const environment_valid = judged?.environment_valid;
  return {
    ...{ cycle: Number(cycle), execution, n, task_id: String(task_id) },
    ...{ started_at: String(started_at ?? at), at: String(finished_at ?? at) },
    exit_code: numberIn(exit_code),
    classification: textIn(judged?.classification),
    environment_valid: typeof environment_valid === 'boolean' ? environment_valid : null,
    governance_violations,
    regression_flags: textsIn(judged?.regression_flags),
    /** How many files that judge the work changed. */
    tests_changed:
      numberIn((judged?.quality_signals as Record<string, unknown> | undefined)?.tests_changed) ?? 0,
    memory_write_performed: !governance_violations.includes(LATE_WRITE),
    /** What the consolidation after it promoted, contested and reinstated. */
    ...{ promoted: [] as string[], contested: [] as string[], reinstated: [] as string[] },
  };
}

/** The words of knowledge come from its own records, where they can be redacted. */
function describeEvent({ id, record }: Identified, names: ReadonlyMap<string, string>) {
  const { at = '', kind, action, knowledge_id, message, reason, subject, reset = record.of, by } = record;
  const named = textIn(knowledge_id);
  const known = named && (names.get(named) ?? named.slice(0, 12));
  const words = [action, reset, known ?? subject, message, reason, by === undefined ? undefined : `(${by})`];
  const text = words.filter((word) => typeof word === 'string' && word !== '').join(' ');
  return { id, at, kind, text };
}

/** LTM-06: why something counts as known: fact, cycles, records, commits. */
export type Chain = Awaited<ReturnType<typeof showChain>>;

const MAX_LINKS = 50;

/** Exit 2 without knowledge of that id. */
export async function showChain(context: Context, { id }: { id: string }) {
  const memory = readMemory(context);
  const knowledge = listKnown(memory).find(({ knowledge_id }) => knowledge_id === id);
  if (!knowledge) throw noSuch('knowledge', id, 'forge memory report');
  const records = memory.records('knowledge').filter(({ record }) => record.knowledge_id === id);
  const ids = new Set(records.flatMap(({ record }) => textsIn(record.evidence)));
  const executions = new Map(memory.records('execution').map((entry) => [entry.id, entry.record]));
  const commits = new Map<string, string | null>();
  const evaluations = memory.records('evaluation').filter((each) => ids.has(each.id));
  const evidence = [];
  for (const { id: evaluation, record } of evaluations.slice(-MAX_LINKS)) {
    const { cycle, task_id, classification, execution, at = null } = record;
    const file = memory.graph.containers.find((each) => each.ids.includes(evaluation))?.name ?? null;
    if (file !== null && !commits.has(file)) commits.set(file, await commitOf(context, file));
    evidence.push({
      ...{ cycle: numberIn(cycle), task_id: textIn(task_id), classification: textIn(classification), at },
      ...{ evaluation, execution: textIn(execution) },
      exit_code: numberIn(executions.get(String(execution))?.exit_code),
      /** The commands that forge ran in this cycle. */
      commands: objectsIn(record.evidence).map(({ argv }) => formatArgv(textsIn(argv))),
      /** The file of the ledger that has the evaluation, and the commit that has the file. */
      ...{ file, commit: commits.get(file ?? '') ?? null },
    });
  }
  return {
    knowledge,
    /** The records about it, oldest first: promoted, confirmed, contested, corrected. */
    records: records.map(({ id, record: { kind, at = null } }) => ({ id, kind, at })),
    evidence,
  };
}

/** The last commit that changed a file of the ledger. Null while it is not committed. */
const commitOf = async (context: Context, file: string): Promise<string | null> =>
  context.git ? ((await commitsTouching(context.git, `${gitFolder(context)}/${file}`, 1))[0] ?? null) : null;
