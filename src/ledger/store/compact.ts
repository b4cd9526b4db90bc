import type { Disk } from '../../core/disk.js';
import type { ArchiveManifest } from '../rules/problem.js';
import { byNumber } from '../rules/record.js';
import { identify } from '../rules/tombstone.js';
import {
  dropFromFixed,
  isGrave,
  type Line,
  planArchive,
  readFolded,
  readManifests,
  writeArchive,
} from './archive.js';
import { archiveFileOf, eachLine, listArchives, listContainers } from './files.js';
import { readRedacted } from './redacted.js';
import { manifestOf } from './scan.js';

/**
 * Seals all but the last `keep` cycles of the execution ledger: the archive is on the disk first, then `anchor` stores
 * its record, then the fixed file goes on without them. A crash in between leaves records twice, which are one. Null
 * when nothing is old enough. The caller holds the lock and has folded.
 */
export function compactExecution(
  disk: Disk,
  keep: number,
  anchor: (anchor: ArchiveManifest) => void,
): ArchiveManifest | null {
  const sealed = idsInArchives(disk);
  const cycles = firstOfEach(cyclesOf(disk, readFolded(disk, 'execution'))).sort(byNumber);
  const old = cycles.slice(0, Math.max(0, cycles.length - keep));
  const fresh = old.filter(({ id }) => !sealed.has(id));
  const made = fresh.length > 0 ? planArchive(fresh) : null;
  if (made) {
    writeArchive(disk, made.bytes);
    anchor(made.manifest);
  }
  const gone = new Set(old.map(({ id }) => id));
  if (gone.size > 0) dropFromFixed(disk, 'execution', ({ id, kind }) => kind === 'cycle' && gone.has(id));
  return made?.manifest ?? null;
}

/** Content that was redacted and is back is not sealed again. */
function cyclesOf({ layout }: Disk, lines: readonly Line[]): Line[] {
  const redacted = new Set([...readRedacted(layout).keys(), ...lines.filter(isGrave).map(({ id }) => id)]);
  return lines.filter(({ id, kind }) => kind === 'cycle' && !redacted.has(id));
}

/** A merge may leave a line twice. */
const firstOfEach = (lines: readonly Line[]): Line[] => [
  ...new Map(lines.map((line) => [line.id, line])).values(),
];

/** An archive without a manifest is what a kill left before its record was stored: it gets one now. */
function idsInArchives({ layout }: Disk): Set<string> {
  const archives = listArchives(layout);
  const manifests = readManifests([...listContainers(layout, 'execution'), ...archives]);
  const names = new Set(manifests.map(({ archive }) => archiveFileOf(layout, archive)));
  const digests = new Set(manifests.map(({ ids_sha256 }) => ids_sha256));
  const ids = new Set<string>();
  const sealed = archives.filter(
    (file) => names.has(file.path) || digests.has(manifestOf([file]).ids_sha256),
  );
  eachLine(sealed, (bytes) => ids.add(identify(bytes)));
  return ids;
}
