import { isRecordId, type LedgerRecord } from './ledger.js';

/** Why an evaluation is no evidence for what it shows, as bits. */
export const UNMET = { classification: 1, environment_valid: 2, governance_violations: 4, execution: 8 };

/** LTM, "Knowledge Promotion Mechanism". */
const TEACHING: ReadonlySet<unknown> = new Set(['SUCCESS', 'PARTIAL_SUCCESS']);

/** The conditions of LTM-06 that a record fails by itself; whether its cycle ran is another question. */
export function unmetBy(record: LedgerRecord): number {
  const { classification, environment_valid, governance_violations } = record;
  let unmet = TEACHING.has(classification) ? 0 : UNMET.classification;
  if (environment_valid !== true) unmet |= UNMET.environment_valid;
  if (!Array.isArray(governance_violations) || governance_violations.length > 0)
    unmet |= UNMET.governance_violations;
  return unmet;
}

/** A pattern as it is written in some evaluation. */
export interface PatternText {
  scope: string;
  pattern: string;
}

/**
 * The evaluation ledger in columns, a row per record: as objects, the records of a long one would cost more time in the
 * garbage collector than all else together. Rows may come in any order and more than once; `order` puts that right.
 */
export class EvaluationTable {
  readonly ids: string[] = [];
  /** When it was written. */
  readonly at: string[] = [];
  /** The label of the cycle; 0 when it has none. */
  readonly cycle: number[] = [];
  /** Bits of UNMET. */
  readonly unmet: number[] = [];
  /** The environment was broken, and not just unknown. */
  readonly isBroken: boolean[] = [];
  /** The id of the execution record; null when it names none. */
  readonly execution: (string | null)[] = [];
  readonly texts: PatternText[] = [];
  private readonly numbers: number[] = [];
  private readonly isCycle: boolean[] = [];
  /** Twice the place of a text in `texts`, and 1 more where it is said to hold. Those of a row begin at `starts`. */
  private readonly claims: number[] = [];
  private readonly starts: number[] = [0];
  /** The links of rows that do not just follow the row before. */
  private readonly links = new Map<number, readonly string[]>();
  /** Places in `texts`, by scope and pattern. */
  private readonly places = new Map<string, Map<string, number>>();

  add(id: string, record: LedgerRecord): void {
    const row = this.ids.push(id) - 1;
    const { n, prev, seen, kind, at, cycle, execution } = record;
    if (prev === null || seen.length > 0 || prev !== this.ids[row - 1])
      this.links.set(row, prev === null ? seen : [prev, ...seen]);
    const isCycle = kind === 'cycle';
    this.numbers.push(n);
    this.isCycle.push(isCycle);
    this.at.push(at ?? '');
    this.cycle.push(typeof cycle === 'number' ? cycle : 0);
    this.execution.push(isRecordId(execution) ? execution : null);
    this.isBroken.push(record.environment_valid === false);
    this.unmet.push(unmetBy(record));
    if (isCycle && Array.isArray(record.patterns)) this.addClaims(record.patterns);
    this.starts.push(this.claims.length);
  }

  /** Of these rows only the links count: what was redacted or declared void says nothing any more. */
  hide(isHidden: (id: string) => boolean): void {
    for (const [row, id] of this.ids.entries()) if (isHidden(id)) this.isCycle[row] = false;
  }

  /** The rows of cycles, each record once, sorted by (n, id). */
  cycles(): number[] {
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
    return rows.filter((row, at) => at === 0 || ids[row] !== ids[rows[at - 1] as number]);
  }

  /** Hands over what a row says: which text, by its place in `texts`, and whether it holds. */
  eachClaim(row: number, take: (text: number, holds: boolean) => void): void {
    const end = this.starts[row + 1] as number;
    for (let at = this.starts[row] as number; at < end; at++) {
      const claim = this.claims[at] as number;
      take(claim >> 1, (claim & 1) === 1);
    }
  }

  /** Which rows stand at or before the named heads in the hash graph, as bits by row. */
  ancestorsOf(heads: readonly string[]): Uint8Array {
    const marks = new Uint8Array(this.ids.length);
    if (heads.length === 0) return marks;
    // Of copies the first, as `cycles` has it.
    const rows = new Map<string, number>();
    for (const [row, id] of this.ids.entries()) if (!rows.has(id)) rows.set(id, row);
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

  /** What names the cycle of a row: one that was evaluated twice is one. */
  cycleOf(row: number): string {
    return this.execution[row] ?? (this.ids[row] as string);
  }

  private compare(a: number, b: number): number {
    const [one, other] = [this.ids[a] as string, this.ids[b] as string];
    return (
      (this.numbers[a] as number) - (this.numbers[b] as number) || (one < other ? -1 : one > other ? 1 : 0)
    );
  }

  private addClaims(patterns: readonly Record<string, unknown>[]): void {
    for (const { pattern, scope, holds } of patterns)
      if (typeof pattern === 'string' && typeof scope === 'string')
        this.claims.push(this.placeOf(scope, pattern) * 2 + (holds === false ? 0 : 1));
  }

  private placeOf(scope: string, pattern: string): number {
    let ofScope = this.places.get(scope);
    if (!ofScope) {
      ofScope = new Map();
      this.places.set(scope, ofScope);
    }
    const known = ofScope.get(pattern);
    if (known !== undefined) return known;
    const place = this.texts.push({ scope, pattern }) - 1;
    ofScope.set(pattern, place);
    return place;
  }
}
