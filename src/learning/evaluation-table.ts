import { compareText } from '../core/text.js';
import { IdTable } from '../ledger/rules/id-table.js';
import { isRecordId, type LedgerRecord, lineOf, type Piece, recordId } from '../ledger/rules/record.js';
import { TextColumn } from '../ledger/rules/text-column.js';
import { Claims } from './evaluation-claims.js';
import { matchPlainCycle, type PlainCycle, TIME_LENGTH } from './evaluation-line.js';

/** Why an evaluation is no evidence for what it shows, as bits. */
export const UNMET = { classification: 1, environment_valid: 2, governance_violations: 4, execution: 8 };

/** What is known of a cycle, as flags in the table of their names. */
export const CYCLE = {
  /** Several rows are of it. */
  again: 1,
  /** Its execution record was looked for. */
  sought: 2,
  found: 4,
};

/** LTM, "Knowledge Promotion Mechanism". */
const isTeaching = (classification: unknown): boolean =>
  classification === 'SUCCESS' || classification === 'PARTIAL_SUCCESS';

/** The conditions of LTM-06 that a record fails by itself; whether its cycle ran is another question. */
export function unmetBy({
  classification,
  environment_valid,
  governance_violations,
}: LedgerRecord | PlainCycle): number {
  let unmet = isTeaching(classification) ? 0 : UNMET.classification;
  if (environment_valid !== true) unmet |= UNMET.environment_valid;
  if (!Array.isArray(governance_violations) || governance_violations.length > 0)
    unmet |= UNMET.governance_violations;
  return unmet;
}

/**
 * The evaluation ledger in columns, a row per record: as objects, the records of a long one would cost more time in the
 * garbage collector than all else together. Rows may come in any order and more than once; `cycles` puts that right.
 */
export class EvaluationTable {
  readonly ids = new TextColumn(64);
  /** When it was written. */
  readonly at = new TextColumn(TIME_LENGTH);
  /** The label of the cycle; 0 when it has none. */
  readonly cycle: number[] = [];
  /** Bits of UNMET; that of `execution` where the record names none. */
  readonly unmet: number[] = [];
  /** The environment was broken, and not just unknown. */
  readonly isBroken: boolean[] = [];
  /** What names the cycle, by its place in `names`: its execution record, or the row's own id where it names none. */
  readonly name: number[] = [];
  readonly names = new IdTable();
  readonly claims = new Claims();
  /** What `cycles` found. */
  private sorted: readonly number[] | null = null;
  /** The id of the last row. */
  private last = '';
  /** How many names there were before the row that is added. */
  private seen = 0;
  private readonly numbers: number[] = [];
  private readonly isCycle: boolean[] = [];
  /** The links of rows that do not just follow the row before. */
  private readonly links = new Map<number, readonly string[]>();

  add(id: string, record: LedgerRecord): void {
    const { n, prev, seen, kind, at, cycle, execution, environment_valid, patterns } = record;
    if (prev === null || seen.length > 0 || prev !== this.last)
      this.links.set(this.ids.length, prev === null ? seen : [prev, ...seen]);
    const hasExecution = isRecordId(execution);
    this.at.push(at ?? '');
    this.pushName(this.names.add(hasExecution ? execution : id));
    this.unmet.push(unmetBy(record) | (hasExecution ? 0 : UNMET.execution));
    this.cycle.push(typeof cycle === 'number' ? cycle : 0);
    this.claims.add(kind === 'cycle' && Array.isArray(patterns) ? patterns : []);
    this.endRow(id, n, kind === 'cycle', environment_valid === false);
  }

  /**
   * What `add` does with the record of a line, without reading all of it; false, and nothing, for a line that is not
   * exactly as forge writes it for a clean cycle that follows the row before. The line goes from `start` to `end`, where
   * its LF stands.
   */
  addSpan(piece: Piece, start: number, end: number): boolean {
    const { bytes, text } = piece;
    const found = matchPlainCycle(piece, start, end);
    if (!found || this.last === '' || !text.startsWith(this.last, found.prevAt)) return false;
    const name = this.names.addFrom(bytes, found.executionAt);
    if (name < 0) return false;
    this.at.pushPlain(text.slice(found.timeAt, found.timeAt + TIME_LENGTH));
    this.pushName(name);
    this.unmet.push(unmetBy(found));
    this.cycle.push(found.cycle);
    this.claims.addJson(found.patterns);
    this.endRow(recordId(lineOf(piece, start, end)), found.n, true, found.environment_valid === false);
    return true;
  }

  private pushName(name: number): void {
    // A new one stands at the end.
    if (this.names.size > this.seen) this.seen++;
    else this.names.mark(name, CYCLE.again);
    this.name.push(name);
  }

  private endRow(id: string, n: number, isCycle: boolean, isBroken: boolean): void {
    this.sorted = null;
    this.ids.pushPlain(id);
    this.last = id;
    this.numbers.push(n);
    this.isCycle.push(isCycle);
    this.isBroken.push(isBroken);
  }

  /** Of these rows only the links count: what was redacted or declared void says nothing any more. */
  hide(isHidden: (id: string) => boolean): void {
    this.sorted = null;
    for (let row = 0; row < this.ids.length; row++)
      if (isHidden(this.ids.get(row))) this.isCycle[row] = false;
  }

  /** The rows of cycles, each record once, sorted by (n, id). */
  cycles(): readonly number[] {
    this.sorted ??= this.sort();
    return this.sorted;
  }

  private sort(): number[] {
    const { ids } = this;
    const rows: number[] = [];
    let isSorted = true;
    for (let row = 0; row < ids.length; row++) {
      if (!this.isCycle[row]) continue;
      isSorted &&= rows.length === 0 || this.compare(rows.at(-1) as number, row) < 0;
      rows.push(row);
    }
    if (isSorted) return rows;
    rows.sort((a, b) => this.compare(a, b));
    return rows.filter((row, at) => at === 0 || ids.get(row) !== ids.get(rows[at - 1] as number));
  }

  /** Which rows stand at or before the named heads in the hash graph, as bits by row. */
  ancestorsOf(heads: readonly string[]): Uint8Array {
    const marks = new Uint8Array(this.ids.length);
    if (heads.length === 0) return marks;
    // Of copies the first, as `cycles` has it.
    const rows = new Map<string, number>();
    for (let row = this.ids.length - 1; row >= 0; row--) rows.set(this.ids.get(row), row);
    const open = heads.map((id) => rows.get(id));
    while (open.length > 0) {
      const row = open.pop();
      if (row === undefined || marks[row] === 1) continue;
      marks[row] = 1;
      const links = this.links.get(row);
      if (links) open.push(...links.map((id) => rows.get(id)));
      else open.push(row - 1);
    }
    return marks;
  }

  private compare(a: number, b: number): number {
    const between = (this.numbers[a] as number) - (this.numbers[b] as number);
    return between || compareText(this.ids.get(a), this.ids.get(b));
  }
}
