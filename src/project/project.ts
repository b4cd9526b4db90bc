import { constants, existsSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { formatArgv, quoteWord } from '../core/argv.js';
import { Disk } from '../core/disk.js';
import { agentMark, deniedToBuilder, isBuilder } from '../core/environment.js';
import { corrupted, ForgeError, refused, unlessFailed, usage } from '../core/error.js';
import { isFull, readHint, unreliableFileSystem, writeHint } from '../core/files.js';
import * as paths from '../core/paths.js';
import { decodeUtf8, encodeDocument, refuseConflict } from '../core/schema.js';
import { oneLine, plural } from '../core/text.js';
import type { World } from '../core/world.js';
import { askNow, type Git, gitIn } from '../git/client.js';
import { defaultBranch } from '../git/remote.js';
import {
  findForge,
  indexHas,
  isSparse,
  otherRoots,
  projectRepository,
  type Repository,
  refuseForeign,
} from '../git/repository.js';
import { ignoredAmong, trackedFiles } from '../git/status.js';
import { type Config, decodeConfig, MAX_CONFIG_BYTES } from './config.js';

/** What every operation works with: a `.forge/`, its repository and its surroundings. */
export interface Context {
  layout: paths.Layout;
  disk: Disk;
  world: World;
  repository: Repository | null;
  /** Null without a repository. Runs in the worktree's top folder. */
  git: Git | null;
  warnings: string[];
  /** Names of the events that were written and not sent yet (EVT-01). */
  unsent: string[];
  /** When forge was last used in this worktree, in ms since 1970; null when unknown. */
  lastActivity: number | null;
  onProgress?: (read: number, total: number) => void;
  signal?: AbortSignal;
  /** Marks of texts that a human allowed (`forge guard allow`). */
  allowedMarks?: () => readonly string[];
}

/** Opens the `.forge/` at or above `from`; exit 2 `not_a_forge` without one. */
export function openContext(from: string, world: World, dryRun: boolean, waitMs?: number): Context {
  const found = findForge(from);
  if (!found) throw notAForge(from, world);
  refuseForeign(found, world.env);
  return contextAt(found.root, found.repository, world, dryRun, waitMs);
}

/** The same project in the other worktrees of this repository on this machine, for reading. */
export function otherWorktrees({ repository, layout, world }: Context): Context[] {
  if (!repository) return [];
  const inside = relative(repository.root, layout.root);
  return otherRoots(repository).flatMap((other) => {
    const found = findForge(join(other, inside));
    return found?.root === join(other, inside) ? [contextAt(found.root, found.repository, world, true)] : [];
  });
}

function notAForge(from: string, { env }: World): Error {
  const repository = projectRepository(from);
  const root = repository?.root ?? from;
  const isInGit = repository && indexHas(repository, '.forge/config.toml');
  const where = from === root ? '' : `-C ${quoteWord(root)} `;
  if (isInGit && isSparse(repository))
    return usage('not_a_forge', `${root} has a .forge/ in git, but this checkout leaves it out.`, {
      hint: `git ${where}sparse-checkout add .forge`,
    });
  if (isInGit)
    return usage('not_a_forge', `${root} has a .forge/ in git, but its files were removed here.`, {
      hint: `git ${where}restore .forge`,
    });
  // forge's folder in the git dir tells that it was used in this clone.
  const isKnown = repository && existsSync(paths.layoutOf(root, repository).shared);
  const last = isKnown ? askNow(root, env, LAST_CHANGE).split(/\n+/) : [];
  const [commit = '', subject = '', change = ''] = last;
  const anew = '-- .forge   # or, to start anew: forge init';
  if (change.startsWith('D'))
    return usage('not_a_forge', `Commit ${commit} (${oneLine(subject, 80)}) removed ${root}/.forge/.`, {
      hint: `git ${where}restore --source=${commit}^ ${anew}`,
    });
  if (change !== '')
    return usage('not_a_forge', `${root} has a .forge/ in HEAD, but its files were removed here.`, {
      hint: `git ${where}restore --staged --worktree ${anew}`,
    });
  return usage('not_a_forge', `There is no .forge/ with a config.toml in ${from} or above it.`, {
    hint: 'forge init',
  });
}

/** The last commit of HEAD's own branch that added, changed or removed the settings, and which of these. */
const LAST_CHANGE =
  'log -1 --first-parent -m --no-renames --name-status --format=%h%n%s HEAD -- .forge/config.toml'.split(' ');

export function contextAt(
  root: string,
  repository: Repository | null,
  world: World,
  dryRun: boolean,
  waitMs?: number,
): Context {
  const layout = paths.layoutOf(root, repository);
  return {
    layout,
    disk: new Disk(layout, { ...world, waitMs }, dryRun),
    world,
    repository,
    git: repository ? gitIn(repository.root, world.env) : null,
    warnings: [],
    unsent: [],
    lastActivity: readActivity(layout),
  };
}

/** The settings. Unknown ones become warnings. */
export function readConfig(context: Context): Config {
  const { disk, layout } = context;
  const file = paths.shown(layout, paths.configFile(layout));
  const bytes = disk.read(paths.configFile(layout), MAX_CONFIG_BYTES);
  if (!bytes) throw corrupted('file.missing', `${file} is missing.`, { file, hint: 'forge init' });
  const text = decodeUtf8(bytes, file);
  // Only a crash leaves it empty.
  if (text.trim() === '') throw corrupted('config.empty', `${file} is empty.`, { file });
  refuseConflict(text, file, `edit ${file}: one of each setting, no marker lines; then: git add ${file}`);
  const { config, warnings } = decodeConfig(text, file);
  for (const warning of warnings) warnOnce(context, warning);
  return config;
}

/** The branch that others are merged into: from the settings if they can be read, else from git. */
export async function mainBranch(context: Context, remote?: string | null): Promise<string | null> {
  const { repository, git } = context;
  if (!repository || !git) return null;
  const setting = unlessFailed('', () => readConfig(context).git.default_branch);
  return setting || defaultBranch(repository, git, remote);
}

/** True for a builder, which works for a cycle and is judged by it. */
export const isBuilding = ({ world }: Context): boolean => isBuilder(world.env);

/** Exit 3 `role.denied` for a builder: a governance breach. */
export function requireSupervisor(context: Context, what: string): void {
  if (isBuilding(context)) throw deniedToBuilder(what);
}

/** Exit 3 `human.required` for an agent. */
export function refuseAgent({ world }: Pick<Context, 'world'>, what: string): void {
  if (!world.isAgent) return;
  const mark = agentMark(world.env);
  const why = mark === null ? 'an agent asks' : `${mark} is set, so an agent runs this command`;
  throw humanRequired(what, why);
}

export const actorOf = (context: Context): 'builder' | 'agent' | 'human' =>
  isBuilding(context) ? 'builder' : context.world.isAgent ? 'agent' : 'human';

/** The author field of what an agent writes into memory. */
export const madeBy = ({ world }: Context): { by?: 'agent' } => (world.isAgent ? { by: 'agent' } : {});

export const humanRequired = (what: string, why: string): Error =>
  refused('human.required', `${what} needs a human's decision; ${why}.`, {
    hint: 'ask a human to run this command at a terminal',
  });

export type Place = ReturnType<typeof requireRepository>;

/** Exit 3 without a repository. `folder`: `.forge/` from the repository's top. */
export function requireRepository({ repository, git, layout }: Context) {
  if (repository && git) return { repository, git, folder: paths.shownFrom(repository.root, layout.dir) };
  throw refused('git.none', 'This needs git, and this folder is not in a git repository.', {
    hint: 'git init',
  });
}

export const timestamp = (context: Context): string => context.world.now().toISOString();

/** The result of `work`, or null: an expected failure is only a warning, which begins with `what`. */
export async function orWarn<T>(
  context: Pick<Context, 'warnings'>,
  what: string,
  work: () => T | Promise<T>,
  isExpected: (error: ForgeError) => boolean = () => true,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError) || !isExpected(error)) throw error;
    warnOnce(context, `${what}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`);
    return null;
  }
}

