import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { validId } from '../commit/check.js';
import { guardCommit, isIssue, linkCommits } from '../commit/own-commit.js';
import { NO_ISSUE } from '../commit/rules.js';
import { formatArgv } from '../core/argv.js';
import { ForgeError, refused } from '../core/error.js';
import { checkpointFile, shown, shownFrom } from '../core/paths.js';
import { checkId, checkInput, encodeDocument, isId } from '../core/schema.js';
import { checkText, firstPaths, makeToken, oneLine, plural } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { readFeatures } from '../feature/store.js';
import { must, PORCELAIN, userGit } from '../git/client.js';
import { type CommitOutcome, NOTHING_CHANGED, whyNoCommit } from '../git/commit.js';
import { findFiltered } from '../git/config.js';
import { commitAt } from '../git/read.js';
import { findRemote } from '../git/remote.js';
import { readBranch } from '../git/repository.js';
import { createTag, describeUnsigned, listTags } from '../git/tags.js';
import { recordsIn } from '../ledger/git.js';
import { reportTiers, requireVerified } from '../ledger/integrity.js';
import {
  type Context,
  type Place,
  readConfig,
  requireRepository,
  requireSupervisor,
  timestamp,
} from '../project/project.js';
import { commitInForm, ledgerHeads, ownMessage } from '../session/commit.js';
import { isAbout, sessionName } from '../session/rules.js';
import { readRunning, sessionHere, showFocus } from '../session/running.js';
import { approveTyped } from '../trust/trust.js';
import { differing, readManifests, testedTree } from './read.js';
import {
  CHECKPOINT,
  closedIssues,
  issueOf,
  type Manifest,
  nameIn,
  nextName,
  tagMessage,
  tagOf,
} from './rules.js';
import { type CheckpointWatch, type Checks, chooseChecks, type Proof, prove } from './run.js';

const CheckpointInput = z.strictObject({
  issue: z.optional(z.string()),
  verify: z.optional(z.array(z.string())),
  message: z.optional(z.string()),
});
type CheckpointInput = z.infer<typeof CheckpointInput>;

export interface CreateWatch extends CheckpointWatch {
  /** After the checkpoint: whether to push its tag. */
  confirmPush?(made: CreatedCheckpoint): Promise<boolean>;
}

export interface CreatedCheckpoint extends Partial<Manifest> {
  tag: string;
  verified_by: string[];
  /** The commit with the manifest. Null if it could not be made. */
  manifest_commit?: string | null;
  /** The command that shares it. Absent without a remote, or if the remote is ambiguous. */
  push?: string;
  /** Whether it was pushed, if a person wanted that. */
  pushed?: boolean;
  /** Only with --dry-run: nothing was run. */
  planned?: true;
}

/**
 * GIT-05: runs the commands on the working tree, commits `.forge/`, marks that commit with a tag that contains the manifest,
 * and commits the manifest. The tag is the checkpoint: an interruption before it leaves only a commit of `.forge/`.
 */
export async function createCheckpoint(
  context: Context,
  raw: CheckpointInput = {},
  watch: CreateWatch = {},
): Promise<CreatedCheckpoint> {
  const { message, verify = [], issue: given } = checkInput(CheckpointInput, raw);
  requireSupervisor(context, 'checkpoints');
  if (message !== undefined) checkText(message, { what: 'The message', maxBytes: 4096 });
  const issue = chooseIssue(context, given);
  const place = await requireBranch(context);
  const checks = chooseChecks(context, verify);
  await requireVerified(context);
  const tree = await requireClean(context, place);
  if (context.disk.dryRun)
    return { tag: tagOf(await freeName(context, place, issue)), verified_by: checks.commands, planned: true };
  const proof = await proveTree(context, place, checks, tree, watch);
  const manifest = await mark(context, { place, issue, message, tree, proof });
  const outcome = await keepManifest(context, manifest);
  if ('skipped' in outcome)
    context.warnings.push(
      `The manifest is not committed: ${outcome.skipped}. The next session end commits it.`,
    );
  const made = { ...manifest, manifest_commit: 'hash' in outcome ? outcome.hash : null };
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
  if (!(await watch.confirmPush?.(offered))) return offered;
  // The person's own git, with its credentials and hooks. A failed push does not undo the checkpoint.
  const { root } = requireRepository(context).repository;
  const { code, stderr } = await userGit(root, context.world.env)(args, watch);
  if (code !== 0) context.warnings.push(`The tag was not pushed: ${oneLine(stderr.trim(), 300)}`);
  return { ...offered, pushed: code === 0 };
}

