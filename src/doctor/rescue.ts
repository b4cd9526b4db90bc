import { join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { parseJson } from '../core/json.js';
import {
  activeIssuesFile,
  configFile,
  featuresFile,
  focusFile,
  kfrFile,
  knowledgeFile,
  progressFile,
  sessionFile,
  shown,
  shownFrom,
} from '../core/paths.js';
import { conflictLines, decodeUtf8 } from '../core/schema.js';
import { commitsTouching, readBlob } from '../git/read.js';
import { readUnmerged } from '../git/status.js';
import { decodeConfig } from '../project/config.js';
import type { Context } from '../project/project.js';

/** How many commits are searched for a good version. */
const LOOK_BACK = 50;

/** The error, with a hint that restores the damaged file from the newest commit that has a good version (B-12). */
export async function withRescue(context: Context, error: unknown): Promise<unknown> {
  const file = error instanceof ForgeError && error.kind === 'corrupted' ? error.details.file : undefined;
  if (!(error instanceof ForgeError) || file === undefined) return error;
  const hint =
    error.code === 'file.conflict'
      ? await sideHint(context, file)
      : (asideHint(context, file) ?? (await commitHint(context, file, error.code)));
  if (hint === null) return error;
  return new ForgeError(error.kind, error.code, error.message, { ...error.details, hint });
}

/** For markers that somebody committed: there is no merge that `forge doctor --fix` could make. Null during a merge. */
export async function sideHint(context: Context, file: string): Promise<string | null> {
  const { git, repository, layout } = context;
  if (!git || !repository) return null;
  const unmerged = await readUnmerged(git, shownFrom(repository.root, join(layout.root, file)));
  const commit = unmerged.size > 0 ? null : await newestGood(context, file);
  if (commit === null) return null;
  return `git checkout ${commit.slice(0, 12)} -- ${formatArgv([file])}   # takes one side; or edit it by hand: no marker lines`;
}

/** Files that git ignores are in no commit. Without them forge starts with empty ones. */
function asideHint({ layout }: Context, file: string): string | null {
  const aside = `mv ${file} ${file}.damaged`;
  const isOneOf = (...paths: string[]): boolean => paths.some((path) => shown(layout, path) === file);
  if (isOneOf(sessionFile(layout)))
    return `${aside} && forge start   # its progress is kept as an interrupted session`;
  if (isOneOf(kfrFile(layout)))
    return `${aside}   # working memory starts empty; what requires resolution stays`;
  if (isOneOf(featuresFile(layout), knowledgeFile(layout), activeIssuesFile(layout)))
    return `${aside}   # or fix it; forge writes the file again`;
  return isOneOf(focusFile(layout), progressFile(layout))
    ? `${aside} && forge init   # creates an empty one`
    : null;
}

async function commitHint(context: Context, file: string, code: string): Promise<string | null> {
  const commit = await newestGood(context, file).catch(() => null);
  if (commit === null) return null;
  const keep = code === 'file.missing' ? '' : `cp ${file} ${file}.damaged && `;
  const restore = `git restore --source=${commit.slice(0, 12)} -- ${file}`;
  return `${keep}${restore}   # the newest commit with a good version`;
}

async function newestGood({ git, layout, repository }: Context, file: string): Promise<string | null> {
  if (!git || !repository) return null;
  const path = shown({ ...layout, root: repository.root }, `${layout.root}/${file}`);
  const isConfig = file === shown(layout, configFile(layout));
  for (const commit of await commitsTouching(git, path, LOOK_BACK)) {
    const bytes = await readBlob(git, commit, path);
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
