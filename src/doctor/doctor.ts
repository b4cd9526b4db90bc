import type { AgentName } from '../agent/agents.js';
import { hookLog, shown } from '../core/paths.js';
import type { World } from '../core/world.js';
import { gitIn, must } from '../git/client.js';
import { findRepository } from '../git/repository.js';
import { openContext } from '../project/project.js';
import {
  attempt,
  type Check,
  MEMORY_CHECKS,
  runChecks,
  SEVERITIES,
  type Symptom,
  valueOr,
} from './checks.js';
import { type Fix, findConflicts } from './conflicts.js';

/** What every command needs, with or without a `.forge/`. */
interface Machine {
  node: string;
  /** The output of `git --version`; null without git. */
  git: string | null;
  problem: { message: string; hint?: string | undefined } | null;
  needsGit: boolean;
}

const LEAST_NODE = '20.19';
const LEAST_GIT = '2.39';

/** `20.9.1` is below `20.19`. */
const isBelow = (version: string, least: string): boolean =>
  version.localeCompare(least, 'en', { numeric: true }) < 0;

export const MACHINE_CHECKS: readonly Check<Machine>[] = [
  {
    severity: 'blocking',
    expected: `Node ${LEAST_NODE} or newer`,
    why: 'an older one may stop in the middle of a command',
    fix: 'nvm install 22',
    look: ({ node }) => isBelow(node, LEAST_NODE) && `Node ${node}`,
  },
  {
    severity: 'degraded',
    expected: `git ${LEAST_GIT} or newer on the PATH`,
    why: 'forge uses options that an older one does not have',
    fix: 'git --version',
    look: ({ git, needsGit }) => {
      const observed = 'git was not found';
      if (git === null)
        return needsGit
          ? { observed, severity: 'blocking', why: 'in a repository no session starts without it' }
          : { observed, why: 'without it memory has no history' };
      const version = /\d+\.\d+(\.\d+)*/.exec(git)?.[0];
      return version !== undefined && isBelow(version, LEAST_GIT) && `git ${version}`;
    },
  },
  {
    severity: 'blocking',
    expected: 'a .forge/ folder in this project',
    why: 'it holds all of memory; without it hooks and the MCP server cannot answer',
    fix: 'forge init',
    look: ({ problem }) =>
      problem && { observed: problem.message, ...(problem.hint ? { commands: [problem.hint] } : {}) },
  },
];

/** What is wrong here, worst first. */
export interface Diagnosis {
  findings: Symptom[];
}

export interface DoctorInput {
  /** Also check agents: these, or those that are wired here. */
  agents?: readonly AgentName[] | 'wired' | undefined;
}

/** Works without a `.forge/`, without git, and while memory is halted. Writes nothing. */
export async function findSymptoms(dir: string, world: World, { agents }: DoctorInput): Promise<Diagnosis> {
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
    found.push(...(await runChecks(MEMORY_CHECKS, context)));
    const conflicts = await valueOr([], () => findConflicts(context));
    found.push(...conflicts.flatMap(({ symptoms }) => symptoms));
  }
  if (agents !== undefined) {
    const { diagnoseAgents } = await import('./agents.js');
    const root = context?.layout.root ?? findRepository(dir)?.root ?? dir;
    const path = context && hookLog(context.layout);
    const log = context && path ? { path, shown: shown(context.layout, path) } : null;
    found.push(...diagnoseAgents({ root, world, log }, agents === 'wired' ? [] : agents));
  }
  const rank = ({ severity }: Symptom): number => SEVERITIES.indexOf(severity);
  return { findings: once(found).sort((a, b) => rank(a) - rank(b)) };
}

/** The same damage may stop several checks. */
const once = (symptoms: readonly Symptom[]): Symptom[] =>
  symptoms.filter(({ observed }, i) => symptoms.findIndex((other) => other.observed === observed) === i);

/** What was done, and what is still wrong. */
export interface Fixed extends Diagnosis {
  fixes: (Fix & { done: boolean; problem?: string })[];
}

/**
 * Merges the conflicts in state files (LAY-09), one after the other. A merge that fails does not stop the others. It asks
 * nothing: each answer has what was chosen, and how to undo it.
 */
export async function fixConflicts(
  dir: string,
  world: World,
  input: DoctorInput,
  dryRun: boolean,
): Promise<Fixed> {
  const conflicts = await valueOr([], () => findConflicts(openContext(dir, world, dryRun)));
  const fixes: Fixed['fixes'] = [];
  for (const { act, ...fix } of conflicts.flatMap((conflict) => conflict.fix ?? [])) {
    const made = dryRun ? null : await attempt(act);
    if (made && 'problem' in made) fixes.push({ ...fix, done: false, problem: made.problem.message });
    else fixes.push({ ...fix, done: made !== null });
  }
  return { fixes, findings: (await findSymptoms(dir, world, input)).findings };
}
