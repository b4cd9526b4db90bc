import type { Consolidated, Promoted } from '../../src/index.js';
import { forgeFound, forgeJson } from './forge.js';
import { logOf, type Recorded } from './memory.js';
import { copyOf, type Project } from './project.js';

export const P = 'Retry the install once';

interface Change {
  pattern?: string;
  holds?: boolean;
  classification?: string;
  environment_valid?: boolean;
}

/** One evaluated cycle that shows a pattern; clean unless it is said otherwise. */
export function cycle({ pattern = P, holds = true, ...rest }: Change = {}): object {
  const patterns = [{ pattern, scope: 'execution', holds }];
  const clean = { task_id: 'A', exit_code: 0, classification: 'SUCCESS', environment_valid: true };
  return { ...clean, patterns, ...rest };
}

export const times = (count: number, change?: Change): object[] =>
  Array.from({ length: count }, () => cycle(change));

export const recordAll = (
  project: Project,
  cycles: readonly object[],
): Promise<Recorded & { consolidation: Consolidated }> =>
  forgeJson(project, 'memory record -', { stdin: cycles.map((each) => JSON.stringify(each)).join('\n') });

/** Ten cycles that contradict what was learned: a consolidation contests it. */
export const contest = (project: Project) =>
  recordAll(project, [
    ...times(9, { pattern: 'other' }),
    ...times(1, { holds: false, classification: 'FAILURE' }),
  ]);

/** The answer, also where the exit code says that a pattern fails a condition. */
export async function promote(project: Project, ...args: string[]): Promise<Promoted> {
  const { exitCode: _, ...promoted } = await forgeFound<Promoted>(project, ['memory', 'promote', ...args]);
  return promoted;
}

export const knowledgeOf = (project: Project) => logOf(project, 'knowledge');

/** Another clone, on a branch of its own. */
export function copyTo(project: Project, branch: string): Project {
  const copy = copyOf(project);
  copy.git('checkout', '-qb', branch);
  return copy;
}
