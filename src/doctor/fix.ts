import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { conflictsFolder, keptConflict, shown } from '../core/paths.js';
import type { World } from '../core/world.js';
import { gitIn } from '../git/client.js';
import { operationInProgress } from '../git/state.js';
import { addResolved } from '../git/status.js';
import { installGuard } from '../guard/guard.js';
import { hooksStatus, installHooks } from '../hooks/install.js';
import { type Context, openContext, refuseHalted, timestamp } from '../project/project.js';
import type { Symptom } from '../status/symptom.js';
import { attempt, valueOr } from './check.js';
import { type Conflict, findConflicts } from './conflicts.js';
import { type DoctorInput, findSymptoms } from './doctor.js';
import type { Choice } from './merge.js';

/** Something that `forge doctor --fix` does, or did. */
export interface Fix {
  /** In a line. */
  what: string;
  /** What was chosen between the sides, a field each. */
  choices: Choice[];
  /** What to type to have it as it was. */
  undo: string;
  /** Of exactly this plan: a file that changed since it was shown is left alone. */
  token: string;
}

interface PlannedFix extends Fix {
  act(): Promise<void>;
}

/** What would be done, and what stays to be done by a person. */
export interface FixPlan {
  fixes: Fix[];
  findings: Symptom[];
}

export interface FixInput extends DoctorInput {
  /** The tokens of the fixes that were confirmed. Default: all that are found. */
  agreed?: readonly string[];
}

/** What was done, and what is still wrong. */
export interface Fixed {
  fixes: (Omit<Fix, 'token'> & { done: boolean; problem?: string })[];
  findings: Symptom[];
}

/** What `forge doctor --fix` would do. Changes nothing. */
export async function planFixes(dir: string, world: World, input: DoctorInput): Promise<FixPlan> {
  const plans = await plan(dir, world, true);
  const { findings } = await findSymptoms(dir, world, input, true);
  return { fixes: plans.map(({ act: _, ...fix }) => fix), findings };
}

/** Makes the confirmed fixes one after the other. One that fails is reported, and the others are made. */
export async function applyFixes(
  dir: string,
  world: World,
  { agreed, ...input }: FixInput,
  dryRun: boolean,
): Promise<Fixed> {
  const fixes: Fixed['fixes'] = [];
  for (const { act, token, ...fix } of await plan(dir, world, dryRun)) {
    if (agreed && !agreed.includes(token)) continue;
    const made = dryRun ? null : await attempt(act);
    if (made && 'problem' in made) fixes.push({ ...fix, done: false, problem: made.problem.message });
    else fixes.push({ ...fix, done: made !== null });
  }
  return { fixes, findings: (await findSymptoms(dir, world, input, dryRun)).findings };
}

/** Nothing where no `.forge/` can be opened, or git does not answer. The findings say why. */
async function plan(dir: string, world: World, dryRun: boolean): Promise<PlannedFix[]> {
  const context = await valueOr(null, () => openContext(dir, world, dryRun));
  if (!context || (await gitFails(context))) return [];
  const conflicts = await valueOr([], () => findConflicts(context));
  return [
    ...conflicts.flatMap((conflict) =>
      conflict.merged ? [planMerge(context, conflict, conflict.merged)] : [],
    ),
    ...(await valueOr([], () => planHooksFix(context, openContext(dir, world, true)))),
  ];
}

async function gitFails({ repository, world }: Context): Promise<boolean> {
  if (!repository) return false;
  const git = gitIn(repository.root, world.env);
  return await valueOr(true, async () => (await git(['ls-files', '--', '.git'])).code !== 0);
}

/** LAY-09: a file that two branches changed. */
function planMerge(
  context: Context,
  conflict: Conflict,
  { bytes, choices }: NonNullable<Conflict['merged']>,
): PlannedFix {
  const { disk, layout, git, repository } = context;
  const { file, path, before, unmerged } = conflict;
  const hash = createHash('sha256')
    .update(`${file}\0`)
    .update(before ?? '');
  const token = hash.update('\0').update(bytes).digest('hex');
  const time = timestamp(context).replaceAll(/[:.]/g, '-');
  // The token keeps two merges within a millisecond apart.
  const copy = keptConflict(layout, `${time}-${token.slice(0, 6)}-${basename(file)}`);
  const isRebase = unmerged !== null && repository && operationInProgress(repository) === 'a rebase';
  return {
    what: [
      `merge both sides of ${file}${unmerged === null ? '' : ', and tell git (git add)'}`,
      ...(before
        ? [`the file as it is now, edits included, is kept in ${shown(layout, conflictsFolder(layout))}`]
        : []),
      ...(isRebase ? ['in a rebase, "ours" is what you rebase onto, "theirs" your own commits'] : []),
    ].join('; '),
    choices,
    undo: undoOf(conflict, shown(layout, copy)),
    token,
    act: async () => {
      // A halt means that memory must not be built on.
      refuseHalted(disk);
      await installGuard(context);
      if (before) disk.replaceMoved(copy, before);
      disk.withLock(() => disk.replace(path, bytes, before));
      if (unmerged !== null && git) await addResolved(git, unmerged);
    },
  };
}

/** Git restores its conflict until the merge is committed; the copy has what a person did to the file as well. */
function undoOf({ file, before, unmerged }: Conflict, copy: string): string {
  const name = formatArgv([file]);
  const bytes = before === null ? `rm ${name}` : `cp ${formatArgv([copy])} ${name}`;
  return unmerged === null ? bytes : `git checkout --merge -- ${name} && ${bytes}`;
}

const UNDO = 'forge hooks uninstall';

/** GIT-03: hooks that somebody installed, and that are incomplete now. Hooks that were never installed need consent. */
async function planHooksFix(context: Context, dry: Context): Promise<PlannedFix[]> {
  const { hooks, gone } = await hooksStatus(dry);
  const lacking = hooks.filter(({ state }) => state === 'absent').map(({ name }) => name);
  if (lacking.length === hooks.length || (lacking.length === 0 && gone.length === 0)) return [];
  // Throws where they cannot be installed without a further word of a person.
  await installHooks(dry);
  const what = [...lacking, ...gone].join(', ');
  const act = async (): Promise<void> => {
    await installHooks(context);
  };
  return [
    { what: `install git's hooks again (${what})`, choices: [], undo: UNDO, token: `hooks ${what}`, act },
  ];
}
