import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readPlain } from '../core/files.js';
import { type GitObject, must, type ObjectReader, openObjects } from '../git/client.js';
import type { Repository } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { type Container, parseContainer, segmentOf } from './container.js';
import { gitFolder, ledgerFolder, readText } from './context.js';
import { groupBy } from './graph.js';
import { linkedWorktrees } from './journal.js';

/** Containers of one commit: file name → blob. */
export type LedgerTree = ReadonlyMap<string, string>;

export interface Ref {
  /** `refs/heads/main`, `stash@{1}`, `MERGE_HEAD` … */
  name: string;
  commit: string;
}

export interface Refs {
  all: Ref[];
  /** The branch that others are merged into, here and on the remote. Null when unknown. */
  localDefault: string | null;
  remoteDefault: string | null;
}

/** Where an unfinished operation keeps the changes that it put away. */
const AUTOSTASHES = ['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'rebase-apply/autostash'];

/** Everything that keeps a commit: refs, each stash with its index and untracked files, worktrees. */
export async function readRefs(context: Context): Promise<Refs> {
  if (!context.git || !context.repository) return { all: [], localDefault: null, remoteDefault: null };
  const format = '--format=%(refname)%00%(objectname)%00%(*objectname)%00%(symref)';
  const lines = (await must(context.git, ['for-each-ref', format])).split('\n').filter(Boolean);
  const rows = lines.map((line) => line.split('\0'));
  const all = rows.map(([name = '', oid = '', peeled = '']) => ({ name, commit: peeled || oid }));
  const head = rows.find(([name]) => /^refs\/remotes\/[^/]+\/HEAD$/.test(name ?? ''))?.[3];
  const names = new Set(all.map(({ name }) => name));
  const isKnown = (name: string): boolean => names.has(name);
  const local = ['main', 'master', 'trunk'].map((name) => `refs/heads/${name}`).find(isKnown);
  const remote = head || ['main', 'master'].map((name) => `refs/remotes/origin/${name}`).find(isKnown);
  return {
    all: [...all, ...stashes(context.repository), ...worktreeHeads(context.repository)],
    localDefault: local ?? null,
    remoteDefault: remote || null,
  };
}

/** Git's log of the stash has all entries, the ref only the newest. Parents 2 and 3 hold the index and untracked files. */
function stashes({ gitDir, commonDir }: Repository): Ref[] {
  const log = readText(join(commonDir, 'logs', 'refs', 'stash')).split('\n');
  const logged = log.map((line) => line.split(' ')[1] ?? '');
  const automatic = AUTOSTASHES.map((file) => readText(join(gitDir, file)).trim());
  const commits = [...logged, ...automatic].filter((commit) => commit !== '');
  return commits.flatMap((commit) =>
    ['', '^2', '^3'].map((part) => ({ name: 'stash', commit: `${commit}${part}` })),
  );
}

/** A detached HEAD of a worktree, or the other side of its merge, may be the only name of a commit. */
function worktreeHeads({ commonDir }: Repository): Ref[] {
  const linked = linkedWorktrees(commonDir).map((name) => join(commonDir, 'worktrees', name));
  const files = [commonDir, ...linked].flatMap((folder) => [
    join(folder, 'HEAD'),
    join(folder, 'MERGE_HEAD'),
  ]);
  const heads = files.flatMap((file) => readText(file).trim().split('\n'));
  return heads.filter((head) => /^[0-9a-f]{40,64}$/.test(head)).map((commit) => ({ name: 'HEAD', commit }));
}

/** Reads trees and blobs of the ledger through one git process, each once. */
export class LedgerObjects {
  private readonly trees = new Map<string, Promise<LedgerTree>>();
  private readonly blobs = new Map<string, Promise<{ facts: Container; bytes: Buffer } | null>>();

  constructor(
    private readonly reader: ObjectReader | null,
    private readonly folder: string,
  ) {}

  /** The commit that a name leads to; null for an unborn branch. */
  async commit(name: string): Promise<string | null> {
    const found = await this.reader?.info(`${name}^{commit}`);
    return found?.oid ?? null;
  }

  /** The containers of a commit; empty where it has none. Null when git does not have the commit. */
  async tree(commit: string): Promise<LedgerTree> {
    const found = await this.reader?.info(`${commit}:${this.folder}`);
    if (found?.type !== 'tree') return new Map();
    let tree = this.trees.get(found.oid);
    if (!tree) {
      tree = this.read(found.oid).then((object) => parseTree(object?.bytes ?? Buffer.alloc(0), found.oid));
      this.trees.set(found.oid, tree);
    }
    return tree;
  }

  /** Null for a blob that a partial clone does not have. */
  blob(oid: string, name: string): Promise<{ facts: Container; bytes: Buffer } | null> {
    let blob = this.blobs.get(oid);
    if (!blob) {
      blob = this.read(oid).then(
        (object) => object && { facts: parseContainer(name, object.bytes, '', oid), bytes: object.bytes },
      );
      this.blobs.set(oid, blob);
    }
    return blob;
  }

  private async read(oid: string): Promise<GitObject | null> {
    return (await this.reader?.read(oid)) ?? null;
  }

  async hasObject(oid: string): Promise<boolean> {
    return Boolean(await this.reader?.info(oid));
  }

  async close(): Promise<void> {
    await this.reader?.close();
  }
}

export const openLedgerObjects = (context: Context): LedgerObjects =>
  new LedgerObjects(
    context.repository && openObjects(context.repository.root, context.world.env),
    gitFolder(context),
  );

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

export interface Wanted {
  id: string;
  seg: string;
}

export interface Located {
  /** Where a record stands instead: a ref, or another worktree's folder. */
  places: Map<string, string>;
  /** The bytes of each container that has one of them, for `put back`. */
  sources: { facts: Container; bytes: Buffer }[];
}

/** Finds records in refs, stashes and other worktrees. Containers announce their chain by name, so few blobs are read. */
export async function locate(
  context: Context,
  objects: LedgerObjects,
  refs: readonly Ref[],
  wanted: readonly Wanted[],
): Promise<Located> {
  const located: Located = { places: new Map(), sources: [] };
  const bySegment = groupBy(wanted, ({ seg }) => seg);
  const take = (place: string, facts: Container, bytes: Buffer): void => {
    const ids = new Set(facts.ids);
    const found = (bySegment.get(facts.seg) ?? []).filter(({ id }) => ids.has(id));
    for (const { id } of found) if (!located.places.has(id)) located.places.set(id, place);
    if (found.length > 0) located.sources.push({ facts, bytes });
  };
  for (const { name, bytes } of otherWorktreeFiles(context, new Set(bySegment.keys())))
    take('another worktree', parseContainer(name, bytes), bytes);
  const trees = await Promise.all(
    refs.map(async ({ name, commit }) => ({ name, tree: await objects.tree(commit) })),
  );
  const seen = new Set<string>();
  for (const { name: place, tree } of trees)
    for (const [name, blob] of tree) {
      if (!bySegment.has(segmentOf(name) ?? '') || seen.has(blob)) continue;
      seen.add(blob);
      const found = await objects.blob(blob, name);
      if (found) take(place, found.facts, found.bytes);
    }
  return located;
}

/** Containers of these chains in the clone's other working trees. */
function otherWorktreeFiles(
  context: Context,
  segments: ReadonlySet<string>,
): { name: string; bytes: Buffer }[] {
  if (!context.repository) return [];
  const { commonDir, root } = context.repository;
  const inside = relative(root, ledgerFolder(context.layout));
  const linked = linkedWorktrees(commonDir).map((name) =>
    dirname(readText(join(commonDir, 'worktrees', name, 'gitdir')).trim()),
  );
  const roots = [dirname(commonDir), ...linked].filter((other) => other !== root && other !== '.');
  return roots
    .map((other) => join(other, inside))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => segments.has(segmentOf(name) ?? ''))
        .map((name) => ({ name, bytes: readPlain(join(folder, name), 1 << 27) ?? Buffer.alloc(0) })),
    );
}

/** Files that a sparse checkout leaves out. */
export async function sparseFiles(context: Context): Promise<Set<string>> {
  if (!context.git) return new Set();
  const folder = gitFolder(context);
  const list = await must(context.git, ['ls-files', '-t', '-z', '--full-name', '--', `${folder}/`]);
  const skipped = list.split('\0').filter((entry) => entry.startsWith('S '));
  return new Set(skipped.map((entry) => entry.slice(entry.lastIndexOf('/') + 1)));
}

/** Ids of all records that a commit has. */
export async function recordsIn(context: Context, commit: string): Promise<Set<string>> {
  const objects = openLedgerObjects(context);
  try {
    const tree = await objects.tree(commit);
    const blobs = await Promise.all([...tree].map(([name, blob]) => objects.blob(blob, name)));
    return new Set(blobs.flatMap((blob) => blob?.facts.ids ?? []));
  } finally {
    await objects.close();
  }
}
