import { isRecordId, type LedgerRecord } from './ledger.js';
import type { ArchiveManifest, Digest } from './problem.js';

/** Records that say how a finding was settled. */
const KINDS: ReadonlySet<string> = new Set(['repair', 'adopt', 'drop']);
export const isSettlement = ({ kind }: LedgerRecord): boolean => KINDS.has(kind);

/** Records that say what an archive holds. */
export const isManifest = (record: LedgerRecord): record is LedgerRecord & ArchiveManifest =>
  (record.kind === 'archive' || record.kind === 'reset') && typeof record.ids_sha256 === 'string';

/** What repairs, adoptions and drops of a ledger say together (docs/format.md, "Repair"). */
export class Settlements {
  private readonly vouched = new Set<string>();
  private readonly ledgers = new Set<string>();

  /** The ids that it names as lost, and those that it declares void. It may come from anywhere: what has no such form says nothing. */
  add({ bytes, lost, voided, subject }: LedgerRecord): { lost: string[]; voided: string[] } {
    for (const digest of listOf(bytes)) if (isDigest(digest)) this.vouched.add(keyOf(digest));
    if (typeof subject === 'string') this.ledgers.add(subject);
    return { lost: listOf(lost).filter(isRecordId), voided: listOf(voided).filter(isRecordId) };
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

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const isDigest = (value: unknown): value is Digest =>
  typeof value === 'object' &&
  value !== null &&
  'length' in value &&
  typeof value.length === 'number' &&
  'sha256' in value &&
  typeof value.sha256 === 'string';

const keyOf = ({ length, sha256 }: Digest): string => `${length} ${sha256}`;
