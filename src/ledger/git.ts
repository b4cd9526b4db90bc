import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readHint, readPlain, readText, writeHint } from '../core/files.js';
import { type Git, lines, must, type ObjectReader, openObjects, words } from '../git/client.js';
import { linkedWorktrees, otherRoots, type Repository } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { type Container, parseContainer, segmentOf } from './container.js';
import { gitFolder, ledgerFolder } from './files.js';
import { type AbsentRecord, type Graph, groupBy } from './graph.js';

/** The containers of one commit: file name → blob. */
export type LedgerTree = ReadonlyMap<string, string>;

export interface Ref {
  /** `refs/heads/main`, `stash`, `HEAD` … */
  name: string;
  commit: string;
}

export interface Refs {
  all: Ref[];
  /** The branch that is checked out, and its commit. Null for a detached HEAD and an unborn branch. */
  branch: string | null;
  head: string | null;
  /** The branch that others are merged into, here and on the remote. Null if unknown. */
  localDefault: string | null;
  remoteDefault: string | null;
}

/** Where an unfinished operation keeps the changes that it stashed. */
const AUTOSTASHES = ['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'rebase-apply/autostash'];

/** Everything that keeps a commit: refs, each stash with its index and untracked files, worktrees. */
export async function readRefs(context: Context): Promise<Refs> {
  if (!context.git || !context.repository)
    return { all: [], branch: null, head: null, localDefault: null, remoteDefault: null };
  const format = '--format=%(refname)%00%(objectname)%00%(*objectname)%00%(symref)%00%(HEAD)';
  const rows = lines(await must(context.git, ['for-each-ref', format])).map((line) => line.split('\0'));
  const all = rows.map(([name = '', oid = '', peeled = '']) => ({ name, commit: peeled || oid }));
  const heads = rows.filter(([name]) => /^refs\/remotes\/[^/]+\/HEAD$/.test(name ?? ''));
  // A fork may sort before it.
  const remoteHead = (heads.find(([name]) => name === 'refs/remotes/origin/HEAD') ?? heads[0])?.[3];
  const names = new Set(all.map(({ name }) => name));
  const firstOf = (prefix: string, branches: readonly string[]): string | null =>
    branches.map((branch) => prefix + branch).find((name) => names.has(name)) ?? null;
  const [branch, head] = rows.find(([, , , , mark]) => mark === '*') ?? [];
  return {
    branch: branch?.replace('refs/heads/', '') ?? null,
    head: head ?? null,
    all: [...all, ...(await otherNames(context.git, context.repository))],
    localDefault: firstOf('refs/heads/', ['main', 'master', 'trunk']),
    remoteDefault: remoteHead || firstOf('refs/remotes/origin/', ['main', 'master']),
  };
}

/**
 * Commits that no ref may have: each stash, of which parents 2 and 3 hold the index and untracked files, and of each
 * worktree a detached HEAD and the other side of its merge. Read from git's files where it has them, which costs no process.
 */
async function otherNames(git: Git, { gitDir, commonDir }: Repository): Promise<Ref[]> {
  const isReftable = existsSync(join(commonDir, 'reftable'));
  const ask = async (...args: string[]): Promise<string[]> => (await git(args)).stdout.split('\n');
  const folders = linkedWorktrees(commonDir).map((name) => join(commonDir, 'worktrees', name));
  const readAll = (...names: string[]): string[] =>
    [commonDir, ...folders].flatMap((folder) =>
      names.flatMap((name) => readText(join(folder, name)).split('\n')),
    );
  const reflog = readText(join(commonDir, 'logs', 'refs', 'stash')).split('\n');
  const stashed = isReftable
    ? await ask('log', '--walk-reflogs', '--format=%H', 'refs/stash', '--')
    : reflog.map((line) => line.split(' ')[1] ?? '');
  const stashes = [...stashed, ...AUTOSTASHES.map((file) => readText(join(gitDir, file)).trim())];
  const listed = isReftable ? await ask('worktree', 'list', '--porcelain') : readAll('HEAD');
  const heads = [...listed.map((line) => line.replace(/^HEAD /, '')), ...readAll('MERGE_HEAD')];
  const isCommit = (text: string): boolean => /^(?!0+$)[0-9a-f]{40,64}$/.test(text);
  return [
    ...stashes
      .filter(isCommit)
      .flatMap((commit) => ['', '^2', '^3'].map((parent) => ({ name: 'stash', commit: commit + parent }))),
    ...heads.filter(isCommit).map((commit) => ({ name: 'HEAD', commit })),
  ];
}

const pushedFile = ({ layout }: Context): string => join(layout.shared, 'pushed.json');
/** Branches of remotes, and the commit that was pushed last to each. */
type Pushed = Readonly<Record<string, string>>;
const MAX_PUSHED = 200;

/** What a push is about to bring to its remote. */
export function notePushed(context: Context, branches: Pushed): void {
  const known = Object.entries({ ...readHint<Pushed>(pushedFile(context)), ...branches });
  writeHint(pushedFile(context), Object.fromEntries(known.slice(-MAX_PUSHED)));
}

/** Branches that were pushed, and that the remote no longer has: rejected ones, unless they were merged. */
export const readGone = (context: Context, { all }: Refs): Ref[] =>
  Object.entries(readHint<Pushed>(pushedFile(context)) ?? {})
    .filter(([name]) => !all.some((ref) => ref.name === name))
    .map(([name, commit]) => ({ name, commit }));

interface Blob {
  facts: Container;
  bytes: Buffer;
}

/** Reads trees and blobs of the ledger through one git process, each once. */
export class LedgerObjects {
  private readonly trees = new Map<string, Promise<LedgerTree>>();
  private readonly blobs = new Map<string, Promise<Blob | null>>();
  private readonly reader: ObjectReader | null;
  private readonly folder: string;

  constructor(context: Context) {
    const { repository, world } = context;
    this.reader = repository && openObjects(repository.root, world.env);
    this.folder = gitFolder(context);
  }

  /** The commit that a name leads to. Null for an unborn branch. */
  async commit(name: string): Promise<string | null> {
    return (await this.reader?.info(`${name}^{commit}`))?.oid ?? null;
  }

  /** The containers of a commit. Empty if it has none, or git does not have the commit. */
  async tree(commit: string): Promise<LedgerTree> {
    const found = await this.reader?.info(`${commit}:${this.folder}`);
    if (!this.reader || found?.type !== 'tree') return new Map();
    const { oid } = found;
    const tree =
      this.trees.get(oid) ??
      this.reader.read(oid).then((object) => parseTree(object?.bytes ?? Buffer.alloc(0), oid));
    this.trees.set(oid, tree);
    return tree;
  }

  /** Null for a blob that a partial clone does not have. */
  async blob(oid: string, name: string): Promise<Blob | null> {
    if (!this.reader) return null;
    const blob =
      this.blobs.get(oid) ??
      this.reader
        .read(oid)
        .then(
          (object) => object && { facts: parseContainer(name, object.bytes, '', oid), bytes: object.bytes },
        );
    this.blobs.set(oid, blob);
    return blob;
  }

  async has(oid: string): Promise<boolean> {
    return Boolean(await this.reader?.info(oid));
  }

  async close(): Promise<void> {
    await this.reader?.close();
  }
}

/** Opens the reader for as long as `work` runs. */
export async function withObjects<T>(
  context: Context,
  work: (objects: LedgerObjects) => Promise<T>,
): Promise<T> {
  const objects = new LedgerObjects(context);
  try {
    return await work(objects);
  } finally {
    await objects.close();
  }
}

/** A tree object: `<mode> <name>\0<oid>` for each entry. */
function parseTree(bytes: Buffer, oid: string): LedgerTree {
  const tree = new Map<string, string>();
  const length = oid.length / 2;
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const end = bytes.indexOf(0, space);
    const name = bytes.toString('utf8', space + 1, end);
    const isFile = bytes.toString('latin1', at, space).startsWith('100');
    if (isFile && segmentOf(name) !== null) tree.set(name, bytes.toString('hex', end + 1, end + 1 + length));
    at = end + 1 + length;
  }
  return tree;
}

