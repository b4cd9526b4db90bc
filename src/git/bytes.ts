import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, type GitStream, gitError, streamGit } from './client.js';
import { withoutFilters } from './config.js';
import type { Repository } from './repository.js';
import { stampOf } from './state.js';
import { clearMarks, copyIndex, inFolder, LOOK_AT_ALL } from './tree.js';

/**
 * Git whose output and input are bytes, each a character of a latin1 text: a path need not be UTF-8, and none is lost.
 * Exit 6 with git's words when it fails.
 */
export type ByteGit = (
  args: readonly string[],
  options?: { input?: string; env?: Record<string, string> },
) => Promise<string>;

/** A look at the working tree through an index of its own, in a folder that is gone afterwards. */
export interface Bench {
  repository: Repository;
  git: ByteGit;
  /** The same git, for what is too much to be held. */
  stream: GitStream;
  /** The private index: as the repository's was, with all marks for files not to look at taken away. */
  index: string;
  /** The repository's own index as it was, whole; null where there was none. */
  original: string | null;
  /** Changes whenever somebody else writes the repository's index. */
  stamp(): string;
  /** As it was when it was copied. */
  stamped: string;
  folder: string;
}

/** What is about to be removed from the disk has to be on it elsewhere first. */
const DURABLE: readonly [string, string][] = [['core.fsync', 'all']];

/** All that is read and written meanwhile belongs to this one call; `place` is where the folder lies, a word added. */
export function onBench<T>(
  {
    repository,
    git,
    env,
    place,
  }: { repository: Repository; git: Git; env: NodeJS.ProcessEnv; place: string },
  work: (bench: Bench) => Promise<T>,
): Promise<T> {
  return inFolder(place, async (folder) => {
    const settings = await withoutFilters(git, [...LOOK_AT_ALL, ...DURABLE]);
    const index = join(folder, 'index');
    const stamp = (): string => stampOf(join(repository.gitDir, 'index'));
    const stamped = stamp();
    copyIndex(join(repository.gitDir, 'index'), index);
    const original = existsSync(index) ? join(folder, 'original') : null;
    const own = { ...settings, GIT_INDEX_FILE: index };
    const asText: Git = (args, options = {}) => git(args, { ...options, env: { ...own, ...options.env } });
    if (original) copyIndex(index, original);
    else await asText(['read-tree', '--empty']);
    await clearMarks(asText, repository.root);
    // What differs in times alone is no difference. It says by its exit code that there are others.
    await asText(['update-index', '-q', '--really-refresh']);
    // A split index is whole only together with a file that git removes by and by.
    if (original)
      await asText(['update-index', '--force-write-index'], { env: { GIT_INDEX_FILE: original } });
    const stream = streamIn(repository.root, env, own);
    return work({ repository, index, original, folder, stamp, stamped, stream, git: byteGit(stream) });
  });
}

function streamIn(root: string, env: NodeJS.ProcessEnv, own: Record<string, string>): GitStream {
  const stream = streamGit(root, env);
  return (args, onChunk, options = {}) =>
    stream(args, onChunk, { ...options, env: { ...own, ...options.env } });
}

function byteGit(stream: GitStream): ByteGit {
  return async (args, { input, env } = {}) => {
    const chunks: Buffer[] = [];
    const options = {
      ...(env === undefined ? {} : { env }),
      ...(input === undefined ? {} : { input: Buffer.from(input, 'latin1') }),
    };
    const { code, stderr } = await stream(args, (chunk) => chunks.push(chunk), options);
    if (code !== 0) throw gitError(args, stderr);
    return Buffer.concat(chunks).toString('latin1');
  };
}

/** A path as bytes: of what a text has, and back. */
export const toBytes = (text: string): string => Buffer.from(text).toString('latin1');
export const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

export const words = (output: string): string[] => output.split('\0').filter(Boolean);

/** A file as git has it. */
export interface TreeEntry {
  mode: string;
  oid: string;
}

export const SUBMODULE = '160000';

/** `<mode> <type> <oid>\t<path>` of ls-tree, `<mode> <oid> <stage>\t<path>` of ls-files. */
export function parseEntries(output: string): Map<string, TreeEntry & { stage: string }> {
  return new Map(
    words(output).map((line) => {
      const at = line.indexOf('\t');
      const [mode = '', second = '', third = ''] = line.slice(0, at).split(' ');
      const isTree = /^[a-z]+$/.test(second) && third.length >= 40;
      return [line.slice(at + 1), { mode, oid: isTree ? third : second, stage: isTree ? '0' : third }];
    }),
  );
}

/** Lines for `update-index --index-info`: removals first, for a folder may stand where a file was. */
export function indexLines(
  remove: readonly string[],
  put: ReadonlyMap<string, TreeEntry>,
  oidLength: number,
): string {
  const gone = remove.map((path) => `0 ${'0'.repeat(oidLength)}\t${path}\0`);
  const there = [...put].map(([path, { mode, oid }]) => `${mode} ${oid}\t${path}\0`);
  return [...gone, ...there].join('');
}
