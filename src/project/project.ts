import { Disk } from '../core/disk.js';
import { agentMark, deniedToBuilder, isBuilder } from '../core/environment.js';
import { corrupted, refused, usage } from '../core/error.js';
import { readHint, unreliableFileSystem, writeHint } from '../core/files.js';
import type { LockPolicy } from '../core/lock.js';
import {
  activityFile,
  configFile,
  hookScript,
  type Layout,
  layoutOf,
  promotionFile,
  recoverFile,
  shown,
} from '../core/paths.js';
import { decodeUtf8, refuseConflict } from '../core/schema.js';
import type { World } from '../core/world.js';
import { type Git, gitIn } from '../git/client.js';
import { defaultBranch } from '../git/remote.js';
import {
  findForge,
  hasRemains,
  isLeftOut,
  projectRepository,
  type Repository,
  refuseForeign,
} from '../git/repository.js';
import { type Config, decodeConfig, MAX_CONFIG_BYTES } from './config.js';

/** What every operation works with: a `.forge/`, its repository and its surroundings. */
export interface Context {
  layout: Layout;
  disk: Disk;
  world: World;
  repository: Repository | null;
  /** Null without a repository. Runs in the worktree's top folder. */
  git: Git | null;
  /** For the person, besides the answer. */
  warnings: string[];
  /** When forge was last used in this worktree, in ms since 1970; null when unknown. */
  lastActivity: number | null;
  /** Gets how many bytes of memory have been read. */
  onProgress?: (read: number, total: number) => void;
  /** Stops a long read. */
  signal?: AbortSignal;
  /** Marks of texts that a human allowed (`forge guard allow`). */
  allowedMarks?: () => readonly string[];
}

/** Opens the `.forge/` at or above `from`; exit 2 `not_a_forge` without one. */
export function openContext(from: string, world: World, dryRun: boolean, waitMs?: number): Context {
  const found = findForge(from);
  if (!found) throw notAForge(from);
  refuseForeign(found, world.env);
  return contextAt(found.root, found.repository, world, dryRun, waitMs);
}

function notAForge(from: string): Error {
  const repository = projectRepository(from);
  const root = repository?.root ?? from;
  if (repository && isLeftOut(repository))
    return usage('not_a_forge', `${root} has a .forge/ in git, but this checkout leaves it out.`, {
      hint: 'git sparse-checkout add .forge',
    });
  if (hasRemains(root))
    return usage(
      'not_a_forge',
      `${root}/.forge has no config.toml: this branch has no memory, or it was removed.`,
      {
        hint: 'forge init   # restores what is missing; or switch to the branch that has it',
      },
    );
  return usage('not_a_forge', `There is no .forge/ in ${from} or above it.`, { hint: 'forge init' });
}

export function contextAt(
  root: string,
  repository: Repository | null,
  world: World,
  dryRun: boolean,
  waitMs?: number,
): Context {
  const layout = layoutOf(root, repository);
  return {
    layout,
    disk: new Disk(layout, { ...lockPolicy(world), waitMs }, dryRun),
    world,
    repository,
    git: repository ? gitIn(repository.root, world.env) : null,
    warnings: [],
    lastActivity: readActivity(layout),
  };
}

export const lockPolicy = ({ self, liveness }: World): LockPolicy => ({ me: self, liveness });

/** The settings. Unknown ones become warnings. */
export function readConfig(context: Context): Config {
  const { disk, layout } = context;
  const file = shown(layout, configFile(layout));
  const bytes = disk.read(configFile(layout), MAX_CONFIG_BYTES);
  if (!bytes) throw corrupted('file.missing', `${file} is missing.`, { file, hint: 'forge init' });
  const text = decodeUtf8(bytes, file);
  // Only a crash leaves it empty.
  if (text.trim() === '') throw corrupted('config.empty', `${file} is empty.`, { file });
  refuseConflict(text, file, `edit ${file}: one of each setting, no marker lines; then: git add ${file}`);
  const { config, warnings } = decodeConfig(text, file);
  context.warnings.push(...warnings.filter((warning) => !context.warnings.includes(warning)));
  return config;
}

/** The branch that others are merged into: from the settings, else from git. */
export async function mainBranch(context: Context): Promise<string | null> {
  const { repository, git } = context;
  if (!repository || !git) return null;
  return readConfig(context).git.default_branch || defaultBranch(repository, git);
}

export { isHalted, refuseHalted } from './halt.js';

/** True for a builder, which works for a cycle and is judged by it. */
export const isBuilding = ({ world }: Context): boolean => isBuilder(world.env);

/** Exit 3 `role.denied` for a builder: a governance breach. */
export function requireSupervisor(context: Context, what: string): void {
  if (isBuilding(context)) throw deniedToBuilder(what);
}

/** Exit 3 `human.required` for an agent. */
export function refuseAgent({ world }: Context, what: string): void {
  if (!world.isAgent) return;
  const mark = agentMark(world.env);
  const why = mark === null ? 'an agent asks' : `${mark} is set, so an agent runs this command`;
  throw humanRequired(what, why);
}

/** The author field of what an agent writes into memory. */
export const madeBy = ({ world }: Context): { by?: 'agent' } => (world.isAgent ? { by: 'agent' } : {});

export const humanRequired = (what: string, why: string): Error =>
  refused('human.required', `${what} needs a human's decision; ${why}.`, {
    hint: 'ask a human to run this command at a terminal',
  });

export const timestamp = (context: Context): string => context.world.now().toISOString();

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

/** Records that forge was used here (SES-07: silence of another host). */
export function noteActivity({ layout, world, disk }: Context): void {
  if (!disk.dryRun) writeHint(activityFile(layout), { at: world.now().getTime() });
}

/** True while a promotion has to be completed. */
export const hasPromotion = ({ disk, layout }: Context): boolean => disk.exists(promotionFile(layout));

/** True when forge's git hooks are installed. */
export const hasHooks = ({ disk, layout }: Context): boolean => disk.exists(hookScript(layout));

/** True while a rollback runs, or after it was interrupted. */
export const hasRecovery = ({ disk, layout }: Context): boolean => disk.exists(recoverFile(layout));

function readActivity(layout: Layout): number | null {
  const at = readHint<{ at?: unknown }>(activityFile(layout))?.at;
  return typeof at === 'number' ? at : null;
}
