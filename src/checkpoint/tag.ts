import { checkpointFile, featuresFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { FEATURES } from '../feature/rules.js';
import { must, PORCELAIN } from '../git/client.js';
import { describeUnsigned } from '../git/signing.js';
import { createTag, listTags } from '../git/tags.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { type CommittedState, commitState, type Proven } from './commit.js';
import { writeIntent } from './intent.js';
import { notNow, type Place } from './place.js';
import { readManifests } from './read.js';
import { CHECKPOINT, closedIssues, type Manifest, nextName, tagMessage, tagOf } from './rules.js';
import type { Proof } from './run.js';

/** Everything that a checkpoint is made of. */
interface Making extends Proven {
  token: string;
  proof: Proof;
}

/** The commit that is marked, and the tag. Until the tag is there another one may take the name: git decides. */
export async function mark(context: Context, making: Making): Promise<Manifest> {
  const { place, issue, token } = making;
  const { disk, layout } = context;
  const { sign } = readConfig(context).git;
  const state = await commitState(context, making);
  for (let attempt = 1; attempt <= 20; attempt++) {
    const name = await freeName(context, place, issue);
    const manifest = describe(context, making, name, state);
    const bytes = encodeDocument(manifest);
    // LTM-13: before the tag holds it.
    disk.checkContent(checkpointFile(layout, name), bytes);
    writeIntent(context, token, { name, at: manifest.timestamp });
    const message = tagMessage(manifest);
    const tag = await createTag(place.git, { name, commit: state.commit, message, sign });
    if (tag?.unsigned !== undefined)
      context.warnings.push(describeUnsigned(`The tag ${manifest.tag}`, tag.unsigned));
    if (tag) return manifest;
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
  const { features } = context.disk.requireDocument(FEATURES, featuresFile(context.layout)).value;
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
