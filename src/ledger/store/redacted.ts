import type { Disk } from '../../core/disk.js';
import { outside } from '../../core/error.js';
import { type Layout, redactedFile } from '../../core/paths.js';
import { parseLine, type Tombstone } from '../rules/record.js';
import { redactedIn } from '../rules/tombstone.js';
import { appendLines } from './append.js';
import { describeContainer, eachLine, readRange } from './files.js';

/**
 * What was redacted in this repository, by id: the line of its tombstone. It lies where all worktrees see it and no
 * checkout reaches, so that content which an older commit or another branch brings back is known for what it is.
 */
export function readRedacted(layout: Layout): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  const file = describeContainer(redactedFile(layout));
  eachLine(file ? [file] : [], (bytes) => {
    const id = redactedIn(bytes);
    // A kill may have left half a line.
    if (id !== null && parseLine(bytes.toString('utf8')).kind === 'tombstone')
      found.set(id, Buffer.from(bytes));
  });
  return found;
}

/** Tells whether it is as it was at an earlier look; empty when nothing was ever redacted. */
export const redactedStamp = (layout: Layout): string => describeContainer(redactedFile(layout))?.stat ?? '';

/** Adds what is new; on the disk on return. */
export function keepRedacted(disk: Disk, tombstones: readonly Tombstone[]): void {
  appendShared(disk, redactedFile(disk.layout), () => {
    const known = readRedacted(disk.layout);
    return tombstones.filter(({ redacted }) => !known.has(redacted)).map(lineOf);
  });
}

/**
 * Adds lines that are not there yet to a file of all worktrees. Others, under locks of their own, may add at the same
 * time: so it is appended, and what is there twice counts once.
 */
export function appendShared(disk: Disk, path: string, missing: () => readonly Buffer[]): void {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const fresh = missing();
    if (fresh.length === 0 || disk.dryRun) return;
    const size = describeContainer(path)?.size ?? 0;
    // A kill between making the file and writing to it.
    if (size === 0) disk.remove(path);
    const isTorn = size > 0 && readRange(path, size - 1, size)[0] !== 0x0a;
    const lines = fresh.flatMap((line) => [line, LF]);
    if (appendLines(path, Buffer.concat(isTorn ? [LF, ...lines] : lines), size)) return;
  }
  throw outside('redacted.moved', `${path} was changed each time it was to be written.`, {
    file: path,
    hint: 'Run the command again when the other program has finished.',
  });
}

const ATTEMPTS = 5;

export const lineOf = (tombstone: Tombstone): Buffer => Buffer.from(JSON.stringify(tombstone));

const LF = Buffer.from('\n');
