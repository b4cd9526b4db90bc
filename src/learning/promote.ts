import { ForgeError, refused, usage } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import { requireMemory } from '../ledger/integrity.js';
import type { Around } from '../ledger/store/ledger.js';
import { type Context, isBuilding, requireSupervisor } from '../project/project.js';
import { type Assessment, assess, type Consolidated, consolidateIfDue, whyWaiting } from './consolidation.js';
import { normalisePattern } from './pattern.js';
import type { Proven } from './proven.js';
import { readKnowledge } from './read-earned.js';
import type { Contested, Plan, Promotion, Reinstated, Rejected } from './rules.js';

/** What may be learned, and what stands in the way. */
export interface Promoted {
  /** Whether consolidation is due: ten or more cycles are not covered. */
  due: boolean;
  due_in: number;
  /** False: this is what it would do now. */
  ran: boolean;
  /** Why it waits although it is due. */
  waits?: string;
  promoted: Promotion[];
  contested: Contested[];
  reinstated: Reinstated[];
  rejected: Rejected[];
  /** What is known already. */
  known: KnownPattern[];
  /** The pattern that was asked for; then only what concerns it is listed. */
  asked?: string;
}

export type KnownPattern = Pick<
  Proven,
  'knowledge_id' | 'pattern' | 'scope' | 'kind' | 'status' | 'evidence_cycles' | 'created_at'
>;

/** `forge memory consolidate`: runs when it is due; between windows it only says when (LTM-08). */
export async function consolidateMemory(context: Context): Promise<Promoted> {
  requireSupervisor(context, 'memory');
  const { around } = await requireMemory(context);
  return context.disk.withLock(() => runIfDue(context, around));
}

function runIfDue(context: Context, around: Around): Promoted {
  if (context.disk.dryRun) return describe(context, assess(context));
  const { assessment, ...done } = consolidateIfDue(context, around);
  if (done.waits !== undefined)
    throw refused('consolidation.waits', `Consolidation is due, but ${done.waits}`, {
      hint: 'forge memory promote  (shows what it would do)',
    });
  return describe(context, assessment, done);
}

function describe(context: Context, { plan, due_in }: Assessment, done?: Consolidated): Promoted {
  const { promoted, contested, reinstated, rejected } = plan;
  const due = due_in === 0;
  const waits = due && done?.ran !== true ? whyWaiting(context) : null;
  return {
    due,
    due_in: done?.ran ? done.due_in : due_in,
    ran: done?.ran ?? false,
    ...(waits === null ? {} : { waits }),
    promoted,
    contested,
    reinstated,
    rejected,
    known: listKnown(context),
  };
}

export const listKnown = (context: Context): KnownPattern[] =>
  [...readKnowledge(context).values()].map(
    ({ knowledge_id, pattern, scope, kind, status, evidence_cycles, created_at }) => ({
      knowledge_id,
      pattern,
      scope,
      kind,
      status,
      evidence_cycles,
      created_at,
    }),
  );

/**
 * `forge memory promote [PATTERN]`: where each pattern stands, and which condition it fails (LTM-06). A consolidation that
 * is due is run; who may not, or cannot now, is shown what it would do.
 */
export async function promotePattern(
  context: Context,
  { pattern }: { pattern?: string } = {},
): Promise<Promoted> {
  const shown = describe(context, assess(context));
  const all = shown.due && shown.waits === undefined ? ((await runHere(context)) ?? shown) : shown;
  if (pattern === undefined) return all;
  const wanted = normalisePattern(pattern);
  const only = <T extends { pattern: string }>(entries: readonly T[]): T[] =>
    entries.filter((entry) => normalisePattern(entry.pattern) === wanted);
  const found = {
    ...all,
    asked: pattern,
    promoted: only(all.promoted),
    contested: only(all.contested),
    reinstated: only(all.reinstated),
    rejected: only(all.rejected),
    known: only(all.known),
  };
  if (LISTS.every((list) => found[list].length === 0)) throw unknownPattern(pattern, all);
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

const LISTS = ['promoted', 'contested', 'reinstated', 'rejected', 'known'] as const satisfies (
  | keyof Plan
  | 'known'
)[];

function unknownPattern(pattern: string, { promoted, rejected }: Promoted): Error {
  const seen = promoted.length + rejected.length;
  return usage(
    'pattern.unknown',
    `No evaluation shows the pattern ${JSON.stringify(oneLine(pattern, 80))} (${plural(seen, 'other')} seen).`,
    { hint: 'forge memory promote' },
  );
}
