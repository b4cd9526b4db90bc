import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';

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
  let watchers: FSWatcher[] = [];
  let works = true;
  let timer: NodeJS.Timeout | undefined;

  // Folders come and go, so all are watched anew after each change, before it is reported: nothing is missed in between.
  const changed = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      watchAll();
      onChange();
    }, PAUSE);
  };
  const add = (folder: string, isNews: (name: string) => boolean): void => {
    try {
      const watcher = watch(folder, (_, name) => {
        if (name === null || isNews(name)) changed();
      });
      watchers.push(watcher.on('error', changed));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') works = false;
    }
  };
  const closeAll = (): void => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const watchAll = (): void => {
    closeAll();
    works = true;
    add(dirname(memory), (name) => name === basename(memory));
    for (const folder of foldersBelow(memory)) add(folder, (name) => !NOISE.test(name));
    if (!state.startsWith(memory)) add(state, (name) => name.endsWith('.json'));
    if (git === null) return;
    add(git, (name) => GIT_NAMES.test(name));
    add(join(git, 'logs'), (name) => name === 'HEAD');
    add(join(git, 'reftable'), (name) => name === 'tables.list');
  };
  watchAll();
  return {
    get works() {
      return works;
    },
    close: () => {
      clearTimeout(timer);
      closeAll();
    },
  };
}

/** A folder and all below it, links not followed; none while it is gone. */
function foldersBelow(top: string): string[] {
  try {
    const inside = readdirSync(top, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [top, ...inside.flatMap(({ name }) => foldersBelow(join(top, name)))];
  } catch {
    return [];
  }
}
