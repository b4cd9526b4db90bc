import { existsSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import * as z from 'zod/mini';
import { enforcementHere } from '../commit/check.js';
import { WHO, type Who } from '../commit/rules.js';
import { setSetting } from '../config/config.js';
import { refused, usage } from '../core/error.js';
import { hookScript, hooksRecordFile, shownFrom } from '../core/paths.js';
import {
  type ProjectFile,
  readProjectFile,
  replaceProjectFiles,
  requireWritable,
} from '../core/project-file.js';
import { checkInput, encodeDocument, type Format } from '../core/schema.js';
import { runtime } from '../core/templates.js';
import { type HooksPath, readHooksPath } from '../git/config.js';
import { type Repository, realFolder } from '../git/repository.js';
import { type Context, refuseAgent, requireSupervisor, timestamp } from '../project/project.js';
import {
  type HookFile,
  type HookPlan,
  isHusky,
  isWired,
  LEFTHOOK_LOCAL,
  LEFTHOOK_LOCALS,
  MANAGERS,
  planHooks,
  type Surroundings,
} from './place.js';
import {
  ALL_HOOKS,
  type GitHook,
  hasBlock,
  markedLines,
  runtimeOf,
  SHEBANG,
  script,
  withoutBlock,
} from './shim.js';

/** What `forge hooks install` noted in a repository. Machine-local. */
const HooksRecord = z.looseObject({
  schema_version: z.string(),
  /** When the hooks were installed first. */
  installed_at: z.optional(z.string()),
});
type HooksRecord = z.infer<typeof HooksRecord>;
export const HOOKS_RECORD: Format<HooksRecord> = { name: 'hooks', version: '1.0', schema: HooksRecord };
export const NO_HOOKS: HooksRecord = { schema_version: '1.0' };

export const HooksInput = z.strictObject({
  /** Whose files forge may add itself to. */
  into: z.optional(z.array(z.enum(MANAGERS))),
  /** `prepare-commit-msg` too: messages written in an editor are filled in. */
  prepare: z.optional(z.boolean()),
  /** GIT-08: whose commits follow the protocol (`[commit] who`). */
  who: z.optional(z.enum(WHO)),
});
export type HooksInput = z.infer<typeof HooksInput>;

export interface HooksReport {
  hooks: { name: GitHook; state: HookPlan['state'] | 'absent' | 'removed'; path: string; why?: string }[];
  /** What the hooks start that is not there: they take what is in PATH then, or check nothing. */
  gone: string[];
  /** `[commit]` in config.toml: what git does with messages from now on, and whose (GIT-08). */
  enforce: 'block' | 'warn' | 'off';
  who: Who;
  /** Whose hooks the repository brings, though git does not run them yet. Once they are set up, git looks there alone. */
  asleep?: 'husky';
}

/** The hook files of a repository. */
interface Scene {
  surroundings: Surroundings;
  files: Map<string, ProjectFile>;
  /** Where git is told what to pass over in this repository alone, by its name in `files`. */
  exclude: string;
  /** A fresh clone has husky's folder before `npm install` points git to it. */
  asleep: boolean;
}

/** Each byte is a character: what others wrote need not be UTF-8, and stays as it is. */
const textOf = (bytes: Buffer | null): string => bytes?.toString('latin1') ?? '';

async function lookAtHooks({ repository, git }: Context): Promise<Scene> {
  if (!repository || !git)
    throw usage('hooks.no_git', 'There is not a git repository here, so there are no hooks.', {
      hint: 'git init',
    });
  // Its pointer alone proves nothing: somebody may have crafted it.
  if (repository.kind === 'elsewhere')
    throw refused(
      'hooks.elsewhere',
      `Hooks would be written to ${repository.gitDir}, which does not name this folder.`,
      {
        hint: `git config core.worktree "$(git rev-parse --show-toplevel)"   # if it is this folder's git dir`,
      },
    );
  const { root, commonDir } = repository;
  const hooksPath = await readHooksPath(git, repository);
  const files = new Map<string, ProjectFile>();
  const note = (file: ProjectFile): string => {
    const name = shownFrom(root, file.path);
    files.set(name, { ...file, name });
    return name;
  };
  // forge's hooks in git's default folder, from before someone set another one.
  for (const hook of hooksPath ? ALL_HOOKS : []) {
    const file = readProjectFile(commonDir, `hooks/${hook}`, true);
    if (hasBlock(textOf(file.bytes))) note(file);
  }
  const hooks = ALL_HOOKS.map((hook): [GitHook, HookFile] => {
    const file = fileOf(hook, repository, hooksPath);
    return [hook, { ...judgeFile(file, repository, hooksPath), path: note(file) }];
  });
  const locals = LEFTHOOK_LOCALS.map((name) => readProjectFile(root, name, name !== LEFTHOOK_LOCAL));
  const local = locals.find(({ bytes }) => bytes !== null) ?? (locals[0] as ProjectFile);
  note(local);
  return {
    surroundings: {
      hooksPath,
      files: Object.fromEntries(hooks) as Surroundings['files'],
      lefthookLocal: local.bytes && { path: local.name, text: textOf(local.bytes) },
    },
    files,
    exclude: note(readProjectFile(commonDir, 'info/exclude', true)),
    asleep:
      hooksPath === null && statSync(join(root, '.husky'), { throwIfNoEntry: false })?.isDirectory() === true,
  };
}

const realCommonDir = ({ commonDir }: Repository): string => realFolder(commonDir) ?? commonDir;
const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);

