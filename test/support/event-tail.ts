import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { BIN } from './forge.js';
import type { Project } from './project.js';

/** `forge events tail` as a process of its own, with the lines that it has printed. */
export function tail(project: Project, env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, [BIN, 'events', 'tail', ...args], {
    cwd: project.dir,
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const out = { stdout: '', stderr: '', code: undefined as number | null | undefined, child };
  child.stdout.on('data', (chunk) => (out.stdout += chunk));
  child.stderr.on('data', (chunk) => (out.stderr += chunk));
  child.on('close', (code) => (out.code = code));
  return out;
}