/** A branch that a checkpoint can be made on. */
interface OnBranch extends Place {
  branch: string;
  head: string;
}

/** B-39: on a branch with a commit, with no git operation in progress. Exit 3 names the obstacle. */
async function requireBranch(context: Context): Promise<OnBranch> {
  const place = requireRepository(context);
  const { repository, git } = place;
  const branch = await readBranch(repository, git);
  const head = await commitAt(git, 'HEAD');
  const reason = await whyNoCommit({ repository, git, outerIndex: context.world.env.GIT_INDEX_FILE });
  if (reason) throw notNow(reason);
  if (head === null) throw notNow('this branch has no commit yet', 'git add . && git commit');
  if (branch === null) throw notNow('HEAD is detached: no branch would hold it', 'git switch -c NAME');
  return { ...place, branch, head };
}

const notNow = (reason: string, hint?: string): Error =>
  refused('checkpoint.place', `No checkpoint can be made: ${reason}.`, { hint });

/** The name before `-vN`: the one given, else that of the issue, the feature or the session, else FORGE. */
function chooseIssue(context: Context, given: string | undefined): string {
  if (given !== undefined) return checkId(given, 'name for a checkpoint');
  const focus = showFocus(context);
  const feature = readFeatures(context).find(({ id }) => isAbout(focus, id));
  const session = readRunning(context);
  const name = focus.linear_issue ?? feature?.id ?? (session ? sessionName(session.id) : undefined);
  return name !== undefined && isId(name) ? name : NO_ISSUE;
}

const DIRTY = `git add -A && forge commit -m "TEXT" --why "TEXT"
git stash -u
echo /FILE >>"$(git rev-parse --git-path info/exclude)"   # what belongs to this checkout alone
git ls-files -v | grep '^[a-zS]'   # marked files, whose changes git add and git stash do not see`;

/** The git tree to test. Exit 3 names files outside `.forge/` that differ from HEAD. */
async function requireClean(context: Context, { git, head }: OnBranch): Promise<string> {
  const dirty = await differing(context, head);
  const filtered = await findFiltered(git, dirty);
  if (filtered)
    throw refused('checkpoint.filter', `${filtered.what}, so it cannot compare them with HEAD.`, {
      hint: filtered.hint,
      data: { files: filtered.paths.slice(0, 100) },
    });
  if (dirty.length > 0)
    throw refused(
      'checkpoint.dirty',
      `${plural(dirty.length, 'file')} outside .forge/ ${dirty.length === 1 ? 'has' : 'have'} uncommitted changes: ${firstPaths(dirty)}.`,
      { hint: DIRTY, data: { files: dirty.slice(0, 100) } },
    );
  return testedTree(context, head);
}

/** Exit 1 if a command fails or changes files that it was to test. */
async function proveTree(
  context: Context,
  { head }: OnBranch,
  checks: Checks,
  tree: string,
  watch: CheckpointWatch,
): Promise<Proof> {
  if (checks.areTyped) approveTyped(context, checks.commands);
  const proof = await prove(context, checks, tree, watch);
  const changed = await differing(context, head);
  if (changed.length > 0)
    throw new ForgeError(
      'findings',
      'checkpoint.changed',
      `The tree changed while the commands ran (${plural(changed.length, 'file')}: ${firstPaths(changed)}); no checkpoint was made.`,
      { hint: 'What the commands write should be in .gitignore.', data: { files: changed.slice(0, 100) } },
    );
  return proof;
}

/** A tested state and the name for it. */
interface Making {
  place: OnBranch;
  issue: string;
  message: string | undefined;
  /** The git tree of everything but `.forge/`. */
  tree: string;
  proof: Proof;
}

