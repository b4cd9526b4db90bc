import { IdTable } from './id-table.js';
import { isRecordId, type ParsedLine } from './record.js';

/** What a seal's heads vouch for, as far as it is here. */
export interface Covered {
  records: number;
  /** The largest number among them. */
  n: number;
  /** Ids that they follow and that are not in this tree. */
  outside: string[];
  /** A human has named some of it as lost: what that followed nobody knows. */
  settled: boolean;
}

/** Who follows whom in one ledger: what the heads of a seal vouch for. Takes lines in any order and twice. */
export class SealGraph {
  private readonly table = new IdTable(4096);
  private readonly parents: (number[] | undefined)[] = [];
  private readonly sealing = new Set<number>();
  private readonly lost = new Set<number>();
  private marks = new Int32Array(0);
  private round = 0;

  add(parsed: ParsedLine, id: () => string): void {
    if (parsed.kind === 'tombstone') this.link(parsed.tombstone.redacted, parsed.tombstone);
    if (parsed.kind !== 'record') return;
    const { record } = parsed;
    const index = this.link(id(), record);
    if (record.kind === 'seal' || record.kind === 'genesis') this.sealing.add(index);
    // What a repair names as lost counts as it did when it was here.
    if (Array.isArray(record.lost)) for (const lost of record.lost) if (isRecordId(lost)) this.lose(lost);
  }

  private lose(id: string): void {
    const index = this.table.add(id);
    this.lost.add(index);
    this.parents[index] ??= [];
  }

  private link(id: string, { n, prev, seen }: { n: number; prev: string | null; seen: string[] }): number {
    const index = this.table.add(id);
    this.table.setNumber(index, n);
    this.parents[index] = [...(prev === null ? [] : [prev]), ...seen].map((parent) => this.table.add(parent));
    return index;
  }

  has(id: string): boolean {
    return this.parents[this.table.find(id)] !== undefined;
  }

  /** What leads to these heads, themselves included. */
  count(heads: readonly string[]): Covered {
    const found = this.walk(heads);
    const outside = new Set<number>();
    let n = 0;
    for (const index of found) {
      n = Math.max(n, this.table.number(index));
      for (const parent of this.parents[index] ?? [])
        if (this.parents[parent] === undefined) outside.add(parent);
    }
    return {
      records: found.length,
      n,
      outside: [...outside].map((index) => this.table.hex(index)),
      settled: found.some((index) => this.lost.has(index)),
    };
  }

  /** Records that lead to none of these heads; neither seals nor a ledger's first record count. */
  countOthers(heads: readonly string[]): number {
    const covered = new Set(this.walk(heads));
    let others = 0;
    for (let index = 0; index < this.table.size; index++)
      if (this.parents[index] !== undefined && !covered.has(index) && !this.sealing.has(index)) others++;
    return others;
  }

  private walk(heads: readonly string[]): number[] {
    if (this.marks.length < this.table.size) this.marks = new Int32Array(this.table.size);
    this.round++;
    const found: number[] = [];
    const open = heads.map((head) => this.table.find(head));
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (index < 0 || this.marks[index] === this.round || this.parents[index] === undefined) continue;
      this.marks[index] = this.round;
      found.push(index);
      open.push(...(this.parents[index] ?? []));
    }
    return found;
  }
}
