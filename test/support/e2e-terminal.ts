import { spawn } from 'node:child_process';
import { formatArgv } from '../../src/core/argv.js';
import { BIN } from './forge.js';
import type { Project } from './project.js';

/**
 * The built binary in a pseudo-terminal (util-linux' `script`), with a person who types each answer when the text
 * before it has appeared. Returns all that the terminal showed.
 */
export function atTerminal(
  place: Pick<Project, 'dir'> & { env?: NodeJS.ProcessEnv },
  args: readonly string[],
  answers: readonly (readonly [after: string, keys: string])[] = [],
): Promise<{ shown: string; exitCode: number | null }> {
  const line = formatArgv([process.execPath, BIN, ...args]);
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: place.dir,
    env: { ...process.env, ...place.env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: 'pipe',
  });
  let shown = '';
  const open = [...answers];
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString('utf8');
    const [after, keys] = open[0] ?? [];
    if (after === undefined || !shown.includes(after)) return;
    open.shift();
    child.stdin.write(keys ?? '');
  });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (exitCode) => done({ shown, exitCode }));
  });
}
