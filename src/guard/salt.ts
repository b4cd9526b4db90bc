import { createHmac, randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import type { Disk } from '../core/disk.js';
import { createFile, readHint, writeHint } from '../core/files.js';
import { refusalsFile, saltFile } from '../core/paths.js';
import { type Context, timestamp } from '../project/project.js';
import { readRunning } from '../session/running.js';
import type { GuardClass } from './rule.js';

/**
 * The key of this repository's fingerprints (32 bytes), created on first use. It never leaves this machine, so nobody
 * can guess a short value back from a fingerprint in the ledger. The same in all worktrees.
 */
export function readSalt(disk: Disk): Buffer {
  const path = saltFile(disk.layout);
  const known = disk.read(path, 64);
  if (known?.length === 32) return known;
  const salt = randomBytes(32);
  if (disk.dryRun) return salt;
  // Another process may have created the file first: then its key counts.
  disk.makeFolder(dirname(path));
  if (createFile(path, salt)) return salt;
  return disk.read(path, 64) ?? salt;
}

const digestOf = (key: string | Buffer, value: string, length: number): string =>
  createHmac('sha256', key).update(value).digest('hex').slice(0, length);

export const fingerprintOf = (disk: Disk, value: string): string => digestOf(readSalt(disk), value, 16);

const withKey = (key: string, value: string): string => `${key}.${digestOf(key, value, 32)}`;

/** A digest with a key of its own, by which every clone recognizes the text: `KEY.DIGEST`. */
export const markOf = (disk: Disk, value: string): string =>
  withKey(digestOf(readSalt(disk), `mark ${value}`, 16), value);

export const isMarked = (mark: string, value: string): boolean =>
  withKey(mark.split('.', 1)[0] as string, value) === mark;

/** A finding of this machine. `forge guard allow` needs the mark, since a fingerprint says nothing in another clone. */
export interface KnownFinding {
  fingerprint: string;
  mark: string;
  rule: string;
  class: GuardClass;
  /** How often the running session tried to store it. */
  refused?: { session: string; count: number; at: string };
}

const MAX_KNOWN = 150;

export const readKnown = ({ layout }: Disk): KnownFinding[] => {
  const known = readHint<{ findings?: KnownFinding[] }>(refusalsFile(layout))?.findings;
  return Array.isArray(known) ? known : [];
};

function writeKnown({ layout, dryRun }: Disk, findings: readonly KnownFinding[]): void {
  if (!dryRun) writeHint(refusalsFile(layout), { findings: findings.slice(0, MAX_KNOWN) });
}

/** Remembers findings, so that a human can allow them by their fingerprints. */
export function rememberFindings(disk: Disk, findings: readonly KnownFinding[]): void {
  const known = readKnown(disk);
  const named = new Set(known.map(({ fingerprint }) => fingerprint));
  const fresh = findings.filter(({ fingerprint }) => !named.has(fingerprint) && named.add(fingerprint));
  if (fresh.length > 0) writeKnown(disk, [...fresh, ...known]);
}

/** How often a session may try the same text before it is paused. */
const MAX_REFUSALS = 3;

/** Counts what the running session was refused. */
export function countRefusals(context: Context, fingerprints: ReadonlySet<string>): void {
  const session = readRunning(context)?.id;
  if (session === undefined) return;
  const counted = readKnown(context.disk).map((known) => {
    if (!fingerprints.has(known.fingerprint)) return known;
    const before = known.refused?.session === session ? known.refused.count : 0;
    return { ...known, refused: { session, count: before + 1, at: timestamp(context) } };
  });
  writeKnown(context.disk, counted);
}

/** The finding for which the running session is paused, or null. */
export function findPause(context: Context): KnownFinding | null {
  const tried = readKnown(context.disk).filter(({ refused }) => (refused?.count ?? 0) >= MAX_REFUSALS);
  const session = tried.length === 0 ? undefined : readRunning(context)?.id;
  return tried.find(({ refused }) => refused?.session === session) ?? null;
}

/** A human has looked: the session goes on. */
export function endPause({ disk }: Context): void {
  writeKnown(
    disk,
    readKnown(disk).map(({ refused, ...known }) => known),
  );
}
