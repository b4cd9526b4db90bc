import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { enforcementHere } from '../commit/check.js';
import { WHO, type Who } from '../commit/rules.js';
import { setSetting } from '../config/config.js';
import { refused } from '../core/error.js';
import { hookScript, hooksRecordFile, shownFrom } from '../core/paths.js';
import { type ProjectFile, replaceProjectFiles, requireWritable } from '../core/project-file.js';
import { checkInput, encodeDocument } from '../core/schema.js';
import { runtime } from '../core/templates.js';
import { type Context, refuseAgent, requireSupervisor, timestamp } from '../project/project.js';
import { bytesOf, isWithin, lookAtHooks, realCommonDir, type Scene, textOf } from './look.js';
import { type HookPlan, isWired, LEFTHOOK_LOCAL, MANAGERS, type Manager, planHooks } from './place.js';
import type { HooksRecord } from './record.js';
import { type GitHook, markedLines, runtimeOf, SHEBANG, script, withoutBlock } from './shim.js';

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

const reportOf = ({ context, asleep }: Scene, hooks: HooksReport['hooks']): HooksReport => ({
  hooks,
  ...bindingOf(context),
  ...(asleep ? { asleep } : {}),
  gone: [],
});

function bindingOf(context: Context): Pick<HooksReport, 'enforce' | 'who'> {
  const { enforce, settings } = enforcementHere(context);
  return { enforce, who: settings.who };
}

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
  const { scene, plans, changes } = await planInstall(context, input);
  const made = changes.filter(({ file }) => file.bytes === null).map(({ file }) => madeName(scene, file));
  writeHooks(scene, changes, {
    ...scene.record,
    installed_at: scene.record.installed_at ?? timestamp(context),
    made: [...new Set([...scene.record.made, ...made])],
  });
  if (input.who !== undefined && input.who !== bindingOf(context).who)
    setSetting(context, { name: 'commit.who', value: input.who });
  return reportOf(scene, plans.map(row));
}

/** Refuses what an installation would refuse; whoever asks a person anything asks this first. */
export async function checkHooks(context: Context, raw: HooksInput = {}): Promise<void> {
  await planInstall(context, checkInput(HooksInput, raw));
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
  const changes = changesOf(scene, plans);
  for (const { file } of changes) requireWritable(file);
  return { scene, plans, changes };
}

function requireConsent(plans: readonly HookPlan[], into: readonly Manager[]): void {
  const stuck = plans.filter(({ state }) => state === 'refused');
  if (stuck[0])
    throw refused('hooks.refused', `Nothing was installed: ${stuck[0].why}.`, {
      hint: [...new Set(stuck.map(({ fix }) => fix))].join('\n'),
      data: { hooks: plans.map(row) },
    });
  const asked = plans.filter((plan) => plan.into !== null && !into.includes(plan.into));
  const [first] = asked;
  if (!first) return;
  const owners = [...new Set(asked.map((plan) => plan.into))];
  const paths = [...new Set(asked.map(({ path }) => path))];
  throw refused(
    'hooks.theirs',
    `Nothing was installed: ${paths.join(', ')} would get a marked block of forge's.`,
    {
      hint: `forge hooks install ${owners.map((owner) => `--into ${owner}`).join(' ')}`,
      data: { hooks: plans.map(row), into: owners },
    },
  );
}

interface Change {
  file: ProjectFile;
  bytes: Buffer | null;
  mode?: number;
}

/** One per file: all hooks share lefthook's. */
function changesOf(scene: Scene, plans: readonly HookPlan[]): Change[] {
  const { files } = scene;
  const texts = new Map<string, string>(excludeText(scene, plans));
  for (const { path, text } of plans) if (text !== null) texts.set(path, text);
  return [...texts].map(([path, text]) => {
    const file = files.get(path) as ProjectFile;
    const isHook = ![LEFTHOOK_LOCAL, scene.exclude].includes(path);
    return { file, bytes: bytesOf(text), ...(isHook ? { mode: 0o777 } : {}) };
  });
}