/** Where a hook of that name would be forge's, or would take forge in. */
function fileOf(hook: GitHook, repository: Repository, hooksPath: HooksPath | null): ProjectFile {
  if (!hooksPath) return readProjectFile(repository.commonDir, `hooks/${hook}`, true);
  // What husky runs lies beside the folder that git looks in.
  const folder = isHusky(hooksPath.value) ? hooksPath.folder.replace(/[\\/]_$/, '') : hooksPath.folder;
  if (!hooksPath.isThere) return { name: hook, path: join(folder, hook), bytes: null, mode: undefined };
  const top = [repository.root, realCommonDir(repository)].find((one) => isWithin(one, folder)) ?? folder;
  return readProjectFile(top, shownFrom(top, join(folder, hook)), true);
}

/** Whose it is, by where it really lies, and whether git runs it. Windows has no such mode. */
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
    isRun: isRead || mode === undefined || process.platform === 'win32' || (mode & 0o111) !== 0,
  };
}

const row = ({ hook, state, path, why }: HookPlan): HooksReport['hooks'][number] => ({
  name: hook,
  state,
  path,
  ...(why === undefined ? {} : { why }),
});

function reportOf(context: Context, { asleep }: Scene, hooks: HooksReport['hooks']): HooksReport {
  const { enforce, settings } = enforcementHere(context);
  return { hooks, enforce, who: settings.who, ...(asleep ? { asleep: 'husky' as const } : {}), gone: [] };
}

/**
 * GIT-03. All hooks or none: exit 3 names what stands in the way, and the lines to add by hand. Files of others get a
 * marked block, and only where `into` names whose they are.
 */
export async function installHooks(context: Context, raw: HooksInput = {}): Promise<HooksReport> {
  const input = checkInput(HooksInput, raw);
  const { scene, plans, changes } = await planInstall(context, input);
  const { disk, layout } = context;
  const record = disk.readDocument(HOOKS_RECORD, hooksRecordFile(layout), NO_HOOKS).value;
  // Write the script before the hook that calls it: a crash in between leaves no half hook.
  writeHooks(context, changes, () =>
    disk.replaceAll([
      { path: hookScript(layout), bytes: Buffer.from(script(runtime())) },
      {
        path: hooksRecordFile(layout),
        bytes: encodeDocument({ ...record, installed_at: record.installed_at ?? timestamp(context) }),
      },
    ]),
  );
  if (input.who !== undefined && input.who !== enforcementHere(context).settings.who)
    setSetting(context, { name: 'commit.who', value: input.who });
  return reportOf(context, scene, plans.map(row));
}

/** Refuses what an installation would refuse; whoever asks a person anything asks this first. */
export async function checkHooks(context: Context, raw: HooksInput = {}): Promise<void> {
  await planInstall(context, checkInput(HooksInput, raw));
}

interface Change {
  file: ProjectFile;
  bytes: Buffer | null;
  mode?: number;
}

async function planInstall(
  context: Context,
  { into = [], prepare }: HooksInput,
): Promise<{ scene: Scene; plans: HookPlan[]; changes: Change[] }> {
  requireSupervisor(context, 'config');
  refuseAgent(context, "Changing git's hooks");
  const scene = await lookAtHooks(context);
  const plans = planHooks(scene.surroundings, prepare);
  requireConsent(plans, into);
  return { scene, plans, changes: requireAllWritable(changesOf(scene, plans)) };
}