export interface Located {
  /** Where a record is instead: a ref, or another worktree. */
  places: Map<string, string>;
  sources: Blob[];
}

/** Finds records in refs, stashes and other worktrees. File names announce their chain, so few blobs are read. */
export async function locate(
  context: Context,
  objects: LedgerObjects,
  refs: readonly Ref[],
  wanted: readonly { id: string; seg: string }[],
  { onlyRefs = false } = {},
): Promise<Located> {
  const located: Located = { places: new Map(), sources: [] };
  const bySegment = groupBy(wanted, ({ seg }) => seg);
  const take = (place: string, source: Blob): void => {
    const ids = new Set(source.facts.ids);
    const found = (bySegment.get(source.facts.seg) ?? []).filter(({ id }) => ids.has(id));
    for (const { id } of found) if (!located.places.has(id)) located.places.set(id, place);
    if (found.length > 0) located.sources.push(source);
  };
  const isWanted = (name: string): boolean => bySegment.has(segmentOf(name) ?? '');
  for (const { name, bytes } of onlyRefs ? [] : otherWorktreeFiles(context, isWanted))
    take('another worktree', { facts: parseContainer(name, bytes), bytes });
  const trees = await Promise.all(
    refs.map(async ({ name, commit }) => ({ place: name, tree: await objects.tree(commit) })),
  );
  const seen = new Set<string>();
  for (const { place, tree } of trees)
    for (const [name, oid] of tree) {
      if (!isWanted(name) || seen.has(oid)) continue;
      seen.add(oid);
      const found = await objects.blob(oid, name);
      if (found) take(place, found);
    }
  return located;
}

