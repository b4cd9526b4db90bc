import type { Claimed } from '../../src/index.js';
import { forgeJson, type RunOptions, runForge } from './forge.js';
import { putFeatures } from './forge-project.js';
import { twoClones } from './nats-server.js';
import { commitAll, makeFolder, type Project, projectAt } from './project.js';

export const FEATURES = ['F-1', 'F-2'].map((id) => ({
  id,
  name: `Do ${id}`,
  status: 'failing',
  tests: ['test -e ok'],
}));

/** Two clones with the same two features. */
export async function clones(): Promise<[Project, Project]> {
  const both = await twoClones();
  for (const project of both) {
    putFeatures(project, FEATURES);
    await runForge(project, ['trust', '--yes'], { terminal: true });
  }
  return both;
}

/** Two worktrees of one of them. */
export async function trees(): Promise<[Project, Project]> {
  const [project] = await clones();
  commitAll(project, 'Features');
  const other = projectAt(`${makeFolder()}/tree`);
  project.git('worktree', 'add', '-q', other.dir);
  return [project, other];
}

export const claim = (project: Project, id: string, options: RunOptions = {}, ...args: string[]) =>
  forgeJson<Claimed>(project, ['claim', id, ...args], options);

export const held = { exitCode: 3, code: 'claim.held' };
