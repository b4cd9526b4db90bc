import * as z from 'zod/mini';
import { validId } from '../commit/check.js';
import { type CommitMessage, formatCommitMessage } from '../commit/message.js';
import { guardCommit, isIssue, linkCommits } from '../commit/own-commit.js';
import { formatArgv } from '../core/argv.js';
import { ForgeError, refused } from '../core/error.js';
import { checkpointFile, checkpointsFolder, shown, shownFrom } from '../core/paths.js';
import { checkInput, encodeDocument } from '../core/schema.js';
import { checkText, makeToken, oneLine, plural } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { readFeatures } from '../feature/store.js';
import { must, PORCELAIN, userGit } from '../git/client.js';
import { type CommitOutcome, commitFolder, NOTHING_CHANGED } from '../git/commit.js';
import { findRemote } from '../git/remote.js';
import { describeUnsigned } from '../git/signatures.js';
import { createTag, listTags, reachableTags } from '../git/tags.js';
import { recordsIn } from '../ledger/git.js';
import { reportTiers, requireVerified, verifyAndRepair } from '../ledger/integrity.js';
import { type Context, readConfig, requireSupervisor, timestamp } from '../project/project.js';
import { ledgerHeads } from '../session/commit.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { approveTyped } from '../trust/trust.js';
import {
  chooseIssue,
  differing,
  listed,
  notNow,
  type Place,
  requireClean,
  requirePlace,
  testedTree,
} from './place.js';
import { readCheckpoints, readManifests } from './read.js';
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
  /** Whether it was pushed, if somebody was asked. */
  pushed?: boolean;
  /** Only with --dry-run: nothing was run. */
  planned?: true;
}

/**
 * GIT-05: runs the commands on the working tree, commits `.forge/`, marks that commit with a tag that contains the manifest,
 * and commits the manifest. The tag is the checkpoint: an interruption before it leaves only a commit of `.forge/`.
 * After it, the next checkpoint writes a missing manifest.
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
  if (!context.disk.dryRun) await keepMissing(context, place);
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
  // Memory was found intact on this commit: the next start need not check it again.
  await verifyAndRepair(context);
  const made = { ...manifest, manifest_commit: 'hash' in outcome ? outcome.hash : null };
  const remote = await findRemote(place.repository, place.git);
  return remote === null ? made : offerPush(context, made, ['push', remote, manifest.tag], watch);
}

async function offerPush(
  { warnings, repository, world }: Context,
  made: CreatedCheckpoint,
  args: readonly string[],
  { confirmPush, onOutput, signal }: CreateWatch,
): Promise<CreatedCheckpoint> {
  const offered = { ...made, push: formatArgv(['git', ...args]) };
  const isWanted = await confirmPush?.(offered);
  if (!isWanted) return isWanted === undefined ? offered : { ...offered, pushed: false };
  // The person's own git, with its credentials and hooks. A failed push does not undo the checkpoint.
  const { code, stderr } = await userGit(repository?.root ?? '.', world.env)(args, { onOutput, signal });
  if (code !== 0) warnings.push(`The tag was not pushed: ${oneLine(stderr.trim(), 300)}`);
  return { ...offered, pushed: code === 0 };
}

/** Exit 1 if a command fails or changes files that it was to test. */
async function proveTree(
  context: Context,
  { head }: Place,
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
      `The tree changed while the commands ran (${plural(changed.length, 'file')}: ${listed(changed)}); no checkpoint was made.`,
      { hint: 'What the commands write should be in .gitignore.', data: { files: changed.slice(0, 100) } },
    );
  return proof;
}

/** Writes the manifests of checkpoints that were interrupted after their tag. */
async function keepMissing(context: Context, { git }: Place): Promise<void> {
  const here = await reachableTags(git);
  for (const { name, state, hasFile, manifest } of await readCheckpoints(context))
    if (state === 'ok' && !hasFile && manifest && here.has(name)) await keepManifest(context, manifest);
}