/** Containers in the clone's other working trees. */
function otherWorktreeFiles({ repository, layout }: Context, isWanted: (name: string) => boolean) {
  if (!repository) return [];
  const inside = relative(repository.root, ledgerFolder(layout));
  return otherRoots(repository)
    .map((other) => join(other, inside))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter(isWanted)
        .map((name) => ({ name, bytes: readPlain(join(folder, name), 1 << 27) ?? Buffer.alloc(0) })),
    );
}

/** The records of these files that a graph does not have. */
export async function absentFrom(
  graph: Graph,
  objects: LedgerObjects,
  files: readonly (readonly [name: string, blob: string])[],
  source: AbsentRecord['source'],
  incomplete: string[],
): Promise<AbsentRecord[]> {
  const found = await Promise.all(
    files.map(async ([file, blob]) => {
      const facts = (await objects.blob(blob, file))?.facts;
      if (!facts) incomplete.push(`git does not have ${file} here (a partial clone)`);
      return (facts?.ids ?? []).flatMap((id, i): AbsentRecord[] => {
        if (!facts || graph.has(id)) return [];
        const prev = facts.ids[i - 1] ?? null;
        return [{ id, seg: facts.seg, prev, source, isOwn: false, isPublished: false, file, blob }];
      });
    }),
  );
  return found.flat();
}

/** Files that a sparse checkout leaves out. */
export async function sparseFiles(context: Context): Promise<Set<string>> {
  if (!context.git) return new Set();
  const folder = gitFolder(context);
  const list = await must(context.git, ['ls-files', '-t', '-z', '--full-name', '--', `${folder}/`]);
  const skipped = words(list).filter((entry) => entry.startsWith('S '));
  return new Set(skipped.map((entry) => entry.slice(entry.lastIndexOf('/') + 1)));
}

/** The ids of all records of a commit. */
export const recordsIn = (context: Context, commit: string): Promise<Set<string>> =>
  withObjects(context, async (objects) => {
    const tree = await objects.tree(commit);
    const blobs = await Promise.all([...tree].map(([name, oid]) => objects.blob(oid, name)));
    return new Set(blobs.flatMap((blob) => blob?.facts.ids ?? []));
  });