export function warnOnce({ warnings }: Pick<Context, 'warnings'>, warning: string): void {
  if (!warnings.includes(warning)) warnings.push(warning);
}

/** B-65 */
export function warnFileSystem({ layout, warnings }: Context): void {
  for (const folder of new Set([layout.dir, layout.state])) {
    const name = unreliableFileSystem(folder);
    if (name !== null)
      warnings.push(
        `${folder} is on ${name}, where locks, renames and fsync are not reliable: let one machine at a time work here.`,
      );
  }
}

/** The command that shows the disk that is full; null if there is space. */
export function findFullDisk({ layout }: Context): string | null {
  const folder = formatArgv([layout.dir, layout.state].filter(isFull));
  return folder === '' ? null : `df -h ${folder}; df -i ${folder}`;
}

/** Silence is counted in minutes. Replacing a file may wait for the disk (ext4). */
const ACTIVITY_MS = 5000;

/** Records that forge was used here (SES-07: silence of another host). */
export function noteActivity({ layout, world, disk, lastActivity }: Context): void {
  const at = world.now().getTime();
  const isRecent = lastActivity !== null && lastActivity <= at && at - lastActivity < ACTIVITY_MS;
  if (!disk.dryRun && !isRecent) writeHint(paths.activityFile(layout), { at });
}

/** True while a promotion has to be completed. */
export const hasPromotion = ({ disk, layout }: Context): boolean => disk.exists(paths.promotionFile(layout));

export const hasHooks = ({ disk, layout }: Context): boolean => disk.exists(paths.hookScript(layout));

