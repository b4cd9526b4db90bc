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

export interface Problem extends Place {
  code: string;
  message: string;
  /** The last good record before it in the same file. */
  last_good: { id: string; line: number } | null;
}

/** Bytes that are no record, wherever they stand; a repair record may vouch for them (docs/format.md, "Repair"). */
interface Unreadable extends Problem {
  length: number;
  sha256: string;
}

interface Pending {
  parent: string;
  child: number;
  place: Place;
  last_good: Problem['last_good'];
  /** `prev` must resolve; a `seen` that does not is a note. */
  must: boolean;
}

export interface GraphResult {
  records: number;
  /** Ids that no record names as its parent, sorted. */
  heads: string[];
  maxN: number;
  problems: Problem[];
  /** How many `seen` ids are not in this tree (picks, switches and partial checkouts leave such rightly). */
  unseen: number;
  /** Ids whose content was redacted but is back. */
  returned: string[];
}

const PRESENT = 1;
const FOLLOWED = 2;
const REDACTED = 4;
const LOST = 8;

/**
 * Checks one tier: every line a record, every link whole, numbers rising. Takes lines in any order and twice, from
 * any number of files. Memory: 41 bytes a record, whatever the record's size.
 */
export class LedgerGraph {
  private readonly table = new IdTable(4096);
  private readonly pending: Pending[] = [];
  private readonly unreadable: Unreadable[] = [];
  private readonly problems: Problem[] = [];
  private readonly vouched = new Set<string>();
  private readonly ledgers = new Map<string, Place>();
  private records = 0;
  private maxN = 0;

  constructor(
    readonly tier: Tier,
    /** The id of this repository's ledger; null takes the first one met. */
    private readonly ledger: string | null,
    /** Ids from archives: they resolve as parents, and a record that one holds needs no second copy. */
    private readonly onRecord: (record: LedgerRecord, id: string) => void = () => {},
  ) {}

  /** The id of a line that is here; -1 otherwise. */
  has(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, PRESENT | REDACTED | LOST);
  }

  /** Adds one line (bytes without the LF). Returns its id, or null when it is no record. */
  add(bytes: Buffer, place: Place, lastGood: Problem['last_good']): string | null {
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind === 'bad') return this.addUnreadable(parsed.reason, bytes, place, lastGood);
    if (parsed.kind === 'tombstone') return this.addTombstone(parsed, place, lastGood);
    const id = crypto.hash('sha256', bytes);
    const { record } = parsed;
    if (record.tier !== this.tier)
      return this.report('wrong_tier', `it belongs to the ${record.tier} ledger`, place, lastGood);
    const index = this.table.add(id);
    if (this.table.has(index, PRESENT)) return id;
    this.records++;
    this.table.mark(index, PRESENT);
    this.noteLinks(record, index, place, lastGood);
    if (record.prev === null) this.noteLedger(record.ledger as string, place);
    if (record.kind === 'repair' || record.kind === 'archive') this.noteVouched(record);
    this.onRecord(record, id);
    return id;
  }

  private noteLinks(
    { n, prev, seen }: { n: number; prev: string | null; seen: string[] },
    index: number,
    place: Place,
    lastGood: Problem['last_good'],
  ): void {
    this.table.setNumber(index, n);
    if (n > this.maxN) this.maxN = n;
    if (prev !== null) this.follow(prev, index, place, lastGood, true);
    for (const parent of seen) this.follow(parent, index, place, lastGood, false);
  }

  /** Most parents stand before their children and are settled at once; the rest at the end. */
  private follow(
    parent: string,
    child: number,
    place: Place,
    last_good: Problem['last_good'],
    must: boolean,
  ): void {
    const index = this.table.add(parent);
    this.table.mark(index, FOLLOWED);
    if (this.table.has(index, PRESENT | REDACTED) && this.table.number(index) < this.table.number(child))
      return;
    this.pending.push({ parent, child, place, last_good, must });
  }

  private addTombstone(
    { tombstone }: Extract<ParsedLine, { kind: 'tombstone' }>,
    place: Place,
    lastGood: Problem['last_good'],
  ): string {
    const index = this.table.add(tombstone.redacted);
    if (!this.table.has(index, REDACTED)) {
      if (!this.table.has(index, PRESENT)) this.records++;
      this.table.mark(index, REDACTED);
      this.noteLinks(tombstone, index, place, lastGood);
    }
    return tombstone.redacted;
  }

  private noteLedger(ledger: string, place: Place): void {
    if (!this.ledgers.has(ledger)) this.ledgers.set(ledger, place);
  }

  private noteVouched(record: LedgerRecord): void {
    const { bytes = [], lost = [] } = record as {
      bytes?: { length: number; sha256: string }[];
      lost?: string[];
    };
    for (const { length, sha256 } of bytes) this.vouched.add(`${length} ${sha256}`);
    for (const id of lost) this.table.mark(this.table.add(id), LOST);
  }

  private addUnreadable(reason: string, bytes: Buffer, place: Place, last_good: Problem['last_good']): null {
    const sha256 = crypto.hash('sha256', bytes);
    const code = reason.includes('conflict')
      ? 'conflict_marker'
      : reason.includes('glued')
        ? 'glued'
        : 'unreadable';
    this.unreadable.push({ ...place, code, message: reason, last_good, length: bytes.length, sha256 });
    return null;
  }

  private report(code: string, message: string, place: Place, last_good: Problem['last_good']): null {
    this.problems.push({ ...place, code, message, last_good });
    return null;
  }

  /** What stands here once every line was added. */
  finish(): GraphResult {
    let unseen = 0;
    for (const link of this.pending) unseen += this.settle(link);
    for (const bad of this.unreadable) this.settleUnreadable(bad);
    this.settleLedgers();
    const heads: string[] = [];
    const returned: string[] = [];
    for (let index = 0; index < this.table.size; index++) {
      const here = this.table.has(index, PRESENT | REDACTED);
      if (here && !this.table.has(index, FOLLOWED)) heads.push(this.table.hex(index));
      if (this.table.has(index, PRESENT) && this.table.has(index, REDACTED))
        returned.push(this.table.hex(index));
    }
    const { records, maxN, problems } = this;
    return { records, heads: heads.sort(), maxN, problems, unseen, returned };
  }

  /** 1 for a link that only a note is due for. */
  private settle({ parent, child, place, last_good, must }: Pending): number {
    const index = this.table.find(parent);
    if (this.table.has(index, LOST)) return 0;
    if (!this.table.has(index, PRESENT | REDACTED)) {
      if (must)
        this.report(
          'missing_parent',
          `the record before it (${parent.slice(0, 12)}…) is nowhere in this tree: it was removed or edited`,
          place,
          last_good,
        );
      return must ? 0 : 1;
    }
    if (this.table.number(index) >= this.table.number(child))
      this.report(
        'number',
        `its n ${this.table.number(child)} is not above ${this.table.number(index)}, that of a record it follows`,
        place,
        last_good,
      );
    return 0;
  }

  private settleUnreadable({ length, sha256, ...problem }: Unreadable): void {
    if (!this.vouched.has(`${length} ${sha256}`)) this.problems.push(problem);
  }

  private settleLedgers(): void {
    for (const [ledger, place] of this.ledgers)
      if (this.ledger !== null && ledger !== this.ledger)
        this.report(
          'foreign_ledger',
          `it begins another repository's ledger (${ledger.slice(0, 12)}…)`,
          place,
          null,
        );
  }
}