/** The commit and its tag. Git decides if another process takes the name first. */
async function mark(context: Context, making: Making): Promise<Manifest> {
  const { place, issue, message, proof } = making;
  const { disk, layout, warnings } = context;
  const { sign } = readConfig(context).git;
  const state = await commitState(context, making);
  const { evidence, ...proved } = proof;
  for (let attempt = 1; attempt <= 20; attempt++) {
    const name = await freeName(context, place, issue);
    const manifest: Manifest = {
      schema_version: CHECKPOINT.version,
      tag: tagOf(name),
      commit: state.commit,
      timestamp: timestamp(context),
      ...proved,
      linear_issues_closed: closedIssues(readFeatures(context), new Set(proof.features_passing)),
      can_rollback_to: true,
      message,
      tree: state.tree,
      branch: place.branch,
      session: sessionHere(context),
      ledger: state.ledger,
      evidence,
    };
    // LTM-13: before the tag contains it.
    disk.checkContent(checkpointFile(layout, name), encodeDocument(manifest));
    const { tag, commit } = manifest;
    const made = await createTag(place.git, { name, commit, message: tagMessage(manifest), sign });
    if (!made) continue;
    if (made.unsigned !== undefined) warnings.push(describeUnsigned(`The tag ${tag}`, made.unsigned));
    const features_passing = manifest.features_passing.length;
    queueEvent(context, 'checkpoint', tag + commit, { tag, commit, features_passing });
    return manifest;
  }
  throw notNow('others took every name that was tried');
}

/**
 * Free among tags and manifests: a tag may not be fetched, and a manifest may be another branch's. With a remote, two
 * clones may make a checkpoint of one issue before either is pushed, so the name ends in a random suffix.
 */
async function freeName(context: Context, { git }: OnBranch, issue: string): Promise<string> {
  const taken = [...(await listTags(git)), ...readManifests(context)].map(({ name }) => name);
  const hasRemote = (await must(git, ['remote'], PORCELAIN)).trim() !== '';
  return `${nextName(issue, taken)}${hasRemote ? `.${makeToken(6)}` : ''}`;
}

type State = Required<Pick<Manifest, 'commit' | 'tree' | 'ledger'>>;

/** Commits `.forge/` on HEAD, with the ledger as it was just before. The commit may also have records that came since. */
async function commitState(context: Context, { place, tree, issue, message }: Making): Promise<State> {
  const { git, folder } = place;
  await linkCommits(context);
  await guardCommit(context);
  const tiers = reportTiers(context, await requireVerified(context));
  const id = validId(context, issue);
  const own = ownMessage(context, {
    id,
    subject: 'Memory at a checkpoint',
    what: ['Committed .forge/ as it is, so that the checkpoint holds it'],
    why: message ?? 'A verified state is marked, to come back to.',
    ledger: ledgerHeads(context),
    linear: isIssue(context, id) ? id : 'none',
  });
  const outcome = await commitInForm(context, folder, own);
  if ('skipped' in outcome && outcome.skipped !== NOTHING_CHANGED) throw notNow(outcome.skipped);
  const idOf = async (rev: string): Promise<string> => (await must(git, ['rev-parse', rev])).trim();
  const commit = await idOf('HEAD');
  if ((await testedTree(context, commit)) !== tree)
    throw refused('checkpoint.moved', 'HEAD moved while the commands ran; no checkpoint was made.', {
      hint: 'forge checkpoint create',
    });
  const held = await recordsIn(context, commit);
  if (tiers.some(({ heads }) => heads.some((head) => !held.has(head))))
    throw notNow('git does not have all records of memory', 'git status --ignored .forge');
  const ledger = Object.fromEntries(tiers.map(({ tier, heads, records }) => [tier, { heads, records }]));
  return { commit, tree: await idOf(`${commit}^{tree}`), ledger };
}

/** The manifest as a file, byte for byte as in the tag, and a separate commit of it. */
async function keepManifest(context: Context, manifest: Manifest): Promise<CommitOutcome> {
  const { disk, layout } = context;
  const { commit, verified_by, linear_issues_closed: closed, message, tag } = manifest;
  const name = nameIn(tag) as string;
  const path = checkpointFile(layout, name);
  disk.withLock(() => disk.replace(path, encodeDocument(manifest)));
  const id = validId(context, issueOf(name));
  const short = commit.slice(0, 12);
  const own = ownMessage(context, {
    id,
    subject: `Checkpoint ${name}`,
    what: [`Marked ${short} as ${tag}`, ...verified_by.map((command) => `Ran: ${command}`)],
    why: message ?? 'A verified state to come back to.',
    updated: [shown(layout, path)],
    linear: closed.includes(id) || isIssue(context, id) ? id : 'none',
    parentNote: `the verified state is ${short}`,
  });
  const folder = shownFrom(requireRepository(context).repository.root, dirname(path));
  return commitInForm(context, folder, own);
}
