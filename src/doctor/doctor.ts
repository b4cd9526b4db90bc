import type { AgentName } from '../agent/agents.js';
import { hookLog, shown } from '../core/paths.js';
import type { World } from '../core/world.js';
import { gitIn, must } from '../git/client.js';
import { findRepository } from '../git/repository.js';
import { restoreLedgerViews } from '../knowledge/views.js';
import { openContext } from '../project/project.js';
import { inOrder, type Symptom } from '../status/symptom.js';
import { attempt, runChecks, valueOr } from './check.js';
import { MACHINE_CHECKS, PLACE_CHECKS } from './checks-machine.js';
import { PROJECT_CHECKS } from './checks-project.js';
import { WORK_CHECKS } from './checks-work.js';

/** What is wrong here, worst first. */
export interface Diagnosis {
  findings: Symptom[];
}

export interface DoctorInput {
  /** Look at agents, too: at these, or at those that are wired here. */
  agents?: readonly AgentName[] | 'wired' | undefined;
}

/** Works without a `.forge/`, without git, and while memory is halted. Writes nothing but views that are missing. */
export async function findSymptoms(
  dir: string,
  world: World,
  { agents }: DoctorInput,
  dryRun: boolean,
): Promise<Diagnosis> {
  const version = await attempt(() => must(gitIn(dir, world.env), ['--version']));
  const opened = await attempt(() => openContext(dir, world, true));
  const context = 'value' in opened ? opened.value : null;
  const machine = {
    node: process.versions.node,
    git: 'value' in version ? version.value.trim() : null,
    problem: 'problem' in opened ? opened.problem : null,
    needsGit: context !== null && context.repository !== null,
  };
  const found = await runChecks(MACHINE_CHECKS, machine);
  if (context) {
    // Without git there is nothing to ask about tracking.
    const checks = PROJECT_CHECKS.filter(({ id }) => machine.git !== null || id !== 'tracking');
    for (const list of [checks, WORK_CHECKS, PLACE_CHECKS]) found.push(...(await runChecks(list, context)));
    if (!dryRun) await valueOr(null, () => restoreLedgerViews(openContext(dir, world, false)));
  }
  if (agents !== undefined) {
    const { diagnoseAgents } = await import('./agents.js');
    const root = context?.layout.root ?? findRepository(dir)?.root ?? dir;
    const log = context ? hookLog(context.layout) : null;
    const place = { root, world, log, logShown: context && log ? shown(context.layout, log) : '' };
    found.push(...(await diagnoseAgents(place, agents === 'wired' ? [] : agents)));
  }
  return { findings: inOrder(once(found)) };
}

/** One damage may stop several checks. */
const once = (symptoms: readonly Symptom[]): Symptom[] =>
  [...new Map([...symptoms].reverse().map((symptom) => [symptom.observed, symptom])).values()].reverse();
