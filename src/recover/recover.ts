import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { issueOf, type Manifest, nameIn } from '../checkpoint/rules.js';
import { type CheckpointWatch, type ProvedCheck, runProved } from '../checkpoint/run.js';
import { refused } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { plural } from '../core/text.js';
import { type FeatureResult, verifyFeatures } from '../feature/verify.js';
import { must, PORCELAIN } from '../git/client.js';
import { listLeftOut } from '../git/move.js';
import { operationInProgress } from '../git/repository.js';
import { requireVerified } from '../ledger/integrity.js';
import {
  type Context,
  orWarn,
  refuseAgent,
  requireRepository,
  requireSupervisor,
} from '../project/project.js';
import type { OwnText } from '../session/commit.js';
import { finishRecovery, moveTo, notNow } from './move.js';
import { chooseTarget, planRecovery, type RecoveryPlan } from './plan.js';
import { NEVER } from './rules.js';

const RecoverInput = z.strictObject({ to: z.optional(z.string()), rollback: z.optional(z.boolean()) });

export interface AgreedWatch extends CheckpointWatch {
  /** Called with the plan. If it returns false or throws, nothing is done. Without it every plan is confirmed. */
  confirm?(plan: RecoveryPlan): Promise<boolean>;
}

export interface Recovered extends RecoveryPlan {
  /** For a rollback: the backup of everything that it changed. Null if there was nothing to change. */
  backup_ref?: string | null;
  /** The commit that restores the checkpoint. Null if HEAD already had it. */
  commit?: string | null;
  /** The checkpoint's features and commands, which ran again after the rollback. */
  features?: Pick<FeatureResult, 'id' | 'status'>[];
  commands?: Pick<ProvedCheck, 'name' | 'state'>[];
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
  const input = checkInput(RecoverInput, raw);
  await finishRecovery(context);
  const operation = operationInProgress(requireRepository(context).repository);
  if (operation) throw notNow(`${operation} is in progress`);
  const plan = await planRecovery(context, input, watch);
  if (plan.decision !== 'continue') requireSupervisor(context, RESERVED);
  if (plan.rules[0]?.value === NEVER)
    throw refused(
      'recover.no_checkpoint',
      'There are no checkpoints here, so there is nothing to compare with or go back to; nothing was done.',
      { hint: 'forge checkpoint create   # while everything works' },
    );
  if (plan.decision === 'alert') return { ...plan, next: toSettle(plan) };
  if (plan.decision === 'continue') return { ...plan, next: toFix(plan) };
  if (context.disk.dryRun) return { ...plan, next: [] };
  refuseAgent(context, 'Rolling back');
  if (watch.confirm && !(await watch.confirm(plan)))
    throw refused(
      'recover.unconfirmed',
      `Rolling back to ${plan.checkpoint?.tag} was not confirmed; nothing was changed.`,
      { hint: 'add --yes, or --plan to see what broke and what would change' },
    );
  await requireVerified(context);
  const done = await rollBack(context, plan);
  return { ...plan, ...done, ...(await verifyRestored(context, plan, done.backup_ref, watch)) };
}

const about = ({ checkpoint, rules, checks }: RecoveryPlan): Record<string, unknown> => ({
  checkpoint: checkpoint?.tag ?? null,
  ...(checkpoint ? { checkpoint_commit: checkpoint.commit } : {}),
  rules: rules.map(({ rule, value, limit, holds }) => ({ rule, value, limit, holds })),
  failed: checks.flatMap(({ name, state }) => (state === 'failed' ? [name] : [])),
});

/** The reason names the command already. */
const describeCheck = ({ kind, name, why = '' }: ProvedCheck): string =>
  kind === 'command' ? why : `${name}: ${why}`;

/** Restores the checkpoint's tree outside `.forge/`, as a commit on HEAD and on disk. */
async function rollBack(context: Context, plan: RecoveryPlan) {
  const { tag, commit: target, features_passing } = plan.checkpoint as Manifest;
  const { ref, commit } = await moveTo(context, {
    ...{ action: 'rollback', tree: target, history: target, vouched: features_passing },
    head: plan.head as string,
    text: describe(plan),
    check: async (workspace) => {
      if ((await listLeftOut(workspace)).length === 0) return;
      throw refused('recover.sparse', 'This is a sparse checkout, so it cannot hold a whole checkpoint.', {
        hint: 'forge recover --worktree FOLDER\ngit sparse-checkout disable',
      });
    },
    what: `the rollback to ${tag}`,
    note: { checkpoint: tag },
    about: about(plan),
  });
  return { backup_ref: ref, commit };
}

