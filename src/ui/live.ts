import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Folders that are watched at most. A project has about 30. */
const MAX_FOLDERS = 1000;
/** ms: a command writes several files, which are one change. */
const PAUSE = 150;

/** Files that come and go while memory stays the same. */
const NOISE = /^(?:lock|activity|recall.*|.*\.(?:tmp|lock))$/;
/** What of a git dir shows a commit, a switch or a fetch. */
const GIT_NAMES = /^(?:HEAD|ORIG_HEAD|packed-refs)$/;

export interface Live {
  /** False if the system cannot watch the folders: too many watches, or a file system without them. */
  readonly works: boolean;
  close(): void;
}

/**
 * Calls `onChange` after files of memory have changed. Polls nothing. `.forge/` may vanish and come back.
 * fs.watch's own `recursive` opens a watch for each file on Linux, so only folders are watched.
 */
export function watchMemory(
  { memory, state, git }: { memory: string; state: string; git: string | null },
  onChange: () => void,
): Live {
  const watchers = new Map<string, FSWatcher>();
  let works = true;
  let timer: NodeJS.Timeout | undefined;

  const changed = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      refresh();
      onChange();
    }, PAUSE);
  };
  const add = (folder: string, isWanted: (name: string) => boolean): void => {
    if (watchers.has(folder) || watchers.size >= MAX_FOLDERS) return;
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || isWanted(name)) changed();
      });
      // The folder is gone. Its parent reports when it comes back.
      watcher.on('error', () => drop(folder));
      watchers.set(folder, watcher);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') works = false;
    }
  };
  const drop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const refresh = (): void => {
    const folders = new Set(foldersBelow(memory));
    for (const folder of watchers.keys())
      if ((folder === memory || folder.startsWith(join(memory, '/'))) && !folders.has(folder)) drop(folder);
    for (const folder of folders) add(folder, (name) => !NOISE.test(name));
  };

  add(dirname(memory), (name) => {
    if (name !== basename(memory)) return false;
    // A new folder has the same name, and the old watch is dead.
    for (const folder of foldersOf(watchers, memory)) drop(folder);
    return true;
  });
  if (!state.startsWith(memory)) add(state, (name) => name.endsWith('.json'));
  if (git !== null) {
    add(git, (name) => GIT_NAMES.test(name));
    add(join(git, 'logs'), (name) => name === 'HEAD');
  }
  refresh();
  return {
    get works() {
      return works;
    },
    close: () => {
      clearTimeout(timer);
      for (const folder of [...watchers.keys()]) drop(folder);
    },
  };
}

const foldersOf = (watchers: ReadonlyMap<string, unknown>, top: string): string[] =>
  [...watchers.keys()].filter((folder) => folder === top || folder.startsWith(join(top, '/')));

/** A folder and all below it, links not followed; none while it is gone. */
function foldersBelow(top: string): string[] {
  const found: string[] = [];
  const queue = [top];
  for (const folder of queue) {
    try {
      const entries = readdirSync(folder, { withFileTypes: true });
      found.push(folder);
      for (const entry of entries) if (entry.isDirectory()) queue.push(join(folder, entry.name));
    } catch {
      // It was removed meanwhile.
    }
    if (found.length >= MAX_FOLDERS) break;
  }
  return found;
}
