import { expect } from 'vitest';
import type { WiringChange, WiringStatus } from '../../src/index.js';
import { forgeError, forgeJson } from './forge.js';
import { differences, makeForge, snapshot } from './forge-project.js';
import type { Project } from './project.js';

export const SETTINGS = '.claude/settings.json';

export const install = (project: Project, ...args: string[]): Promise<WiringChange> =>
  forgeJson<WiringChange>(project, ['agent', 'install', 'claude', ...args]);

export const uninstall = (project: Project, ...args: string[]): Promise<WiringChange> =>
  forgeJson<WiringChange>(project, ['agent', 'uninstall', 'claude', ...args]);

export const status = async (
  project: Project,
  ...args: string[]
): Promise<WiringStatus['agents'][number]> => {
  const { agents } = await forgeJson<WiringStatus>(project, ['agent', 'status', 'claude', ...args]);
  return agents[0] as WiringStatus['agents'][number];
};

export const refusal = (project: Project, ...args: string[]) =>
  forgeError(project, ['agent', 'install', 'claude', ...args]);

export const MINE =
  '\ufeff{\r\n\t// mine\r\n\t"model": "x",\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{ "hooks": [{ "type": "command", "command": "mine" }] }, // first\r\n\t\t],\r\n\t},\r\n}';

/** A repository with settings of a person's own. */
export async function withSettings(text = MINE): Promise<Project> {
  const project = await makeForge();
  project.write(SETTINGS, text);
  project.git('add', '.claude');
  project.git('commit', '-q', '-m', 'Settings');
  return project;
}

/** Nothing was written, to the state folder neither. */
export async function expectUntouched(project: Project, work: () => Promise<unknown>): Promise<void> {
  const before = snapshot(project.dir);
  await work();
  expect(differences(before, snapshot(project.dir))).toEqual([]);
}
