import type { LedgerRecord } from './ledger.js';
import type { ArchiveManifest, Digest } from './problem.js';

/** Records that say how a finding was settled. */
const KINDS: ReadonlySet<string> = new Set(['repair', 'adopt', 'drop']);
export const isSettlement = ({ kind }: LedgerRecord): boolean => KINDS.has(kind);

/** Records that say what an archive holds. */
export const isManifest = (record: LedgerRecord): record is LedgerRecord & ArchiveManifest =>
  (record.kind === 'archive' || record.kind === 'reset') && typeof record.ids_sha256 === 'string';

interface Settlement {
  bytes?: Digest[];
  lost?: string[];
  voided?: string[];
  subject?: unknown;
}

/** What repairs, adoptions and drops of a ledger say together (docs/format.md, "Repair"). */
export class Settlements {
  private readonly vouched = new Set<string>();
  private readonly ledgers = new Set<string>();

  /** The ids that it names as lost, and those that it declares void. */
  add(record: LedgerRecord): { lost: string[]; voided: string[] } {
    const { bytes = [], lost = [], voided = [], subject } = record as Settlement;
    for (const digest of bytes) this.vouched.add(keyOf(digest));
    if (typeof subject === 'string') this.ledgers.add(subject);
    return { lost, voided };
  }

  /** Whether a repair vouches for bytes, wherever they stand. */
  vouchFor(digest: Digest): boolean {
    return this.vouched.has(keyOf(digest));
  }

  /** Whether a ledger was adopted or dropped. */
  hasSettled(ledger: string): boolean {
    return this.ledgers.has(ledger);
  }
}

const keyOf = ({ length, sha256 }: Digest): string => `${length} ${sha256}`;
