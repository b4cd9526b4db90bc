import * as fs from 'node:fs';
import { systemCode } from '../../core/error.js';
import { replaceFiles } from '../../core/files.js';
import { journalFile, type Layout } from '../../core/paths.js';
import { describeContainer, eachLine } from './files.js';

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_RDWR } = fs.constants;

/**
 * The same lines once more, in the git dir, where neither checkout nor clean-up reaches. Not synced: it guards against
 * git and hands, the segment itself against power loss. Null when done, else the reason; the records are stored
 * already. The caller holds the lock.
 */
export function appendJournal(layout: Layout, bytes: Buffer): string | null {
  try {
    const fd = fs.openSync(journalFile(layout), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o666);
    try {
      const whole = isEnded(layout, fd) ? bytes : Buffer.concat([LF, bytes]);
      return writeWhole(fd, whole);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    return systemCode(error) ?? (error as Error).message;
  }
}

/** What was written of a line that finds no room goes again, so that the next one stands alone. */
function writeWhole(fd: number, bytes: Buffer): string | null {
  let done = 0;
  try {
    while (done < bytes.length) {
      const more = fs.writeSync(fd, bytes, done);
      if (more === 0) throw Object.assign(new Error('nothing was written'), { code: 'ENOSPC' });
      done += more;
    }
    return null;
  } catch (error) {
    if (done > 0) fs.ftruncateSync(fd, fs.fstatSync(fd).size - done);
    throw error;
  }
}

/** Journals that this process has looked at. */
const seen = new Set<string>();

/** False when a crash left a line half written: it must not swallow the next one. Looked at once a process. */
function isEnded(layout: Layout, fd: number): boolean {
  if (seen.has(layout.state)) return true;
  seen.add(layout.state);
  const { size } = fs.fstatSync(fd);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  fs.readSync(fd, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}

/** Tells whether the journal is the same as at an earlier look; empty when there is none. */
export const journalStamp = (layout: Layout): { size: number; stat: string } => {
  const found = describeContainer(journalFile(layout));
  return { size: found?.size ?? 0, stat: found?.stat ?? '' };
};

/** Every whole line of the journal's first `size` bytes. What is torn or damaged there was never relied on. */
export function readJournal(layout: Layout, size: number, onLine: (bytes: Buffer) => void): void {
  if (size === 0) return;
  eachLine([{ path: journalFile(layout), size }], onLine);
}

/** Keeps only what `keep` says, and all that came after `size`. The caller holds the lock. */
export function pruneJournal(layout: Layout, size: number, keep: (bytes: Buffer) => boolean): void {
  const path = journalFile(layout);
  const kept: Buffer[] = [];
  let dropped = 0;
  readJournal(layout, size, (bytes) => {
    if (keep(bytes)) kept.push(Buffer.from(bytes), LF);
    else dropped++;
  });
  if (dropped === 0) return;
  const rest = fs.readFileSync(path).subarray(size);
  replaceFiles([{ path, bytes: Buffer.concat([...kept, rest]) }]);
}

const LF = Buffer.from('\n');