/** True while a rollback runs, or after it was interrupted. */
export const hasRecovery = ({ disk, layout }: Context): boolean => disk.exists(paths.recoverFile(layout));

function readActivity(layout: paths.Layout): number | null {
  const at = readHint<{ at?: unknown }>(paths.activityFile(layout))?.at;
  return typeof at === 'number' ? at : null;
}

/** SES-13: machine-local files that were committed, so that every clone gets them; null without any. */
export async function findTracked({
  git,
  repository,
  layout,
}: Context): Promise<{ message: string; fix: string } | null> {
  if (!git || !repository) return null;
  const local = paths.localPaths(layout).map((path) => paths.shownFrom(repository.root, path));
  const found = await trackedFiles(git, local);
  if (found.length === 0) return null;
  return {
    message: `git tracks ${plural(found.length, 'machine-local file')}: ${found.slice(0, 3).join(', ')}`,
    fix: `git rm -r --cached -q --ignore-unmatch -- ${formatArgv(local)}`,
  };
}

/** What a rule of the project or the person keeps out of commits, as `*.jsonl` does, and how to find it; null for nothing. */
export async function findIgnored({
  git,
  repository,
  layout,
}: Context): Promise<{ message: string; fix: string } | null> {
  if (!git || !repository) return null;
  // New files: git never ignores one that it tracks.
  const names = [
    ...[join(layout.dir, 'new'), join(paths.memoryFolder(layout), 'ledger', 'new.jsonl')],
    ...[paths.featureFile, paths.archiveFile, paths.checkpointFile].map((file) => file(layout, 'new')),
    join(paths.learnedFolder(layout), 'new.json'),
  ].map((path) => paths.shownFrom(repository.root, path));
  const found = await ignoredAmong(git, names);
  const [first] = found;
  if (first === undefined) return null;
  const folders = first === names[0] ? [first] : found;
  return {
    message: `git ignores ${folders.map((name) => name.replace(/[^/]*$/, '')).join(', ')}`,
    fix: `git check-ignore -v ${formatArgv([first])}   # shows the rule`,
  };
}

/** Why nothing is written here until a human has acted (LTM-05). Machine-local. */
interface Halt {
  at: string;
  /** What verification found, shortest first. */
  reasons: string[];
  /** False when a refused secret halts and memory itself is intact. */
  isDamage?: boolean | undefined;
}

/** Null when writing is not halted. An unreadable file halts as well. */
export function readHalt(disk: Disk): Halt | null {
  if (!isHalted(disk)) return null;
  const path = paths.haltFile(disk.layout);
  const halt = readHint<Halt>(path);
  return Array.isArray(halt?.reasons)
    ? halt
    : { at: '', reasons: [`${paths.shown(disk.layout, path)} cannot be read`] };
}

/** Takes the lock. An existing halt keeps its first reasons. */
export function writeHalt(disk: Disk, halt: Halt): void {
  disk.withLock(() => {
    if (!isHalted(disk)) disk.replace(paths.haltFile(disk.layout), encodeDocument(halt));
  });
}

export const clearHalt = (disk: Disk): void => disk.remove(paths.haltFile(disk.layout));

export const isHalted = (disk: Disk): boolean => disk.exists(paths.haltFile(disk.layout));

/** Exit 4 `memory.corrupted` for every writing command during a halt. */
export function refuseHalted({ disk }: Pick<Context, 'disk'>): void {
  const halt = readHalt(disk);
  if (!halt) return;
  throw corrupted('memory.corrupted', `Memory is halted: ${halt.reasons[0] ?? 'it was found damaged'}.`, {
    hint: 'forge memory verify   # says what it means and what a person can run',
  });
}

const { O_APPEND, O_WRONLY } = constants;

/** What a builder wants to keep. Its cycle decides. */
export interface Observed {
  observed: string[];
}

/** GOV-05: passes a builder's texts to its cycle (exit 3 `role.denied` without one). Null for everybody else. */
export function observerOf({ world, disk }: Context, what: string) {
  if (!isBuilder(world.env)) return null;
  const path = world.env.FORGE_OBSERVATIONS ?? '';
  if (!isAbsolute(path)) throw deniedToBuilder(what);
  return (
    texts: readonly string[],
    confirmed: readonly string[] = [],
    kind: 'pattern' | 'note' = 'pattern',
  ): Observed => {
    const lines = [...texts.map((text) => ({ [kind]: text })), ...confirmed.map((confirm) => ({ confirm }))];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    // Fails without the file, which the cycle made.
    if (!disk.dryRun) writeFileSync(path, text, { flag: (O_WRONLY | O_APPEND) as never });
    return { observed: [...texts, ...confirmed] };
  };
}

export const describeObserved = (texts: readonly string[]): string =>
  `reported to this cycle, which decides what to keep: ${oneLine(texts.join('; '), 200)}`;
