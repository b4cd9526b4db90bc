import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outside } from '../core/error.js';
import type { KeptFile } from './backups.js';
import { type Bench, type ByteGit, indexLines, toBytes } from './bytes.js';
import type { Move } from './move.js';
import { type FileStamp, WorkTree } from './work-tree.js';

/**
 * A commit of the working tree as it is, readable like any other (`git restore --source=REF FILE`). Its first parent is
 * HEAD, its second holds the index: as a file, as a tree, and a note. Nothing is written over, and all of it is there when
 * this returns.
 */
export async function makeBackup(
  bench: Bench,
  move: Move,
  { ref, head, subject, note }: { ref: string; head: string; subject: string; note: Record<string, unknown> },
): Promise<string> {
  const { git } = bench;
  const files = await keepFiles(bench, move.touched);
  const tree = await treeOf(bench, move, files, head.length);
  const parts = [
    `100644 blob ${await hashText(git, JSON.stringify({ ...note, files, index: bench.original !== null }))}\tnote.json`,
    `040000 tree ${(await git(['write-tree'])).trim()}\tstaged`,
  ];
  if (bench.original)
    parts.push(`100644 blob ${(await hashFiles(git, [toBytes(bench.original)]))[0]}\tindex`);
  const kept = (await git(['mktree'], { input: `${parts.join('\n')}\n` })).trim();
  const asCommit = async (of: string, parents: string[], text: string): Promise<string> =>
    (
      await git(['commit-tree', of, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
        input: toBytes(`${text}\n`),
      })
    ).trim();
  const index = await asCommit(kept, [], `Index of ${subject}`);
  const commit = await asCommit(tree, [head, index], subject);
  await git(['update-ref', '-m', 'forge recover', ref, commit, '']);
  await verifyBackup(git, [commit, index, tree, kept, ...files.map(({ oid }) => oid)]);
  return commit;
}

async function verifyBackup(git: ByteGit, oids: readonly string[]): Promise<void> {
  const said = await git(['cat-file', '--batch-check'], { input: oids.map((oid) => `${oid}\n`).join('') });
  if (/ missing$/m.test(said))
    throw outside('recover.backup', 'The backup is not whole; nothing was changed.', { hint: 'git fsck' });
}

/** Links are kept as where they lead. */
async function keepFiles(bench: Bench, stamps: readonly FileStamp[]): Promise<KeptFile[]> {
  const files = new WorkTree(bench.repository.root);
  const links = stamps.filter(({ isLink }) => isLink);
  const copies = new Map(
    links.map(({ path }, i) => {
      const copy = join(bench.folder, `link-${i}`);
      writeFileSync(copy, files.readLink(path));
      return [path, toBytes(copy)];
    }),
  );
  const oids = await hashFiles(
    bench.git,
    stamps.map(({ path }) => copies.get(path) ?? path),
  );
  return stamps.map(({ path, mode, isLink }, i) => ({ path, mode, isLink, oid: oids[i] ?? '' }));
}

async function hashFiles(git: ByteGit, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const input = paths.map((path) => `${quoted(path)}\n`).join('');
  const oids = (await git(['hash-object', '-w', '--no-filters', '--stdin-paths'], { input }))
    .trim()
    .split('\n');
  if (oids.length === paths.length) return oids;
  throw outside('recover.backup', 'git did not take every file into the backup; nothing was changed.');
}

const hashText = async (git: ByteGit, text: string): Promise<string> =>
  (await git(['hash-object', '-w', '--no-filters', '--stdin'], { input: toBytes(text) })).trim();

/** As git reads a path that has a line end, or begins with a quote. */
function quoted(path: string): string {
  if (!/^"|[\n\r]/.test(path)) return path;
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
}

const gitMode = ({ mode, isLink }: KeptFile): string =>
  isLink ? '120000' : (mode & 0o100) === 0 ? '100644' : '100755';

/** In a second index: the first one goes on to become the repository's. */
async function treeOf(
  { git, index }: Bench,
  { missing }: Move,
  files: readonly KeptFile[],
  oidLength: number,
): Promise<string> {
  const env = { GIT_INDEX_FILE: `${index}.kept` };
  copyFileSync(index, env.GIT_INDEX_FILE);
  const put = new Map(files.map((file) => [file.path, { mode: gitMode(file), oid: file.oid }]));
  await git(['update-index', '-z', '--index-info'], { env, input: indexLines(missing, put, oidLength) });
  return (await git(['write-tree'], { env })).trim();
}
