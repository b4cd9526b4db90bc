import type { Layout } from '../core/paths.js';
import { executionNumber } from '../learning/evaluation.js';
import { numberAt } from '../learning/evaluation-line.js';
import { CYCLE, type EvaluationTable } from '../learning/evaluation-table.js';
import type { Context } from '../project/project.js';
import type { IdTable } from './rules/id-table.js';
import { lineOf, type Piece, parseLine, recordDigest } from './rules/record.js';
import { type Container, eachSpan, listArchives, listContainers } from './store/files.js';

/** So many of the last bits of a number tell which lines are looked at more closely. */
const SIEVE = 1 << 20;

/** Whether the execution record of a cycle, by its name in the table, was sought in vain. */
export const isMissing = ({ names }: EvaluationTable, name: number): boolean =>
  names.has(name, CYCLE.sought) && !names.has(name, CYCLE.found);

/**
 * Looks for the execution records that these rows name in the ledger, live, sealed or redacted, and notes in the table
 * which are there; true when none is missing. They are sought by their numbers, so that only few lines have to be hashed.
 */
export function findExecutions(
  { layout }: Context,
  table: EvaluationTable,
  rows: readonly number[],
): boolean {
  const { names } = table;
  const sieve = new Uint8Array(SIEVE);
  let open = 0;
  for (const row of rows) {
    const name = table.name[row] as number;
    if (names.has(name, CYCLE.found)) continue;
    sieve[executionNumber(table.cycle[row] as number) % SIEVE] = 1;
    if (!names.has(name, CYCLE.sought)) open++;
    names.mark(name, CYCLE.sought);
  }
  if (open === 0) return true;
  eachSpan(containersOf(layout), (piece, start, end) => {
    const isPlain = piece.text.startsWith(BEGINNING, start);
    const n = isPlain ? numberAt(piece.bytes, start + BEGINNING.length) : numberIn(piece, start, end);
    if (sieve[n % SIEVE] !== 1) return;
    const line = lineOf(piece, start, end);
    const name = isPlain ? names.findDigest(recordDigest(line)) : findOther(names, line);
    if (name < 0 || !isMissing(table, name)) return;
    names.mark(name, CYCLE.found);
    open--;
  });
  return open === 0;
}

const containersOf = (layout: Layout): Container[] => [
  ...listContainers(layout, 'execution'),
  ...listArchives(layout),
];

/** As forge writes them. */
const BEGINNING = '{"v":1,"tier":"execution","n":';

/** The number of any other line; 0 when there is none. */
const numberIn = ({ text }: Piece, start: number, end: number): number =>
  Number(/"n":(\d{1,15})/.exec(text.slice(start, Math.min(start + 160, end)))?.[1] ?? 0);

/** A line that may stand where a record was redacted. */
function findOther(names: IdTable, line: Uint8Array): number {
  const bytes = Buffer.from(line);
  if (!bytes.subarray(0, 32).includes('"redacted":"')) return names.findDigest(recordDigest(line));
  const parsed = parseLine(bytes.toString());
  return parsed.kind === 'tombstone' ? names.find(parsed.tombstone.redacted) : -1;
}
