import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import type { CheckpointWatch } from '../checkpoint/run.js';
import { refused, usage } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { type Git, must, PORCELAIN } from '../git/client.js';
import { withoutLocalFilters } from '../git/config.js';
import { operationInProgress } from '../git/state.js';
import { requireVerified } from '../ledger/integrity.js';
import { type RecordRef, storeAudit } from '../ledger/memory.js';
import { type Context, refuseAgent, requireSupervisor } from '../project/project.js';
import { finishRecovery, notNow } from './move.js';
import {
  chooseTarget,
  planRecovery,
  type RecoveryPlan,
  requirePlace,
  type Target,
  targetOf,
} from './plan.js';
import { about, rollBack } from './rollback.js';
import { lacksCheckpoint } from './rules.js';

const RecoverInput = z.strictObject({ to: z.optional(z.string()), rollback: z.optional(z.boolean()) });

export interface AgreedWatch extends CheckpointWatch {
  /** Called with the plan. If it returns false or throws, nothing is done. Without it every plan is confirmed. */
  confirm?(plan: RecoveryPlan): Promise<boolean>;
}

/** A plan and its result. */
export interface Recovered extends RecoveryPlan {
  /** For a rollback: the backup of everything that it changed, and the commit that restores the checkpoint. */
  backup_ref?: string | null;
  commit?: string | null;
  /** The audit record of a decision to continue. */
  audit?: RecordRef;
  /** The next step. */
  next: string[];
}

/** A builder may continue, but only a supervisor may roll back. */
export const RESERVED = 'the state that work goes on from';

/** GIT-06: finds out what broke, then continues or rolls back. It leaves unknowns to a human, and changes nothing then. */
export async function recover(
  context: Context,
  raw: z.input<typeof RecoverInput> = {},
  watch: AgreedWatch = {},
): Promise<Recovered> {
  const input = checkInput(RecoverInput, raw) as { to?: string; rollback?: boolean };
  await finishRecovery(context);
  const operation = operationInProgress(requirePlace(context).repository);
  if (operation) throw notNow(`${operation} is in progress`);
  const plan = await planRecovery(context, input, watch);
  if (plan.decision !== 'continue') requireSupervisor(context, RESERVED);
  if (lacksCheckpoint(plan.rules))
    throw refused(
      'recover.no_checkpoint',
      'There are no checkpoints here, so there is nothing to compare with or go back to; nothing was done.',
      { hint: 'forge checkpoint create   # while everything works' },
    );
  if (plan.decision === 'alert') return { ...plan, next: toSettle(plan) };
  if (context.disk.dryRun) return { ...plan, next: [] };
  const same = [
    'forge recover',
    ...(input.to ? ['--to', input.to] : []),
    ...(input.rollback ? ['--rollback'] : []),
  ].join(' ');
  // Continuing changes nothing, so it needs no confirmation.
  if (plan.decision === 'rollback' && watch.confirm && !(await watch.confirm(plan)))
    throw refused(
      'recover.unconfirmed',
      `Rolling back to ${plan.checkpoint?.tag} was not confirmed; nothing was changed.`,
      {
        hint: `${same} --yes\n${same} --plan   # shows what broke and what would change`,
      },
    );
  if (plan.decision === 'rollback') refuseAgent(context, 'Rolling back');
  await requireVerified(context);
  if (plan.decision === 'rollback') return rolledBack(plan, await rollBack(context, plan));
  const record = { kind: 'recovery', move: makeToken(8), action: 'continue', ...about(plan) };
  const audit = context.disk.withLock(() => storeAudit(context, record));
  return { ...plan, audit, next: toFix(plan, input.to) };
}

const rolledBack = (plan: RecoveryPlan, done: Pick<Recovered, 'backup_ref' | 'commit'>): Recovered => ({
  ...plan,
  ...done,
  next: [
    ...(done.backup_ref ? ['forge undo   # brings back everything that this took away'] : []),
    'forge done --all   # runs the tests, which show what passes now',
  ],
});

/** The problems that a human must settle before a decision. */
function toSettle({ rules, checks, checkpoint }: RecoveryPlan): string[] {
  const untested = checks.filter(({ state }) => state === 'not_run');
  const broken = new Set(rules.flatMap(({ rule, holds }) => (holds ? [] : [rule])));
  const tag = checkpoint?.tag ?? 'TAG';
  return [
    ...untested.map(({ name, why }) => `${name} was not tested: ${why}`),
    ...(broken.has('checkpoint')
      ? ['forge checkpoint verify', 'forge recover --to TAG   # an older one']
      : []),
    ...(broken.has('branch') ? [`git log --oneline --graph HEAD ${tag}`] : []),
    ...(broken.has('ledger') ? ['forge memory verify'] : []),
    ...(broken.has('checks') ? [`nothing that ${tag} proved can be run: forge checkpoint show ${tag}`] : []),
    ...(broken.has('changes')
      ? [`no file differs from ${tag}, so look at what is outside git: tools, settings, ignored files`]
      : []),
  ];
}

const toFix = ({ checks }: RecoveryPlan, to?: string): string[] => {
  const failed = checks.filter(({ state }) => state === 'failed');
  return [
    ...failed.map(({ name, why }) => `fix ${name}: ${why}`),
    failed.length > 0 ? 'git diff   # only uncommitted work can have broken it' : 'forge checkpoint create',
    ...(to === undefined ? [] : [`forge recover --to ${to} --rollback   # goes back all the same`]),
  ];
};

/** A checkpoint in a separate folder. */
export interface InspectedCheckpoint {
  checkpoint: Target;
  /** Null in a dry run. */
  worktree: string | null;
}

/** Only a worktree of the checkpoint: nothing is compared, run or changed. */
export async function inspectCheckpoint(
  context: Context,
  { to, dir }: { to?: string; dir: string },
): Promise<InspectedCheckpoint> {
  requireSupervisor(context, RESERVED);
  const { git } = requirePlace(context);
  const { manifest, state } = await chooseTarget(context, to);
  if (!manifest)
    throw refused('recover.no_checkpoint', `There is no checkpoint here to look at (${state}).`, {
      hint: 'forge checkpoint list',
    });
  const worktree = context.disk.dryRun ? null : await addWorktree(git, dir, manifest.commit);
  return { checkpoint: targetOf(manifest), worktree };
}

/** A worktree of a commit, on no branch, in a new or empty folder. No hook runs. */
async function addWorktree(unsafe: Git, dir: string, commit: string): Promise<string> {
  const folder = resolve(dir);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw usage('recover.folder', `${folder} already exists and is not empty.`, { file: folder });
  const git = await withoutLocalFilters(unsafe);
  const args = ['worktree', 'add', '--quiet', '--detach', '--', folder, commit];
  await must(git, args, { ...PORCELAIN, timeout: 600_000 });
  return folder;
}
