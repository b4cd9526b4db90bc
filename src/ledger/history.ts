import type { ForgeError } from '../core/error.js';
import { type Git, must } from '../git/client.js';
import { isAncestor } from '../git/read.js';
import { isPartial, isShallow } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { segmentOf } from './container.js';
import { gitFolder, openCache } from './files.js';
import { absentFrom, type LedgerObjects } from './git.js';
import { type AbsentRecord, Graph, groupBy } from './graph.js';

/** A record that the parent of a commit has and the commit does not. */
type Removal = AbsentRecord & { commit: string; subject: string };

interface History {
  /** Commits whose whole history was read. */
  tips: string[];
  removals: Removal[];
}

const MAX_TIPS = 64;

/** A file that a commit changed or deleted. */
interface Change {
  commit: string;
  subject: string;
  name: string;
  blob: string;
}

interface Sources {
  context: Context;
  objects: LedgerObjects;
  graph: Graph;
  head: string | null;
  incomplete: string[];
}

/** The records that commits of HEAD's history removed and that are not in the working tree. */
export async function findRemoved(sources: Sources): Promise<Removal[]> {
  const { context, graph, head } = sources;
  if (!context.git || head === null) return [];
  const removals = await readRemovals(sources, context.git, head);
  const absent = removals.filter(({ id }) => !graph.has(id));
  return onlyReachable(context.git, head, absent);
}

/** Reads only commits that are not cached. Containers are write-once, so git lists few changes. */
async function readRemovals(
  { context, objects, incomplete }: Sources,
  git: Git,
  head: string,
): Promise<Removal[]> {
  const cache = openCache<History>(context, 'removals.json', context.layout.shared);
  const known = cache.read() ?? { tips: [], removals: [] };
  if (known.tips.includes(head)) return known.removals;
  const changes = await listChanges(git, gitFolder(context), head, known.tips).catch((error: ForgeError) => {
    // A verification fetches nothing. Without trees, git cannot say what a commit changed.
    if (error.code !== 'git.failed' || !isPartial(context.repository)) throw error;
    incomplete.push('git does not have the trees of former commits here (a partial clone)');
    return null;
  });
  if (changes === null) return known.removals;
  const removals = [...known.removals];
  const before = incomplete.length;
  for (const [commit, group] of groupBy(changes, (change) => change.commit))
    removals.push(...(await removalsOf(objects, commit, group, incomplete)));
  const tips = [...known.tips, head].slice(-MAX_TIPS);
  // A shallow or partial clone may get the rest of its history later.
  if (!isShallow(context.repository) && incomplete.length === before) cache.write({ tips, removals });
  return removals;
}

/** Without `--sparse`, git leaves out a merge that took nothing from a side that was read earlier. */
async function listChanges(
  git: Git,
  folder: string,
  head: string,
  tips: readonly string[],
): Promise<Change[]> {
  const args = ['log', '--full-history', '--sparse', '-m', '--raw', '--no-abbrev', '--no-renames', '-z'];
  args.push('--diff-filter=MD', '--format=%x01%H %s', '--ignore-missing', head, '--not', ...tips);
  const tokens = (await must(git, [...args, '--', folder], { timeout: 600_000 })).split('\0');
  const changes: Change[] = [];
  let [commit, subject] = ['', ''];
  for (const [i, token] of tokens.entries()) {
    const text = token.replace(/^\n/, '');
    const space = text.indexOf(' ');
    if (text.startsWith('\x01')) [commit, subject] = [text.slice(1, space), text.slice(space + 1)];
    if (!text.startsWith(':')) continue;
    const path = tokens[i + 1] ?? '';
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (segmentOf(name) !== null) changes.push({ commit, subject, name, blob: text.split(' ')[2] ?? '' });
  }
  return changes;
}

/** A record is removed if no container of the commit has it. */
async function removalsOf(
  objects: LedgerObjects,
  commit: string,
  changes: readonly Change[],
  incomplete: string[],
): Promise<Removal[]> {
  const tree = await objects.tree(commit);
  const segments = new Set(changes.map(({ name }) => segmentOf(name)));
  const names = [...tree].filter(([name]) => segments.has(segmentOf(name)));
  const left = await Promise.all(names.map(([name, blob]) => objects.blob(blob, name)));
  const graph = new Graph(left.flatMap((found) => found?.facts ?? []));
  const files = changes.map(({ name, blob }) => [name, blob] as const);
  const absent = await absentFrom(graph, objects, files, 'history', incomplete);
  const subject = changes[0]?.subject ?? '';
  return absent.map((record) => ({ ...record, commit, subject }));
}

/** Asks about each commit by itself: if a clock was wrong, `rev-list COMMIT ^HEAD` lists commits that HEAD has. */
async function onlyReachable(git: Git, head: string, removals: readonly Removal[]): Promise<Removal[]> {
  const commits = [...new Set(removals.map(({ commit }) => commit))];
  const isReached = await Promise.all(commits.map((commit) => isAncestor(git, commit, head)));
  return removals.filter(({ commit }) => isReached[commits.indexOf(commit)]);
}
