import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { CommitCheck } from '../../src/index.js';
import { runForge } from './forge.js';
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

export async function checkJson(project: Pick<Project, 'dir'>, args: string[], stdin?: string | Buffer) {
  const options = stdin === undefined ? {} : { stdin };
  const { stdout, stderr, exitCode } = await runForge(
    project,
    ['commit', 'check', ...args, '--json'],
    options,
  );
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as CommitCheck), exitCode };
}
