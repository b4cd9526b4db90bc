import { type ChildProcess, spawn } from 'node:child_process';

/** Nothing comes until the pipe is closed, which only a dead forge does. */
const SCRIPT = 'read -r _; kill -KILL "-$0"';

/**
 * Ends a process group should this process be gone before it. Of SIGKILL, or the kernel's lack of memory, nobody is told;
 * but whoever goes, his pipes are closed. So a shell waits at one for as long as the group's command runs; in a session of
 * its own, since a kill may be meant for forge's whole group. It is to be called as soon as the command runs: later it
 * would help too late, and before it the command would wait for the shell. Where there is no such shell (Windows), or no
 * room for one, nobody watches. Returns what to call once the group is gone, and its number may become another's.
 */
export function watchGroup(pid: number): () => void {
  const shell = process.platform === 'win32' ? null : startShell(pid);
  return () => void shell?.kill('SIGKILL');
}

function startShell(pid: number): ChildProcess | null {
  try {
    const shell: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, `${pid}`], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    shell.on('error', () => {});
    shell.stdin?.on('error', () => {});
    shell.unref();
    return shell;
  } catch {
    return null;
  }
}
