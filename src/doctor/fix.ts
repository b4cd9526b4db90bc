import type { World } from '../core/world.js';
import { gitIn } from '../git/client.js';
import { hooksStatus, installHooks } from '../hooks/install.js';
import { type Context, openContext } from '../project/project.js';
import type { Symptom } from '../status/symptom.js';
import { attempt, valueOr } from './attempt.js';
import { type Fix, type PlannedFix, planConflictFixes } from './conflict-fix.js';
import { type DoctorInput, findSymptoms } from './doctor.js';

export type { Fix } from './conflict-fix.js';

/** What would be done, and what stays to be done by a person. */
export interface FixPlan {
  fixes: Fix[];
  findings: Symptom[];
}

export interface FixInput extends DoctorInput {
  /** The tokens of the fixes that somebody agreed to. Default: all that are found. */
  agreed?: readonly string[];
}

/** What was done, and what is wrong still. */
export interface Fixed {
  fixes: (Omit<Fix, 'token'> & { done: boolean; problem?: string })[];
  findings: Symptom[];
}

/** What `forge doctor --fix` would do. Changes nothing. */
export async function planFixes(dir: string, world: World, input: DoctorInput): Promise<FixPlan> {
  const plans = await plan(dir, world, true);
  const { findings } = await findSymptoms(dir, world, input);
  return { fixes: plans.map(({ act: _, ...fix }) => fix), findings };
}

/** Does what was agreed to, one after the other: what fails is told, and keeps nothing else from being put right. */
export async function applyFixes(
  dir: string,
  world: World,
  { agreed, ...input }: FixInput,
  dryRun: boolean,
): Promise<Fixed> {
  const fixes: Fixed['fixes'] = [];
  for (const { act, token, ...fix } of await plan(dir, world, dryRun)) {
    if (agreed && !agreed.includes(token)) continue;
    if (dryRun) fixes.push({ ...fix, done: false });
    else {
      const made = await attempt(act);
      fixes.push(
        'value' in made
          ? { ...fix, ...made.value, done: true }
          : { ...fix, done: false, problem: made.problem.message },
      );
    }
  }
  const { findings } = await findSymptoms(dir, world, input);
  return { fixes, findings };
}

/** Where nothing can be opened nothing can be put right; the findings say why. */
async function plan(dir: string, world: World, dryRun: boolean): Promise<PlannedFix[]> {
  const open = (dry: boolean): Promise<Context | null> => valueOr(null, () => openContext(dir, world, dry));
  const [context, dry] = [await open(dryRun), await open(true)];
  if (!context || !dry || (await gitFails(context))) return [];
  return [
    ...(await valueOr([], () => planConflictFixes(context))),
    ...(await valueOr([], () => planHooksFix(context, dry))),
  ];
}

/** A repository whose git does not answer has conflicts that nobody sees. */
async function gitFails({ repository, world }: Context): Promise<boolean> {
  if (!repository) return false;
  const git = gitIn(repository.root, world.env);
  return await valueOr(true, async () => (await git(['ls-files', '--', '.git'])).code !== 0);
}

/** GIT-03: hooks that somebody has installed, and that are not whole any more. Nobody's consent is made up for them. */
async function planHooksFix(context: Context, dry: Context): Promise<PlannedFix[]> {
  const { hooks, gone } = await hooksStatus(dry);
  const lacking = hooks.filter(({ state }) => state === 'absent').map(({ name }) => name);
  if (lacking.length === hooks.length || (lacking.length === 0 && gone.length === 0)) return [];
  // Refused where somebody has to say so first.
  await installHooks(dry);
  const what = [...lacking, ...gone].join(', ');
  const act = async (): Promise<Pick<Fix, 'undo'>> => {
    await installHooks(context);
    return { undo: UNDO };
  };
  return [
    { what: `install git's hooks again (${what})`, choices: [], undo: UNDO, token: `hooks ${what}`, act },
  ];
}

const UNDO = 'forge hooks uninstall';
