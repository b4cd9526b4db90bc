import { refused } from '../core/error.js';
import { checkText, plural } from '../core/text.js';
import { type Context, isBuilding, requireSupervisor, timestamp } from '../project/project.js';
import { type RecordRef, storeAudit, surroundings } from './append.js';
import { requireDecision } from './human.js';
import { requireMemory } from './integrity.js';
import type { OpenKey } from './key.js';
import { recordId, TIERS, type Tier } from './rules/record.js';
import { type Seal, type SealedLedger, sealText } from './rules/seal.js';
import { type Pins, pinKeys } from './rules/supervisor.js';
import { findGoneSeals } from './seal-look.js';
import { type AppendOptions, type Around, readTips } from './store/ledger.js';
import {
  type Keyring,
  keyAtHand,
  knownKeys,
  openKnownKey,
  pin,
  pinSeal,
  readKeyring,
} from './supervisor-keys.js';

export interface Sealed {
  /** The audit record; null when there was nothing to seal. */
  seal: RecordRef | null;
  /** The fingerprint of the key. */
  key: string;
  ledgers: Record<Tier, SealedLedger>;
}

/** A key that counts, open, beside the others. */
export interface ReadyKey {
  key: OpenKey;
  ring: Keyring;
}

/**
 * What it takes to seal, where a key is at hand and counts, and nobody has to be asked; else null. A builder never
 * seals. Once a seal is gone nothing is sealed any more until a human has looked: a new seal would vouch for what was
 * made of them.
 */
export async function readyToSeal(context: Context, named: readonly string[]): Promise<ReadyKey | null> {
  if (named.length === 0 || isBuilding(context)) return null;
  const ring = readKeyring(context, named);
  const key = keyAtHand(context, ring);
  if (!key) return null;
  if ((await findGoneSeals(context, ring.pins)).length > 0) {
    context.warnings.push(
      'Not sealed: a seal that this machine knows is gone. More: forge memory verify --signatures',
    );
    return null;
  }
  return { key, ring };
}

/** Seals the ledgers as they stand. `fixed` where they are about to be folded. */
export const sealMemory = (
  context: Context,
  ready: ReadyKey,
  around: Around,
  fixed: boolean,
): RecordRef | null => append(context, ready, around, {}, { fixed }).seal;

/** Beside a commit, which then holds a seal over what it holds. Work goes on without one all the same. */
export async function trySeal(context: Context, named: readonly string[]): Promise<void> {
  try {
    const key = await readyToSeal(context, named);
    if (key) sealMemory(context, key, await surroundings(context), false);
  } catch (error) {
    context.warnings.push(`Not sealed: ${(error as Error).message}`);
  }
}

/** `forge memory seal`. With a reason also where earlier seals are gone: they are not missed any more then. */
export async function sealNow(
  context: Context,
  input: { reason?: string; passphrase?: string } = {},
): Promise<Sealed> {
  requireSupervisor(context, 'memory');
  const { reason, passphrase } = input;
  if (reason !== undefined) checkText(reason, { what: 'The reason', maxBytes: 4096 });
  const ring = readKeyring(context);
  const key = openKnownKey(context, ring, passphrase);
  await requireMemory(context);
  const gone = await findGoneSeals(context, ring.pins);
  if (gone.length > 0 && reason === undefined)
    throw refused(
      'seal.removed',
      `${plural(gone.length, 'seal')} of this repository cannot be found any more (${gone[0]?.slice(0, 12)}…).`,
      {
        hint: 'forge memory verify --signatures   and, once you know why: forge memory seal --reason "…"',
      },
    );
  // LTM-14: that they are not missed any more is for a human to say.
  const what = 'Sealing memory whose seals are gone';
  const decision = gone.length > 0 && {
    gone,
    ...requireDecision(context, what, reason, 'memory', { passphrase }),
  };
  const around = await surroundings(context);
  return append(context, { key, ring }, around, decision || (reason === undefined ? {} : { reason }));
}

function append(
  context: Context,
  { key, ring }: ReadyKey,
  around: Around,
  why: { gone?: readonly string[]; by?: string; reason?: string },
  options: AppendOptions = {},
): Sealed {
  const at = timestamp(context);
  const { ledgers, seal } = context.disk.withLock(() => {
    const seen = readTips(context.disk, around);
    if (why.reason === undefined && isCovered(ring.pins, seen)) return { ledgers: seen, seal: null };
    const said: Seal = { public_key: key.public_key, at, ledgers: seen };
    const signature = key.sign(sealText(said));
    const record = { kind: 'seal', key: key.fingerprint, ...said, signature, ...why };
    return { ledgers: seen, seal: storeAudit(context, around, record, options) };
  });
  if (seal) remember(context, ring, ledgers, seal, why.gone ?? []);
  return { seal, key: key.fingerprint, ledgers };
}

/** Nothing but the last seal has come since it was made. */
function isCovered({ seals, covered }: Pins, ledgers: Record<Tier, SealedLedger>): boolean {
  const [head, ...more] = ledgers.audit.heads;
  return more.length === 0 && head === seals.at(-1) && covered === digestOthers(ledgers);
}

/** The heads of all ledgers but the audit ledger, which the seal itself changes. */
function digestOthers(ledgers: Record<Tier, SealedLedger>): string {
  const others = TIERS.filter((tier) => tier !== 'audit').map((tier) => ledgers[tier].heads.join(' '));
  return recordId(others.join('\n'));
}

/** The first seal pins the keys that counted when it was made. */
function remember(
  context: Context,
  { keys, pins }: Keyring,
  ledgers: Record<Tier, SealedLedger>,
  { id }: RecordRef,
  gone: readonly string[],
): void {
  if (pins.keys.length === 0 || gone.length > 0)
    pin(context, (before) => {
      const first = before.keys.length === 0 ? [...knownKeys(keys)] : [];
      const seals = before.seals.filter((seal) => !gone.includes(seal));
      return pinKeys({ ...before, seals }, first, 'first', timestamp(context));
    });
  pinSeal(context, id, digestOthers(ledgers));
}
