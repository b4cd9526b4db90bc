import { fingerprintOf } from './seal.js';

/** What this machine keeps of one repository's keys and seals, outside of it. */
export interface Pins {
  keys: PinnedKey[];
  /** Seals that were made or seen here, the oldest first. */
  seals: string[];
  /** What the last seal made here covers, by ledger: the same again need not be sealed. */
  covered: Partial<Record<string, string[]>>;
}

export interface PinnedKey extends Record<string, unknown> {
  public_key: string;
  at: string;
  /** By `supervisor init`, accepted by a human with a reason, or named when this machine knew none. */
  how: 'made' | 'accepted' | 'first';
}

/**
 * `known`: the settings name it and this machine has pinned it. `foreign`: named, but not pinned while others are.
 * `removed`: pinned, but not named any more.
 */
export type KeyState = 'known' | 'foreign' | 'removed';

export interface SupervisorKey {
  fingerprint: string;
  public_key: string;
  state: KeyState;
}

/** Where nothing is pinned yet, what the settings name is taken as it is: somebody has to be the first. */
export function judgeKeys(named: readonly string[], pins: Pins): SupervisorKey[] {
  const pinned = new Set(pins.keys.map(({ public_key }) => public_key));
  const stateOf = (key: string): KeyState => {
    if (!named.includes(key)) return 'removed';
    return pinned.size === 0 || pinned.has(key) ? 'known' : 'foreign';
  };
  return [...new Set([...named, ...pinned])].map((public_key) => ({
    fingerprint: fingerprintOf(public_key),
    public_key,
    state: stateOf(public_key),
  }));
}

/** So many are enough: each covers the ones before it. */
const MAX_SEALS = 64;

export function pinSeals(pins: Pins, ids: readonly string[]): Pins {
  const fresh = ids.filter((id) => !pins.seals.includes(id));
  return fresh.length === 0 ? pins : { ...pins, seals: [...pins.seals, ...fresh].slice(-MAX_SEALS) };
}

export function pinKeys(
  pins: Pins,
  keys: readonly string[],
  how: PinnedKey['how'],
  at: string,
  reason?: string,
): Pins {
  const known = new Set(pins.keys.map(({ public_key }) => public_key));
  const fresh = keys.filter((key) => !known.has(key));
  if (fresh.length === 0) return pins;
  const why = reason === undefined ? {} : { reason };
  return { ...pins, keys: [...pins.keys, ...fresh.map((public_key) => ({ public_key, at, how, ...why }))] };
}
