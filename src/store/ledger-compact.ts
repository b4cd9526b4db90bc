import { createHash } from 'node:crypto';
import { byNumber, parseLine, recordId } from '../domain/ledger.js';
import type { Disk } from './disk.js';
import { fixedFile } from './layout.js';
import {
  archiveFileOf,
  type Container,
  describeContainer,
  eachLine,
  listArchives,
  listContainers,
} from './ledger-files.js';
import { forgetTier } from './ledger-state.js';

/** What the ledger keeps of an archive: enough to see that nothing in it changed. */
export interface ArchiveAnchor {
  /** SHA-256 of the archive's bytes: its name. */
  archive: string;
  count: number;
  /** SHA-256 of the sorted ids, each followed by LF. */
  ids_sha256: string;
  from: number;
  to: number;
}

interface Line {
  id: string;
  n: number;
  isCycle: boolean;
  bytes: Buffer;
}

/**
 * Seals all but the last `keep` cycles of the execution ledger: the archive is on the disk first, then `anchor` stores
 * its record, then the fixed file goes on without them. A crash in between leaves records twice, which are one. Null
 * when nothing is old enough. The caller holds the lock and has folded.
 */
export function compactExecution(
  disk: Disk,
  keep: number,
  anchor: (anchor: ArchiveAnchor) => void,
): ArchiveAnchor | null {
  const sealed = idsInArchives(disk);
  const cycles = firstOfEach(readLive(disk).filter(({ isCycle }) => isCycle)).sort(byNumber);
  const old = cycles.slice(0, Math.max(0, cycles.length - keep));
  const fresh = old.filter(({ id }) => !sealed.has(id));
  const made = fresh.length > 0 ? writeArchive(disk, fresh) : null;
  if (made) anchor(made);
  if (old.length > 0) dropFromFixed(disk, new Set(old.map(({ id }) => id)));
  return made;
}

function writeArchive(disk: Disk, lines: readonly Line[]): ArchiveAnchor {
  const bytes = Buffer.concat(lines.flatMap((line) => [line.bytes, LF]));
  const archive = createHash('sha256').update(bytes).digest('hex');
  disk.createMoved(archiveFileOf(disk.layout, archive), bytes);
  const ids = lines.map(({ id }) => `${id}\n`).sort();
  const ids_sha256 = createHash('sha256').update(ids.join('')).digest('hex');
  return {
    archive,
    count: lines.length,
    ids_sha256,
    from: (lines[0] as Line).n,
    to: (lines.at(-1) as Line).n,
  };
}

const LF = Buffer.from('\n');

/** In a dry run nothing was folded: then the segments hold cycles too. */
function readLive(disk: Disk): Line[] {
  if (!disk.dryRun) return readLines(describeContainer(fixedFile(disk.layout, 'execution')));
  return listContainers(disk.layout, 'execution').flatMap(readLines);
}

/** Every line, also one that is no record: a tombstone, or bytes that a repair vouches for. */
function readLines(container: Container | null): Line[] {
  const lines: Line[] = [];
  eachLine(container ? [container] : [], (bytes) => {
    const parsed = parseLine(bytes.toString('utf8'));
    const { n, kind } = parsed.kind === 'record' ? parsed.record : { n: 0, kind: '' };
    lines.push({ id: recordId(bytes), n, isCycle: kind === 'cycle', bytes: Buffer.from(bytes) });
  });
  return lines;
}

/** A merge may leave a line twice. */
const firstOfEach = (lines: readonly Line[]): Line[] => [
  ...new Map(lines.map((line) => [line.id, line])).values(),
];

function idsInArchives(disk: Disk): Set<string> {
  const ids = new Set<string>();
  eachLine(listArchives(disk.layout), (bytes) => ids.add(recordId(bytes)));
  return ids;
}

/** In the order of the file: what stays, stays where it was. */
function dropFromFixed(disk: Disk, gone: ReadonlySet<string>): void {
  const fixed = fixedFile(disk.layout, 'execution');
  const kept = readLines(describeContainer(fixed)).filter(({ id }) => !gone.has(id));
  disk.replaceMoved(fixed, Buffer.concat(kept.flatMap(({ bytes }) => [bytes, LF])));
  forgetTier(disk, 'execution');
}
