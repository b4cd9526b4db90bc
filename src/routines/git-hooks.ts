import { join } from 'node:path';
import * as z from 'zod/mini';
import {
  type HookSettings,
  isWithin,
  readHookSettings,
  type ScopedSetting,
  setCommentChar,
} from '../adapters/git-hooks.js';
import type { Repository } from '../adapters/repository.js';
import { runtime } from '../adapters/templates.js';
import { encodeDocument } from '../domain/document.js';
import { refused, usage } from '../domain/error.js';
import {
  type HookPlan,
  type HookText,
  isHusky,
  LEFTHOOK_LOCAL,
  MANAGERS,
  type Manager,
  planHooks,
  type Surroundings,
  withoutLefthookEntries,
} from '../domain/git-hook/place.js';
import { HOOKS_RECORD, type HooksRecord, NO_HOOKS } from '../domain/git-hook/record.js';
import { block, GIT_HOOKS, type GitHook, isShim, script, withoutBlock } from '../domain/git-hook/shim.js';
import { checkInput } from '../domain/input.js';
import { hookScript, hooksRecordFile, shownFrom } from '../store/layout.js';
import {
  type ProjectFile,
  readProjectFile,
  replaceProjectFiles,
  requireWritable,
} from '../store/project-file.js';
import { type Context, requireSupervisor } from './context.js';

export const HooksInput = z.strictObject({
  /** Whose files forge may add itself to. */
  into: z.optional(z.array(z.enum(MANAGERS))),
  /** Keep the headings of messages by another comment character in this repository. */
  commentChar: z.optional(z.boolean()),
});
export type HooksInput = z.infer<typeof HooksInput>;

export interface HooksReport {
  hooks: { name: GitHook; state: HookPlan['state'] | 'absent' | 'removed'; path: string; why?: string }[];
  /** The character with which git's remarks begin in messages; `#` takes away headings when an editor is used. */
  comment_char: string;
}

/** git's own when nobody set another. */
const USUAL = '#';
/** Nothing of the protocol begins with it, and every git takes it. */
const OURS = ';';

interface Scene {
  context: Context;
  repository: Repository;
  settings: HookSettings;
  surroundings: Surroundings;
  files: Map<string, ProjectFile>;
  record: HooksRecord;
}

async function look(context: Context): Promise<Scene> {
  const { repository, git, disk, layout } = context;
  if (!repository || !git || repository.kind === 'elsewhere')
    throw usage('hooks.no_git', 'There is no git repository here, so there are no hooks.', {
      hint: 'git init',
    });
  const settings = await readHookSettings(git, repository);
  const files = new Map<string, ProjectFile>();
  const hookTexts = GIT_HOOKS.map((hook): [GitHook, HookText] => {
    const file = fileOf(hook, repository, settings);
    const path = shownFrom(repository.root, file.path);
    files.set(path, { ...file, name: path });
    return [hook, { path, text: file.bytes?.toString('utf8') ?? null }];
  });
  const local = readProjectFile(repository.root, LEFTHOOK_LOCAL, false);
  files.set(LEFTHOOK_LOCAL, local);
  const path = settings.hooksPath;
  const isInside = path
    ? [repository.root, repository.commonDir].some((top) => isWithin(top, path.folder))
    : true;
  const surroundings: Surroundings = {
    hooksPath: path && { value: path.value, scope: path.scope, isInside },
    files: Object.fromEntries(hookTexts) as Surroundings['files'],
    lefthookLocal: local.bytes?.toString('utf8') ?? null,
  };
  const record = disk.readDocument(HOOKS_RECORD, hooksRecordFile(layout), NO_HOOKS).value;
  return { context, repository, settings, surroundings, files, record };
}

/** Where a hook of that name would be forge's, or would take forge in. */
function fileOf(hook: GitHook, { root, commonDir }: Repository, { hooksPath }: HookSettings): ProjectFile {
  if (!hooksPath) return readProjectFile(commonDir, `hooks/${hook}`, true);
  // What husky runs lies beside the folder that git looks in.
  if (isHusky(hooksPath.value)) return readProjectFile(root, `.husky/${hook}`, false);
  const top = [root, commonDir].find((folder) => isWithin(folder, hooksPath.folder));
  const within = top ? hooksPath.folder.slice(top.length + 1) : '';
  return readProjectFile(top ?? hooksPath.folder, within ? `${within}/${hook}` : hook, true);
}

const reportOf = ({ settings }: Scene, hooks: HooksReport['hooks']): HooksReport => ({
  hooks,
  comment_char: settings.commentChar?.value ?? USUAL,
});

const row = ({ hook, state, path, why }: HookPlan): HooksReport['hooks'][number] => ({
  name: hook,
  state,
  path,
  ...(why === undefined ? {} : { why }),
});

/**
 * GIT-03. All hooks or none: exit 3 names what stands in the way, and the lines to add by hand. Files of others get a
 * marked block, and only where `into` names whose they are.
 */
