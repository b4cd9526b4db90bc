import type { Issue, IssueList, Synced } from '../../src/index.js';
import { forgeJson, runForge } from './forge.js';
import type { LinearServer } from './linear-server.js';
import type { Project } from './project.js';

export const issues = async (project: Project): Promise<Issue[]> =>
  (await forgeJson<IssueList>(project, ['linear', 'list'])).issues;

export const run = async (project: Project, server: LinearServer, ...args: string[]) => {
  const outcome = await runForge(project, ['linear', ...args, '--json'], { env: server.env });
  return { ...outcome, value: outcome.stdout === '' ? null : (JSON.parse(outcome.stdout) as Synced) };
};
