// A build stands beside dist/ until it is whole, so that who runs forge meanwhile, or builds it too, is not disturbed.
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = '.build-';
const remove = (path) => rmSync(path, { recursive: true, force: true, maxRetries: 3 });

/** A folder in `root` for this process, with the command's start in it. Those that killed builds left behind go. */
export function makeDraft(root) {
  for (const name of readdirSync(root))
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length)))) remove(join(root, name));
  const draft = join(root, `${PREFIX}${process.pid}`);
  remove(draft);
  mkdirSync(join(draft, 'dist'), { recursive: true });
  cpSync(join(root, 'bin'), join(draft, 'bin'), { recursive: true });
  return draft;
}

/** Replaces dist/ by the draft as a whole. The last of several builds wins. */
export function publish(draft, root) {
  const target = join(root, 'dist');
  for (let turn = 0; ; turn++) {
    unlessMissing(() => renameSync(target, join(draft, `old-${turn}`)));
    try {
      return renameSync(join(draft, 'dist'), target);
    } catch (error) {
      // Another build was quicker by a moment.
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code) || turn > 100) throw error;
    }
  }
}

export const discard = remove;

function unlessMissing(work) {
  try {
    work();
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
