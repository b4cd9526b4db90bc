import { createHash } from 'node:crypto';
import { readHint, writeHint } from '../core/cache.js';
import { type Layout, windowFile } from '../core/paths.js';
import { type RecordRef, storeRecords } from '../ledger/append.js';
import { findExecutions, isMissing } from '../ledger/execution-find.js';
import { growthOf, liveBytes } from '../ledger/growth.js';
import { readRecords } from '../ledger/read.js';
import { type Around, tierHeads } from '../ledger/store/ledger.js';
import type { Context } from '../project/project.js';
import { readEvaluations } from './evaluation-read.js';
import type { EvaluationTable } from './evaluation-table.js';
import type { Identified } from './evidence.js';
import { closeInvestigations, openInvestigations } from './investigation.js';
import { findDoubtful } from './read-earned.js';
import { countUncovered, coveredHeads, type Plan, planConsolidation, recordsOf, WINDOW } from './rules.js';

interface Window {
  /** Digest of the heads of both ledgers: while these are the same, so are the records. */
  of: string;
  uncovered: number;
}

const digestHeads = (evaluation: readonly string[], knowledge: readonly string[]): string =>
  createHash('sha256')
    .update(`${evaluation.join(' ')}|${knowledge.join(' ')}`)
    .digest('hex');

/** How many cycles no consolidation covers, as it was told for these very heads; null when nobody has counted. */
function readWindow(
  layout: Layout,
  evaluation: readonly string[],
  knowledge: readonly string[],
): number | null {
  const window = readHint<Window>(windowFile(layout));
  return window?.of === digestHeads(evaluation, knowledge) && Number.isSafeInteger(window.uncovered)
    ? window.uncovered
    : null;
}

const writeWindow = (
  layout: Layout,
  evaluation: readonly string[],
  knowledge: readonly string[],
  uncovered: number,
): void => writeHint(windowFile(layout), { of: digestHeads(evaluation, knowledge), uncovered });

/** Where consolidation stands, and what it would do now. */
export interface Assessment {
  /** Cycles that no consolidation covers; not counted beyond those that make it due. */
  uncovered: number;
  /** How many more make it due; 0 when it is. */
  due_in: number;
  plan: Plan;
  evaluations: EvaluationTable;
}

/** Reads both ledgers and weighs all of it (LTM-06 to LTM-09). Reads only. */
export function assess(context: Context): Assessment {
  const evaluations = readEvaluations(context);
  const knowledge = readRecords(context, 'knowledge');
  const uncovered = countUncovered(evaluations, coveredHeads(knowledge));
  const plan = planWithRuns(context, evaluations, knowledge);
  return { uncovered, due_in: Math.max(0, WINDOW - uncovered), plan, evaluations };
}

/** An evaluation whose cycle never ran is no evidence. Only what would be believed is looked for. */
function planWithRuns(
  context: Context,
  evaluations: EvaluationTable,
  knowledge: readonly Identified[],
): Plan {
  // What was weighed before the knowledge ledger was reset is not weighed again.
  const resets = knowledge.filter(({ record }) => record.kind === 'reset');
  const settled = evaluations.ancestorsOf(coveredHeads(resets));
  const doubtful = new Set(findDoubtful(context, knowledge));
  const hasRun = (name: number): boolean => !isMissing(evaluations, name);
  for (;;) {
    const { plan, believed } = planConsolidation({ evaluations, knowledge, doubtful, settled, hasRun });
    if (findExecutions(context, evaluations, believed)) return plan;
  }
}

/** What a consolidation did. */
export interface Consolidated {
  ran: boolean;
  promoted: { knowledge_id: string; pattern: string; scope: string; record: string }[];
  contested: { knowledge_id: string; pattern: string; scope: string; record: string }[];
  reinstated: { knowledge_id: string; pattern: string; scope: string; record: string }[];
  /** How many more cycles make the next one due. */
  due_in: number;
  /** Why it waits although it is due. */
  waits?: string;
}

const nothingDone = (uncovered: number, waits: string | null = null): Consolidated => ({
  ran: false,
  promoted: [],
  contested: [],
  reinstated: [],
  due_in: Math.max(0, WINDOW - uncovered),
  ...(waits === null ? {} : { waits }),
});

