import { dirname } from 'node:path';
import type { Disk } from '../core/disk.js';
import { createFile, readHint, writeHint } from '../core/files.js';
import { refusalsFile, saltFile } from '../core/paths.js';
import type { Context } from '../project/project.js';
import { readRunning } from '../session/running.js';
import type { GuardClass } from './rule.js';

/** Most commands make no fingerprint, and loading it takes 4 ms. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** The key of this repository's fingerprints (32 bytes), created on first use. It stays on this machine, in all worktrees. */
function readSalt(disk: Disk): Buffer {
  const path = saltFile(disk.layout);
  const known = disk.read(path, 64);
  if (known?.length === 32) return known;
  const salt = crypto().randomBytes(32);
  if (disk.dryRun) return salt;
  disk.makeFolder(dirname(path));
  // If another process created the file first, its key counts.
  return createFile(path, salt) ? salt : (disk.read(path, 64) ?? salt);
}

const digestOf = (key: string | Buffer, value: string, length: number): string =>
  crypto().createHmac('sha256', key).update(value).digest('hex').slice(0, length);

const withKey = (key: string, value: string): string => `${key}.${digestOf(key, value, 32)}`;

/** `KEY.DIGEST`: every clone can recognize the text by it, and nobody can guess a short text back from it. */
export const markOf = (disk: Disk, value: string): string =>
  withKey(digestOf(readSalt(disk), value, 16), value);

/** Equal for equal values in this repository, and meaningless elsewhere. */
export const fingerprintOf = (mark: string): string => mark.split('.', 1)[0] as string;

export const isMarked = (mark: string, value: string): boolean =>
  withKey(fingerprintOf(mark), value) === mark;

/** A finding of this machine, which a human can allow by its fingerprint. */
interface KnownFinding {
  fingerprint: string;
  mark: string;
  rule: string;
  class: GuardClass;
  /** How often the running session tried to store it. */
  refused?: { session: string; count: number };
}

const MAX_KNOWN = 150;

export const readKnown = ({ layout }: Disk): KnownFinding[] => {
  const known = readHint<{ findings?: KnownFinding[] }>(refusalsFile(layout))?.findings;
  return Array.isArray(known) ? known : [];
};

function writeKnown({ layout, dryRun }: Disk, findings: readonly KnownFinding[]): void {
  if (!dryRun) writeHint(refusalsFile(layout), { findings: findings.slice(0, MAX_KNOWN) });
}

/** Keeps findings, so that a human can allow them. `session`: the one that tried to store them. */
export function rememberFindings(disk: Disk, findings: readonly KnownFinding[], session?: string): void {
  const known = new Map(readKnown(disk).map((one) => [one.fingerprint, one]));
  const found = new Map<string, KnownFinding>();
  for (const { fingerprint, mark, rule, class: name } of findings) {
    const before = known.get(fingerprint)?.refused;
    const count = before !== undefined && before.session === session ? before.count : 0;
    const refused = session === undefined ? before : { session, count: count + 1 };
    found.set(fingerprint, { fingerprint, mark, rule, class: name, ...(refused ? { refused } : {}) });
  }
  const others = [...known.values()].filter(({ fingerprint }) => !found.has(fingerprint));
  if (found.size > 0) writeKnown(disk, [...found.values(), ...others]);
}

/** How often a session may try to store the same text before it is paused. */
const MAX_REFUSALS = 3;

/** Why nothing may be written in the running session, and the command that ends it. Null if it is not paused. */
export function describePause(context: Context): { why: string; fix: string } | null {
  const tried = readKnown(context.disk).filter(({ refused }) => (refused?.count ?? 0) >= MAX_REFUSALS);
  const session = tried.length === 0 ? undefined : readRunning(context)?.id;
  const found = tried.find(({ refused }) => refused?.session === session);
  if (!found) return null;
  const { rule, fingerprint } = found;
  return {
    why: `The session is paused: the guard refused the same text three times (rule ${rule}, fingerprint ${fingerprint})`,
    fix: `forge guard allow ${fingerprint} --reason "TEXT"   # for a person, at a terminal. To go on without the text, run any writing command there`,
  };
}

export function endPause({ disk }: Context): void {
  writeKnown(
    disk,
    readKnown(disk).map(({ refused, ...known }) => known),
  );
}
