import { type ChildProcess, spawn } from 'node:child_process';
import { BIN, startLibrary } from './forge.js';
import { follow, type Project } from './project.js';

/** Processes that record at the same time, and what each of them was told is stored. */

export interface Writer {
  child: ChildProcess;
  /** The keys that were acknowledged, once it has ended. */
  ended: Promise<string[]>;
  /** Resolves with the first of them. */
  begun: Promise<void>;
}

function watch(child: ChildProcess): Writer {
  // The last line may be half of one: then nobody was told.
  const ended = follow(child).ended.then(({ stdout }) => stdout.split('\n').slice(0, -1));
  const first = new Promise<void>((done) => child.stdout?.once('data', () => done()));
  return { child, ended, begun: Promise.race([first, ended.then(() => undefined)]) };
}

/** Records with the library until it has stored `count` cycles or is ended; some of them are large. */
export function startLibraryWriter(project: Project, name: string, count: number, large = 0): Writer {
  const script = `
    const { writeSync } = await import('node:fs');
    for (let n = 0; n < ${count}; n++) {
      const idempotency_key = '${name}-' + n;
      const task_id = n % 5 === 4 ? 'x'.repeat(${large + 1}) : 'T-' + n;
      await open().memory.record({ task_id, exit_code: 0, classification: 'SUCCESS', idempotency_key });
      writeSync(1, idempotency_key + '\\n');
    }`;
  return watch(startLibrary(project.dir, script));
}

/** A shell that calls the binary for each cycle, again where others held the lock too long, in a process group of its own. */
export function startShellWriter(project: Project, name: string, count: number): Writer {
  const script = `
    i=0
    while [ $i -lt ${count} ]; do
      set -- "$1" memory record --task T-$i --exit-code 0 --classification SUCCESS --key ${name}-$i
      until said=$("$0" "$@" --quiet --json 2>&1); do
        case $said in *lock.held*) ;; *) echo "$said" >&2; exit 1 ;; esac
      done
      echo ${name}-$i
      i=$((i+1))
    done`;
  return watch(
    spawn('sh', ['-c', script, process.execPath, BIN], {
      cwd: project.dir,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    }),
  );
}

/** kill -9, of the shell's command as well. */
export function killWriter({ child }: Writer): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(child.spawnargs[0] === 'sh' ? -pid : pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
