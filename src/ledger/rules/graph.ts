import * as crypto from 'node:crypto';
import { IdTable } from './id-table.js';
import {
  type ArchiveManifest,
  ConvertedLines,
  codeOf,
  type Digest,
  digestOf,
  type GraphResult,
  type LastGood,
  type MissingParent,
  missingParent,
  notAbove,
  type Place,
  type Problem,
  type Unreadable,
  unauthorised,
  wrongTier,
} from './problem.js';
import { type LedgerRecord, type ParsedLine, parseLine, type Tier, type Tombstone } from './record.js';
import { isManifest, isSettlement, Settlements, Voids } from './settlement.js';

interface Pending {
  parent: string;
  child: number;
  place: Place;
  last_good: LastGood;
  /** `prev` must resolve; a `seen` that does not is a note. */
  must: boolean;
}

/** The container that lines are being added from. */
export interface Source {
  /** HEAD's tree has this very file. */
  committed: boolean;
}

const PRESENT = 1;
const FOLLOWED = 2;
const REDACTED = 4;
const LOST = 8;
const COMMITTED = 16;
const VOID = 32;
/** Redacted once in this repository, whether a tombstone is here or not. */
const BANNED = 64;
/** HEAD's tree has its tombstone. */
const BURIED = 128;
const HERE = PRESENT | REDACTED;

/** `end`: where the next line begins, in bytes. */
export type OnRecord = (record: LedgerRecord, id: string, place: Place, end: number) => void;

/**
 * Checks one tier: every line a record, every link whole, numbers rising. Takes lines in any order and twice, from
 * any number of files. Memory: 41 bytes a record, whatever the record's size.
 */
export class LedgerGraph {
  source: Source = { committed: false };
  private readonly table = new IdTable(4096);
  private readonly pending: Pending[] = [];
  private readonly unreadable: Unreadable[] = [];
  private readonly problems: (Problem & { id?: string })[] = [];
  private readonly beginnings: { ledger: string; index: number; place: Place }[] = [];
  private readonly settlements = new Settlements();
  /** What settles something, until it is clear whether it is void itself. */
  private readonly settling: { record: LedgerRecord; id: string }[] = [];
  private readonly converted = new ConvertedLines();
  private readonly tombstones: Tombstone[] = [];
  /** What this ledger says of its archives. */
  readonly manifests: ArchiveManifest[] = [];
  private maxN = 0;

  constructor(
    readonly tier: Tier,
    private readonly onRecord: OnRecord = () => {},
    redacted: Iterable<string> = [],
  ) {
    for (const id of redacted) this.table.mark(this.table.add(id), BANNED);
  }

  /** A record that is here, was redacted, or that a repair names as lost: nobody has to look for it. */
  has(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, HERE | LOST);
  }

  /** A repair says that it does not count. */
  isVoid(id: string): boolean {
    return this.table.has(this.table.find(id), VOID);
  }

  /** The record itself is here, not only what stands for it. */
  hasContent(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, PRESENT);
  }

  /** HEAD's tree has it, so the journal need not keep it. */
  isCommitted(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, COMMITTED | LOST | REDACTED | BANNED);
  }

  /** The same for a tombstone. */
  isBuried(id: string): boolean {
    const index = this.table.find(id);
    return index >= 0 && this.table.has(index, BURIED | LOST);
  }

  /** Adds one line (bytes without the LF). Returns what the next line's `last_good` is. */
  add(bytes: Buffer, place: Place, lastGood: LastGood): LastGood {
    const hasReturn = bytes[bytes.length - 1] === 0x0d;
    if (hasReturn) this.converted.add(place, lastGood);
    const line = hasReturn ? bytes.subarray(0, -1) : bytes;
    const parsed = parseLine(line.toString('utf8'));
    if (parsed.kind === 'bad') return this.addUnreadable(parsed.reason, bytes, place, lastGood);
    if (parsed.kind === 'padding') return lastGood;
    if (parsed.kind === 'tombstone') return this.addTombstone(parsed, place, lastGood);
    const { record } = parsed;
    const id = crypto.hash('sha256', line);
    if (record.tier !== this.tier) {
      this.problems.push({ ...wrongTier(record.tier, place, lastGood), id });
      return lastGood;
    }
    const index = this.table.add(id);
    const isNew = !this.table.has(index, PRESENT);
    this.table.mark(index, this.source.committed ? PRESENT | COMMITTED : PRESENT);
    if (isNew) this.addRecord(record, id, index, place, lastGood, place.offset + bytes.length + 1);
    return { id, line: place.line, offset: place.offset, n: record.n };
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
    if (record.actor === 'builder') this.problems.push({ ...unauthorised(place, lastGood), id });
    if (isSettlement(record)) this.settling.push({ record, id });
    if (isManifest(record)) this.manifests.push(record);
    this.onRecord(record, id, place, end);
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
    if (this.source.committed) this.table.mark(index, BURIED);
    if (!this.table.has(index, REDACTED)) {
      this.table.mark(index, REDACTED);
      this.noteLinks(tombstone, index, place, lastGood);
      this.tombstones.push(tombstone);
      if (tombstone.ledger !== undefined) this.beginnings.push({ ledger: tombstone.ledger, index, place });
    }
    return { id: tombstone.redacted, line: place.line, offset: place.offset, n: tombstone.n };
  }

  private settle(): void {
    const voids = new Voids();
    for (const { record, id } of this.settling) voids.add(record, id);
    for (const { record, id } of this.settling)
      if (!voids.has(id))
        for (const lost of this.settlements.add(record)) this.table.mark(this.table.add(lost), LOST);
    for (const id of voids.list()) this.table.mark(this.table.add(id), VOID);
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
    this.settle();
    const unreadable = this.unreadable.filter((bytes) => !this.settlements.vouchFor(bytes));
    const missing: MissingParent[] = [];
    let unseen = 0;
    for (const link of this.pending) unseen += this.resolve(link, missing);
    const proper = this.problems.filter(({ id }) => !id || !this.table.has(this.table.find(id), VOID));
    return {
      ...this.census(),
      maxN: this.maxN,
      problems: [...this.converted.found(), ...proper.map(({ id: _id, ...problem }) => problem)],
      improper: proper.map(({ id }) => id ?? '').filter(Boolean),
      unreadable,
      missing,
      unseen,
      tombstones: this.tombstones,
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
      if (this.table.has(index, PRESENT) && this.table.has(index, REDACTED | BANNED))
        returned.push(this.table.hex(index));
    }
    return { records, heads: heads.sort(), returned };
  }

  /** What is void begins nothing. */
  private ledgersFound(): Map<string, Place> {
    const ledgers = new Map<string, Place>();
    for (const { ledger, index, place } of this.beginnings)
      if (!ledgers.has(ledger) && !this.settlements.hasSettled(ledger) && !this.table.has(index, VOID))
        ledgers.set(ledger, place);
    return ledgers;
  }

  /** 1 for a link that only a note is due for. */
  private resolve({ parent, child, place, last_good, must }: Pending, missing: MissingParent[]): number {
    const index = this.table.find(parent);
    // What a void record follows is no matter.
    if (this.table.has(index, LOST) || this.table.has(child, VOID)) return 0;
    if (!this.table.has(index, HERE)) {
      if (must) missing.push(missingParent(parent, this.table.number(child), place, last_good));
      return must ? 0 : 1;
    }
    const [n, followed] = [this.table.number(child), this.table.number(index)];
    if (followed >= n)
      this.problems.push({ ...notAbove(n, followed, place, last_good), id: this.table.hex(child) });
    return 0;
  }
}
