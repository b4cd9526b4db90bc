import { join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { parseJson } from '../core/json.js';
import * as paths from '../core/paths.js';
import { conflictLines, decodeUtf8 } from '../core/schema.js';
import { commitsTouching, readBlob } from '../git/read.js';
import { operationInProgress } from '../git/repository.js';
import { readUnmerged } from '../git/status.js';
import { decodeConfig } from '../project/config.js';
import type { Context } from '../project/project.js';

/** How many commits are searched for a good version. */
const LOOK_BACK = 50;

/** The error, with a hint that restores the damaged file from the newest commit that has a good version (B-12). */
export async function withRescue(context: Context, error: unknown): Promise<unknown> {
  const file = error instanceof ForgeError && error.kind === 'corrupted' ? error.details.file : undefined;
  if (!(error instanceof ForgeError) || file === undefined) return error;
  // In a merge `forge doctor --fix` has both sides.
  if (error.code === 'file.conflict' && (await isUnmerged(context, file))) return error;
  const hint = await hintFor(context, error.code, file);
  if (hint === null) return error;
  return new ForgeError(error.kind, error.code, error.message, { ...error.details, hint });
}

async function hintFor(context: Context, code: string, file: string): Promise<string | null> {
  if (code === 'file.conflict' && isInOperation(context)) return mergeAgain(file);
  if (isIgnored(context, file))
    return `mv ${file} ${file}.damaged && forge init   # forge makes it again, or starts with an empty one`;
  return commitHint(context, file, code !== 'file.missing');
}

/** During a merge, git still has both sides of a conflict that was added with its markers. */
export const mergeAgain = (file: string): string =>
  `git checkout --merge -- ${formatArgv([file])} && forge doctor --fix`;

export const isInOperation = ({ repository }: Context): boolean =>
  repository !== null && operationInProgress(repository) !== null;

async function isUnmerged({ git, repository, layout }: Context, file: string): Promise<boolean> {
  if (!git || !repository) return false;
  return (await readUnmerged(git, paths.shownFrom(repository.root, join(layout.root, file)))).size > 0;
}

/** Files that git ignores are in no commit. */
const isIgnored = ({ layout }: Context, file: string): boolean =>
  paths.localPaths(layout).some((path) => join(layout.root, file).startsWith(path));

/** What puts the newest good version in place of a file; null if no commit has one. */
export async function commitHint(context: Context, file: string, keeps = true): Promise<string | null> {
  const commit = await newestGood(context, file).catch(() => null);
  if (commit === null) return null;
  const word = formatArgv([file]);
  const keep = keeps ? `cp ${word} ${formatArgv([`${file}.damaged`])} && ` : '';
  const restore = `git restore --source=${commit.slice(0, 12)} -- ${word}`;
  return `${keep}${restore}   # the newest commit with a good version`;
}

async function newestGood({ git, layout, repository }: Context, file: string): Promise<string | null> {
  if (!git || !repository) return null;
  const path = paths.shown({ ...layout, root: repository.root }, `${layout.root}/${file}`);
  const isConfig = file === paths.shown(layout, paths.configFile(layout));
  for (const commit of await commitsTouching(git, path, LOOK_BACK)) {
    const bytes = await readBlob(git, `${commit}:${path}`);
    if (bytes && isGood(bytes, file, isConfig)) return commit;
  }
  return null;
}

function isGood(bytes: Buffer, file: string, isConfig: boolean): boolean {
  try {
    const text = decodeUtf8(bytes, file);
    if (conflictLines(text)) return false;
    if (isConfig) decodeConfig(text, file);
    else if (file.endsWith('.json')) parseJson(text);
    return true;
  } catch {
    return false;
  }
}
