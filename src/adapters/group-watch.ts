import { type ChildProcess, spawn } from 'node:child_process';

/** The first line it reads names the group. Then nothing comes until the pipe is closed, which only a dead forge does. */
const SCRIPT = 'read -r group && { read -r _; kill -KILL "-$group"; }';

/** Ends a process group should this process be gone before it. */
export interface GroupWatch {
  /** The group to end. */
  over(pid: number): void;
  /** The group is gone, and its number may become another's. */
  stop(): void;
}

/**
 * Of SIGKILL, or the kernel's lack of memory, nobody is told; but whoever goes, his pipes are closed. So a shell waits at one
 * for as long as a command runs. Begun before the command, since a kill may come in between; in a session of its own, since a
 * kill may be meant for forge's whole group. Where there is no such shell (Windows), or no room for one, nobody watches.
 */
export function watchGroup(): GroupWatch {
  const shell = process.platform === 'win32' ? null : startShell();
  return {
    over: (pid) => void shell?.stdin?.write(`${pid}\n`),
    stop: () => void shell?.kill('SIGKILL'),
  };
}

function startShell(): ChildProcess | null {
  try {
    const shell: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT], {
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
