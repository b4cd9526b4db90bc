import { usage } from './error.js';
import {
  formatRecord,
  type LedgerRecord,
  MAX_RECORD_BYTES,
  MAX_SEEN,
  recordId,
  type Tier,
} from './ledger.js';

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
export function planLines(tier: Tier, tip: Tip, last: string | null, drafts: readonly Draft[]): Plan {
  const lines: PlannedLine[] = [];
  let prev = last;
  let { heads, maxN } = tip;
  for (const draft of drafts) {
    const body = typeof draft === 'function' ? draft(maxN + 1) : draft;
    const seen = heads.filter((head) => head !== prev).slice(0, MAX_SEEN);
    const links = {
      v: 1 as const,
      tier,
      n: maxN + 1,
      prev,
      seen,
      ...(prev === null ? { ledger: tip.ledger } : {}),
    };
    // Last: no record says of itself where it belongs.
    const line = formatRecord({ ...body, ...links } as LedgerRecord);
    checkSize(line);
    const id = recordId(line);
    lines.push({ id, n: maxN + 1, line });
    const followed = new Set([...seen, prev]);
    heads = [...heads.filter((head) => !followed.has(head)), id];
    maxN++;
    prev = id;
  }
  return { lines, tip: { ledger: tip.ledger, heads: heads.sort(), maxN } };
}

function checkSize(line: string): void {
  const bytes = Buffer.byteLength(line, 'utf8');
  if (bytes > MAX_RECORD_BYTES)
    throw usage('record.too_large', `The record has ${bytes} bytes; ${MAX_RECORD_BYTES} are allowed.`, {
      hint: 'Keep the long part in a file and record its digest.',
    });
}