/** What is of this checkout alone is no news to git, no obstacle to a checkpoint, and nothing to roll back. */
function excludeText({ files, exclude }: Scene, plans: readonly HookPlan[]): [string, string][] {
  const bytes = files.get(exclude)?.bytes;
  const before = bytes ? textOf(bytes) : '';
  if (!plans.some(({ path }) => path === LEFTHOOK_LOCAL) || withoutBlock(before) !== before) return [];
  return [[exclude, `${markedLines([`/${LEFTHOOK_LOCAL}`])}${before}`]];
}

/** What is run first, then what was done, then what makes git run it: a crash in between leaves nothing that is run by half. */
function writeHooks(scene: Scene, changes: readonly Change[], record: HooksRecord): void {
  const { disk, layout } = scene.context;
  noteAll(scene, changes);
  if (disk.dryRun) return;
  disk.withLock(() => {
    disk.replaceAll([
      { path: hookScript(layout), bytes: Buffer.from(script(runtime()), 'utf8') },
      { path: hooksRecordFile(layout), bytes: encodeDocument(record) },
    ]);
    replaceProjectFiles(changes);
  });
}

function noteAll({ context, repository }: Scene, changes: readonly Change[]): void {
  for (const { file } of changes) context.disk.note(join(repository.root, file.name));
}

/** Every file as it was before, byte for byte, and no file that was not there (GIT-03). */
export async function uninstallHooks(context: Context): Promise<HooksReport> {
  requireSupervisor(context, 'config');
  refuseAgent(context, "Changing git's hooks");
  const scene = await lookAtHooks(context);
  const { disk, layout } = context;
  const hooks = planHooks(scene.surroundings).map((plan) => ({
    ...row(plan),
    state: isWired(plan) && !isOthers(scene, plan.path) ? ('removed' as const) : ('absent' as const),
  }));
  const changes = [...scene.files.values()].flatMap((file) => removal(file, scene));
  for (const { file } of changes) requireWritable(file);
  noteAll(scene, changes);
  if (disk.dryRun) return reportOf(scene, hooks);
  disk.withLock(() => {
    replaceProjectFiles(changes);
    for (const path of [hookScript(layout), hooksRecordFile(layout)]) disk.remove(path);
  });
  return reportOf(scene, hooks);
}

/** Theirs to change: without the script its lines let everything pass. */
const isOthers = ({ surroundings }: Scene, name: string): boolean =>
  Object.values(surroundings.files).some(({ path, owner }) => path === name && owner === 'others');

/** The name of a file that forge made: in the git dir, the same from every worktree. */
function madeName({ repository }: Scene, { name, path }: ProjectFile): string {
  const common = realCommonDir(repository);
  return isWithin(common, path) ? shownFrom(common, path) : name;
}

function removal(file: ProjectFile, scene: Scene): Change[] {
  const { made } = scene.record;
  if (file.bytes === null || isOthers(scene, file.name)) return [];
  const text = textOf(file.bytes);
  const rest = withoutBlock(text);
  if (rest === text) return [];
  const isEmpty = ['', SHEBANG].includes(rest) && made.includes(madeName(scene, file));
  return [{ file, bytes: isEmpty ? null : bytesOf(rest) }];
}

/** What is installed, and what is not. Reads only. */
export async function hooksStatus(context: Context): Promise<HooksReport> {
  const scene = await lookAtHooks(context);
  const hooks = planHooks(scene.surroundings).map((plan) => ({
    ...row(plan),
    state: isWired(plan) || plan.state === 'refused' ? plan.state : ('absent' as const),
  }));
  return { ...reportOf(scene, hooks), gone: hooks.some(isWired) ? goneOf(context) : [] };
}

function goneOf({ disk, layout }: Context): string[] {
  const path = hookScript(layout);
  const runtime = runtimeOf(disk.read(path)?.toString('utf8') ?? '');
  return runtime ? [runtime.node, runtime.forge].filter((file) => !existsSync(file)) : [path];
}
