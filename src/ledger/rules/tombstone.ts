import { type LedgerRecord, recordId, type Tier, type Tombstone } from './record.js';

/** Kinds that hold a ledger together or say what a human decided: without them it would not be what it was. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'genesis',
  'repair',
  'adopt',
  'drop',
  'archive',
  'reset',
  'consolidation',
  'contested',
  'reinstated',
  'invalidated',
]);

/** Why a record cannot be redacted; null where it can. */
export function whyNotRedact(tier: Tier, kind: string): string | null {
  if (tier === 'audit') return 'it is an audit record: who did what to memory, and why, is kept for good';
  return STRUCTURE.has(kind) ? `it is a ${kind} record, which other records rely on` : null;
}

/** What stands for a record once its content is gone: its id and its links (LTM-19). */
export function tombstoneOf(id: string, { tier, n, prev, seen, ledger }: LedgerRecord): Tombstone {
  return { v: 1, tier, redacted: id, n, prev, seen, ...(ledger === undefined ? {} : { ledger }) };
}

const MARK = Buffer.from('"redacted":"');
/** The mark stands behind the version and the tier. */
const START_BYTES = 48;

/** The id of the record that a tombstone's line stands for; null for any other line. */
export function redactedIn(line: Buffer): string | null {
  const at = line.subarray(0, START_BYTES).indexOf(MARK);
  if (at < 0) return null;
  const start = line.toString('latin1', 0, at + MARK.length + 65);
  return /^\{"v":1,(?:"tier":"[a-z]+",)?"redacted":"([0-9a-f]{64})"$/.exec(start)?.[1] ?? null;
}

/** The id that a line is known by: its own, or that of the record which it stands for. */
export const identify = (line: Buffer): string => redactedIn(line) ?? recordId(line);

/**
 * One line for `git filter-repo --replace-text`: what is a record's line becomes its tombstone. Known by what stands
 * before the record's own fields, so that it says nothing of them.
 */
export function replacementFor(id: string, record: LedgerRecord): string {
  const { v, tier, n, prev, seen, salt, ledger, at } = record;
  const first = prev === null ? { salt, ledger } : {};
  const start = JSON.stringify({ v, tier, n, prev, seen, ...first, at }).slice(0, -1);
  const pattern = start.replace(/[{}[\]().*+?^$|\\]/g, '\\$&');
  return `regex:(?m)^${pattern},.*$==>${JSON.stringify(tombstoneOf(id, record))}`;
}
