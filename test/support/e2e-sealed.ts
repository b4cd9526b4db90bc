import type { RunOptions } from './forge.js';
import { makeForge } from './forge-project.js';
import { record } from './memory.js';
import type { Project } from './project.js';
import { initKey, makeMachine, seal } from './seals.js';

export function commit(project: Project, message = 'Memory'): void {
  project.git('add', '-A');
  project.git('commit', '-qm', message);
}

/** Three cycles, sealed and committed. */
export async function sealedProject(): Promise<{
  project: Project;
  machine: RunOptions;
  public_key: string;
}> {
  const project = await makeForge();
  const machine = makeMachine();
  const { key } = await initKey(project, machine);
  for (let i = 0; i < 3; i++) await record(project, '--classification', 'SUCCESS', '--signal', 'tests=pass');
  await seal(project, machine);
  commit(project);
  return { project, machine, public_key: key?.public_key ?? '' };
}
