import { createHash, createPublicKey, verify } from 'node:crypto';
import { isRecordId, type LedgerRecord, TIERS, type Tier } from './record.js';

/** What stands in front of an Ed25519 key's 32 bytes in DER (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const PREFIX = 'ed25519:';

/** The public half of a supervisor's key: `ed25519:` and the base64 of its 32 bytes. */
export const PUBLIC_KEY = /^ed25519:[A-Za-z0-9+/]{43}=$/;

/** Only the one way to write it: else one key could be named twice. */
export function isPublicKey(text: string): boolean {
  return PUBLIC_KEY.test(text) && formatKey(rawOf(text)) === text;
}

const rawOf = (key: string): Buffer => Buffer.from(key.slice(PREFIX.length), 'base64');
const formatKey = (raw: Buffer): string => `${PREFIX}${raw.toString('base64')}`;

/** The public half as it is named, of its 32 bytes; in DER they stand at the end. */
export const publicKeyOf = (bytes: Buffer): string => formatKey(bytes.subarray(-32));

/** How a key is called: 16 hex digits of SHA-256 over its DER form. */
export const fingerprintOf = (publicKey: string): string =>
  createHash('sha256').update(SPKI).update(rawOf(publicKey)).digest('hex').slice(0, 16);

/** A ledger as it stood. */
export interface SealedLedger {
  ledger: string;
  /** Ids that nothing follows, sorted. */
  heads: string[];
  /** How many lead there, themselves included. */
  records: number;
}

/** What a seal says; the signature is over `sealText` of it. */
export interface Seal {
  public_key: string;
  at: string;
  ledgers: Record<Tier, SealedLedger>;
}

export interface SignedSeal extends Seal {
  /** The fingerprint that the record claims. */
  key: string;
  signature: string;
}

/**
 * The bytes that are signed (docs/format.md, "Seals"): lines ended by LF, in this order, with single spaces. No JSON,
 * whose form would have to be agreed on.
 */
export function sealText({ public_key, at, ledgers }: Seal): string {
  const lines = TIERS.map((tier) => {
    const { ledger, records, heads } = ledgers[tier];
    return [tier, ledger, String(records), ...heads].join(' ');
  });
  return `${['forge seal 1', `key ${public_key}`, `at ${at}`, ...lines].join('\n')}\n`;
}

export const formatSignature = (signature: Buffer): string => formatKey(signature);

/** What an audit record of kind `seal` says; null when it has not the form of one. */
export function readSeal(record: LedgerRecord): SignedSeal | null {
  const { key, public_key, signature, at, ledgers } = record;
  const named = ledgers as Partial<Record<Tier, Partial<SealedLedger>>> | null;
  if (typeof key !== 'string' || typeof at !== 'string' || typeof signature !== 'string') return null;
  if (typeof public_key !== 'string' || !isPublicKey(public_key)) return null;
  if (typeof named !== 'object' || named === null) return null;
  if (!TIERS.every((tier) => isSealed(named[tier]))) return null;
  return { key, public_key, signature, at, ledgers: named as Record<Tier, SealedLedger> };
}

const isSealed = (value: Partial<SealedLedger> | undefined): boolean =>
  isRecordId(value?.ledger) &&
  Number.isSafeInteger(value.records) &&
  Array.isArray(value.heads) &&
  value.heads.every(isRecordId);

/** Whether the key that it names signed it, and it names that key rightly. */
export function holds(seal: SignedSeal): boolean {
  if (seal.key !== fingerprintOf(seal.public_key) || !seal.signature.startsWith(PREFIX)) return false;
  try {
    const der = Buffer.concat([SPKI, rawOf(seal.public_key)]);
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return verify(null, Buffer.from(sealText(seal), 'utf8'), key, rawOf(seal.signature));
  } catch {
    return false;
  }
}
