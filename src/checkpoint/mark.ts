import { basename } from 'node:path';
import { idHere } from '../commit/check.js';
import { guardCommit } from '../commit/guard.js';
import { linkCommits } from '../commit/issue-commits.js';
import { formatCommitMessage } from '../commit/message.js';
import { readHint } from '../core/cache.js';
import { refused } from '../core/error.js';
import { ForgeProcess, sameProcess } from '../core/holder.js';
import {
  checkpointFile,
  checkpointIntent,
  checkpointsFolder,
  checkpointWorkFolder,
  shown,
  shownFrom,
} from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { type Git, must, PORCELAIN } from '../git/client.js';
import { type CommitOutcome, commitFolder, NOTHING_CHANGED } from '../git/commit.js';
import { describeUnsigned } from '../git/signing.js';
import { createTag, hasTag, listTags } from '../git/tags.js';
import { installGuard } from '../guard/guard.js';
import { recordsIn } from '../ledger/git.js';
import { reportTiers, requireVerified } from '../ledger/integrity.js';
import { readHalt } from '../project/halt.js';
import { type Context, hasCheckpointIntents, readConfig, timestamp } from '../project/project.js';
import { ledgerHeads } from '../session/commit.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { notNow, type Place, type Tested } from './place.js';
import { decodeManifest, readManifests } from './read.js';
import {
  CHECKPOINT,
  closedIssues,
  issueOf,
  type Manifest,
  manifestIn,
  nameIn,
  nextName,
  tagMessage,
  tagOf,
} from './rules.js';
import type { Proof } from './run.js';

/** A state that was tested, and how it is to be named. */
interface Making {
  place: Place;
  issue: string;
  message: string | undefined;
  tested: Tested;
  proof: Proof;
}

