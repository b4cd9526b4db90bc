import { executionNumber } from '../domain/cycle.js';
import type { IdTable } from '../domain/id-table.js';
import { parseLine, recordId } from '../domain/ledger.js';
import { eachLine, listArchives, listContainers } from '../store/ledger-files.js';
import type { Context } from './context.js';

const REDACTED = Buffer.from('"redacted":"');

/**
 * Which of these execution records the ledger has, live, sealed or redacted. They are sought by their numbers, so that
 * only few lines have to be hashed.
 */
export function findExecutions(
  { layout }: Context,
  names: IdTable,
  wanted: ReadonlyMap<number, number>,
): Set<number> {
  const numbers = new Set([...wanted.values()].map(executionNumber));
  const found = new Set<number>();
  eachLine([...listContainers(layout, 'execution'), ...listArchives(layout)], (bytes) => {
    if (!numbers.has(numberIn(bytes))) return;
    const id = idOf(bytes);
    const name = id === null ? -1 : names.find(id);
    if (wanted.has(name)) found.add(name);
  });
  return found;
}

const BEGINNING = Buffer.from('{"v":1,"tier":"execution","n":');

/** The number of a record by its first bytes, as forge writes them; 0 when there is none. */
function numberIn(bytes: Buffer): number {
  let at = BEGINNING.length;
  if (bytes.compare(BEGINNING, 0, at, 0, at) !== 0)
    return Number(/"n":(\d{1,15})/.exec(bytes.toString('latin1', 0, 160))?.[1] ?? 0);
  let n = 0;
  for (let digit = (bytes[at] as number) - 48; digit >= 0 && digit <= 9; digit = (bytes[++at] as number) - 48)
    n = n * 10 + digit;
  return n;
}

function idOf(bytes: Buffer): string | null {
  if (!bytes.subarray(0, 32).includes(REDACTED)) return recordId(bytes);
  const parsed = parseLine(bytes.toString('utf8'));
  return parsed.kind === 'tombstone' ? parsed.tombstone.redacted : null;
}
