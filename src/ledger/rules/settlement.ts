import type { ArchiveManifest, Digest } from './problem.js';
import { isRecordId, type LedgerRecord } from './record.js';

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

  /** Returns the ids that it names as lost. It may come from anywhere: what has no such form says nothing. */
  add({ bytes, lost, subject }: LedgerRecord): string[] {
    for (const digest of listOf(bytes)) if (isDigest(digest)) this.vouched.add(keyOf(digest));
    if (typeof subject === 'string') this.ledgers.add(subject);
    return listOf(lost).filter(isRecordId);
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

/**
 * What the repairs of a ledger declare void. One that is void itself declares nothing. Whoever names an id has seen its
 * record, so no two name each other.
 */
export class Voids {
  private readonly byId = new Map<string, string[]>();
  private readonly known = new Map<string, boolean>();

  /** A record of any kind, and its id. */
  add(record: LedgerRecord, repair: string): void {
    if (record.kind !== 'repair' || !Array.isArray(record.voided)) return;
    this.known.clear();
    for (const id of new Set(record.voided.filter(isRecordId)))
      this.byId.set(id, [...(this.byId.get(id) ?? []), repair]);
  }

  has(id: string): boolean {
    const found = this.known.get(id);
    if (found !== undefined) return found;
    const isVoid = (this.byId.get(id) ?? []).some((repair) => !this.has(repair));
    this.known.set(id, isVoid);
    return isVoid;
  }

  /** All ids that are void. */
  list(): string[] {
    return [...this.byId.keys()].filter((id) => this.has(id));
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
