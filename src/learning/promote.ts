import { ForgeError, refused, usage } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import { requireMemory } from '../ledger/memory.js';
import { type Context, isBuilding, requireSupervisor } from '../project/project.js';
import { nameCandidates, weighAll } from './candidates.js';
import {
  type Assessment,
  assess,
  type Consolidated,
  consolidateIfDue,
  planFor,
  whyWaiting,
} from './consolidation.js';
import { type KnownPattern, listKnown } from './knowledge.js';
import { knowledgeId, normalisePattern } from './proven.js';
import type { Plan } from './rules.js';

const LISTS = ['promoted', 'contested', 'reinstated', 'rejected'] as const;
type Lists = Pick<Plan, (typeof LISTS)[number]> & { known: KnownPattern[] };
type Rejected = Plan['rejected'][number];

/** What may be learned, and what stands in the way. */
export interface Promoted extends Omit<Lists, 'promoted' | 'rejected'> {
  /** Whether consolidation is due: ten or more cycles are not covered. */
  due: boolean;
  due_in: number;
  /** False: this is what it would do now. */
  ran: boolean;
  /** Why it waits although it is due. */
  waits?: string;
  /** With the cycles that forge tested, and those that were only reported. */
  promoted: (Plan['promoted'][number] & { tested: number; reported: number })[];
  /** With the id that confirms it: `C-317`. */
  rejected: (Rejected & { candidate: string })[];
  /** The pattern that was asked for; then only what concerns it is listed. */
  asked?: string;
}

/** `forge memory consolidate`: runs when it is due; before that it only says when (LTM-08). */
export async function consolidateMemory(context: Context): Promise<Promoted> {
  requireSupervisor(context, 'memory');
  requireMemory(context);
  return context.disk.withLock(() => {
    if (context.disk.dryRun) return describe(context, assess(context));
    const { assessment, ...done } = consolidateIfDue(context);
    if (done.waits === undefined) return describe(context, assessment, done);
    throw refused('consolidation.waits', `Consolidation is due, but ${done.waits}`, {
      hint: 'forge memory promote  (shows what it would do)',
    });
  });
}

function describe(context: Context, { due_in, memory }: Assessment, done?: Consolidated): Promoted {
  // As it was before a consolidation wrote its records.
  const { promoted, contested, reinstated, rejected, tested } = planFor(memory);
  const names = nameCandidates(weighAll(memory));
  const ran = done?.ran ?? false;
  const due = due_in === 0;
  const waits = due && !ran ? whyWaiting(context, memory) : null;
  return {
    ...{ due, due_in: done?.due_in ?? due_in, ran },
    ...(waits === null ? {} : { waits }),
    promoted: promoted.map((promotion) => {
      const count = tested[promotion.knowledge_id] ?? 0;
      return { ...promotion, tested: count, reported: promotion.evidence.length - count };
    }),
    ...{ contested, reinstated },
    rejected: rejected.map((entry) => {
      const id = knowledgeId(entry.scope, entry.pattern);
      return { ...entry, candidate: names.get(id) ?? '' };
    }),
    // What was just written is not in the memory that was read before.
    known: listKnown(context, ran ? undefined : memory),
  };
}

/**
 * `forge memory promote [PATTERN]`: where each pattern stands, and which condition it fails (LTM-06). Runs a
 * consolidation that is due. Where that is not allowed, or not possible now, shows what it would do.
 */
export async function promotePattern(
  context: Context,
  { pattern }: { pattern?: string } = {},
): Promise<Promoted> {
  const shown = describe(context, assess(context));
  const all = shown.due && shown.waits === undefined ? ((await runHere(context)) ?? shown) : shown;
  if (pattern === undefined) return all;
  const wanted = normalisePattern(pattern);
  const isAsked = (entry: { pattern: string }): boolean => normalisePattern(entry.pattern) === wanted;
  const found: Promoted = {
    ...all,
    asked: pattern,
    promoted: all.promoted.filter(isAsked),
    contested: all.contested.filter(isAsked),
    reinstated: all.reinstated.filter(isAsked),
    rejected: all.rejected.filter(isAsked),
    known: all.known.filter(isAsked),
  };
  if (found.known.length === 0 && LISTS.every((list) => found[list].length === 0))
    throw unknownPattern(pattern, all);
  return found;
}

/** Null where nothing is to be written: by a builder, in a dry run, in memory that is damaged. */
async function runHere(context: Context): Promise<Promoted | null> {
  if (context.disk.dryRun || isBuilding(context)) return null;
  try {
    return await consolidateMemory(context);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'usage') throw error;
    context.warnings.push(`Consolidation is due, but was not run: ${error.message}`);
    return null;
  }
}

function unknownPattern(pattern: string, { promoted, rejected }: Promoted): Error {
  const seen = promoted.length + rejected.length;
  return usage(
    'pattern.unknown',
    `No evaluation shows the pattern ${JSON.stringify(oneLine(pattern, 80))} (${plural(seen, 'other')} seen).`,
    { hint: 'forge memory promote' },
  );
}
