import { usage } from '../../core/error.js';
import { formatRecord, MAX_RECORD_BYTES, MAX_SEEN, recordId, type Tier } from './record.js';

/** What an append must know of its ledger. */
export interface Tip {
  ledger: string;
  /** Ids that nothing follows yet, sorted. */
  heads: string[];
  maxN: number;
}

/** A record's own fields; the links are made here. */
export type RecordBody = { kind: string } & Record<string, unknown>;
/** For records that are called by their number. */
export type Draft = RecordBody | ((n: number) => RecordBody);

export interface PlannedLine {
  id: string;
  n: number;
  line: string;
}

export interface Plan {
  lines: PlannedLine[];
  /** The tip once they are written. */
  tip: Tip;
}

/**
 * The lines that continue a segment whose last record is `last` (null: a new segment). The first names the other
 * heads, so that histories which met in a merge are tied together; the rest of a batch only follows.
 */
export function planLines(
  tier: Tier,
  tip: Tip,
  last: string | null,
  drafts: readonly Draft[],
  salt = '',
): Plan {
  const lines: PlannedLine[] = [];
  let prev = last;
  let { heads, maxN } = tip;
  for (const draft of drafts) {
    const n = maxN + 1;
    const body = typeof draft === 'function' ? draft(n) : draft;
    const seen = heads.filter((head) => head !== prev).slice(0, MAX_SEEN);
    // No record says of itself where it belongs: the links are made here, whatever fields it brings.
    const line = formatRecord({ v: 1, tier, n, prev, seen, salt, ledger: tip.ledger }, body);
    checkSize(line);
    const id = recordId(line);
    lines.push({ id, n, line });
    heads = seen.length === 0 && heads.length < 2 ? [id] : [...unfollowed(heads, seen, prev), id].sort();
    maxN = n;
    prev = id;
  }
  return { lines, tip: { ledger: tip.ledger, heads, maxN } };
}

function unfollowed(heads: readonly string[], seen: readonly string[], prev: string | null): string[] {
  const followed = new Set([...seen, prev]);
  return heads.filter((head) => !followed.has(head));
}

/** Room for the links, which are only known when it is written. */
const LINKS_BYTES = 8192;

/** Before anything of a group of records is stored: none of them may turn out too large in the middle. */
export function checkBody(body: RecordBody): void {
  checkSize(JSON.stringify(body), LINKS_BYTES);
}

function checkSize(line: string, links = 0): void {
  const bytes = Buffer.byteLength(line, 'utf8') + links;
  if (bytes > MAX_RECORD_BYTES)
    throw usage('record.too_large', `The record has ${bytes} bytes; ${MAX_RECORD_BYTES} are allowed.`, {
      hint: 'Keep the long part in a file and record its digest.',
    });
}
