import * as z from 'zod/mini';
import { formatArgv } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { whyFailed } from '../core/process.js';
import { checkInput } from '../core/schema.js';
import { checkText, oneLine, plural } from '../core/text.js';
import { userGit } from '../git/client.js';
import { findRemote } from '../git/remote.js';
import { requireVerified, settleMemory } from '../ledger/integrity.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { approveTyped } from '../trust/trust.js';
import { finishCheckpoints, forgetTag, freeName, keepManifest, mark } from './mark.js';
import { chooseIssue, listed, type Place, requireClean, requirePlace, type Tested } from './place.js';
import { type Manifest, nameIn, tagOf } from './rules.js';
import {
  type CheckpointWatch,
  type Checks,
  chooseChecks,
  type Proof,
  proveFeatures,
  runChecks,
  toEvidence,
} from './run.js';

const CheckpointInput = z.strictObject({
  issue: z.optional(z.string()),
  verify: z.optional(z.array(z.string())),
  message: z.optional(z.string()),
});
type CheckpointInput = z.infer<typeof CheckpointInput>;

export interface CreateWatch extends CheckpointWatch {
  /** The checkpoint is made: whether its tag is to be pushed. */
  confirmPush?(made: CreatedCheckpoint): Promise<boolean>;
}

export interface CreatedCheckpoint extends Partial<Manifest> {
  tag: string;
  verified_by: string[];
  /** The commit that has the manifest; null where it could not be made. */
  manifest_commit?: string | null;
  /** What gives it to others; absent where there is no remote, or nothing says which. */
  push?: string;
  /** Whether it was pushed, where somebody was asked. */
  pushed?: boolean;
  /** Only with --dry-run: nothing was run. */
  planned?: true;
}

/**
 * GIT-05: runs the commands on the tree as it is, commits `.forge/`, marks that commit with a tag that holds the manifest,
 * and commits the manifest. The tag is the checkpoint: before it nothing is left but a commit of `.forge/`, after it the
 * rest is completed, by the next command if need be.
 */
export async function createCheckpoint(
  context: Context,
  raw: CheckpointInput = {},
  watch: CreateWatch = {},
): Promise<CreatedCheckpoint> {
  const { message, verify = [], issue: said } = checkInput(CheckpointInput, raw);
  requireSupervisor(context, 'checkpoints');
  if (message !== undefined) checkText(message, { what: 'The message', maxBytes: 4096 });
  const issue = chooseIssue(context, said);
  const place = await requirePlace(context);
  const checks = chooseChecks(context, verify);
  await requireVerified(context);
  await finishCheckpoints(context);
  const tested = await requireClean(context, place);
  if (context.disk.dryRun) return plan(context, place, issue, checks);
  const proof = await prove(context, checks, tested, watch);
  const manifest = await mark(context, { place, issue, message, tested, proof });
  const manifest_commit = await keep(context, manifest);
  const made = { ...manifest, manifest_commit };
  const remote = await findRemote(place.repository, place.git);
  return remote === null ? made : offerPush(context, made, ['push', remote, manifest.tag], watch);
}

async function offerPush(
  context: Context,
  made: CreatedCheckpoint,
  args: readonly string[],
  watch: CreateWatch,
): Promise<CreatedCheckpoint> {
  const offered = { ...made, push: formatArgv(['git', ...args]) };
  const isWanted = await watch.confirmPush?.(offered);
  if (isWanted === undefined) return offered;
  return { ...offered, pushed: isWanted && (await pushTag(context, args, watch)) };
}

/** With the person's own git: its credentials and hooks. The checkpoint stands, whatever becomes of this. */
async function pushTag(
  { warnings, repository, world }: Context,
  args: readonly string[],
  { onOutput, signal }: CheckpointWatch,
): Promise<boolean> {
  const git = userGit(repository?.root ?? '.', world.env);
  const { code, stderr } = await git(args, {
    ...(onOutput ? { onOutput } : {}),
    ...(signal ? { signal } : {}),
  });
  if (code !== 0) warnings.push(`The tag was not pushed: ${oneLine(stderr.trim(), 300)}`);
  return code === 0;
}

async function plan(
  context: Context,
  place: Place,
  issue: string,
  { commands }: Checks,
): Promise<CreatedCheckpoint> {
  return { tag: tagOf(await freeName(context, place, issue)), verified_by: commands, planned: true };
}

/** Exit 1 where a command fails, or leaves other files than those it was to judge. */
async function prove(
  context: Context,
  { commands, areTyped, claims }: Checks,
  tested: Tested,
  watch: CheckpointWatch,
): Promise<Proof> {
  if (areTyped) approveTyped(context, commands);
  const runs = await runChecks(context, commands, watch);
  for (const [i, run] of runs.entries()) {
    const why = whyFailed(run);
    const { exit_code, output } = run;
    if (why !== null)
      throw new ForgeError(
        'findings',
        'checkpoint.failed',
        `${commands[i]}: ${why}; no checkpoint was made.`,
        {
          data: { command: commands[i], exit_code, output: output.tail.slice(-4096) },
        },
      );
  }
  const proof = await proveFeatures(context, claims, toEvidence(runs, commands, tested.tree), watch);
  const changed = await tested.changedSince();
  if (changed.length > 0)
    throw new ForgeError(
      'findings',
      'checkpoint.changed',
      `The tree changed while the commands ran (${plural(changed.length, 'file')}: ${listed(changed)}); no checkpoint was made.`,
      { hint: 'What the commands write should be in .gitignore.', data: { files: changed.slice(0, 100) } },
    );
  return proof;
}

/** The manifest as a file and in a commit, and memory found intact on it, for the next start. */
async function keep(context: Context, manifest: Manifest): Promise<string | null> {
  const outcome = await keepManifest(context, manifest);
  forgetTag(context, nameIn(manifest.tag) as string);
  if ('skipped' in outcome)
    context.warnings.push(
      `The manifest is not committed: ${outcome.skipped}. The next session end commits it.`,
    );
  await settleMemory(context);
  return 'hash' in outcome ? outcome.hash : null;
}
