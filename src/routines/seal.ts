import type { OpenKey } from '../adapters/key.js';
import { refused } from '../domain/error.js';
import { TIERS, type Tier } from '../domain/ledger.js';
import { type Seal, type SealedLedger, sealText } from '../domain/seal.js';
import { type Pins, pinKeys, pinSeals } from '../domain/supervisor.js';
import { checkText } from '../domain/text.js';
import { readTips } from '../store/ledger.js';
import { type Context, isBuilding, readConfig, requireSupervisor, timestamp } from './context.js';
import { requireMemory } from './integrity.js';
import { type RecordRef, storeAudit, surroundings } from './ledger.js';
import { findGoneSeals } from './seal-look.js';
import { keyAtHand, openKnownKey, pin, pinned } from './supervisor-keys.js';

export interface Sealed {
  /** The audit record; null when there was nothing to seal. */
  seal: RecordRef | null;
  /** The fingerprint of the key. */
  key: string;
  ledgers: Record<Tier, SealedLedger>;
}

/**
 * Seals the ledgers as they stand, where a key is at hand and counts, and nobody has to be asked; else null, and nothing
 * happens. A builder never seals. Once a seal is gone nothing is sealed any more until a human has looked: a new seal
 * would vouch for what was made of them.
 */
export async function sealMemory(context: Context): Promise<RecordRef | null> {
  if (readConfig(context).supervisor.keys.length === 0 || isBuilding(context)) return null;
  const key = keyAtHand(context);
  if (!key) return null;
  if ((await findGoneSeals(context)).length > 0) {
    context.warnings.push(
      'Not sealed: a seal that this machine knows is gone. More: forge memory verify --signatures',
    );
    return null;
  }
  return (await append(context, key)).seal;
}

/** `forge memory seal`. With a reason also where earlier seals are gone: they are not missed any more then. */
export async function sealNow(
  context: Context,
  input: { reason?: string; passphrase?: string } = {},
): Promise<Sealed> {
  requireSupervisor(context, 'memory');
  const { passphrase } = input;
  const reason =
    input.reason === undefined ? undefined : checkText(input.reason, { what: 'The reason', maxBytes: 4096 });
  const key = openKnownKey(context, passphrase);
  await requireMemory(context);
  const gone = await findGoneSeals(context);
  if (gone.length > 0 && reason === undefined)
    throw refused(
      'seal.removed',
      `${gone.length === 1 ? 'A seal' : `${gone.length} seals`} of this repository ${gone.length === 1 ? 'is' : 'are'} gone (${gone[0]?.slice(0, 12)}…).`,
      {
        hint: 'forge memory verify --signatures   and, once you know why: forge memory seal --reason "…"',
      },
    );
  return append(context, key, { gone, ...(reason === undefined ? {} : { reason }) });
}

async function append(
  context: Context,
  key: OpenKey,
  { gone = [], reason }: { gone?: readonly string[]; reason?: string } = {},
): Promise<Sealed> {
  const around = await surroundings(context);
  const at = timestamp(context);
  const known = pinned(context);
  const { ledgers, seal } = context.disk.withLock(() => {
    const seen = readTips(context.disk, around);
    if (reason === undefined && isCovered(known, seen)) return { ledgers: seen, seal: null };
    const said: Seal = { public_key: key.public_key, at, ledgers: seen };
    const signature = key.sign(sealText(said));
    const why = reason === undefined ? {} : { reason, ...(gone.length > 0 ? { gone } : {}) };
    const record = { kind: 'seal', key: key.fingerprint, ...said, signature, ...why };
    return { ledgers: seen, seal: storeAudit(context, around, record) };
  });
  if (seal) remember(context, key, ledgers, seal, gone);
  return { seal, key: key.fingerprint, ledgers };
}

/** Nothing but the last seal has come since it was made. */
function isCovered({ seals, covered }: Pins, ledgers: Record<Tier, SealedLedger>): boolean {
  const last = seals.at(-1);
  return TIERS.every((tier) => {
    const heads = tier === 'audit' ? [last] : covered[tier];
    return heads !== undefined && heads.join() === ledgers[tier].heads.join();
  });
}

function remember(
  context: Context,
  { public_key }: OpenKey,
  ledgers: Record<Tier, SealedLedger>,
  { id }: RecordRef,
  gone: readonly string[],
): void {
  const named = readConfig(context).supervisor.keys;
  pin(context, (pins) => {
    const first = pins.keys.length === 0 ? named : [public_key];
    const kept = { ...pins, seals: pins.seals.filter((seal) => !gone.includes(seal)) };
    const covered = Object.fromEntries(TIERS.map((tier) => [tier, ledgers[tier].heads]));
    return { ...pinSeals(pinKeys(kept, first, 'first', timestamp(context)), [id]), covered };
  });
}
