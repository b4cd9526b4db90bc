import type { KfrCleared, KfrEntry, KfrList, KfrPatched } from '../../src/index.js';
import { type FailedForge, forgeError, forgeJson, type RunOptions } from './forge.js';
import { makeForge, makeStarted } from './forge-project.js';
import { add } from './patches.js';
import type { Project } from './project.js';

export { add };

export const KFR = '.forge/local/kfr.json';
/** What would be named if that file were lost. */
export const OPEN = '.git/forge/open.json';
type Place = Pick<Project, 'dir'>;

export interface KfrRefused extends FailedForge {
  operations: { index: number; op: string; code: string; message: string }[];
  entries: { id: string; kind: string; text: string; parked: boolean }[];
}

/** A repository with a running session. */
export async function makeWorking(...args: string[]): Promise<Project> {
  if (args.length === 0) return makeStarted();
  const project = await makeForge();
  await forgeJson(project, ['session', 'start', ...args]);
  return project;
}

/** As an agent gives it: JSON by stdin. */
const given = (operations: readonly unknown[], options: RunOptions): RunOptions => ({
  ...options,
  stdin: JSON.stringify({ operations }),
});
export const patch = (
  project: Place,
  operations: readonly unknown[],
  options: RunOptions = {},
): Promise<KfrPatched> => forgeJson<KfrPatched>(project, ['kfr', 'patch', '-'], given(operations, options));
export const patchError = async (
  project: Place,
  operations: readonly unknown[],
  options: RunOptions = {},
): Promise<KfrRefused> =>
  (await forgeError(project, ['kfr', 'patch', '-'], given(operations, options))) as KfrRefused;

export const ask = (project: Place, text = 'which cookie?', options: RunOptions = {}): Promise<KfrPatched> =>
  patch(project, [add('OpenQuestion', text)], options);

export const list = (project: Place, options: RunOptions = {}): Promise<KfrList> =>
  forgeJson<KfrList>(project, ['kfr', 'list'], options);
export const clear = (project: Place, ...args: string[]): Promise<KfrCleared> =>
  forgeJson<KfrCleared>(project, ['kfr', 'clear', ...args]);
export const textsOf = ({ entries }: { entries: readonly KfrEntry[] }): string[] =>
  entries.map(({ id, text }) => `${id} ${text}`);
