import { idHere } from '../commit/check.js';
import { guardCommit } from '../commit/guard.js';
import { linkCommits } from '../commit/issue-commits.js';
import { formatCommitMessage } from '../commit/message.js';
import { refused } from '../core/error.js';
import { checkpointFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { must, PORCELAIN } from '../git/client.js';
import { commitFolder, NOTHING_CHANGED } from '../git/commit.js';
import { describeUnsigned } from '../git/signing.js';
import { createTag, hasTag, listTags } from '../git/tags.js';
import { recordsIn } from '../ledger/git.js';
import { reportTiers, requireVerified } from '../ledger/integrity.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { ledgerHeads } from '../session/commit.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { forgetTag, noteTag } from './finish.js';
import { notNow, type Place, type Tested } from './place.js';
import { readManifests } from './read.js';
import { CHECKPOINT, closedIssues, type Manifest, nextName, tagMessage, tagOf } from './rules.js';
import type { Proof } from './run.js';

/** A state that was tested, and how it is to be named. */
interface Making {
  place: Place;
  issue: string;
  message: string | undefined;
  tested: Tested;
  proof: Proof;
}

/** What is marked. */
interface CommittedState {
  commit: string;
  tree: string;
  ledger: NonNullable<Manifest['ledger']>;
}

/**
 * `.forge/` in a commit on HEAD. The ledger is told as it was at one moment; what others append while git reads it may be in
 * the commit too.
 */
async function commitState(context: Context, making: Making): Promise<CommittedState> {
  const { place, tested } = making;
  const { git } = place;
  await linkCommits(context);
  await guardCommit(context);
  for (let attempt = 1; attempt <= 3; attempt++) {
    const tiers = reportTiers(context, await requireVerified(context));
    const commit = await commitForge(context, making);
    if ((await tested.treeOf(commit)) !== tested.tree)
      throw refused('checkpoint.moved', 'HEAD moved while the commands ran; no checkpoint was made.', {
        hint: 'forge checkpoint create',
      });
    const held = await recordsIn(context, commit);
    if (tiers.some(({ heads }) => heads.some((head) => !held.has(head)))) continue;
    const tree = (await git(['rev-parse', `${commit}^{tree}`])).stdout.trim();
    return {
      commit,
      tree,
      ledger: Object.fromEntries(tiers.map(({ tier, heads, records }) => [tier, { heads, records }])),
    };
  }
  throw notNow('memory kept changing while git read it');
}

/** HEAD as it is when there is nothing to commit. */
async function commitForge(context: Context, { place, issue, message }: Making): Promise<string> {
  const { repository, git, folder } = place;
  const session = readRunning(context)?.id;
  const outcome = await commitFolder({
    repository,
    git,
    folder,
    outerIndex: context.world.env.GIT_INDEX_FILE,
    sign: readConfig(context).git.sign,
    message: (parent) =>
      formatCommitMessage({
        id: idHere(context, issue),
        subject: 'Memory at a checkpoint',
        what: ['Committed .forge/ as it is, so that the checkpoint holds it'],
        why: message ?? 'A verified state is marked, to come back to.',
        learned: [],
        updated: [],
        backtrace: {
          parent: parent ?? 'none',
          linear: 'none',
          session: session === undefined ? 'none' : sessionName(session),
        },
        ledger: ledgerHeads(context),
      }),
  });
  if ('hash' in outcome) {
    if (outcome.unsigned !== undefined)
      context.warnings.push(describeUnsigned('The commit of .forge/', outcome.unsigned));
    return outcome.hash;
  }
  if (outcome.skipped !== NOTHING_CHANGED) throw notNow(outcome.skipped);
  return (await git(['rev-parse', 'HEAD'])).stdout.trim();
}

/** The commit that is marked, and the tag. Until the tag is there another one may take the name: git decides. */
export async function mark(context: Context, making: Making): Promise<Manifest> {
  const { place, issue } = making;
  const { disk, layout } = context;
  const { sign } = readConfig(context).git;
  const state = await commitState(context, making);
  for (let attempt = 1; attempt <= 20; attempt++) {
    const name = await freeName(context, place, issue);
    const manifest = describe(context, making, name, state);
    const bytes = encodeDocument(manifest);
    // LTM-13: before the tag holds it.
    disk.checkContent(checkpointFile(layout, name), bytes);
    noteTag(context, name);
    const message = tagMessage(manifest);
    const tag = await createTag(place.git, { name, commit: state.commit, message, sign }).catch(
      async (error: unknown) => {
        if (!(await hasTag(place.git, manifest.tag))) forgetTag(context, name);
        throw error;
      },
    );
    if (tag?.unsigned !== undefined)
      context.warnings.push(describeUnsigned(`The tag ${manifest.tag}`, tag.unsigned));
    if (tag) return manifest;
    forgetTag(context, name);
  }
  throw notNow('others took every name that was tried');
}

/**
 * Free among tags and manifests: a tag may not have been fetched, a manifest may be another branch's. With a remote, two
 * clones may make a checkpoint of one issue before either is pushed, so the name ends in a random word.
 */
export async function freeName(context: Context, { git }: Place, issue: string): Promise<string> {
  const taken = [...(await listTags(git)), ...readManifests(context)].map(({ name }) => name);
  const hasRemote = (await must(git, ['remote'], PORCELAIN)).trim() !== '';
  return `${nextName(issue, taken)}${hasRemote ? `.${makeToken(6)}` : ''}`;
}

function describe(
  context: Context,
  making: Making,
  name: string,
  { commit, tree, ledger }: CommittedState,
): Manifest {
  const features = readFeatures(context);
  const { verified_by, evidence, features_passing } = making.proof;
  return {
    schema_version: CHECKPOINT.version,
    tag: tagOf(name),
    commit,
    timestamp: timestamp(context),
    verified_by,
    features_passing,
    linear_issues_closed: closedIssues(features, new Set(features_passing)),
    can_rollback_to: true,
    ...(making.message === undefined ? {} : { message: making.message }),
    tree,
    branch: making.place.branch,
    session: readRunning(context)?.id ?? null,
    ledger,
    evidence,
  };
}
