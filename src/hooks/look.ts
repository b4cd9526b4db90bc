import { statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { refused, usage } from '../core/error.js';
import { hooksRecordFile, shownFrom } from '../core/paths.js';
import { type ProjectFile, readProjectFile } from '../core/project-file.js';
import type { Git } from '../git/client.js';
import { type HooksPath, readHooksPath } from '../git/config.js';
import { type Repository, realFolder } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { type HookFile, isHusky, LEFTHOOK_LOCAL, LEFTHOOK_LOCALS, type Surroundings } from './place.js';
import { HOOKS_RECORD, type HooksRecord, NO_HOOKS } from './record.js';
import { ALL_HOOKS, type GitHook, hasBlock } from './shim.js';

export interface Scene {
  context: Context;
  repository: Repository;
  surroundings: Surroundings;
  files: Map<string, ProjectFile>;
  record: HooksRecord;
  /** Where git is told what to pass over in this repository alone, by its name in `files`. */
  exclude: string;
  /** A fresh clone has husky's folder before `npm install` points git to it. */
  asleep: 'husky' | null;
}

/** Where hooks are in this repository, what stands there, and what forge did to it. */
export async function lookAtHooks(context: Context): Promise<Scene> {
  const { repository, git } = requireHome(context);
  const hooksPath = await readHooksPath(git, repository);
  const files = new Map<string, ProjectFile>();
  const note = (file: ProjectFile): string => {
    const path = shownFrom(repository.root, file.path);
    files.set(path, { ...file, name: path });
    return path;
  };
  leftBehind(repository, hooksPath).forEach(note);
  const found = ALL_HOOKS.map((hook): [GitHook, HookFile] => {
    const file = fileOf(hook, repository, hooksPath);
    return [hook, { ...judgeFile(file, repository, hooksPath), path: note(file) }];
  });
  const local = lefthookLocal(repository);
  note(local);
  const exclude = note(readProjectFile(repository.commonDir, 'info/exclude', true));
  const surroundings: Surroundings = {
    hooksPath,
    files: Object.fromEntries(found) as Surroundings['files'],
    lefthookLocal: local.bytes && { path: local.name, text: textOf(local.bytes) },
  };
  const record = context.disk.readDocument(HOOKS_RECORD, hooksRecordFile(context.layout), NO_HOOKS).value;
  return {
    context,
    repository,
    surroundings,
    files,
    record,
    exclude,
    asleep: asleepIn(repository, hooksPath),
  };
}

const asleepIn = ({ root }: Repository, hooksPath: HooksPath | null): Scene['asleep'] =>
  hooksPath === null && statSync(join(root, '.husky'), { throwIfNoEntry: false })?.isDirectory()
    ? 'husky'
    : null;

function requireHome({ repository, git }: Context): { repository: Repository; git: Git } {
  if (!repository || !git)
    throw usage('hooks.no_git', 'There is no git repository here, so there are no hooks.', {
      hint: 'git init',
    });
  // Its pointer alone proves nothing: somebody may have crafted it.
  if (repository.kind === 'elsewhere')
    throw refused(
      'hooks.elsewhere',
      `Hooks would be written to ${repository.gitDir}, which does not name this folder.`,
      {
        hint: `git config core.worktree "$(git rev-parse --show-toplevel)"   (if it is this folder's git dir)`,
      },
    );
  return { repository, git };
}

/** What forge put into git's own folder of hooks before somebody set another one. */
const leftBehind = ({ commonDir }: Repository, hooksPath: HooksPath | null): ProjectFile[] =>
  (hooksPath ? ALL_HOOKS : [])
    .map((hook) => readProjectFile(commonDir, `hooks/${hook}`, true))
    .filter(({ bytes }) => bytes !== null && hasBlock(textOf(bytes)));

/** Each byte is a character: what others wrote need not be UTF-8, and stays as it is. */
export const textOf = (bytes: Buffer): string => bytes.toString('latin1');
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

export const realCommonDir = ({ commonDir }: Repository): string => realFolder(commonDir) ?? commonDir;

export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder + sep);

/** Whether git runs such a file. Windows has no such mode. */
const isExecutable = (mode: number): boolean => process.platform === 'win32' || (mode & 0o111) !== 0;

/** Where a hook of that name would be forge's, or would take forge in. */
function fileOf(hook: GitHook, repository: Repository, hooksPath: HooksPath | null): ProjectFile {
  if (!hooksPath) return readProjectFile(repository.commonDir, `hooks/${hook}`, true);
  // What husky runs lies beside the folder that git looks in.
  const folder = isHusky(hooksPath.value) ? hooksPath.folder.replace(/[\\/]_$/, '') : hooksPath.folder;
  if (!hooksPath.isThere)
    return { name: hook, path: join(folder, hook), bytes: null, mode: undefined, missing: [] };
  const top = [repository.root, realCommonDir(repository)].find((one) => isWithin(one, folder)) ?? folder;
  const within = folder.slice(top.length + 1);
  return readProjectFile(top, within ? `${within}/${hook}` : hook, true);
}

/** Whose it is, by where it really lies. */
function judgeFile(
  { path, bytes, mode }: ProjectFile,
  repository: Repository,
  hooksPath: HooksPath | null,
): Omit<HookFile, 'path'> {
  const common = realCommonDir(repository);
  const isOwn = !hooksPath && dirname(path) === join(common, 'hooks');
  const isInside = isWithin(repository.root, path) || isWithin(common, path);
  // husky reads them, whatever their mode.
  const isRead = hooksPath !== null && /_[\\/]?$/.test(hooksPath.value) && isHusky(hooksPath.value);
  return {
    text: bytes && textOf(bytes),
    owner: isOwn ? 'git' : isInside ? 'repository' : 'others',
    isRun: isRead || mode === undefined || isExecutable(mode),
  };
}

function lefthookLocal({ root }: Repository): ProjectFile {
  const all = LEFTHOOK_LOCALS.map((name) => readProjectFile(root, name, name !== LEFTHOOK_LOCAL));
  return all.find(({ bytes }) => bytes !== null) ?? (all[0] as ProjectFile);
}
