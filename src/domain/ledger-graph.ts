import * as crypto from 'node:crypto';
import { IdTable } from './id-table.js';
import { type LedgerRecord, type ParsedLine, parseLine, type Tier } from './ledger.js';

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

/** Bytes that are no record, wherever they stand; a repair record may vouch for them (docs/format.md, "Repair"). */
export interface Unreadable extends Problem, Digest {}

/** A parent that is nowhere: what a repair names as lost. */
export interface MissingParent extends Problem {
  parent: string;
  /** The line that follows it. */
  child: number;
}

interface Pending {
  parent: string;
  child: number;
  place: Place;
  last_good: LastGood;
  /** `prev` must resolve; a `seen` that does not is a note. */
  must: boolean;
}

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
  /** The ledgers that segments here begin with, and where; without those that were adopted or dropped. */
  ledgers: Map<string, Place>;
}

/** The container that lines are being added from. */
export interface Source {
  archived: boolean;
  /** HEAD's tree has this very file. */
  committed: boolean;
}

const PRESENT = 1;
const FOLLOWED = 2;
const REDACTED = 4;
const LOST = 8;
const COMMITTED = 16;
const VOID = 32;
const ARCHIVED = 64;
const HERE = PRESENT | REDACTED;

/** `end`: where the next line begins, in bytes. */
export type OnRecord = (record: LedgerRecord, id: string, place: Place, end: number) => void;

/**
 * Checks one tier: every line a record, every link whole, numbers rising. Takes lines in any order and twice, from
 * any number of files. Memory: 41 bytes a record, whatever the record's size.
 */
export class LedgerGraph {
  source: Source = { archived: false, committed: false };
  private readonly table = new IdTable(4096);
  private readonly pending: Pending[] = [];
  private readonly unreadable: Unreadable[] = [];
  private readonly problems: (Problem & { id?: string })[] = [];
  private readonly vouched = new Set<string>();
  private readonly beginnings: { ledger: string; index: number; place: Place }[] = [];
  private readonly settled = new Set<string>();
  private readonly carriageReturns = new Map<string, Problem & { count: number }>();
  private maxN = 0;

  constructor(
    readonly tier: Tier,
    private readonly onRecord: OnRecord = () => {},
  ) {}