export async function installHooks(context: Context, raw: HooksInput = {}): Promise<HooksReport> {
  const input = checkInput(HooksInput, raw);
  requireSupervisor(context, 'config');
  const scene = await look(context);
  const plans = planHooks(scene.surroundings);
  requireConsent(plans, input.into ?? []);
  const changes = changesOf(scene, plans);
  for (const { file } of changes) requireWritable(file);
  const made = changes.filter(({ file }) => file.bytes === null).map(({ file }) => file.name);
  const wanted = input.commentChar === true && isFree(scene.settings.commentChar);
  writeHooks(scene, changes, {
    ...scene.record,
    made: [...new Set([...scene.record.made, ...made])],
    ...(wanted ? { comment_char: { before: scene.settings.commentChar?.value ?? null } } : {}),
  });
  if (wanted && context.git && !context.disk.dryRun) await setCommentChar(context.git, OURS);
  const report = reportOf(scene, plans.map(row));
  return wanted ? { ...report, comment_char: OURS } : report;
}

/** A value of the person's own stays, whatever it is. */
const isFree = (setting: ScopedSetting | null): boolean => setting === null || setting.value === USUAL;

function requireConsent(plans: readonly HookPlan[], into: readonly Manager[]): void {
  const [stuck] = plans.filter(({ state }) => state === 'refused');
  if (stuck)
    throw refused('hooks.refused', `Nothing was installed: ${stuck.why}.`, {
      hint: `to have it all the same, add these lines to your ${stuck.hook} hook:\n${block(stuck.hook)}`,
      data: { hooks: plans.map(row) },
    });
  const asked = plans.filter((plan) => plan.into !== null && !into.includes(plan.into));
  const [first] = asked;
  if (!first) return;
  const owners = [...new Set(asked.map((plan) => plan.into))];
  throw refused(
    'hooks.theirs',
    `Nothing was installed: ${asked.map(({ path }) => path).join(', ')} would get a marked block of forge's.`,
    {
      hint: `forge hooks install ${owners.map((owner) => `--into ${owner}`).join(' ')}`,
      data: { hooks: plans.map(row), into: owners },
    },
  );
}

interface Change {
  file: ProjectFile;
  bytes: Buffer | null;
}

/** One a file: lefthook's takes the lines of several hooks. */
function changesOf({ files, surroundings }: Scene, plans: readonly HookPlan[]): Change[] {
  const texts = new Map<string, string>();
  for (const { path, text } of plans) {
    if (text === null) continue;
    const before = texts.get(path) ?? (path === LEFTHOOK_LOCAL ? (surroundings.lefthookLocal ?? '') : '');
    texts.set(path, path === LEFTHOOK_LOCAL ? `${endedLine(before)}${text}` : text);
  }
  return [...texts].map(([path, text]) => {
    const file = files.get(path) as ProjectFile;
    const mode = file.bytes === null && path !== LEFTHOOK_LOCAL ? 0o755 : file.mode;
    return { file: { ...file, mode }, bytes: Buffer.from(text, 'utf8') };
  });
}

const endedLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** What is run first, then what was done, then what makes git run it: a crash in between leaves nothing that is run by half. */
function writeHooks({ context, repository }: Scene, changes: readonly Change[], record: HooksRecord): void {
  const { disk, layout } = context;
  for (const { file } of changes) disk.note(join(repository.root, file.name));
  if (disk.dryRun) return;
  disk.withLock(() => {
    disk.replaceAll([
      { path: hookScript(layout), bytes: Buffer.from(script(runtime()), 'utf8') },
      { path: hooksRecordFile(layout), bytes: encodeDocument(record) },
    ]);
    replaceProjectFiles(changes);
  });
}

/** Every file as it was before, byte for byte, and no file that was not there (GIT-03). */
export async function uninstallHooks(context: Context): Promise<HooksReport> {
  requireSupervisor(context, 'config');
  const scene = await look(context);
  const { disk, layout, git } = context;
  const hooks = planHooks(scene.surroundings).map((plan) => ({
    ...row(plan),
    state:
      plan.state === 'installed' || plan.state === 'renewed' ? ('removed' as const) : ('absent' as const),
  }));
  const changes = [...scene.files.values()].flatMap((file) => removal(file, scene.record));
  for (const { file } of changes) requireWritable(file);
  if (disk.dryRun) return reportOf(scene, hooks);
  const { comment_char: set } = scene.record;
  if (set && git && scene.settings.commentChar?.value === OURS) await setCommentChar(git, set.before);
  disk.withLock(() => {
    replaceProjectFiles(changes);
    for (const path of [hookScript(layout), hooksRecordFile(layout)]) disk.remove(path);
  });
  const commentChar = set ? (set.before ?? USUAL) : reportOf(scene, []).comment_char;
  return { hooks, comment_char: commentChar };
}

function removal(file: ProjectFile, { made }: HooksRecord): Change[] {
  const text = file.bytes?.toString('utf8');
  if (text === undefined) return [];
  if (isShim(text)) return [{ file, bytes: null }];
  const rest = file.name === LEFTHOOK_LOCAL ? withoutLefthookEntries(text) : withoutBlock(text);
  if (rest === text) return [];
  const isEmpty = ['', '#!/bin/sh\n'].includes(rest) && made.includes(file.name);
  return [{ file, bytes: isEmpty ? null : Buffer.from(rest, 'utf8') }];
}

/** What is installed, and what is not. Reads only. */
export async function hooksStatus(context: Context): Promise<HooksReport> {
  const scene = await look(context);
  return reportOf(
    scene,
    planHooks(scene.surroundings).map((plan) => ({
      ...row(plan),
      state:
        plan.state === 'installed' || plan.state === 'renewed' || plan.state === 'refused'
          ? plan.state
          : 'absent',
    })),
  );
}
