import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import * as z from 'zod/mini';
import { readEnforcement } from '../commit/check.js';
import { WHO } from '../commit/rules.js';
import { setSetting } from '../config/config.js';
import { refused, usage } from '../core/error.js';
import { realPath } from '../core/files.js';
import { hookScript, hooksRecordFile, shownFrom } from '../core/paths.js';
import { type ProjectFile, readProjectFile, replaceProjectFiles } from '../core/project-file.js';
import { checkInput, encodeDocument, type Format } from '../core/schema.js';
import { runtime } from '../core/templates.js';
import { readHooksPath } from '../git/config.js';
import { commitAt } from '../git/read.js';
import type { Repository } from '../git/repository.js';
import { type Context, refuseAgent, requireSupervisor, timestamp } from '../project/project.js';
import {
  ALL_HOOKS,
  block,
  GIT_HOOKS,
  type GitHook,
  hasBlock,
  lefthookEntry,
  PREPARE,
  runtimeOf,
  SHEBANG,
  script,
  withBlock,
  withoutBlock,
} from './shim.js';

/** Written by `forge hooks install` into the git dir of this machine. */
const HooksRecord = z.looseObject({
  schema_version: z.string(),
  /** When the hooks were first installed. */
  installed_at: z.optional(z.string()),
  /** The commit of HEAD then: git's times have no fractions of a second. */
  head: z.optional(z.nullable(z.string())),
});
type HooksRecord = z.infer<typeof HooksRecord>;
export const HOOKS_RECORD: Format<HooksRecord> = { name: 'hooks', version: '1.0', schema: HooksRecord };
export const NO_HOOKS: HooksRecord = { schema_version: '1.0' };

export const HooksInput = z.strictObject({
  /** Allows a marked block in hook files that are not forge's. */
  others: z.optional(z.boolean()),
  /** Installs `prepare-commit-msg` too, which fills in messages. */
  prepare: z.optional(z.boolean()),
  /** GIT-08: whose commits must follow the protocol (`[commit] who`). */
  who: z.optional(z.enum(WHO)),
});
export type HooksInput = z.infer<typeof HooksInput>;

type HookRow = { name: GitHook; state: HookState; path: string; why?: string | undefined };
export type HooksReport = ReturnType<typeof report>;

export type HookState = HookPlan['state'] | 'absent' | 'removed';

/** A hook file, and its content with forge's block in it. */
interface HookPlan {
  hook: GitHook;
  file: ProjectFile;
  /** `new`: a file of forge's own. `added`: a block in a file of others. */
  state: 'installed' | 'new' | 'added' | 'refused';
  /** The new content; null leaves the file alone. */
  text: string | null;
  /** Why the hook cannot be installed, what to do, and the lines to add by hand. */
  why?: string | undefined;
  fix?: string;
  lines?: string;
}

/** Every byte is a character, so files of others stay exactly as they are. */
const textOf = ({ bytes }: ProjectFile): string | null => bytes?.toString('latin1') ?? null;

type HookFolder = Awaited<ReturnType<typeof readFolder>>;

/** The folder that git runs hooks from: `hooksPath` is `core.hooksPath`, or null for the git dir's own folder. */
async function readFolder({ repository, git }: Context) {
  if (!repository || !git)
    throw usage('hooks.no_git', 'There is no git repository here, so there are no hooks.', {
      hint: 'git init',
    });
  const hooksPath = await readHooksPath(git, repository);
  // Husky keeps the hooks of the project beside the folder that git runs.
  const isHusky = /(^|[\\/])\.husky([\\/]_)?[\\/]?$/.test(hooksPath?.value ?? '');
  return { repository, hooksPath, isHusky };
}

const commonDirOf = ({ commonDir }: Repository): string => realPath(commonDir) ?? commonDir;
const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);

function readHook(hook: GitHook, { repository, hooksPath, isHusky }: HookFolder): ProjectFile {
  const withName = (file: ProjectFile) => ({ ...file, name: shownFrom(repository.root, file.path) });
  if (!hooksPath) return withName(readProjectFile(repository.commonDir, `hooks/${hook}`, true));
  const folder = isHusky ? hooksPath.folder.replace(/[\\/]_$/, '') : hooksPath.folder;
  const path = join(folder, hook);
  if (!hooksPath.isThere) return withName({ name: hook, path, bytes: null, mode: undefined });
  const top = [repository.root, commonDirOf(repository)].find((one) => isWithin(one, folder)) ?? folder;
  return withName(readProjectFile(top, shownFrom(top, path), true));
}

