import { lstatSync, readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { makeFolder, readPlain, replaceFiles } from '../core/files.js';
import type { Layout } from '../core/paths.js';
import type { Context } from '../project/project.js';

export const ledgerFolder = ({ dir }: Layout): string => join(dir, 'memory', 'ledger');
/** May be deleted at any time. */
export const cacheFile = ({ state }: Layout, name = 'records.jsonl'): string => join(state, 'cache', name);
export const appendStateFile = ({ state }: Layout): string => join(state, 'append.json');
export const verifiedFile = (layout: Layout): string => cacheFile(layout, 'verified.json');
export const anchorsFile = ({ state }: Layout): string => join(state, 'anchors.json');
export const historyFile = ({ shared }: Layout): string => join(shared, 'cache', 'removals.json');
/** The ledger's id, for a checkout that has no container. */
export const ledgerIdFile = ({ shared }: Layout): string => join(shared, 'ledger-id');
export const journalFolder = ({ shared }: Layout): string => join(shared, 'journal');

/** The ledger folder as git names it. */
export const gitFolder = ({ layout, repository }: Context): string =>
  relative(repository?.root ?? layout.root, ledgerFolder(layout))
    .split(sep)
    .join('/');

/** `main`, or the name of the linked worktree. */
export const worktreeName = ({ repository }: Context): string =>
  repository && repository.gitDir !== repository.commonDir ? `wt-${basename(repository.gitDir)}` : 'main';

/** A cache that cannot be written costs time, not correctness. */
export function writeCache(path: string, text: string): void {
  try {
    replaceFiles([{ path, bytes: Buffer.from(text) }]);
  } catch {
    // See above.
  }
}

/** Writers hold this lock. `clean -fdx` may remove it, so writers check before they change something. */
export function withLedgerLock<T>(context: Context, work: () => T, waitMs?: number): T {
  const { state, shared } = context.layout;
  if (!context.disk.dryRun) for (const folder of [state, shared]) makeFolder(folder);
  return context.disk.withLock(work, waitMs);
}

/** A file's identity and state; '' when there is none. */
export function stampOf(path: string): string {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}` : '';
}

/** 0 when there is none. */
export const sizeOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** A small file of forge's own. Null when there is none, or it cannot be read: without it everything is read anew. */
export function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readPlain(path, 1 << 28)?.toString('utf8') ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/** A file of git's own; '' when there is none. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** The current branch, or the commit of a detached HEAD. Read from git's file: appends start no git process. */
export function currentBranch({ repository }: Context): string {
  const head = repository ? readText(join(repository.gitDir, 'HEAD')) : '';
  return head.trim().replace(/^ref: (refs\/heads\/)?/, '');
}

/**
 * What must not have changed since a file was opened, or git may know the file. The log of HEAD grows with each move,
 * also with one that comes back. The git dir's path and inode tell a copied repository from the original.
 */
export function gitStamp(context: Context): string {
  const { repository } = context;
  const home = homeOf(context);
  if (!repository) return `${home} `;
  const { gitDir } = repository;
  const log = lstatSync(join(gitDir, 'logs', 'HEAD'), { throwIfNoEntry: false })?.size ?? 0;
  return [home, currentBranch(context), log, stampOf(join(gitDir, 'index'))].join(' ');
}

/** Which git dir this is. A copy has another inode. */
export function homeOf({ repository, layout }: Context): string {
  const folder = repository?.gitDir ?? layout.dir;
  return `${folder}:${lstatSync(folder).ino}`;
}
