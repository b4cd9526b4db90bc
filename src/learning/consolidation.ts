import * as z from 'zod/mini';
import { refused, usage } from '../core/error.js';
import { checkInput, isSameId } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { type Decision, requireDecision } from '../ledger/audit.js';
import { openDamage } from '../ledger/graph.js';
import {
  ACCEPT,
  type Body,
  currentState,
  type Memory,
  type RecordRef,
  readMemory,
  readSize,
  storeAudit,
  storeRecords,
  TOO_LARGE,
} from '../ledger/memory.js';
import { type Context, isBuilding, isHalted, requireSupervisor, timestamp } from '../project/project.js';
import { SCOPES } from './evaluation.js';
import {
  candidateId,
  closeInvestigations,
  listKnown,
  openCandidates,
  openInvestigations,
  readKnowledge,
} from './knowledge.js';
import { knowledgeId, normalizePattern } from './proven.js';
import {
  countUncovered,
  coveredHeads,
  type Known,
  type Plan,
  planConsolidation,
  recordsOf,
  WINDOW,
  weighEvidence,
  weighing,
} from './rules.js';

type Assessment = ReturnType<typeof assess>;

/** LTM-08: how many cycles are left until the next one (0: it is due), and why a due one waits. Writes nothing. */
export function assess(context: Context) {
  const memory = readMemory(context);
  const heads = [...coveredHeads(memory.records('knowledge')), ...memory.resets('knowledge')];
  const covered = memory.graph.ancestorsOf(heads);
  // Files that a consolidation covers are not read. Without one, all will be needed.
  const isOpen = ({ ids }: { ids: readonly string[] }): boolean => ids.some((id) => !covered.has(id));
  const evaluations = memory.records('evaluation', covered.size > 0 ? isOpen : undefined);
  const due_in = WINDOW - countUncovered(evaluations, (id) => covered.has(id));
  return { memory, due_in, waits: due_in > 0 ? null : whyWaiting(context, memory) };
}

/** Why a due consolidation waits: damage, too much memory, or a human. Null if it does not. */
export function whyWaiting(context: Context, memory: Memory): string | null {
  if (isHalted(context.disk)) return 'memory is halted: forge memory verify';
  if (openDamage(memory.graph).length > 0)
    return `memory was damaged; a human who has reviewed that runs: ${ACCEPT}`;
  if (readSize(context).growth === 'paused') return TOO_LARGE;
  // LTM-14: the last override decides.
  const last = memory
    .records('audit')
    .findLast(({ record: { action } }) => action === 'freeze' || action === 'unfreeze');
  return last?.record.action === 'freeze'
    ? 'it is frozen; a human ends that with: forge memory override unfreeze --reason "TEXT"'
    : null;
}

/** What a consolidation would do now (LTM-06 to LTM-09). */
export const planFor = (memory: Memory): Plan =>
  planConsolidation({
    evaluations: memory.records('evaluation'),
    knowledge: memory.records('knowledge'),
    ...weighing(memory),
  });

/** Consolidates, unless it is not due or something holds it back: then null. The caller holds the lock. */
function consolidate(context: Context, { memory, due_in, waits }: Assessment): Plan | null {
  if (due_in > 0 || waits !== null) return null;
  const plan = planFor(memory);
  const cycles = memory.records('evaluation').filter(({ record }) => record.kind === 'cycle');
  const last_cycle = Number(cycles.at(-1)?.record.cycle ?? 0);
  // A crash before the records leaves an investigation that is closed later, not a contest that nobody investigates.
  openInvestigations(context, plan.contested);
  const coverage = { covers: memory.graph.heads(), cycles: cycles.length, last_cycle };
  storeRecords(context, recordsOf(plan, coverage));
  closeInvestigations(context);
  for (const { knowledge_id: id, pattern, scope } of plan.promoted)
    queueEvent(context, 'learning', id, { kind: 'promotion', id, title: pattern, scope });
  return plan;
}

/** What recording led to. */
export type Consolidated = NonNullable<ReturnType<typeof afterRecording>>;