/** Plans all hooks that forge installs by default. `prepare-commit-msg` only on request, or if it is there already. */
function planHooks(folder: HookFolder, prepare = false): HookPlan[] {
  const extra = planHook(PREPARE, folder);
  const plans = GIT_HOOKS.map((hook) => planHook(hook, folder));
  return prepare || extra.state === 'installed' ? [...plans, extra] : plans;
}

function planHook(hook: GitHook, folder: HookFolder): HookPlan {
  const { repository, hooksPath, isHusky } = folder;
  const file = readHook(hook, folder);
  const { name, path, mode = 0o111 } = file;
  const text = textOf(file);
  const plan = (state: HookPlan['state'], rest: Partial<HookPlan> = {}): HookPlan => ({
    ...{ hook, file, state, text: null },
    ...rest,
  });
  const refuse = (why: string, fix: string, lines = ''): HookPlan => plan('refused', { why, fix, lines });
  if (hooksPath && !hooksPath.isThere)
    return refuse(
      `core.hooksPath (${hooksPath.scope}) is ${JSON.stringify(hooksPath.value)}, which is not a folder, so git runs no hooks`,
      `git config --${hooksPath.scope} --unset core.hooksPath   # or create that folder`,
    );
  // Husky sources its files, so they need no mode.
  if (text !== null && (mode & 0o111) === 0 && !isHusky)
    return refuse(`${name} is not executable, so git ignores it`, `chmod +x ${name} && forge hooks install`);
  const lefthook = isLefthook(text ?? '');
  const byHand = lefthook ? readLefthookFiles(repository.root) : (text ?? '');
  const isByHand = lefthook
    ? new RegExp(`\\bforge/hook\\b.*[" ]${hook}\\b`).test(byHand)
    : /\bforge\/hook\b/.test(byHand) && !hasBlock(byHand);
  if (isByHand) return plan('installed');
  const manual = 'forge hooks install   # after you add these lines to your hooks by hand:';
  const lines = `# ${hook}\n${block(hook).trimEnd()}`;
  if (isShared(path, repository))
    return refuse(`${name} belongs to more than this repository`, manual, lines);
  if (lefthook)
    return refuse(
      'lefthook runs the hooks here',
      'forge hooks install   # after you add this to lefthook-local.yml:',
      lefthookEntry(hook),
    );
  const isOwn = !hooksPath && dirname(path) === join(commonDirOf(repository), 'hooks');
  const added = withBlock(text ?? (isHusky ? '' : SHEBANG), hook, isOwn);
  if (added === null) return refuse(`${name} is not a shell script`, manual, lines);
  if (added === text) return plan('installed');
  const state = hasBlock(text ?? '') ? 'installed' : text === null && isOwn ? 'new' : 'added';
  return plan(state, { text: added });
}

/** A link or `core.hooksPath` may lead out of the repository. */
const isShared = (path: string, repository: Repository): boolean =>
  !isWithin(repository.root, path) && !isWithin(commonDirOf(repository), path);

const isLefthook = (text: string): boolean => /LEFTHOOK|call_lefthook/.test(text);

/** All settings of lefthook, in any of its formats. */
const readLefthookFiles = (root: string): string =>
  readdirSync(root)
    .filter((name) => /^\.?lefthook.*\.(?:ya?ml|toml|jsonc?)$/.test(name))
    .map((name) => readFileSync(join(root, name), 'latin1'))
    .join('\n');

const toRow = ({ hook: name, state, file, why }: HookPlan): HookRow => ({
  name,
  state,
  path: file.name,
  why,
});

/** `gone`: programs or scripts that the hooks start and that no longer exist. */
function report(
  context: Context,
  plans: readonly HookPlan[],
  stateOf: (plan: HookPlan) => HookState,
  gone: string[] = [],
) {
  const { enforce, settings } = readEnforcement(context);
  const hooks = plans.map((plan) => ({ ...toRow(plan), state: stateOf(plan) }));
  return { hooks, gone, enforce, who: settings.who };
}

