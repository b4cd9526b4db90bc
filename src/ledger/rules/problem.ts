import { hash } from 'node:crypto';
import type { Tier, Tombstone } from './record.js';

/** Where a line stands. */
export interface Place {
  /** As shown to a person. */
  file: string;
  /** 1-based. */
  line: number;
  /** 0-based, in bytes. */
  offset: number;
}

/** The last good record before a place in the same file. */
export type LastGood = { id: string; line: number; offset: number; n: number } | null;

/** One finding of a verification (docs/format.md, "What verify finds"). */
export interface Problem extends Place {
  code: string;
  message: string;
  last_good: LastGood;
}

/** What bytes are known by that nobody keeps. */
export interface Digest {
  length: number;
  sha256: string;
}

/** Bytes that are no record, wherever they stand; a repair record may vouch for them (docs/format.md, "Repair"). */
export interface Unreadable extends Problem, Digest {}

/** A parent that is nowhere: what a repair names as lost. */
export interface MissingParent extends Problem {
  parent: string;
  /** The line that follows it. */
  child: number;
}

/** What a ledger keeps of an archive: enough to see that nothing in it changed. */
export interface ArchiveManifest {
  /** SHA-256 of the archive's bytes: its name, until something in it was redacted. */
  archive: string;
  count: number;
  /** SHA-256 of the sorted ids, each followed by LF. */
  ids_sha256: string;
  from: number;
  to: number;
}

/** What stands in a ledger, and what is wrong with it. */
export interface GraphResult {
  records: number;
  /** Ids that no record names as its parent, sorted. */
  heads: string[];
  maxN: number;
  problems: Problem[];
  unreadable: Unreadable[];
  missing: MissingParent[];
  /** Ids whose "n" or author breaks a rule; a repair may declare them void. */
  improper: string[];
  /** How many `seen` ids are not in this tree (picks, switches and partial checkouts leave such rightly). */
  unseen: number;
  /** Ids whose content was redacted but is back. */
  returned: string[];
  /** One of each redacted record that has one here. */
  tombstones: Tombstone[];
  /** The ledgers that segments here begin with, and where; without those that were adopted or dropped. */
  ledgers: Map<string, Place>;
}

export const digestOf = (bytes: Buffer): Digest => ({
  length: bytes.length,
  sha256: hash('sha256', bytes),
});

/** A line that cannot be read, by the reason that reading it gave. */
export const codeOf = (reason: string): string =>
  reason.includes('conflict') ? 'conflict_marker' : reason.includes('glued') ? 'glued' : 'edited';

export const wrongTier = (tier: Tier, place: Place, last_good: LastGood): Problem => ({
  code: 'wrong_tier',
  message: `it belongs to the ${tier} ledger`,
  ...place,
  last_good,
});

export const unauthorised = (place: Place, last_good: LastGood): Problem => ({
  code: 'unauthorised',
  message: 'a builder wrote it, who may not write memory (memory.unauthorised)',
  ...place,
  last_good,
});

export const notAbove = (n: number, followed: number, place: Place, last_good: LastGood): Problem => ({
  code: 'number',
  message: `its n ${n} is not above ${followed}, that of a record it follows`,
  ...place,
  last_good,
});

/** CRLF conversion changes every line's bytes; the records are still there behind it. One finding a file. */
export class ConvertedLines {
  private readonly files = new Map<string, { count: number; first: Place; last_good: LastGood }>();

  add(place: Place, last_good: LastGood): void {
    const known = this.files.get(place.file);
    if (known) known.count++;
    else this.files.set(place.file, { count: 1, first: place, last_good });
  }

  found(): Problem[] {
    return [...this.files.values()].map(({ count, first, last_good }) => ({
      code: 'crlf',
      message: `${count} of its lines end in CR LF: something converted the line ends`,
      ...first,
      last_good,
    }));
  }
}

/** The record before it in its segment is not here. If another stands in its place, that one was edited. */
export function missingParent(parent: string, n: number, place: Place, last_good: LastGood): MissingParent {
  const short = parent.slice(0, 12);
  const found = { parent, child: place.line, ...place };
  if (last_good === null || last_good.line !== place.line - 1 || last_good.n !== n - 1) {
    const message = `the record before it (${short}…) is not here: it was removed`;
    return { ...found, code: 'removed', message, last_good };
  }
  const { line, offset } = last_good;
  const message = `it is not the record that line ${place.line} follows (${short}…): it was edited`;
  return { ...found, line, offset, code: 'edited', message, last_good: null };
}

/** The line after an unreadable one misses its parent: that is one finding, not two. */
export function withoutConsequences({ missing, unreadable }: GraphResult): MissingParent[] {
  const broken = new Set(unreadable.map(({ file, line }) => `${file}:${line + 1}`));
  return missing.filter(({ file, child }) => !broken.has(`${file}:${child}`));
}