/** After cycles with a verdict were recorded: consolidates when that makes it due. The caller holds the lock. */
export function afterRecording(context: Context) {
  const uncovered = currentState(context).uncovered ?? WINDOW;
  const assessment = uncovered < WINDOW ? null : assess(context);
  const plan = assessment && consolidate(context, assessment);
  const { due_in, waits } = assessment ?? { due_in: WINDOW - uncovered, waits: null };
  const outcomes = (entries: readonly Known[] = []) =>
    entries.map(({ knowledge_id, pattern, scope }) => ({ knowledge_id, pattern, scope }));
  return {
    ran: plan !== null,
    promoted: outcomes(plan?.promoted),
    contested: outcomes(plan?.contested),
    reinstated: outcomes(plan?.reinstated),
    /** How many more cycles make the next one due, and why it waits if it is due. */
    due_in: plan ? WINDOW : due_in,
    ...(waits === null ? {} : { waits }),
  };
}

const LISTS = ['promoted', 'contested', 'reinstated', 'rejected', 'known'] as const;

/** The patterns that may be promoted, and what prevents it. */
export type Promoted = ReturnType<typeof describe> & {
  /** The pattern that was asked for. The lists then have nothing else. */
  asked?: string;
};

/** `done`: what a consolidation has just done. Default: what it would do. */
function describe(context: Context, { memory, due_in, waits }: Assessment, done: Plan | null) {
  const { promoted, contested, reinstated, rejected, tested } = done ?? planFor(memory);
  return {
    ...{ due: due_in === 0, due_in: done ? WINDOW : due_in, ran: done !== null },
    ...(waits === null ? {} : { waits }),
    promoted: promoted.map((promotion) => {
      const count = tested[promotion.knowledge_id] ?? 0;
      return { ...promotion, tested: count, reported: promotion.evidence.length - count };
    }),
    ...{ contested, reinstated },
    /** With the id that confirms it: `C-317204`. */
    rejected: rejected.map((entry) => ({ ...entry, candidate: candidateId(entry.knowledge_id) })),
    known: listKnown(readMemory(context)),
  };
}

/** `forge memory consolidate`: runs when it is due. Before that it only says when (LTM-08). */
export async function consolidateMemory(context: Context): Promise<Promoted> {
  requireSupervisor(context, 'memory');
  return context.disk.withLock(() => {
    const assessment = assess(context);
    if (context.disk.dryRun) return describe(context, assessment, null);
    if (assessment.waits !== null)
      throw refused('consolidation.waits', `Consolidation is due, but ${assessment.waits}`, {
        hint: 'forge memory promote   # shows what it would do',
      });
    return describe(context, assessment, consolidate(context, assessment));
  });
}

/**
 * `forge memory promote [PATTERN]`: the state of each pattern and the conditions that it fails (LTM-06). Runs a
 * consolidation that is due and may run.
 */
export async function promotePattern(
  context: Context,
  { pattern }: { pattern?: string } = {},
): Promise<Promoted> {
  const assessment = assess(context);
  const canRun = assessment.due_in === 0 && assessment.waits === null && !isBuilding(context);
  const all = canRun ? await consolidateMemory(context) : describe(context, assessment, null);
  if (pattern === undefined) return all;
  const found: Promoted = { ...all, asked: pattern };
  for (const list of LISTS) Object.assign(found, { [list]: all[list].filter(isNamed(pattern)) });
  if (LISTS.some((list) => found[list].length > 0)) return found;
  throw usage('pattern.unknown', `No evaluation shows the pattern ${JSON.stringify(oneLine(pattern, 80))}.`, {
    hint: 'forge memory promote',
  });
}

/** By its words, the id of its candidate, or the start of its own id or of its record's. */
const isNamed =
  (name: string) =>
  ({ pattern, knowledge_id, record = '' }: { pattern: string; knowledge_id: string; record?: string }) =>
    normalizePattern(pattern) === normalizePattern(name) ||
    isSameId(candidateId(knowledge_id), name) ||
    (/^[0-9a-f]{6,64}$/.test(name) && [knowledge_id, record].some((id) => id.startsWith(name)));

/** What an override did: the audit record, and the knowledge record that names it. */
export interface Overridden {
  audit: RecordRef;
  action: 'append' | 'invalidate' | 'freeze' | 'unfreeze';
  record?: RecordRef;
  knowledge_id?: string;
  pattern?: string;
  scope?: string;
}

