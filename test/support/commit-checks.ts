import { writeFileSync } from 'node:fs';
import type { CommitCheck } from '../../src/index.js';
import { forgeFound } from './forge.js';
import type { Project } from './project.js';
import { SAMPLES } from './samples.js';

export const SECRET = SAMPLES.secret();

/** Commits a message as it stands. */
export function commit(project: Project, message: string | Buffer, ...args: string[]): string {
  writeFileSync(project.path('.git/message'), message);
  const more = ['--allow-empty', '--cleanup=verbatim', '-F', '.git/message', ...args];
  project.git('commit', '-q', ...more);
  return project.git('rev-parse', 'HEAD');
}

export const checkJson = (project: Pick<Project, 'dir'>, args: string[], stdin?: string | Buffer) =>
  forgeFound<CommitCheck>(project, ['commit', 'check', ...args], stdin === undefined ? {} : { stdin });
