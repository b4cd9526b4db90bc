import { plural } from '../core/text.js';
import { streamGit } from '../git/client.js';
import {
  ALL_REFS,
  changedBetween,
  findRecords,
  isAncestor,
  listBranches,
  notReachable,
  readBlobs,
} from '../git/memory.js';
import type { Context } from '../project/project.js';
import type { GitFacts, Look } from './facts.js';
import { TIERS } from './rules/record.js';
import { identify } from './rules/tombstone.js';
import { readJournal } from './store/journal.js';

interface Anchored {
  git: GitFacts;
  look: Look;
  /** The commits last verified, by branch. */
  branches: Readonly<Record<string, string>>;
}
type OnLine = (bytes: Buffer, path: string, commit: string) => void;

/**
 * The lines of the commits last verified that are not in HEAD's tree: of this branch's if it does not lead there any
 * more, and of every other's if nothing does. What was verified has left the journal, so nobody else would miss it.
 * Returns the branches that are no more and need not be kept in mind: this one has all that they had.
 */
export async function addFromAnchors(
  context: Context,
  anchored: Anchored,
  onLine: OnLine,
): Promise<string[]> {
  const { git, branches } = anchored;
  const own = git.branch === null ? undefined : branches[git.branch];
  if (own !== undefined && own !== git.head) await addFromOwn(context, anchored, own, onLine);
  const others = Object.entries(branches).filter(([name]) => name !== git.branch);
  if (others.length === 0) return [];
  const run = gitOf(context);
  const commits = [...new Set(others.map(([, commit]) => commit))];
  const open = new Set(await notReachable(run, commits, ['HEAD']));
  for (const commit of await notReachable(run, [...open], ALL_REFS))
    if (await isHere(context, anchored, commit, onLine)) open.delete(commit);
  // What a detached HEAD has is nobody's when it moves on.
  if (git.branch === null) return [];
  const present = new Set(await listBranches(run));
  return others.filter(([name, commit]) => !present.has(name) && !open.has(commit)).map(([name]) => name);
}

const gitOf = (context: Context): NonNullable<Context['git']> => context.git as NonNullable<Context['git']>;

/** A branch that does not lead from the commit last verified any more was reset, rebased or force-pulled. */
async function addFromOwn(
  context: Context,
  { git, look }: Anchored,
  anchor: string,
  onLine: OnLine,
): Promise<void> {
  const leads = await isAncestor(gitOf(context), anchor, git.head);
  if (leads === null) {
    look.notes.push(
      `the commit at which ${git.branch} was last verified (${anchor.slice(0, 12)}) is gone from this repository`,
    );
    missHeads(look, anchor);
  }
  if (leads === false) await eachLineOf(context, git, anchor, onLine);
}

/** The commit went with its blobs: of what it had only the heads are known, from the last verification. */
function missHeads({ cut, scans, brokenAnchors }: Look, commit: string): void {
  for (const tier of TIERS) {
    const { heads = [], maxN: n = 0 } = cut.state.tiers[tier] ?? {};
    for (const head of heads) if (!scans[tier].graph.has(head)) brokenAnchors.push({ tier, commit, head, n });
  }
}

/** Named heads that some ref, the reflog or the journal has are not lost: a note, for another tree has them. */
export async function dropHeadsElsewhere(context: Context, look: Look): Promise<void> {
  const { git, brokenAnchors } = look;
  const wanted = new Set(brokenAnchors.map(({ head }) => head));
  if (!git || wanted.size === 0) return;
  readJournal(context.layout, look.cut.journal.size, (bytes) => wanted.delete(identify(bytes)));
  const stream = streamGit(context.repository?.root ?? '', context.world.env);
  const query = { folder: git.folder, wanted, where: 'everywhere' as const };
  for (const id of (await findRecords(gitOf(context), stream, query)).keys()) wanted.delete(id);
  const elsewhere = new Set(brokenAnchors.map(({ head }) => head).filter((head) => !wanted.has(head)));
  look.brokenAnchors = brokenAnchors.filter(({ head }) => wanted.has(head));
  if (elsewhere.size > 0)
    look.notes.push(
      `${plural(elsewhere.size, 'record')} that commits here name ${elsewhere.size === 1 ? 'is' : 'are'} in another branch or the reflog, not in this tree`,
    );
}

/**
 * A branch that was deleted, or reset while another was checked out: what no ref has is missed here. True when this
 * tree has all that the commit has.
 */
async function isHere(
  context: Context,
  { git, look }: Anchored,
  commit: string,
  onLine: OnLine,
): Promise<boolean> {
  const lines = new Map<string, Parameters<OnLine>>();
  await eachLineOf(context, git, commit, (bytes, path) => {
    const id = identify(bytes);
    if (!Object.values(look.scans).some(({ graph }) => graph.has(id)))
      lines.set(id, [Buffer.from(bytes), path, commit]);
  });
  const wanted = new Set(lines.keys());
  const stream = streamGit(context.repository?.root ?? '', context.world.env);
  const found = await findRecords(gitOf(context), stream, { folder: git.folder, wanted, where: 'refs' });
  for (const [id, line] of lines) if (!found.has(id)) onLine(...line);
  return lines.size === 0;
}

/** The lines of that commit's memory files that HEAD has otherwise, or not. */
export async function eachLineOf(
  context: Context,
  { folder, head }: GitFacts,
  commit: string,
  onLine: OnLine,
): Promise<void> {
  const stream = streamGit(context.repository?.root ?? '', context.world.env);
  const changed = await changedBetween(gitOf(context), commit, head, folder);
  const paths = new Map(changed.map(({ path, oid }) => [oid, path]));
  await readBlobs(stream, [...paths.keys()], (oid, bytes) => onLine(bytes, paths.get(oid) ?? '', commit));
}