/** Runs it if it is due and nothing holds it back. The caller holds the lock and has verified memory. */
export function consolidateIfDue(
  context: Context,
  around: Around,
): Consolidated & { assessment: Assessment } {
  const assessment = assess(context);
  const { uncovered, due_in } = assessment;
  const waits = due_in > 0 ? null : whyWaiting(context);
  if (due_in === 0 && waits === null) return { ...write(context, around, assessment), assessment };
  remember(context, around, uncovered);
  return { ...nothingDone(uncovered, waits), assessment };
}

/** LTM-11, LTM-14: too much memory, or a human, holds consolidation back. Null when nothing does. */
export function whyWaiting(context: Context): string | null {
  if (growthOf(liveBytes(context)) === 'paused')
    return 'memory has more than 100 MB; seal old cycles with: forge memory compact';
  return readFreezes(context).length > 0
    ? 'it is frozen; a human ends that with: forge memory override unfreeze --reason "…"'
    : null;
}

/** Audit records that freeze consolidation and that none has ended. */
export function readFreezes(context: Context): string[] {
  const isOverride = ({ kind }: Identified['record']): boolean => kind === 'override';
  const overrides = readRecords(context, 'audit', { wanted: isOverride });
  const ended = new Set(overrides.flatMap(({ record }) => (record.settles as string[] | undefined) ?? []));
  return overrides
    .filter(({ id, record }) => record.action === 'freeze' && !ended.has(id))
    .map(({ id }) => id);
}

function write(context: Context, around: Around, { plan, evaluations }: Assessment): Consolidated {
  const heads = tierHeads(context.disk, around, 'evaluation');
  const cycles = evaluations.cycles();
  const last_cycle = evaluations.cycle[cycles.at(-1) ?? -1] ?? 0;
  // The work is there before the record that calls for it: a crash in between leaves no contest that nobody looks into.
  openInvestigations(context, plan.contested);
  const records = recordsOf(plan, { covers: heads, cycles: cycles.length, last_cycle });
  const stored = storeRecords(context, around, 'knowledge', records);
  remember(context, around, 0);
  const { promoted, contested, reinstated } = plan;
  closeInvestigations(context);
  const [first, second] = [promoted.length, promoted.length + contested.length];
  return {
    ran: true,
    promoted: named(promoted, stored),
    contested: named(contested, stored.slice(first)),
    reinstated: named(reinstated, stored.slice(second)),
    due_in: WINDOW,
  };
}

const named = (
  entries: readonly { knowledge_id: string; pattern: string; scope: string }[],
  stored: readonly RecordRef[],
): Consolidated['promoted'] =>
  entries.map(({ knowledge_id, pattern, scope }, i) => ({
    knowledge_id,
    pattern,
    scope,
    record: stored[i]?.id ?? '',
  }));

/** How many cycles were uncovered before something is recorded; null when somebody has to count. Caller holds the lock. */
export function countBefore(context: Context, around: Around): number | null {
  const { disk, layout } = context;
  return readWindow(layout, tierHeads(disk, around, 'evaluation'), tierHeads(disk, around, 'knowledge'));
}

/** Remembers the count for the records as they stand now. Caller holds the lock. */
export function remember({ disk, layout }: Context, around: Around, uncovered: number): void {
  if (disk.dryRun) return;
  const [evaluation, knowledge] = [
    tierHeads(disk, around, 'evaluation'),
    tierHeads(disk, around, 'knowledge'),
  ];
  writeWindow(layout, evaluation, knowledge, uncovered);
}

/** After cycles were recorded: counts on where it can, and consolidates when it is due. Caller holds the lock. */
export function afterRecording(
  context: Context,
  around: Around,
  before: number | null,
  added: number,
): Consolidated {
  if (before !== null) {
    const uncovered = Math.min(before + added, WINDOW);
    // While something holds it back, weighing would be for nothing each time, and memory is largest then.
    const waits = uncovered < WINDOW ? null : whyWaiting(context);
    if (uncovered < WINDOW || waits !== null) {
      remember(context, around, uncovered);
      return nothingDone(uncovered, waits);
    }
  }
  const { assessment: _, ...done } = consolidateIfDue(context, around);
  return done;
}
