import { createHash } from 'node:crypto';
import { readHint, writeHint } from '../core/cache.js';
import { windowFile } from '../core/paths.js';
import { openDamage } from '../ledger/graph.js';
import { currentHeads, type Memory, type RecordRef, readMemory, storeRecords } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { readSize, TOO_LARGE } from './growth.js';
import { closeInvestigations, openInvestigations } from './investigation.js';
import { textsOf } from './proven.js';
import {
  countUncovered,
  coveredHeads,
  type Plan,
  planConsolidation,
  recordsOf,
  WINDOW,
  weighing,
} from './rules.js';

/** Where consolidation stands. */
export interface Assessment {
  /** Cycles that no consolidation covers, counted up to those that make one due. */
  uncovered: number;
  /** How many more make it due; 0 when it is. */
  due_in: number;
  memory: Memory;
}

/** LTM-08: reads evaluations and knowledge, and counts. Weighs and writes nothing. */
export function assess(context: Context): Assessment {
  const memory = readMemory(context);
  const heads = [...coveredHeads(memory.records('knowledge')), ...memory.resets('knowledge')];
  const covered = memory.graph.ancestorsOf(heads);
  const uncovered = countUncovered(memory.records('evaluation'), (id) => covered.has(id));
  return { uncovered, due_in: Math.max(0, WINDOW - uncovered), memory };
}

/** What a consolidation would do now (LTM-06 to LTM-09). */
export function planFor(memory: Memory): Plan {
  return planConsolidation({
    evaluations: memory.records('evaluation'),
    knowledge: memory.records('knowledge'),
    ...weighing(memory),
  });
}

interface Outcome {
  knowledge_id: string;
  pattern: string;
  scope: string;
  record: string;
}

/** What a consolidation did. */
export interface Consolidated {
  ran: boolean;
  promoted: Outcome[];
  contested: Outcome[];
  reinstated: Outcome[];
  /** How many more cycles make the next one due. */
  due_in: number;
  /** Why it waits although it is due. */
  waits?: string;
}

const nothingDone = (uncovered: number, waits: string | null): Consolidated => ({
  ran: false,
  promoted: [],
  contested: [],
  reinstated: [],
  due_in: Math.max(0, WINDOW - uncovered),
  ...(waits === null ? {} : { waits }),
});

/** Runs it when it is due and nothing holds it back. Caller holds the lock. */
export function consolidateIfDue(context: Context): Consolidated & { assessment: Assessment } {
  const assessment = assess(context);
  const { uncovered, due_in } = assessment;
  const waits = due_in > 0 ? null : whyWaiting(context, assessment.memory);
  if (due_in === 0 && waits === null) return { ...consolidate(context, assessment.memory), assessment };
  rememberCount(context, uncovered);
  return { ...nothingDone(uncovered, waits), assessment };
}

/** What holds consolidation back: damage that nobody has looked at, too much memory, or a human. Null when nothing does. */
export function whyWaiting(context: Context, memory = readMemory(context)): string | null {
  if (openDamage(memory.graph).length > 0)
    return 'memory was damaged; a human who has looked ends that with: forge memory override acknowledge --reason "…"';
  if (readSize(context).growth === 'paused') return TOO_LARGE;
  return readFreezes(memory).length > 0
    ? 'it is frozen; a human ends that with: forge memory override unfreeze --reason "…"'
    : null;
}

/** Audit records that freeze consolidation and that none has ended (LTM-14). */
export function readFreezes(memory: Memory): string[] {
  const overrides = memory.records('audit').filter(({ record }) => record.kind === 'override');
  const ended = new Set(overrides.flatMap(({ record }) => textsOf(record.settles)));
  return overrides
    .filter(({ id, record }) => record.action === 'freeze' && !ended.has(id))
    .map(({ id }) => id);
}

function consolidate(context: Context, memory: Memory): Consolidated {
  const plan = planFor(memory);
  const cycles = memory.records('evaluation').filter(({ record }) => record.kind === 'cycle');
  const last_cycle = Number(cycles.at(-1)?.record.cycle ?? 0);
  // A crash before the records leaves an investigation that is closed later, not a contest that nobody looks into.
  openInvestigations(context, plan.contested);
  const coverage = { covers: memory.graph.heads(), cycles: cycles.length, last_cycle };
  const stored = storeRecords(context, recordsOf(plan, coverage));
  rememberCount(context, 0);
  closeInvestigations(context);
  const { promoted, contested, reinstated } = plan;
  const [first, second] = [promoted.length, promoted.length + contested.length];
  return {
    ran: true,
    promoted: outcomes(promoted, stored),
    contested: outcomes(contested, stored.slice(first)),
    reinstated: outcomes(reinstated, stored.slice(second)),
    due_in: WINDOW,
  };
}

const outcomes = (entries: readonly Omit<Outcome, 'record'>[], stored: readonly RecordRef[]): Outcome[] =>
  entries.map(({ knowledge_id, pattern, scope }, i) => ({
    ...{ knowledge_id, pattern, scope },
    record: stored[i]?.id ?? '',
  }));

/** The count of uncovered cycles. It holds while the ledger has the heads it had. */
interface CountHint {
  of: string;
  uncovered: number;
}

const digestHeads = (context: Context): string =>
  createHash('sha256').update(currentHeads(context).join(' ')).digest('hex');

/** How many cycles were uncovered; null when somebody has to count. Nothing is read. Caller holds the lock. */
export function rememberedCount(context: Context): number | null {
  const hint = readHint<CountHint>(windowFile(context.layout));
  return hint && Number.isSafeInteger(hint.uncovered) && hint.of === digestHeads(context)
    ? hint.uncovered
    : null;
}

/** For the heads as they are now. Caller holds the lock. */
export function rememberCount(context: Context, uncovered: number): void {
  if (context.disk.dryRun) return;
  writeHint(windowFile(context.layout), { of: digestHeads(context), uncovered } satisfies CountHint);
}

/** After cycles were recorded: adds to the count where it is known, and consolidates when due. Caller holds the lock. */
export function afterRecording(context: Context, before: number | null, added: number): Consolidated {
  if (before !== null) {
    const uncovered = Math.min(before + added, WINDOW);
    // While something holds it back, nothing is weighed: memory is largest then.
    const waits = uncovered < WINDOW ? null : whyWaiting(context);
    if (uncovered < WINDOW || waits !== null) {
      rememberCount(context, uncovered);
      return nothingDone(uncovered, waits);
    }
  }
  const { assessment: _, ...done } = consolidateIfDue(context);
  return done;
}
