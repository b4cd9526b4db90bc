import * as fs from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { corrupted, ForgeError, systemCode } from '../../core/error.js';
import { diskError, listFolder } from '../../core/files.js';
import {
  FORGE_FOLDER,
  fixedFile,
  type Layout,
  ledgerArchives,
  segmentFolder,
  shown,
} from '../../core/paths.js';
import type { Tier } from '../rules/record.js';
import { type LineHandler, LineSplitter, type SpanHandler } from './line-splitter.js';

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
  const fixedFolder = dirname(fixedFile(layout, tier));
  // Where it lies above the segments it is looked at with them.
  if (!folder.startsWith(fixedFolder + sep)) requireInside(layout, fixedFolder);
  const segments = ledgerNames(layout, folder).map((name) => describeContainer(join(folder, name)));
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
  return ledgerNames(layout, folder)
    .map((name) => describeContainer(join(folder, name)))
    .filter((container) => container !== null);
}

export const archiveFileOf = (layout: Layout, sha256: string): string =>
  join(ledgerArchives(layout), `${sha256}.jsonl`);

function ledgerNames(layout: Layout, folder: string): string[] {
  requireInside(layout, folder);
  return listFolder(folder).filter((name) => name.endsWith('.jsonl') && !name.startsWith('.'));
}

/**
 * A clone may bring a link along, or a command put one there: the ledgers are in `.forge/` itself, or nowhere. Behind a link
 * to another folder in there git sees none of their files. Every start asks this of every ledger, so only the folders
 * below the project's are looked at.
 */
function requireInside(layout: Layout, folder: string): void {
  let at = layout.dir;
  for (const name of ['', ...relative(layout.dir, folder).split(sep)]) {
    at = join(at, name);
    const stat = lookAt(at);
    if (stat?.isSymbolicLink()) refuseLink(layout, folder);
    if (!stat?.isDirectory()) return;
  }
}

function refuseLink(layout: Layout, folder: string): void {
  const real = realFolder(folder);
  const top = join(realFolder(layout.root) ?? layout.root, FORGE_FOLDER);
  const file = shown(layout, folder);
  if (real === null) return;
  if (real === top || real.startsWith(top + sep))
    throw corrupted('file.outside', `${file} is behind a link (to ${real}): git does not see its files.`, {
      file,
      hint: 'remove the link, and move the folder back to its place',
    });
  throw corrupted('file.outside', `${file} leads out of the .forge folder (to ${real}).`, { file });
}

function lookAt(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw diskError(error, path);
  }
}

function realFolder(path: string): string | null {
  try {
    return fs.realpathSync.native(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return null;
    throw diskError(error, path);
  }
}

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

type Place = Pick<Container, 'path' | 'size'>;
const ignore = (): void => {};

/** Every whole line of some containers that may be a record. */
export function eachLine(containers: readonly Place[], line: LineHandler['line']): void {
  for (const { path, size } of containers) scanContainer(path, size, { line, long: ignore, tail: ignore });
}

/** As `eachLine`, for readers of long ledgers. */
export function eachSpan(containers: readonly Place[], span: SpanHandler): void {
  const handler = { span, line: ignore, long: ignore, tail: ignore };
  for (const { path, size } of containers) scanContainer(path, size, handler);
}
