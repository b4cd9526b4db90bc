import { createHash } from 'node:crypto';
import type { Disk } from '../../core/disk.js';
import { fixedFile } from '../../core/paths.js';
import type { ArchiveManifest } from '../rules/problem.js';
import { parseLine, recordId, type Tier } from '../rules/record.js';
import { isManifest } from '../rules/settlement.js';
import { redactedIn } from '../rules/tombstone.js';
import { archiveFileOf, type Container, describeContainer, eachLine, listContainers } from './files.js';
import { digestIds } from './scan.js';
import { forgetTier } from './state.js';

/** A line of a ledger as it is moved. */
export interface Line {
  /** Of the record, also where only its tombstone stands. */
  id: string;
  n: number;
  /** `tombstone`; empty for bytes that are no record. */
  kind: string;
  bytes: Buffer;
}

/** Every line, also one that is no record: bytes that a repair vouches for. */
export function readLines(container: Pick<Container, 'path' | 'size'> | null): Line[] {
  const lines: Line[] = [];
  eachLine(container ? [container] : [], (line) => {
    const bytes = Buffer.from(line);
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind === 'record') {
      const { n, kind } = parsed.record;
      lines.push({ id: recordId(bytes), n, kind, bytes });
    } else if (parsed.kind === 'tombstone') {
      const { n, redacted: id } = parsed.tombstone;
      lines.push({ id, n, kind: 'tombstone', bytes });
    } else lines.push({ id: recordId(bytes), n: 0, kind: '', bytes });
  });
  return lines;
}

/** The lines of a tier that was folded just before; in a dry run it was not, so the segments are read too. */
export function readFolded({ layout, dryRun }: Disk, tier: Tier): Line[] {
  if (!dryRun) return readLines(describeContainer(fixedFile(layout, tier)));
  return listContainers(layout, tier).flatMap(readLines);
}

/** What records say of archives: LTM calls these sealed, a word that here is left to what a supervisor signs. */
export function readManifests(containers: readonly Pick<Container, 'path' | 'size'>[]): ArchiveManifest[] {
  const manifests: ArchiveManifest[] = [];
  eachLine(containers, (bytes) => {
    if (!bytes.includes(SEALING)) return;
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind === 'record' && isManifest(parsed.record)) manifests.push(parsed.record);
  });
  return manifests;
}

const SEALING = Buffer.from('"ids_sha256":"');

/** What an archive of these lines would be. */
export function planArchive(lines: readonly Line[]): { manifest: ArchiveManifest; bytes: Buffer } {
  const bytes = joinLines(lines);
  const archive = createHash('sha256').update(bytes).digest('hex');
  const ids_sha256 = digestIds(lines.map(({ id }) => id));
  const numbers = lines.map(({ n }) => n).sort((a, b) => a - b);
  const [from = 0, to = 0] = [numbers[0], numbers.at(-1)];
  return { manifest: { archive, count: lines.length, ids_sha256, from, to }, bytes };
}

/** Whole or not at all: a kill in the middle leaves no archive whose bytes are not those of its name. */
export function writeArchive(disk: Disk, bytes: Buffer): void {
  const archive = createHash('sha256').update(bytes).digest('hex');
  disk.replaceMoved(archiveFileOf(disk.layout, archive), bytes);
}

/** In the order of the file: what stays, stays where it was. */
export function dropFromFixed(disk: Disk, tier: Tier, isGone: (line: Line) => boolean): void {
  const fixed = fixedFile(disk.layout, tier);
  const kept = readLines(describeContainer(fixed)).filter((line) => !isGone(line));
  disk.replaceMoved(fixed, joinLines(kept));
  if (!disk.dryRun) forgetTier(disk, tier);
}

const joinLines = (lines: readonly Line[]): Buffer =>
  Buffer.concat(lines.flatMap(({ bytes }) => [bytes, LF]));

const LF = Buffer.from('\n');

/** Whether a line says that another one's content is gone. */
export const isGrave = ({ bytes }: Line): boolean => redactedIn(bytes) !== null;
