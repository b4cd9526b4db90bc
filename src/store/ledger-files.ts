import { createHash, type Hash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '../domain/error.js';
import { MAX_RECORD_BYTES, type Tier } from '../domain/ledger.js';
import { diskError, listFolder } from './durable.js';
import { fixedFile, type Layout, ledgerArchives, segmentFolder } from './layout.js';

/** A file that holds records: what it is now, so that a later look can tell whether it is still the same. */
export interface Container {
  path: string;
  size: number;
  /** Device, inode, size, mtime and ctime (ns): equal means untouched. */
  stat: string;
  /** Milliseconds since 1970. */
  changedAt: number;
}

/**
 * The live containers of a tier: its fixed file and its segments, in name order. Empty segments hold nothing. Also
 * right without the lock: a fold moves lines from segments to the fixed file, which is therefore looked at last.
 */
export function listContainers(layout: Layout, tier: Tier): Container[] {
  const folder = segmentFolder(layout, tier);
  const segments = ledgerNames(folder).map((name) => describeContainer(join(folder, name)));
  const fixed = describeContainer(fixedFile(layout, tier));
  return [fixed, ...segments].filter((container) => container !== null);
}

/** A file of the list went while it was read: its lines are elsewhere by now, so a new list has to be made. */
export const wasMoved = (error: unknown): boolean =>
  error instanceof ForgeError && error.code === 'disk.enoent';
/** How often that is done before it counts as a fault. */
export const MOVES = 10;

/** The archives of all tiers. */
export function listArchives(layout: Layout): Container[] {
  const folder = ledgerArchives(layout);
  return ledgerNames(folder)
    .map((name) => describeContainer(join(folder, name)))
    .filter((container) => container !== null);
}

export const archiveFileOf = (layout: Layout, sha256: string): string =>
  join(ledgerArchives(layout), `${sha256}.jsonl`);

const ledgerNames = (folder: string): string[] =>
  listFolder(folder).filter((name) => name.endsWith('.jsonl') && !name.startsWith('.'));

/** Null when there is no such file. */
export function describeContainer(path: string): Container | null {
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stat) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return {
    path,
    size: Number(size),
    stat: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`,
    changedAt: Number(ctimeNs / 1_000_000n),
  };
}

/** Bytes of a container, from one offset to another; fewer where it ends before. */
export function readRange(path: string, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(to - from);
  const fd = openContainer(path);
  try {
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, from));
  } catch (error) {
    throw diskError(error, path);
  } finally {
    fs.closeSync(fd);
  }
}

function openContainer(path: string): number {
  try {
    const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants;
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    throw diskError(error, path);
  }
}

/** Tells whether entries came or went since the last look; empty when there is no such folder. */
export function folderStamp(path: string): string {
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}:${stat.mtimeNs}` : '';
}

export interface LineHandler {
  /** A whole line without its LF. The bytes are only good until the call returns. */
  line(bytes: Buffer, line: number, offset: number): void;
  /** A line over MAX_RECORD_BYTES; its bytes are not kept. */
  long(line: number, offset: number, digest: { length: number; sha256: string }): void;
  /** What stands after the last LF: torn, or still being written. */
  tail(bytes: Buffer, line: number, offset: number): void;
}

const CHUNK = 1024 * 1024;

/**
 * Reads a container's first `size` bytes line by line, split at LF only. Memory is bounded whatever the file holds:
 * one chunk and one line. Needs no lock: what is appended meanwhile is beyond `size`.
 */
export function scanContainer(path: string, size: number, handler: LineHandler): void {
  const fd = openContainer(path);
  try {
    new LineSplitter(handler, size).run(fd);
  } catch (error) {
    throw (error as { syscall?: string }).syscall ? diskError(error, path) : error;
  } finally {
    fs.closeSync(fd);
  }
}

/** Every whole line of some containers that may be a record. */
export function eachLine(
  containers: readonly Pick<Container, 'path' | 'size'>[],
  line: LineHandler['line'],
): void {
  const ignore = (): void => {};
  for (const { path, size } of containers) scanContainer(path, size, { line, long: ignore, tail: ignore });
}

class LineSplitter {
  private readonly buffer: Buffer;
  /** Bytes of an unfinished line at the start of the buffer. */
  private held = 0;
  private lineStart = 0;
  private lineNumber = 1;
  /** Length so far of a line that is too long to hold; 0 when none is. */
  private skipped = 0;
  private skippedHash: Hash | null = null;

  constructor(
    private readonly handler: LineHandler,
    private readonly size: number,
  ) {
    this.buffer = Buffer.allocUnsafe(Math.min(size, CHUNK + MAX_RECORD_BYTES));
  }

  run(fd: number): void {
    for (let position = 0; position < this.size; ) {
      const wanted = Math.min(CHUNK, this.size - position);
      const read = fs.readSync(fd, this.buffer, this.held, wanted, position);
      if (read === 0) break;
      position += read;
      this.split(this.held + read);
    }
    if (this.skipped > 0) this.emitLong(this.buffer.subarray(0, this.held));
    else if (this.held > 0)
      this.handler.tail(this.buffer.subarray(0, this.held), this.lineNumber, this.lineStart);
  }

  private split(filled: number): void {
    let start = 0;
    // The held part has no LF, so the search goes on behind it.
    for (
      let end = this.buffer.indexOf(0x0a, this.held);
      end >= 0 && end < filled;
      end = this.buffer.indexOf(0x0a, start)
    ) {
      this.emit(start, end);
      start = end + 1;
    }
    this.held = filled - start;
    if (this.held > MAX_RECORD_BYTES) {
      this.skip(this.buffer.subarray(start, filled));
      this.held = 0;
    } else if (start > 0) this.buffer.copyWithin(0, start, filled);
  }

  private emit(start: number, end: number): void {
    const length = end - start;
    if (this.skipped > 0 || length > MAX_RECORD_BYTES) this.emitLong(this.buffer.subarray(start, end));
    else {
      this.handler.line(this.buffer.subarray(start, end), this.lineNumber, this.lineStart);
      this.lineStart += length + 1;
    }
    this.lineNumber++;
  }

  /** Only its digest is kept. */
  private skip(bytes: Buffer): void {
    this.skippedHash ??= createHash('sha256');
    this.skippedHash.update(bytes);
    this.skipped += bytes.length;
  }

  private emitLong(rest: Buffer): void {
    this.skip(rest);
    const digest = { length: this.skipped, sha256: (this.skippedHash as Hash).digest('hex') };
    this.handler.long(this.lineNumber, this.lineStart, digest);
    this.lineStart += this.skipped + 1;
    this.skipped = 0;
    this.skippedHash = null;
  }
}
