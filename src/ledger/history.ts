import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, must } from '../git/client.js';
import type { Context } from '../project/project.js';
import type { AbsentRecord } from './compare.js';
import { segmentOf } from './container.js';
import { gitFolder, historyFile, readJson, writeCache } from './context.js';
import type { LedgerObjects } from './git.js';
import { Graph, groupBy } from './graph.js';

/** A record that the parent of a commit has, and the commit does not. */
type Removal = AbsentRecord & Required<Pick<AbsentRecord, 'commit' | 'subject' | 'file' | 'blob'>>;

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

/** What commits of HEAD's history removed, and is not in the working tree. */
export async function findRemoved(
  context: Context,
  objects: LedgerObjects,
  head: string | null,
  graph: Graph,
  incomplete: string[],
): Promise<Removal[]> {
  if (!context.git || head === null) return [];
  const removals = await readRemovals(context, objects, head, incomplete);
  const absent = removals.filter(({ id, seg }) => !graph.has(id, seg));
  return onlyReachable(context.git, objects, head, absent);
}

/** Only commits that are not remembered are read: containers are write-once, so git lists few changes. */
async function readRemovals(
  context: Context,
  objects: LedgerObjects,
  head: string,
  incomplete: string[],
): Promise<Removal[]> {
  const path = historyFile(context.layout);
  const known = readJson<History>(path) ?? { tips: [], removals: [] };
  if (known.tips.includes(head)) return known.removals;
  const changes = await listChanges(context, head, known.tips).catch((error: Error) => {
    // Nothing is fetched for a verification. Without trees, git cannot tell what a commit changed.
    if (!error.message.includes('promisor remote')) throw error;
    incomplete.push('git does not have the trees of former commits here (a partial clone)');
    return null;
  });
  if (changes === null) return known.removals;
  const removals = [...known.removals];
  const missing: string[] = [];
  for (const [commit, group] of groupBy(changes, (change) => change.commit))
    removals.push(...(await removalsOf(objects, commit, group, missing)));
  if (missing.length > 0) incomplete.push(`git does not have ${missing[0]} here (a partial clone)`);
  const tips = [...known.tips, head].slice(-MAX_TIPS);
  // A shallow or partial clone may get the rest of its history later.
  if (!isShallow(context) && missing.length === 0 && !context.disk.dryRun)
    writeCache(path, JSON.stringify({ tips, removals }));
  return removals;
}

/** With `--sparse`, or git leaves out a merge that took nothing from a side that was read earlier. */
async function listChanges(context: Context, head: string, tips: readonly string[]): Promise<Change[]> {
  const args = ['log', '--full-history', '--sparse', '-m', '--raw', '--no-abbrev', '--no-renames', '-z'];
  args.push('--diff-filter=MD', '--format=%x01%H %s', '--ignore-missing', head, '--not', ...tips);
  args.push('--', gitFolder(context));
  if (!context.git) return [];
  const changes: Change[] = [];
  let [commit, subject] = ['', ''];
  const tokens = (await must(context.git, args, { timeout: 600_000 })).split('\0');
  for (const [i, token] of tokens.entries()) {
    const text = token.replace(/^\n/, '');
    const space = text.indexOf(' ');
    if (text.startsWith('\x01')) [commit, subject] = [text.slice(1, space), text.slice(space + 1)];
    if (!text.startsWith(':')) continue;
    const path = tokens[i + 1] ?? '';
    const name = path.slice(path.lastIndexOf('/') + 1);
    const blob = text.split(' ')[2] ?? '';
    if (segmentOf(name) !== null) changes.push({ commit, subject, name, blob });
  }
  return changes;
}

/** A record is removed when no container of the commit has it. */
async function removalsOf(
  objects: LedgerObjects,
  commit: string,
  changes: readonly Change[],
  missing: string[],
): Promise<Removal[]> {
  const tree = await objects.tree(commit);
  const segments = new Set(changes.map(({ name }) => segmentOf(name)));
  const names = [...tree].filter(([name]) => segments.has(segmentOf(name)));
  const left = await Promise.all(names.map(([name, blob]) => objects.blob(blob, name)));
  const graph = new Graph(left.flatMap((found) => (found ? [found.facts] : [])));
  const removals = new Map<string, Removal>();
  for (const { name, blob, subject } of changes) {
    const facts = (await objects.blob(blob, name))?.facts;
    if (!facts) missing.push(name);
    for (const [i, id] of (facts?.ids ?? []).entries()) {
      if (!facts || graph.has(id, facts.seg)) continue;
      const place = { id, seg: facts.seg, prev: facts.ids[i - 1] ?? null, file: name, blob };
      const how = { source: 'history' as const, isOwn: false, isPublished: false };
      removals.set(id, { ...place, ...how, commit, subject });
    }
  }
  return [...removals.values()];
}

/** Those whose commit HEAD leads to. */
async function onlyReachable(
  git: Git,
  objects: LedgerObjects,
  head: string,
  removals: readonly Removal[],
): Promise<Removal[]> {
  const commits = [...new Set(removals.map(({ commit }) => commit))];
  if (commits.length === 0) return [];
  const present = await Promise.all(commits.map((commit) => objects.hasObject(commit)));
  const known = commits.filter((_, i) => present[i]);
  const output = await must(git, ['rev-list', '--stdin'], {
    input: `${[...known, `^${head}`].join('\n')}\n`,
  });
  const outside = new Set(output.split('\n'));
  return removals.filter(({ commit }) => known.includes(commit) && !outside.has(commit));
}

export const isShallow = ({ repository }: Context): boolean =>
  repository !== null && existsSync(join(repository.commonDir, 'shallow'));
