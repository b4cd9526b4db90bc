import * as z from 'zod/mini';
import { refused } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { makeToken, plural } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import { refusePaused } from '../ledger/audit.js';
import { requireVerified } from '../ledger/integrity.js';
import { type RecordRef, storeAudit } from '../ledger/memory.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { addInspection, type InspectedCheckpoint } from './inspect.js';
import { finishRecovery } from './move.js';
import { planRecovery, type RecoveryPlan } from './plan.js';
import { about, rollBack } from './rollback.js';
import { describeBroken, lacksCheckpoint } from './rules.js';
import { type Undone, undoRollback } from './undo.js';

const RecoverInput = z.strictObject({
  to: z.optional(z.string()),
  /** What somebody agreed to: nothing else is done. */
  agreed: z.optional(z.strictObject({ decision: z.string(), head: z.nullable(z.string()) })),
});

/** A plan, and what was done about it. */
export interface Recovered extends RecoveryPlan {
  /** With a rollback: where everything is that it changed, and the commit that restores the checkpoint. */
  backup_ref?: string | null;
  commit?: string | null;
  /** The audit record of going on or of stopping. */
  audit?: RecordRef;
  /** What is to be done now. */
  next: string[];
}

/** A builder may be told to go on; to move or to stop the work is a supervisor's. */
const RESERVED = 'the state that work goes on from';

/** GIT-06, before anybody is asked. Completes what was cut off. */
export async function proposeRecovery(context: Context, input: { to?: string } = {}): Promise<RecoveryPlan> {
  await finishRecovery(context);
  refusePaused(context);
  const plan = await planRecovery(context, input);
  if (plan.decision !== 'continue') requireSupervisor(context, RESERVED);
  if (lacksCheckpoint(plan.rules))
    throw refused(
      'recover.no_checkpoint',
      'No checkpoint was ever made here, so there is nothing to compare with or to go back to; nothing was done.',
      { hint: 'forge checkpoint create   (while all works)' },
    );
  return plan;
}

/** GIT-06: goes on, rolls back, or stops everything until a human has looked. */
export async function recover(context: Context, raw: z.input<typeof RecoverInput> = {}): Promise<Recovered> {
  const { to, agreed } = checkInput(RecoverInput, raw);
  const plan = await proposeRecovery(context, to === undefined ? {} : { to });
  if (agreed && (agreed.decision !== plan.decision || agreed.head !== plan.head))
    throw refused('recover.changed', 'Things changed since that was agreed to; nothing was done.', {
      hint: 'forge recover --plan',
    });
  if (context.disk.dryRun) return { ...plan, next: [] };
  await requireVerified(context);
  if (plan.decision === 'rollback') return rolledBack(plan, await rollBack(context, plan));
  const reasons = describeBroken(plan.rules);
  const record =
    plan.decision === 'alert'
      ? { kind: 'paused', reasons, ...about(plan) }
      : { kind: 'recovery', move: makeToken(8), action: 'continue', ...about(plan) };
  const audit = context.disk.withLock(() => storeAudit(context, record));
  return { ...plan, audit, next: plan.decision === 'alert' ? afterPause(reasons) : toFix(context, plan) };
}

const rolledBack = (plan: RecoveryPlan, done: Pick<Recovered, 'backup_ref' | 'commit'>): Recovered => ({
  ...plan,
  ...done,
  next: [
    ...(done.backup_ref ? ['forge recover --undo  (brings everything back that this took away)'] : []),
    'forge feature verify --all  (what passes now is shown by its tests)',
  ],
});

const afterPause = (reasons: readonly string[]): string[] => [
  `a human looks at it: ${reasons.join('; ')}`,
  'forge memory override acknowledge --reason "…"  (then cycle, loop and recover work again)',
];

function toFix(context: Context, { divergence }: RecoveryPlan): string[] {
  const failing = listFeatures(context).features.filter(({ status }) => status === 'failing');
  const { files, untracked } = divergence;
  return [
    ...failing.map(({ id, name }) => `forge feature verify ${id}  (${name}: its tests failed)`),
    ...(files + untracked > 0
      ? [`git status  (${plural(files, 'file')} changed since the checkpoint, ${untracked} untracked)`]
      : []),
    'forge checkpoint create  (once the tests pass)',
  ];
}

export async function undoRecovery(context: Context, input: { backup?: string } = {}): Promise<Undone> {
  requireSupervisor(context, RESERVED);
  await finishRecovery(context);
  refusePaused(context);
  await requireVerified(context);
  return undoRollback(context, input);
}

export async function inspectCheckpoint(
  context: Context,
  { to, dir }: { to?: string; dir: string },
): Promise<InspectedCheckpoint> {
  requireSupervisor(context, RESERVED);
  refusePaused(context);
  return addInspection(context, await planRecovery(context, to === undefined ? {} : { to }), dir);
}
