import type { LedgerRecord } from './record.js';

/** A critical record of the audit ledger that no human has acknowledged: while there is one, memory is halted. */
export interface Breach {
  id: string;
  at: string;
  /** What was refused, without its value. */
  reason: string;
}

/** Gathers them from the audit ledger's records, in any order: an acknowledgement may stand before what it names. */
export class OpenBreaches {
  private readonly breaches = new Map<string, Breach>();
  private readonly acknowledged = new Set<string>();

  add(record: LedgerRecord, id: string): void {
    if (isCritical(record)) this.breaches.set(id, { id, at: record.at ?? '', reason: String(record.reason) });
    if (record.kind === 'acknowledged' && Array.isArray(record.breaches))
      for (const named of record.breaches) this.acknowledged.add(String(named));
  }

  list(): Breach[] {
    return [...this.breaches.values()].filter(({ id }) => !this.acknowledged.has(id));
  }
}

/** A builder's refused write is critical for its cycle; memory itself is as it was (docs/decisions/0014). */
const isCritical = ({ kind, critical, halts }: LedgerRecord): boolean =>
  kind === 'breach' && critical === true && halts !== false;
