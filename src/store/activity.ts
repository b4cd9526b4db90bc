import * as fs from 'node:fs';
import type { Activity } from '../domain/holder.js';
import { readPlain } from './durable.js';
import { activityFile, type Layout } from './layout.js';

/** Room for two numbers and a boot id, in bytes. */
const LENGTH = 160;

const { O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = fs.constants;

/** When forge was last used in this worktree; null when that is not known. */
export function readActivity(layout: Layout): Activity | null {
  try {
    return JSON.parse(readPlain(activityFile(layout), 4096)?.toString('utf8') ?? '') as Activity;
  } catch {
    return null;
  }
}

/** A hint for judging silence: neither locked nor synced, and never an error (a read-only place can be read). */
export function writeActivity(layout: Layout, activity: Activity): void {
  try {
    fs.mkdirSync(layout.state, { recursive: true });
    // Without git it lies in .forge/, which may have come with links in it.
    if (fs.lstatSync(layout.state).isDirectory()) overwrite(activityFile(layout), JSON.stringify(activity));
  } catch {
    // Then the session counts as silent a little sooner.
  }
}

function overwrite(path: string, text: string): void {
  const file = fs.openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
  try {
    const stat = fs.fstatSync(file);
    if (!stat.isFile() || stat.nlink > 1) return;
    // Always the same length: cutting a file to nothing first makes some file systems wait for the disk.
    if (stat.size > LENGTH) fs.ftruncateSync(file);
    fs.writeSync(file, `${text.padEnd(LENGTH - 1)}\n`, 0);
  } finally {
    fs.closeSync(file);
  }
}
