import { parse } from 'smol-toml';
import type { InitResult } from '../../src/index.js';
import { forgeJson, type RunOptions } from './forge.js';
import { CONFIG } from './forge-project.js';
import { makeRepository, type Project } from './project.js';

export const init = (project: Project, args: string[] = [], options: RunOptions = {}): Promise<InitResult> =>
  forgeJson<InitResult>(project, ['init', ...args], options);

export const settings = (project: Project): Record<string, Record<string, unknown>> =>
  parse(project.read(CONFIG)) as never;

export function commitAll(project: Project, ...messages: string[]): void {
  for (const message of messages) project.git('commit', '-q', '--allow-empty', '-m', message);
}

/** With everything in it that init knows how to read. */
export function makeTelling(): Project {
  const project = makeRepository();
  project.write('README.md', '# Shop\r\n\r\n- [ ] **Login** works\r\n- [x] Begun\r\n- [ ] Export as CSV\r\n');
  project.write('services/api/go.mod', 'module example.com/api\n');
  project.git('add', '.');
  commitAll(project, 'SHOP-1: a', 'SHOP-2: b', '[SHOP-3] c');
  return project;
}