/** The commit that is marked, and the tag. Until the tag is there another one may take the name: git decides. */
export async function mark(context: Context, making: Making): Promise<Manifest> {
  const { place, issue } = making;
  const { disk, layout, warnings } = context;
  const { sign } = readConfig(context).git;
  const state = await commitState(context, making);
  for (let attempt = 1; attempt <= 20; attempt++) {
    const name = await freeName(context, place, issue);
    const manifest = describe(context, making, name, state);
    // LTM-13: before the tag holds it.
    disk.checkContent(checkpointFile(layout, name), encodeDocument(manifest));
    noteTag(context, name);
    const message = tagMessage(manifest);
    const tag = await createTag(place.git, { name, commit: state.commit, message, sign }).catch(
      async (error) => {
        if (!(await hasTag(place.git, manifest.tag))) forgetTag(context, name);
        throw error;
      },
    );
    if (tag?.unsigned !== undefined) warnings.push(describeUnsigned(`The tag ${manifest.tag}`, tag.unsigned));
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

type State = Pick<Manifest, 'commit' | 'tree' | 'ledger'>;

function describe(context: Context, { proof, message, place }: Making, name: string, state: State): Manifest {
  const { verified_by, evidence, features_passing } = proof;
  const { commit, tree, ledger } = state;
  return {
    schema_version: CHECKPOINT.version,
    tag: tagOf(name),
    commit,
    timestamp: timestamp(context),
    verified_by,
    features_passing,
    linear_issues_closed: closedIssues(readFeatures(context), new Set(features_passing)),
    can_rollback_to: true,
    ...(message === undefined ? {} : { message }),
    tree,
    branch: place.branch,
    session: readRunning(context)?.id ?? null,
    ledger,
    evidence,
  };
}

/**
 * `.forge/` in a commit on HEAD. The ledger is told as it was at one moment; what others append while git reads it may be in
 * the commit too.
 */
async function commitState(context: Context, { place, tested, issue, message }: Making): Promise<State> {
  const { git } = place;
  await linkCommits(context);
  await guardCommit(context);
  for (let attempt = 1; attempt <= 3; attempt++) {
    const tiers = reportTiers(context, await requireVerified(context));
    const outcome = await commitHere(context, {
      folder: place.folder,
      text: {
        id: idHere(context, issue),
        subject: 'Memory at a checkpoint',
        what: ['Committed .forge/ as it is, so that the checkpoint holds it'],
        why: message ?? 'A verified state is marked, to come back to.',
        updated: [],
        ledger: ledgerHeads(context),
      },
      session: readRunning(context)?.id,
    });
    if ('skipped' in outcome && outcome.skipped !== NOTHING_CHANGED) throw notNow(outcome.skipped);
    if ('unsigned' in outcome)
      context.warnings.push(describeUnsigned('The commit of .forge/', outcome.unsigned as string));
    const commit = await idOf(git, 'HEAD');
    if ((await tested.treeOf(commit)) !== tested.tree)
      throw refused('checkpoint.moved', 'HEAD moved while the commands ran; no checkpoint was made.', {
        hint: 'forge checkpoint create',
      });
    const held = await recordsIn(context, commit);
    if (tiers.some(({ heads }) => heads.some((head) => !held.has(head)))) continue;
    const ledger = Object.fromEntries(tiers.map(({ tier, heads, records }) => [tier, { heads, records }]));
    return { commit, tree: await idOf(git, `${commit}^{tree}`), ledger };
  }
  throw notNow('memory kept changing while git read it');
}

const idOf = async (git: Git, rev: string): Promise<string> => (await must(git, ['rev-parse', rev])).trim();

interface OwnCommit {
  /** From the repository's top. */
  folder: string;
  text: Omit<Parameters<typeof formatCommitMessage>[0], 'learned' | 'backtrace'>;
  session: string | null | undefined;
  linear?: string;
  parentNote?: string;
}

/** A commit of one folder in forge's form. */
async function commitHere(
  context: Context,
  { folder, text, session, linear = 'none', parentNote }: OwnCommit,
): Promise<CommitOutcome> {
  const { repository, git, world } = context;
  if (!repository || !git) return { skipped: 'this folder is no git repository' };
  return commitFolder({
    repository,
    git,
    folder,
    outerIndex: world.env.GIT_INDEX_FILE,
    sign: readConfig(context).git.sign,
    message: (parent) =>
      formatCommitMessage({
        ...text,
        learned: [],
        backtrace: {
          parent: parent ?? 'none',
          ...(parentNote === undefined ? {} : { parentNote }),
          linear,
          session: session ? sessionName(session) : 'none',
        },
      }),
  });
}

/** The manifest as a file, byte for byte as the tag has it, and a commit of it alone. Again, it changes nothing. */
export async function keepManifest(context: Context, manifest: Manifest): Promise<CommitOutcome> {
  const { disk, layout, repository } = context;
  const { commit, verified_by, linear_issues_closed: closed, session, message, tag } = manifest;
  const name = nameIn(tag) as string;
  const path = checkpointFile(layout, name);
  disk.withLock(() => {
    if (!disk.exists(path)) disk.replace(path, encodeDocument(manifest));
  });
  const id = idHere(context, issueOf(name));
  return commitHere(context, {
    folder: shownFrom(repository?.root ?? layout.root, checkpointsFolder(layout)),
    text: {
      id,
      subject: `Checkpoint ${name}`,
      what: [`Marked ${commit.slice(0, 12)} as ${tag}`, ...verified_by.map((command) => `Ran: ${command}`)],
      why: message ?? 'A verified state to come back to.',
      updated: [shown(layout, path)],
    },
    session,
    linear: closed.includes(id) ? id : 'none',
    parentNote: `the verified state is ${commit.slice(0, 12)}`,
  });
}

/** Notes that a tag is about to be made: once it is there, its manifest is kept, whatever happens to this process. */
export function noteTag({ disk, layout, world }: Context, name: string): void {
  const bytes = Buffer.from(JSON.stringify(world.self()));
  disk.withLock(() => disk.replace(checkpointIntent(layout, name), bytes));
}

export const forgetTag = ({ disk, layout }: Context, name: string): void =>
  disk.remove(checkpointIntent(layout, name));

/** Names of checkpoints whose maker is gone between tag and manifest. */
export function listCutOff({ disk, layout, world }: Context): string[] {
  const files = disk.list(checkpointWorkFolder(layout)).filter((file) => file.endsWith('.json'));
  const names = files.map((file) => basename(file, '.json'));
  return names.filter((name) => {
    const maker = ForgeProcess.safeParse(readHint<unknown>(checkpointIntent(layout, name)));
    if (!maker.success || sameProcess(maker.data, world.self())) return true;
    return world.liveness(maker.data) === 'gone';
  });
}

/** Completes what was interrupted between tag and manifest. */
export async function finishCheckpoints(context: Context): Promise<void> {
  const { disk } = context;
  if (disk.dryRun || !hasCheckpointIntents(context) || readHalt(disk) !== null) return;
  for (const name of listCutOff(context)) {
    const manifest = await taggedManifest(context, name);
    if (manifest) {
      await installGuard(context);
      await keepManifest(context, manifest);
      context.warnings.push(`${manifest.tag} had been interrupted; its manifest is written now.`);
    }
    forgetTag(context, name);
  }
}

/** The same for a command that only reads, or starts: what fails is a warning. */
export async function tryFinishCheckpoints(context: Context): Promise<void> {
  await finishCheckpoints(context).catch((error) => {
    context.warnings.push(`A checkpoint was interrupted and waits: ${(error as Error).message}`);
  });
}

async function taggedManifest({ git }: Context, name: string): Promise<Manifest | null> {
  const tag = git && (await listTags(git)).find((candidate) => candidate.name === name);
  const held = tag?.isAnnotated ? manifestIn(tag.message) : null;
  const manifest = held === null ? null : decodeManifest(held);
  return manifest?.commit === tag?.commit && manifest?.tag === tagOf(name) ? manifest : null;
}
