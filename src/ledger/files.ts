import { lstatSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import {
  listFolder,
  makeFolder,
  readHint,
  readText,
  removeQuietly,
  stampOf,
  writeHint,
} from '../core/files.js';
import { type Layout, recallFile } from '../core/paths.js';
import type { Context } from '../project/project.js';

export const ledgerFolder = ({ dir }: Layout): string => join(dir, 'memory', 'ledger');

/** A value that can be computed again. The file may be deleted at any time. */
export function openCache<T extends object>({ layout, disk }: Context, name: string, folder = layout.state) {
  const path = join(folder, 'cache', name);
  return {
    read: (): T | null => readHint<T>(path, MAX_CACHE_BYTES),
    write: (value: T): void => {
      if (!disk.dryRun) writeHint(path, value, MAX_CACHE_BYTES);
    },
  };
}

/** They may have the content of a record that is redacted now. */
export function clearCaches({ layout }: Context): void {
  const folder = join(layout.state, 'cache');
  const index = ['', '-journal'].map((end) => recallFile(layout) + end);
  for (const path of [...listFolder(folder).map((name) => join(folder, name)), ...index]) removeQuietly(path);
}

export const MAX_CACHE_BYTES = 1 << 28;

/** The ledger folder as git names it. */
export const gitFolder = ({ layout, repository }: Context): string =>
  relative(repository?.root ?? layout.root, ledgerFolder(layout))
    .split(sep)
    .join('/');

/** `main`, or the name of the linked worktree. */
export const worktreeName = ({ repository }: Context): string =>
  repository && repository.gitDir !== repository.commonDir ? `wt-${basename(repository.gitDir)}` : 'main';

/** The lock that writers hold. `git clean -fdx` may remove it, so writers check again before they change something. */
export function withLedgerLock<T>(context: Context, work: () => T, waitMs?: number): T {
  const { state, shared } = context.layout;
  if (!context.disk.dryRun) for (const folder of [state, shared]) makeFolder(folder);
  return context.disk.withLock(work, waitMs);
}

/** The branch in git's HEAD file, or the commit of a detached HEAD. With reftable the file has only a placeholder. */
export function currentBranch({ repository }: Context): string {
  const head = repository ? readText(join(repository.gitDir, 'HEAD')) : '';
  return head.trim().replace(/^ref: (refs\/heads\/)?/, '');
}

/**
 * Changes when git may have stored the open file. The log of HEAD grows with every move of HEAD, also with one that
 * comes back; with reftable, its list of tables changes. An append starts no git process.
 */
export function gitStamp(context: Context): string {
  const { repository } = context;
  const home = gitDirIdentity(context);
  if (!repository) return `${home} `;
  const { gitDir } = repository;
  const log = lstatSync(join(gitDir, 'logs', 'HEAD'), { throwIfNoEntry: false })?.size ?? 0;
  const [refs, index] = [['reftable', 'tables.list'], ['index']].map((path) =>
    stampOf(join(gitDir, ...path)),
  );
  return [home, currentBranch(context), log, refs, index].join(' ');
}

/** Path and inode of the git dir. They tell a copied repository from the original. */
export function gitDirIdentity({ repository, layout }: Context): string {
  const folder = repository?.gitDir ?? layout.dir;
  return `${folder}:${lstatSync(folder).ino}`;
}
