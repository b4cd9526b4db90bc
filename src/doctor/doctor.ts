import type { AgentName } from '../agent/agents.js';
import { readTarget } from '../core/files.js';
import { configFile, hookLog, shown, shownFrom } from '../core/paths.js';
import type { World } from '../core/world.js';
import { type Git, gitError, gitIn, must } from '../git/client.js';
import { findRepository } from '../git/repository.js';
import { loadGuard } from '../guard/guard.js';
import { readHalt } from '../project/halt.js';
import { type Context, openContext, readConfig } from '../project/project.js';
import { inOrder, type Symptom } from '../status/symptom.js';
import { showTrust } from '../trust/trust.js';
import { diagnoseAgents } from './agent-rules.js';
import { type Attempt, attempt, valueOr } from './attempt.js';
import { diagnoseConflicts } from './conflict-rules.js';
import { findConflicts } from './conflicts.js';
import { diagnose, type ProjectFacts } from './diagnosis.js';
import { lookAtLeft } from './left.js';
import { diagnoseLeft } from './left-rules.js';
import { lookAtPlace } from './place.js';
import { diagnosePlace } from './place-rules.js';
import { findDamaged, rescued } from './state.js';
import { lookAtWork } from './work.js';
import { diagnoseWork } from './work-rules.js';

/** What is wrong here, worst first. */
export interface Diagnosis {
  findings: Symptom[];
}

export interface DoctorInput {
  /** Look at agents, too: at these, or at those that are wired here. */
  agents?: readonly AgentName[] | 'wired' | undefined;
}

/** Works wherever it is asked: without a `.forge/`, without git, and while memory is halted. */
export async function findSymptoms(dir: string, world: World, { agents }: DoctorInput): Promise<Diagnosis> {
  const git = gitIn(dir, world.env);
  const version = await attempt(() => must(git, ['--version']));
  const context = await attempt(() => openContext(dir, world, true));
  const project = 'problem' in context ? context.problem : await lookAtProject(context.value);
  const facts = {
    node: process.versions.node,
    git: 'problem' in version ? null : version.value.trim(),
    project,
  };
  const work = 'problem' in context ? [] : diagnoseWork(await lookAtWork(context.value));
  const here = 'problem' in context ? [] : await lookAround(context.value);
  const general = [...diagnose(facts), ...work, ...here];
  if (agents === undefined) return { findings: inOrder(once(general)) };
  const { lookAtAgents } = await import('./agents.js');
  const place = { root: placeOf(dir, context), world, log: await readHookLog(context) };
  const seen = await lookAtAgents(place, agents === 'wired' ? [] : agents);
  return { findings: inOrder(once([...general, ...diagnoseAgents(seen)])) };
}

/** One damage may stop several looks. */
const once = (symptoms: readonly Symptom[]): Symptom[] =>
  [...new Map([...symptoms].reverse().map((symptom) => [symptom.observed, symptom])).values()].reverse();

/** What was changed on two branches, where forge works, and what was left half-way. */
async function lookAround(context: Context): Promise<Symptom[]> {
  const [conflicts, place, left] = await Promise.all([
    findConflicts(context),
    lookAtPlace(context),
    lookAtLeft(context),
  ]);
  return [...diagnoseConflicts(conflicts), ...diagnosePlace(place), ...diagnoseLeft(left)];
}

async function lookAtProject(context: Context): Promise<ProjectFacts> {
  const config = await attempt(() => rescued(context, configFile(context.layout), () => readConfig(context)));
  const halt = await attempt(() => readHalt(context.disk)?.reasons[0] ?? null);
  const tracking = await attempt(() => trackingOf(context));
  const guard = await attempt(() => loadGuard(context.world.env, context));
  const isTold = !('problem' in config) || config.problem.code === 'file.conflict';
  return {
    config: isTold ? null : config.problem,
    warnings: context.warnings,
    halted: 'problem' in halt ? halt.problem.message : halt.value,
    tracking: 'problem' in tracking ? tracking.problem : tracking.value,
    guard: 'problem' in guard ? guard.problem : null,
    damaged: await findDamaged(context),
    // Where they cannot be read, that is what is wrong.
    unapproved: await valueOr(0, () => showTrust(context).items.filter(isUnapproved).length),
  };
}

const isUnapproved = ({ state }: { state: string }): boolean => state !== 'trusted';

/** By the settings: what git makes of one file holds for the folder. */
async function trackingOf({ repository, git, layout }: Context): Promise<ProjectFacts['tracking']> {
  if (!repository || !git) return 'no repository';
  const path = shownFrom(repository.root, configFile(layout));
  if (await lists(git, ['--cached', '--others', '--ignored', '--exclude-standard', '--', path]))
    return 'ignored';
  await requireHead(git);
  return (await lists(git, ['--', path])) ? 'tracked' : 'untracked';
}

/** The commit that HEAD names may be gone; a branch without one is no damage. */
async function requireHead(git: Git): Promise<void> {
  const args = ['rev-list', '--max-count=1', 'HEAD', '--'];
  const { code, stderr } = await git(args);
  if (code !== 0 && !/bad revision|unknown revision/.test(stderr)) throw gitError(args, stderr);
}

const lists = async (git: Git, args: readonly string[]): Promise<boolean> =>
  (await must(git, ['ls-files', ...args])) !== '';

const placeOf = (dir: string, context: Attempt<Context>): string =>
  'value' in context ? context.value.layout.root : (findRepository(dir)?.root ?? dir);

/** What hooks of agents left behind here. */
async function readHookLog(context: Attempt<Context>): Promise<{ text: string; shown: string }> {
  if ('problem' in context) return { text: '', shown: '' };
  const { layout } = context.value;
  const path = hookLog(layout);
  const text = await valueOr('', () => readTarget(path, 1024 * 1024)?.toString('utf8') ?? '');
  return { text, shown: shown(layout, path) };
}