function requireAllWritable(changes: Change[]): Change[] {
  for (const { file } of changes) requireWritable(file);
  return changes;
}

function requireConsent(plans: readonly HookPlan[], into: readonly string[]): void {
  const hooks = plans.map(row);
  const stuck = plans.filter(({ state }) => state === 'refused');
  if (stuck[0])
    throw refused('hooks.refused', `Nothing was installed: ${stuck[0].why}.`, {
      hint: [...new Set(stuck.map(({ fix }) => fix))].join('\n'),
      data: { hooks },
    });
  const asked = plans.filter((plan) => plan.into !== null && !into.includes(plan.into));
  if (asked.length === 0) return;
  const owners = [...new Set(asked.map((plan) => plan.into))];
  const paths = [...new Set(asked.map(({ path }) => path))].join(', ');
  throw refused('hooks.theirs', `Nothing was installed: ${paths} would get a marked block of forge's.`, {
    hint: `forge hooks install ${owners.map((owner) => `--into ${owner}`).join(' ')}`,
    data: { hooks, into: owners },
  });
}

/** One per file: all hooks share lefthook's. Git passes over that one: it is of this checkout alone. */
function changesOf({ files, exclude }: Scene, plans: readonly HookPlan[]): Change[] {
  const texts = new Map<string, string>();
  for (const { path, text } of plans) if (text !== null) texts.set(path, text);
  const excluded = textOf(files.get(exclude)?.bytes ?? null);
  if (plans.some(({ path }) => path === LEFTHOOK_LOCAL) && !hasBlock(excluded))
    texts.set(exclude, `${markedLines([`/${LEFTHOOK_LOCAL}`])}${excluded}`);
  return [...texts].map(([path, text]) => ({
    file: files.get(path) as ProjectFile,
    bytes: Buffer.from(text, 'latin1'),
    ...([LEFTHOOK_LOCAL, exclude].includes(path) ? {} : { mode: 0o777 }),
  }));
}

function writeHooks(context: Context, changes: readonly Change[], own: () => void): void {
  const { disk, repository } = context;
  for (const { file } of changes) disk.note(join(repository?.root ?? '', file.name));
  if (disk.dryRun) return;
  disk.withLock(() => {
    own();
    replaceProjectFiles(changes);
  });
}

/** Every file as it was before, byte for byte. A file in which only forge's lines stood goes (GIT-03). */
export async function uninstallHooks(context: Context): Promise<HooksReport> {
  requireSupervisor(context, 'config');
  refuseAgent(context, "Changing git's hooks");
  const scene = await lookAtHooks(context);
  const { disk, layout } = context;
  // Theirs to change: without the script its lines let everything pass.
  const others = Object.values(scene.surroundings.files).flatMap(({ path, owner }) =>
    owner === 'others' ? [path] : [],
  );
  const hooks = planHooks(scene.surroundings).map((plan) => ({
    ...row(plan),
    state: isWired(plan) && !others.includes(plan.path) ? ('removed' as const) : ('absent' as const),
  }));
  const changes = requireAllWritable(
    [...scene.files.values()].flatMap((file): Change[] => {
      const text = textOf(file.bytes);
      if (!hasBlock(text) || others.includes(file.name)) return [];
      const rest = withoutBlock(text);
      return [{ file, bytes: ['', SHEBANG].includes(rest) ? null : Buffer.from(rest, 'latin1') }];
    }),
  );
  writeHooks(context, changes, () => {
    for (const path of [hookScript(layout), hooksRecordFile(layout)]) disk.remove(path);
  });
  return reportOf(context, scene, hooks);
}

/** What is installed, and what is not. Reads only. */
export async function hooksStatus(context: Context): Promise<HooksReport> {
  const scene = await lookAtHooks(context);
  const hooks = planHooks(scene.surroundings).map((plan) => ({
    ...row(plan),
    state: isWired(plan) || plan.state === 'refused' ? plan.state : ('absent' as const),
  }));
  return { ...reportOf(context, scene, hooks), gone: hooks.some(isWired) ? goneOf(context) : [] };
}

function goneOf({ disk, layout }: Context): string[] {
  const path = hookScript(layout);
  const started = runtimeOf(disk.read(path)?.toString('utf8') ?? '');
  return started ? [started.node, started.forge].filter((file) => !existsSync(file)) : [path];
}