/** GIT-03: installs all hooks or none. Exit 3 names the obstacle and the lines to add by hand. */
export async function installHooks(context: Context, raw: HooksInput = {}): Promise<HooksReport> {
  const { others = false, prepare, who } = checkInput(HooksInput, raw);
  requireSupervisor(context, 'config');
  refuseAgent(context, "Changing git's hooks");
  const plans = planHooks(await readFolder(context), prepare);
  requireConsent(plans, others);
  const { disk, layout, git } = context;
  const record = disk.readDocument(HOOKS_RECORD, hooksRecordFile(layout), NO_HOOKS).value;
  const { installed_at = timestamp(context), head = git && (await commitAt(git, 'HEAD')) } = record;
  const changes = plans.flatMap(({ file, text }): Change[] =>
    text === null ? [] : [{ file, bytes: Buffer.from(text, 'latin1'), mode: 0o777 }],
  );
  // The script comes before the hooks that call it, so a crash leaves no broken hook.
  writeHooks(context, changes, () =>
    disk.replaceAll([
      { path: hookScript(layout), bytes: Buffer.from(script(runtime())) },
      { path: hooksRecordFile(layout), bytes: encodeDocument({ ...record, installed_at, head }) },
    ]),
  );
  if (who !== undefined && who !== readEnforcement(context).settings.who)
    setSetting(context, { name: 'commit.who', value: who });
  return report(context, plans, ({ state }) => state);
}

function requireConsent(plans: readonly HookPlan[], others: boolean): void {
  const hooks = plans.map(toRow);
  const stuck = plans.filter(({ state }) => state === 'refused');
  const [first] = stuck;
  if (first) {
    const alike = stuck.filter(({ fix }) => fix === first.fix);
    const hint = [first.fix, ...alike.map(({ lines }) => lines)].filter(Boolean).join('\n');
    throw refused('hooks.refused', `Nothing was installed: ${first.why}.`, { hint, data: { hooks } });
  }
  const foreign = plans.filter(({ state }) => state === 'added');
  if (foreign.length === 0 || others) return;
  const paths = foreign.map(({ file }) => file.name).join(', ');
  throw refused('hooks.theirs', `Nothing was installed: forge would add a marked block to ${paths}.`, {
    hint: 'forge hooks install --yes',
    data: { hooks },
  });
}

type Change = Parameters<typeof replaceProjectFiles>[0][number];

function writeHooks(context: Context, changes: readonly Change[], writeOwn: () => void): void {
  const { disk } = context;
  for (const { file } of changes) disk.note(file.path);
  if (disk.dryRun) return;
  disk.withLock(() => {
    writeOwn();
    replaceProjectFiles(changes);
  });
}

/** GIT-03: restores every file byte for byte, and removes files with nothing but forge's lines. */
export async function uninstallHooks(context: Context): Promise<HooksReport> {
  requireSupervisor(context, 'config');
  refuseAgent(context, "Changing git's hooks");
  const folder = await readFolder(context);
  const { repository } = folder;
  // Also in the git dir, where git does not look once core.hooksPath is set.
  const folders = [folder, { repository, hooksPath: null, isHusky: false }];
  const removed = new Map<string, Change & { hook: GitHook }>();
  for (const hook of ALL_HOOKS)
    for (const one of folders) {
      const file = readHook(hook, one);
      const text = textOf(file) ?? '';
      if (!hasBlock(text) || isShared(file.path, repository)) continue;
      const rest = withoutBlock(text);
      const bytes = ['', SHEBANG].includes(rest) ? null : Buffer.from(rest, 'latin1');
      removed.set(file.path, { hook, file, bytes });
    }
  const changes = [...removed.values()];
  const changed = new Map(changes.map((change) => [change.hook, change]));
  const plans = planHooks(folder).map((plan) => ({ ...plan, ...changed.get(plan.hook), why: undefined }));
  const { disk, layout } = context;
  writeHooks(context, changes, () => {
    for (const path of [hookScript(layout), hooksRecordFile(layout)]) disk.remove(path);
  });
  return report(context, plans, ({ hook }) => (changed.has(hook) ? 'removed' : 'absent'));
}

export async function hooksStatus(context: Context): Promise<HooksReport> {
  const plans = planHooks(await readFolder(context));
  const stateOf = (plan: HookPlan): HookState =>
    plan.state === 'installed' || plan.state === 'refused' ? plan.state : 'absent';
  const isAny = plans.some(({ state }) => state === 'installed');
  return report(context, plans, stateOf, isAny ? findGone(context) : []);
}

function findGone({ disk, layout }: Context): string[] {
  const path = hookScript(layout);
  const started = runtimeOf(disk.read(path)?.toString('utf8') ?? '');
  return started ? [started.node, started.forge].filter((file) => !existsSync(file)) : [path];
}