function describe({ checkpoint, divergence, checks }: RecoveryPlan): OwnText {
  const { tag, commit } = checkpoint as Manifest;
  const { files, commits } = divergence;
  const short = commit.slice(0, 12);
  const failed = checks.filter(({ state }) => state === 'failed').map(describeCheck);
  return {
    id: issueOf(nameIn(tag) ?? 'FORGE'),
    subject: `Roll back to ${tag}`,
    what: [
      `Everything outside .forge/ as in ${short}`,
      `Left behind: ${plural(commits, 'commit')}, ${plural(files, 'changed file')}`,
    ],
    why: failed.map((text) => `- ${text}`).join('\n') || 'Asked for, although nothing is broken.',
    parentNote: `the verified state is ${short}`,
  };
}

/** Runs again what the checkpoint proved: the status of a feature is what its tests do now, not what failed before. */
async function verifyRestored(
  context: Context,
  { checkpoint, checks }: RecoveryPlan,
  backup: string | null,
  { confirm: _, ...watch }: AgreedWatch,
): Promise<Pick<Recovered, 'features' | 'commands' | 'next'>> {
  const ids = checks.flatMap(({ kind, name }) => (kind === 'feature' ? [name] : []));
  const undo = backup
    ? [
        'forge undo   # brings back everything that this took away',
        `git restore --source=${backup} -- FILE   # only one file of it`,
      ]
    : [];
  const onTest = (_id: string, command: string): void => watch.onStart?.(command);
  const ran = await orWarn(context, 'The rollback is done, but not everything was verified', async () => ({
    commands: await runProved(context, { ...(checkpoint as Manifest), features_passing: [] }, watch),
    results:
      ids.length === 0
        ? []
        : (await verifyFeatures(context, { ids }, { ...watch, onStart: onTest, known: new Map() })).results,
  }));
  if (!ran) return { next: [...undo, 'forge done --all   # runs the tests, which show what passes now'] };
  const { commands, results } = ran;
  const red = [
    ...commands.flatMap(({ state, why }) => (state === 'passed' ? [] : [`fix ${why}`])),
    ...results.flatMap(({ id, failure, refused, not_run }) => {
      const why = failure ?? (refused && not_run);
      return why ? [`fix ${id}: ${why}`] : [];
    }),
  ];
  return {
    ...(results.length > 0 ? { features: results.map(({ id, status }) => ({ id, status })) } : {}),
    ...(commands.length > 0 ? { commands: commands.map(({ name, state }) => ({ name, state })) } : {}),
    next: [...undo, ...red],
  };
}

/** The problems that a human must settle before a decision. */
function toSettle({ rules, checks, checkpoint, divergence }: RecoveryPlan): string[] {
  const untested = checks.filter(({ state }) => state === 'not_run');
  const broken = new Set(rules.flatMap(({ rule, holds }) => (holds ? [] : [rule])));
  const tag = checkpoint?.tag ?? 'TAG';
  return [
    ...untested.map((check) => `not tested: ${describeCheck(check)}`),
    ...(broken.has('checkpoint')
      ? ['forge checkpoint verify', 'forge recover --to TAG   # an older one']
      : []),
    ...(broken.has('branch')
      ? [
          divergence.branch === 'behind'
            ? `git merge --ff-only ${tag}   # HEAD is behind it`
            : `git log --oneline --graph HEAD ${tag}`,
        ]
      : []),
    ...(broken.has('ledger') ? ['forge memory verify'] : []),
    ...(broken.has('checks') ? [`nothing that ${tag} proved can be run: forge checkpoint show ${tag}`] : []),
    ...(broken.has('changes')
      ? [`no file differs from ${tag}, so look at what is outside git: tools, settings, ignored files`]
      : []),
  ];
}

const toFix = ({ checks }: RecoveryPlan): string[] => {
  const failed = checks.filter(({ state }) => state === 'failed');
  return [
    ...failed.map((check) => `fix ${describeCheck(check)}`),
    failed.length > 0 ? 'git diff   # only uncommitted work can have broken it' : 'forge checkpoint create',
  ];
};

/** A checkpoint in a separate folder. */
export type InspectedCheckpoint = Awaited<ReturnType<typeof inspectCheckpoint>>;

/** Only a worktree of the checkpoint, on no branch, in a new or empty folder. Nothing is compared, run or changed. */
export async function inspectCheckpoint(
  context: Context,
  { to, dir }: { to?: string | undefined; dir: string },
) {
  requireSupervisor(context, RESERVED);
  const { git } = requireRepository(context);
  const { manifest, state } = await chooseTarget(context, to);
  if (!manifest)
    throw refused('recover.no_checkpoint', `There is no checkpoint here to look at (${state}).`, {
      hint: 'forge checkpoint list',
    });
  const folder = resolve(dir);
  if (context.disk.dryRun) return { checkpoint: manifest, worktree: null };
  const args = ['worktree', 'add', '--quiet', '--detach', '--', folder, manifest.commit];
  await must(git, args, { ...PORCELAIN, timeout: 600_000 });
  return { checkpoint: manifest, worktree: folder };
}
