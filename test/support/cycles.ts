import { expect } from 'vitest';
import type { CycleResult, LoopResult } from '../../src/index.js';
import { errorIn, type FailedForge, forgeJson, type RunOptions, runForge } from './forge.js';
import { makeForge } from './forge-project.js';
import { logOf } from './memory.js';
import { commitAll, type Project } from './project.js';

export const MARK = '.git/forge/cycle.json';

export const sh = (script: string): string[] => ['--', 'sh', '-c', script];

/** `forge cycle` in this process: its value and its exit code. */
export async function cycle(
  project: Project,
  args: readonly string[],
  options: RunOptions = {},
): Promise<CycleResult & { exit: number | null }> {
  const { stdout, stderr, exitCode } = await runForge(project, ['cycle', '--json', ...args], options);
  if (stdout === '') throw new Error(`forge cycle ${args.join(' ')}: exit ${exitCode}: ${stderr}`);
  return { ...(JSON.parse(stdout) as CycleResult), exit: exitCode };
}

/** `forge loop`: its cycles, and its last line. */
export async function loop(
  project: Project,
  args: readonly string[],
  options: RunOptions = {},
): Promise<{ results: CycleResult[]; end: LoopResult; exit: number | null }> {
  const { stdout, stderr, exitCode } = await runForge(project, ['loop', '--json', ...args], options);
  if (stdout === '') throw new Error(`forge loop ${args.join(' ')}: exit ${exitCode}: ${stderr}`);
  const lines = stdout.trimEnd().split('\n');
  const end = JSON.parse(lines.pop() as string) as LoopResult;
  return { results: lines.map((line) => JSON.parse(line) as CycleResult), end, exit: exitCode };
}

/** A refusal. What follows `--` is the command's own. */
export const refusal = async (
  project: Project,
  [name = '', ...args]: readonly string[],
  options: RunOptions = {},
): Promise<FailedForge> => errorIn(await runForge(project, [name, '--json', ...args], options));

/** name → status */
export const statuses = ({ stages }: Pick<CycleResult, 'stages'>): Record<string, string> =>
  Object.fromEntries(stages.map(({ name, status }) => [name, status]));

export const noteOf = ({ stages }: Pick<CycleResult, 'stages'>, name: string): string =>
  stages.find((stage) => stage.name === name)?.note ?? '';

export interface Stored {
  execution: Record<string, unknown> & { stages: { name: string; status: string }[]; key: string };
  evaluation: Record<string, unknown> & {
    classification: string;
    quality_signals: Record<string, unknown>;
    governance_violations: string[];
    evidence: Record<string, unknown>[];
  };
}

/** Both records of every cycle on the disk, oldest first; each execution has exactly one evaluation. */
export async function storedCycles(project: Project): Promise<Stored[]> {
  const [executions, evaluations] = [await logOf(project, 'execution'), await logOf(project, 'evaluation')];
  return executions
    .filter(({ kind }) => kind === 'cycle')
    .map(({ id, record }) => {
      const judged = evaluations.filter((entry) => entry.record.execution === id);
      expect(judged.length).toBe(1);
      return { execution: record, evaluation: judged[0]?.record } as unknown as Stored;
    });
}

/** A feature A that is done when a file `done` is there. */
export async function ready(test = 'test -f done'): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', test]);
  return project;
}

/** A feature FORGE-001 that is done in the same way, these settings of cycles, and a clean tree. */
export async function readyToKeep(...settings: string[]): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, 'feature add --no-run FORGE-001 "Login works" --test "test -f done"');
  for (const name of settings) await forgeJson(project, ['config', 'set', `cycle.${name}`, 'true']);
  commitAll(project, '[FORGE] Plan');
  return project;
}

/** Approves what stands there now, as a person would. */
export const trust = (project: Project): Promise<unknown> =>
  runForge(project, ['trust', '--yes'], { terminal: true });