  /** A record that is here, was redacted, or that a repair names as lost: nobody has to look for it. */
  has(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, HERE | LOST);
  }

  /** HEAD's tree has it, so the journal need not keep it. */
  isCommitted(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, COMMITTED | LOST | REDACTED);
  }

  isArchived(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, ARCHIVED);
  }

  /** Adds one line (bytes without the LF). Returns what the next line's `last_good` is. */
  add(bytes: Buffer, place: Place, lastGood: LastGood): LastGood {
    const line = bytes[bytes.length - 1] === 0x0d ? this.withoutReturn(bytes, place, lastGood) : bytes;
    const parsed = parseLine(line.toString('utf8'));
    if (parsed.kind === 'bad') return this.addUnreadable(parsed.reason, bytes, place, lastGood);
    if (parsed.kind === 'padding') return lastGood;
    if (parsed.kind === 'tombstone') return this.addTombstone(parsed, place, lastGood);
    const { record } = parsed;
    const id = crypto.hash('sha256', line);
    if (record.tier !== this.tier) {
      this.problems.push({
        code: 'wrong_tier',
        message: `it belongs to the ${record.tier} ledger`,
        ...place,
        last_good: lastGood,
        id,
      });
      return lastGood;
    }
    const index = this.table.add(id);
    const isNew = !this.table.has(index, PRESENT);
    this.table.mark(index, this.flagsHere());
    if (isNew) this.addRecord(record, id, index, place, lastGood, place.offset + bytes.length + 1);
    return { id, line: place.line, offset: place.offset, n: record.n };
  }

  private flagsHere(): number {
    const { archived, committed } = this.source;
    return PRESENT | (archived ? ARCHIVED : 0) | (committed ? COMMITTED : 0);
  }

  private addRecord(
    record: LedgerRecord,
    id: string,
    index: number,
    place: Place,
    lastGood: LastGood,
    end: number,
  ): void {
    this.noteLinks(record, index, place, lastGood);
    if (record.prev === null) this.beginnings.push({ ledger: record.ledger as string, index, place });
    if (record.actor === 'builder')
      this.problems.push({
        code: 'unauthorised',
        message: 'a builder wrote it, who may not write memory (memory.unauthorised)',
        ...place,
        last_good: lastGood,
        id,
      });
    if (SETTLING.has(record.kind)) this.noteSettled(record);
    this.onRecord(record, id, place, end);
  }

  /** CRLF conversion changes every line's bytes; the records are still there behind it. */
  private withoutReturn(bytes: Buffer, place: Place, last_good: LastGood): Buffer {
    const known = this.carriageReturns.get(place.file);
    if (known) known.count++;
    else this.carriageReturns.set(place.file, { code: 'crlf', message: '', ...place, last_good, count: 1 });
    return bytes.subarray(0, -1);
  }

  private noteLinks(
    { n, prev, seen }: { n: number; prev: string | null; seen: string[] },
    index: number,
    place: Place,
    lastGood: LastGood,
  ): void {
    this.table.setNumber(index, n);
    if (n > this.maxN) this.maxN = n;
    if (prev !== null) this.follow(prev, index, place, lastGood, true);
    for (const parent of seen) this.follow(parent, index, place, lastGood, false);
  }

  /** Most parents stand before their children and are settled at once; the rest at the end. */
  private follow(parent: string, child: number, place: Place, last_good: LastGood, must: boolean): void {
    const index = this.table.add(parent);
    this.table.mark(index, FOLLOWED);
    if (this.table.has(index, HERE) && this.table.number(index) < this.table.number(child)) return;
    this.pending.push({ parent, child, place, last_good, must });
  }

  private addTombstone(
    { tombstone }: Extract<ParsedLine, { kind: 'tombstone' }>,
    place: Place,
    lastGood: LastGood,
  ): LastGood {
    const index = this.table.add(tombstone.redacted);
    if (!this.table.has(index, REDACTED)) {
      this.table.mark(index, REDACTED);
      this.noteLinks(tombstone, index, place, lastGood);
    }
    return { id: tombstone.redacted, line: place.line, offset: place.offset, n: tombstone.n };
  }

  private noteSettled(record: LedgerRecord): void {
    const { bytes = [], lost = [], voided = [] } = record as Settling;
    for (const { length, sha256 } of bytes) this.vouched.add(`${length} ${sha256}`);
    for (const id of lost) this.table.mark(this.table.add(id), LOST);
    for (const id of voided) this.table.mark(this.table.add(id), VOID);
    if (typeof record.subject === 'string') this.settled.add(record.subject);
  }

  private addUnreadable(reason: string, bytes: Buffer, place: Place, last_good: LastGood): LastGood {
    this.report(codeOf(reason), reason, digestOf(bytes), place, last_good);
    return last_good;
  }

  /** Bytes that no record can be made of. */
  report(code: string, message: string, digest: Digest, place: Place, last_good: LastGood): void {
    this.unreadable.push({ code, message, ...place, last_good, ...digest });
  }

  /** What stands here once every line was added. `missing` has consequences of unreadable lines in it too. */
  finish(): GraphResult {
    const unreadable = this.unreadable.filter(
      ({ length, sha256 }) => !this.vouched.has(`${length} ${sha256}`),
    );
    const missing: MissingParent[] = [];
    let unseen = 0;
    for (const link of this.pending) unseen += this.settle(link, missing);
    const proper = this.problems.filter(({ id }) => !id || !this.table.has(this.table.find(id), VOID));
    return {
      ...this.census(),
      maxN: this.maxN,
      problems: [...this.returnsFound(), ...proper.map(({ id: _id, ...problem }) => problem)],
      improper: proper.map(({ id }) => id ?? '').filter(Boolean),
      unreadable,
      missing,
      unseen,
      ledgers: this.ledgersFound(),
    };
  }

  private census(): { records: number; heads: string[]; returned: string[] } {
    const heads: string[] = [];
    const returned: string[] = [];
    let records = 0;
    for (let index = 0; index < this.table.size; index++) {
      if (!this.table.has(index, HERE)) continue;
      records++;
      if (!this.table.has(index, FOLLOWED)) heads.push(this.table.hex(index));
      if (this.table.has(index, PRESENT) && this.table.has(index, REDACTED))
        returned.push(this.table.hex(index));
    }
    return { records, heads: heads.sort(), returned };
  }

  /** What is void begins nothing. */
  private ledgersFound(): Map<string, Place> {
    const ledgers = new Map<string, Place>();
    for (const { ledger, index, place } of this.beginnings)
      if (!ledgers.has(ledger) && !this.settled.has(ledger) && !this.table.has(index, VOID))
        ledgers.set(ledger, place);
    return ledgers;
  }

  private returnsFound(): Problem[] {
    return [...this.carriageReturns.values()].map(({ count, ...problem }) => ({
      ...problem,
      message: `${count} of its lines end in CR LF: something converted the line ends`,
    }));
  }

  /** 1 for a link that only a note is due for. */
  private settle({ parent, child, place, last_good, must }: Pending, missing: MissingParent[]): number {
    const index = this.table.find(parent);
    // What a void record follows is no matter.
    if (this.table.has(index, LOST) || this.table.has(child, VOID)) return 0;
    if (!this.table.has(index, HERE)) {
      if (must) missing.push(describeMissing(parent, this.table.number(child), place, last_good));
      return must ? 0 : 1;
    }
    if (this.table.number(index) >= this.table.number(child))
      this.problems.push({
        code: 'number',
        message: `its n ${this.table.number(child)} is not above ${this.table.number(index)}, that of a record it follows`,
        ...place,
        last_good,
        id: this.table.hex(child),
      });
    return 0;
  }
}

interface Digest {
  length: number;
  sha256: string;
}

export const digestOf = (bytes: Buffer): Digest => ({
  length: bytes.length,
  sha256: crypto.hash('sha256', bytes),
});

/** Kinds of records that say how a finding was settled. */
const SETTLING: ReadonlySet<string> = new Set(['repair', 'adopt', 'drop']);
interface Settling {
  bytes?: { length: number; sha256: string }[];
  lost?: string[];
  voided?: string[];
}

const codeOf = (reason: string): string =>
  reason.includes('conflict') ? 'conflict_marker' : reason.includes('glued') ? 'glued' : 'edited';

/** The record before it in its segment is not here. If another stands in its place, that one was edited. */
function describeMissing(parent: string, n: number, place: Place, last_good: LastGood): MissingParent {
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