/** A tested state and the name for it. */
interface Making {
  place: Place;
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
      ...(message === undefined ? {} : { message }),
      tree: state.tree,
      branch: place.branch,
      session: readRunning(context)?.id ?? null,
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
async function freeName(context: Context, { git }: Place, issue: string): Promise<string> {
  const taken = [...(await listTags(git)), ...readManifests(context)].map(({ name }) => name);
  const hasRemote = (await must(git, ['remote'], PORCELAIN)).trim() !== '';
  return `${nextName(issue, taken)}${hasRemote ? `.${makeToken(6)}` : ''}`;
}

type State = Required<Pick<Manifest, 'commit' | 'tree' | 'ledger'>>;

/**
 * Commits `.forge/` on HEAD. The ledger is read at one moment. The commit may also have records that others append
 * while git reads it.
 */
async function commitState(context: Context, { place, tree, issue, message }: Making): Promise<State> {
  const { git, folder } = place;
  await linkCommits(context);
  await guardCommit(context);
  const id = validId(context, issue);
  const idOf = async (rev: string): Promise<string> => (await must(git, ['rev-parse', rev])).trim();
  for (let attempt = 1; attempt <= 3; attempt++) {
    const tiers = reportTiers(context, await requireVerified(context));
    const outcome = await commitHere(context, {
      folder,
      id,
      subject: 'Memory at a checkpoint',
      what: ['Committed .forge/ as it is, so that the checkpoint holds it'],
      why: message ?? 'A verified state is marked, to come back to.',
      updated: [],
      ledger: ledgerHeads(context),
      session: readRunning(context)?.id,
    });
    if ('skipped' in outcome && outcome.skipped !== NOTHING_CHANGED) throw notNow(outcome.skipped);
    if ('hash' in outcome && outcome.unsigned !== undefined)
      context.warnings.push(describeUnsigned('The commit of .forge/', outcome.unsigned));
    const commit = await idOf('HEAD');
    if ((await testedTree(context, commit)) !== tree)
      throw refused('checkpoint.moved', 'HEAD moved while the commands ran; no checkpoint was made.', {
        hint: 'forge checkpoint create',
      });
    const held = await recordsIn(context, commit);
    if (tiers.some(({ heads }) => heads.some((head) => !held.has(head)))) continue;
    const ledger = Object.fromEntries(tiers.map(({ tier, heads, records }) => [tier, { heads, records }]));
    return { commit, tree: await idOf(`${commit}^{tree}`), ledger };
  }
  throw notNow('memory kept changing while git read it');
}

interface OwnCommit extends Omit<CommitMessage, 'learned' | 'backtrace'> {
  /** From the repository's top. */
  folder: string;
  session: string | null | undefined;
  /** Default: the id, if it is an issue's and not a feature's or a session's. */
  linear?: string;
  parentNote?: string;
}

/** A commit of one folder in forge's form. */
async function commitHere(
  context: Context,
  { folder, session, linear, parentNote, ...text }: OwnCommit,
): Promise<CommitOutcome> {
  const { repository, git, world } = context;
  if (!repository || !git) return { skipped: 'this folder is not a git repository' };
  const backtrace = {
    ...(parentNote === undefined ? {} : { parentNote }),
    linear: linear ?? (isIssue(context, text.id) ? text.id : 'none'),
    session: session ? sessionName(session) : 'none',
  };
  return commitFolder({
    repository,
    git,
    folder,
    outerIndex: world.env.GIT_INDEX_FILE,
    sign: readConfig(context).git.sign,
    message: (parent) =>
      formatCommitMessage(
        { ...text, learned: [], backtrace: { ...backtrace, parent: parent ?? 'none' } },
        readConfig(context).commit.style,
      ),
  });
}

/** The manifest as a file, byte for byte as in the tag, and a separate commit of it. Repeating this changes nothing. */
async function keepManifest(context: Context, manifest: Manifest): Promise<CommitOutcome> {
  const { disk, layout, repository } = context;
  const { commit, verified_by, linear_issues_closed: closed, session, message, tag } = manifest;
  const name = nameIn(tag) as string;
  const path = checkpointFile(layout, name);
  disk.withLock(() => {
    if (!disk.exists(path)) disk.replace(path, encodeDocument(manifest));
  });
  const id = validId(context, issueOf(name));
  const short = commit.slice(0, 12);
  return commitHere(context, {
    folder: shownFrom(repository?.root ?? layout.root, checkpointsFolder(layout)),
    id,
    subject: `Checkpoint ${name}`,
    what: [`Marked ${short} as ${tag}`, ...verified_by.map((command) => `Ran: ${command}`)],
    why: message ?? 'A verified state to come back to.',
    updated: [shown(layout, path)],
    session,
    ...(closed.includes(id) ? { linear: id } : {}),
    parentNote: `the verified state is ${short}`,
  });
}
