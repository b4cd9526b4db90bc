import { basename } from 'node:path';
import { ForgeError, usage } from '../core/error.js';
import { checkpointFile, checkpointsFolder, shownFrom } from '../core/paths.js';
import { leadsTo } from '../git/read.js';
import { knownCommits, listTags, reachableTags, type TagFacts } from '../git/tags.js';
import type { Context } from '../project/project.js';
import {
  byTime,
  CHECKPOINT,
  type Checkpoint,
  type FileFacts,
  judgeCheckpoint,
  nameIn,
  parseName,
  tagOf,
} from './rules.js';

/** Every checkpoint that a tag or a manifest here names, newest first. */
export async function readCheckpoints(context: Context): Promise<Checkpoint[]> {
  const tags = new Map((context.git ? await listTags(context.git) : []).map((tag) => [tag.name, tag]));
  const files = new Map(readManifests(context).map((file) => [file.name, file]));
  const names = [...new Set([...tags.keys(), ...files.keys()])].filter((name) => nameIn(name) === name);
  const known = await knownOf(context, tags, files);
  const isKnown = (commit: string): boolean => known.has(commit);
  return names
    .map((name) => judgeCheckpoint(name, { file: files.get(name), tag: tags.get(name) }, isKnown))
    .sort(byTime);
}

/**
 * The checkpoint to return to: the newest usable `ok` one whose state is in HEAD's history, else the newest
 * of all. Null without one. After a squash merge the manifest is here and the commit is not.
 */
export async function latestCheckpoint(context: Context): Promise<Checkpoint | null> {
  const { git, repository, layout } = context;
  const good = (await readCheckpoints(context)).filter(
    ({ state, manifest }) => state === 'ok' && manifest?.can_rollback_to === true,
  );
  if (!git || !repository || good.length === 0) return null;
  const here = await reachableTags(git);
  const folder = shownFrom(repository.root, layout.dir);
  for (const checkpoint of good) {
    const { name, manifest, hasFile } = checkpoint;
    if (here.has(name)) return checkpoint;
    if (hasFile && manifest && (await leadsTo(git, manifest.commit, folder))) return checkpoint;
  }
  return good[0] ?? null;
}

/**
 * The newest changed checkpoint of this branch, if it is newer than `good` or if its age is unknown: its tag is
 * missing, or its manifest is damaged. A checkpoint belongs to the branch if its manifest is in the working tree.
 */
export async function brokenSince(context: Context, good: Checkpoint | null): Promise<Checkpoint | null> {
  const since = good?.timestamp ?? '';
  const broken = (await readCheckpoints(context)).filter(
    ({ state, hasFile }) => good === null || (state !== 'ok' && hasFile),
  );
  return broken.find(({ timestamp }) => timestamp === null || timestamp > since) ?? null;
}

/** The named one, with or without `checkpoint/` and the suffix. Exit 2 without one. */
export async function requireCheckpoint(context: Context, tag: string): Promise<Checkpoint> {
  const name = parseName(tag);
  const all = await readCheckpoints(context);
  const longer = all.filter((checkpoint) => checkpoint.name.startsWith(`${name}.`));
  const found =
    all.find((checkpoint) => checkpoint.name === name) ?? (longer.length === 1 ? longer[0] : null);
  if (found) return found;
  if (longer.length > 1)
    throw usage('checkpoint.several', `Several checkpoints are named ${tagOf(name)}.`, {
      hint: longer.map((checkpoint) => checkpoint.name).join(', '),
    });
  const twin = all.find((checkpoint) => checkpoint.name.toLowerCase() === name.toLowerCase());
  throw usage('checkpoint.unknown', `There is no checkpoint ${tagOf(name)}.`, {
    hint: twin ? `forge checkpoint show ${twin.name}` : 'forge checkpoint list',
  });
}

/** Those that are files of `.forge/` here. An unreadable manifest is reported and does not fail the command. */
export function readManifests({ disk, layout }: Context): FileFacts[] {
  const names = disk.list(checkpointsFolder(layout)).filter((file) => file.endsWith('.json'));
  return names
    .map((file) => basename(file, '.json'))
    .filter((name) => nameIn(name) === name)
    .map((name) => {
      try {
        const { value, bytes } = disk.requireDocument(CHECKPOINT, checkpointFile(layout, name));
        return { name, bytes: bytes ?? Buffer.alloc(0), manifest: value };
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        return { name, bytes: Buffer.alloc(0), manifest: null, problem: error.message.replace(/\.$/, '') };
      }
    });
}

/** Which commits of manifests without a tag are here. */
async function knownOf(
  { git }: Context,
  tags: ReadonlyMap<string, TagFacts>,
  files: ReadonlyMap<string, FileFacts>,
): Promise<Set<string>> {
  const left = [...files.values()].filter(({ name }) => !tags.has(name));
  return git
    ? knownCommits(
        git,
        left.flatMap(({ manifest }) => manifest?.commit ?? []),
      )
    : new Set();
}
