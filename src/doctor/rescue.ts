import { ForgeError } from '../core/error.js';
import {
  activeIssuesFile,
  configFile,
  featuresFile,
  featuresFolder,
  focusFile,
  kfrFile,
  knowledgeFile,
  learnedFolder,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
} from '../core/paths.js';
import { decodeDocument, decodeUtf8, type Format } from '../core/schema.js';
import { FEATURE } from '../feature/store.js';
import { ACTIVE_ISSUES } from '../feature/tasks.js';
import { commitsTouching, readBlob } from '../git/read.js';
import { LEARNED_LIST } from '../knowledge/rules.js';
import { decodeConfig } from '../project/config.js';
import type { Context } from '../project/project.js';
import { ARCHIVED_SESSION } from '../session/rules.js';

/** How far back a good version is looked for. */
const LOOK_BACK = 50;

/** The error with the newest commit that has the damaged file whole, as the next thing to type (B-12). */
export async function withRescue(context: Context, error: unknown): Promise<unknown> {
  const file = error instanceof ForgeError && error.kind === 'corrupted' ? error.details.file : undefined;
  if (!(error instanceof ForgeError) || file === undefined || error.code === 'file.conflict') return error;
  const hint = asideHint(context, file) ?? (await commitHint(context, file, error.code === 'file.missing'));
  if (hint === null) return error;
  return new ForgeError(error.kind, error.code, error.message, { ...error.details, hint });
}

/** Files that git ignores are in no commit: put aside, they are started or written afresh. Null for the rest. */
export function asideHint({ layout }: Context, file: string): string | null {
  const aside = `mv ${file} ${file}.damaged`;
  if (file === shown(layout, sessionFile(layout)))
    return `${aside} && forge start   # its progress is kept as an interrupted session`;
  if (file === shown(layout, kfrFile(layout)))
    return `${aside}   # working memory begins anew; what requires resolution stays`;
  if ([featuresFile, knowledgeFile].some((view) => shown(layout, view(layout)) === file))
    return `${aside}   # or fix what it says; forge writes the file again`;
  const fresh = [focusFile(layout), progressFile(layout)].some((path) => shown(layout, path) === file);
  return fresh ? `${aside} && forge init   # puts an empty one there` : null;
}

async function commitHint(context: Context, file: string, isGone: boolean): Promise<string | null> {
  const commit = await newestGood(context, file).catch(() => null);
  if (commit === null) return null;
  const restore = `git restore --source=${commit.slice(0, 12)} -- ${file}`;
  const keep = isGone ? '' : `cp ${file} ${file}.damaged && `;
  return `${keep}${restore}   # the newest commit that has it whole`;
}

async function newestGood(context: Context, file: string): Promise<string | null> {
  const { git, layout, repository } = context;
  const isGood = checkFor(context, file);
  if (!git || !repository || !isGood) return null;
  const path = shown({ ...layout, root: repository.root }, `${layout.root}/${file}`);
  for (const commit of await commitsTouching(git, path, LOOK_BACK)) {
    const bytes = await readBlob(git, commit, path);
    if (bytes && isGood(bytes)) return commit;
  }
  return null;
}

function checkFor({ layout }: Context, file: string): ((bytes: Buffer) => boolean) | null {
  const formats: [string, Format<unknown>][] = [
    [featuresFolder(layout), FEATURE as Format<unknown>],
    [learnedFolder(layout), LEARNED_LIST.entry as Format<unknown>],
    [activeIssuesFile(layout), ACTIVE_ISSUES as Format<unknown>],
  ];
  if (file === shown(layout, configFile(layout)))
    return works((bytes) => decodeConfig(decodeUtf8(bytes, file), file));
  const archived = file.startsWith(`${shown(layout, sessionsFolder(layout))}/`);
  if (archived) return works((bytes) => decodeDocument(ARCHIVED_SESSION, bytes, file));
  const format = formats.find(([path]) => file.startsWith(shown(layout, path)))?.[1];
  return format ? works((bytes) => decodeDocument(format, bytes, file)) : null;
}

const works =
  (decode: (bytes: Buffer) => unknown) =>
  (bytes: Buffer): boolean => {
    try {
      decode(bytes);
      return true;
    } catch {
      return false;
    }
  };
