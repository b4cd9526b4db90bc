import { decodeManifest, readManifests } from '../checkpoint/read.js';
import { type Manifest, manifestIn } from '../checkpoint/rules.js';
import { checkpointsFolder, memoryFolder, shownFrom, tagOf } from '../core/paths.js';
import { type Git, streamGit } from '../git/client.js';
import { isAncestor, memoryTree, notReachable, readBlobs } from '../git/memory.js';
import { listTags, pathsIn } from '../git/tags.js';
import type { Context } from '../project/project.js';
import { eachLineOf } from './anchors.js';
import type { GitFacts, Look } from './facts.js';
import { TIERS } from './rules/record.js';
import { identify } from './rules/tombstone.js';

/**
 * LTM-04: what checkpoints saw is missed. A manifest that HEAD has names heads. A tag that was made on this branch, and that
 * no branch leads to any more, has the records themselves: the branch was rewritten.
 */
export async function addFromCheckpoints(
  context: Context,
  git: GitFacts,
  look: Look,
  onLine: (bytes: Buffer, path: string, commit: string) => void,
): Promise<void> {
  for (const manifest of await committedManifests(context, git)) missHeads(look, manifest);
  for (const commit of await abandoned(context, git)) await eachLineOf(context, git, commit, onLine);
}

/** Those that somebody copied here from another repository are not HEAD's: they say nothing of these ledgers. */
async function committedManifests(context: Context, { head }: GitFacts): Promise<Manifest[]> {
  const { git, repository, layout } = context;
  const files = readManifests(context);
  if (!git || !repository || files.length === 0) return [];
  const folder = shownFrom(repository.root, checkpointsFolder(layout));
  const committed = await pathsIn(git, head, folder);
  return files.flatMap(({ name, manifest }) =>
    manifest && committed.has(`${folder}/${name}.json`) ? [manifest] : [],
  );
}

function missHeads({ scans, missing, brokenAnchors }: Look, { tag, commit, ledger = {} }: Manifest): void {
  const named = new Set(brokenAnchors.map(({ head }) => head));
  for (const tier of TIERS)
    for (const head of ledger[tier]?.heads ?? [])
      if (!named.has(head) && !missing.has(head) && !scans[tier].graph.has(head))
        brokenAnchors.push({ tier, commit, head, n: 0, checkpoint: tag });
}

/** Commits of checkpoints of this branch that only their tags lead to. */
async function abandoned({ git: run }: Context, { branch, head }: GitFacts): Promise<string[]> {
  if (!run || branch === null) return [];
  const own = (await taggedManifests(run)).filter(({ manifest }) => manifest.branch === branch);
  const alone = await notReachable(run, [...new Set(own.map(({ manifest }) => manifest.commit))], BRANCHES);
  const unrelated: string[] = [];
  for (const commit of alone) if ((await isAncestor(run, commit, head)) === false) unrelated.push(commit);
  return unrelated;
}

/** Tags of checkpoints, each with the manifest of the commit that it marks. */
export async function taggedManifests(git: Git): Promise<{ ref: string; manifest: Manifest }[]> {
  return (await listTags(git)).flatMap(({ name, commit, message }) => {
    const held = manifestIn(message);
    const manifest = held === null ? null : decodeManifest(held);
    return manifest !== null && manifest.commit === commit ? [{ ref: tagOf(name), manifest }] : [];
  });
}

export const BRANCHES = ['HEAD', '--branches', '--remotes', '--glob=refs/stash'];

/** Which of these records the ledgers of a commit do not have. */
export async function recordsLacking(
  context: Context,
  commit: string,
  ids: Iterable<string>,
): Promise<Set<string>> {
  const left = new Set(ids);
  const { git, repository, layout, world } = context;
  if (!git || !repository || left.size === 0) return left;
  const tree = await memoryTree(git, commit, shownFrom(repository.root, memoryFolder(layout)));
  await readBlobs(streamGit(repository.root, world.env), [...tree.values()], (_oid, bytes) => {
    left.delete(identify(bytes));
  });
  return left;
}