const CorrectionInput = z.strictObject({
  pattern: z.string(),
  scope: z._default(z.enum(SCOPES), 'execution'),
  reason: z.optional(z.string()),
});

/** LTM-14: a human corrects knowledge. Settles an invalidation and contests of the same pattern. */
export async function appendCorrection(
  context: Context,
  raw: z.input<typeof CorrectionInput>,
): Promise<Overridden> {
  const { pattern, scope, reason } = checkInput(CorrectionInput, raw);
  const decision = requireDecision(context, 'Appending corrective knowledge', reason);
  checkText(pattern, { what: 'The pattern', lines: false });
  if (normalizePattern(pattern) === '')
    throw usage('pattern.empty', 'The pattern is empty.', { field: 'pattern' });
  const knowledge_id = knowledgeId(scope, pattern);
  return decide(context, { action: 'append', knowledge_id, pattern, scope }, decision, () => {
    const memory = readMemory(context);
    const known = readKnowledge(memory).get(knowledge_id);
    const weighed = weighEvidence(memory.records('evaluation'), weighing(memory)).get(knowledge_id);
    return {
      ...{ kind: 'correction', knowledge_id, pattern, evidence_cycles: [], confidence: 'high', scope },
      ...{ created_at: timestamp(context), evidence: [] },
      settles: [...(known?.contested ?? []), ...(known?.invalidated ?? [])],
      // The human knew what has contradicted it so far.
      contradicts: weighed?.against ?? [],
    };
  });
}

/** LTM-14: a human invalidates knowledge or a candidate. Its records stay, and readers show it as invalid. */
export async function invalidateKnowledge(
  context: Context,
  input: { knowledge: string; reason?: string },
): Promise<Overridden> {
  const decision = requireDecision(context, 'Invalidating knowledge', input.reason);
  const { knowledge_id, pattern, scope } = findKnown(
    context,
    checkText(input.knowledge, { what: 'The knowledge' }),
  );
  const about = { action: 'invalidate' as const, knowledge_id, pattern, scope };
  return decide(context, about, decision, () => ({ kind: 'invalidated', knowledge_id, pattern, scope }));
}

/** Stores the audit record and the knowledge record that names it in one write. */
function decide(
  context: Context,
  about: Omit<Required<Overridden>, 'audit' | 'record'>,
  decision: Decision,
  draft: () => Omit<Body, 'tier'> & { kind: string },
): Overridden {
  // An audit record is permanent. The text is only in the knowledge, where it can be redacted (LTM-19).
  const { pattern: _, ...named } = about;
  return context.disk.withLock(() => {
    const body = draft();
    const [audit, record] = storeRecords(context, [
      { tier: 'audit', kind: 'override', ...named, ...decision },
      ({ ids }) => ({ ...body, tier: 'knowledge', audit: ids[0] }),
    ]) as [RecordRef, RecordRef];
    closeInvestigations(context);
    return { audit, record, ...about };
  });
}

function findKnown(context: Context, name: string): Pick<Known, 'knowledge_id' | 'pattern' | 'scope'> {
  const memory = readMemory(context);
  const known = readKnowledge(memory);
  const candidates = openCandidates(memory, known).map(({ pattern, scope }) => {
    return { knowledge_id: knowledgeId(scope, pattern), pattern, scope };
  });
  const found = [...known.values(), ...candidates].filter(isNamed(name));
  const [only] = found;
  if (only && found.length === 1) return only;
  const [shown, list] = [JSON.stringify(oneLine(name, 80)), { hint: 'forge memory promote' }];
  if (!only) throw usage('knowledge.unknown', `No knowledge matches ${shown}.`, list);
  const message = `${shown} is ambiguous: ${found.length} match. Name one by its id.`;
  throw usage('knowledge.ambiguous', message, list);
}

/** LTM-14: consolidation waits until a human ends that. Recording continues. */
export async function freezeConsolidation(
  context: Context,
  { reason, end }: { reason?: string; end?: boolean },
): Promise<Overridden> {
  const action = end ? 'unfreeze' : 'freeze';
  const what = `${end ? 'Unfreezing' : 'Freezing'} consolidation`;
  const decision = requireDecision(context, what, reason);
  return { audit: storeAudit(context, { kind: 'override', action, ...decision }), action };
}
