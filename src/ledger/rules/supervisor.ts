import { fingerprintOf } from './seal.js';

/** What this machine keeps of one repository's keys and seals, outside of it. */
export interface Pins {
  keys: PinnedKey[];
  /** Seals that were made or seen here, the oldest first. */
  seals: string[];
  /** A digest of what the last seal made here covers, where that was the last: the same again need not be sealed. */
  covered: string | null;
}

export interface PinnedKey extends Record<string, unknown> {
  public_key: string;
  at: string;
  /** By `supervisor init`, accepted by a human with a reason, or named when this machine knew none. */
  how: 'made' | 'accepted' | 'first';
  /** When a human took it out; its seals do not count any more. */
  retired_at?: string;
}

/**
 * `known`: the settings name it and this machine has pinned it. `foreign`: named, but not pinned while others are.
 * `removed`: pinned, but not named any more. `retired`: the same, and a human has said so.
 */
export type KeyState = 'known' | 'foreign' | 'removed' | 'retired';

export interface SupervisorKey {
  fingerprint: string;
  public_key: string;
  state: KeyState;
}

/** Where nothing is pinned yet, what the settings name is taken as it is: somebody has to be the first. */
export function judgeKeys(named: readonly string[], pins: Pins): SupervisorKey[] {
  const pinned = new Set(pins.keys.map(({ public_key }) => public_key));
  const retired = new Set(
    pins.keys.filter(({ retired_at }) => retired_at).map(({ public_key }) => public_key),
  );
  const stateOf = (key: string): KeyState => {
    if (!named.includes(key)) return retired.has(key) ? 'retired' : 'removed';
    // Somebody put it back into the settings.
    if (retired.has(key)) return 'foreign';
    return pinned.size === 0 || pinned.has(key) ? 'known' : 'foreign';
  };
  return [...new Set([...named, ...pinned])].map((public_key) => ({
    fingerprint: fingerprintOf(public_key),
    public_key,
    state: stateOf(public_key),
  }));
}

/** So many are enough: each covers the ones before it. */
export const MAX_SEALS = 64;

export function pinSeals(pins: Pins, ids: readonly string[]): Pins {
  const fresh = ids.filter((id) => !pins.seals.includes(id));
  if (fresh.length === 0) return pins;
  return { ...pins, seals: [...pins.seals, ...fresh].slice(-MAX_SEALS), covered: null };
}

export function retireKey(pins: Pins, key: string, at: string): Pins {
  const keys = pins.keys.map((known) => (known.public_key === key ? { ...known, retired_at: at } : known));
  return { ...pins, keys };
}

const SEAL_LINE = /^([0-9a-f]{64})(?: ([0-9a-f]{64}))?$/;

/** One line a seal, its id first; what is no such line, as a crash may leave it, is passed over. */
export function parsePinnedSeals(text: string): Pick<Pins, 'seals' | 'covered'> {
  const found = text.split('\n').map((line) => SEAL_LINE.exec(line));
  const lines = found.filter((match) => match !== null);
  const ids = [...new Set(lines.map(([, id = '']) => id))];
  return { seals: ids.slice(-MAX_SEALS), covered: lines.at(-1)?.[2] ?? null };
}

export const formatPinnedSeals = ({ seals, covered }: Pick<Pins, 'seals' | 'covered'>): string =>
  seals
    .map((id, i) => (covered !== null && i === seals.length - 1 ? `${id} ${covered}\n` : `${id}\n`))
    .join('');

export function pinKeys(
  pins: Pins,
  keys: readonly string[],
  how: PinnedKey['how'],
  at: string,
  reason?: string,
): Pins {
  const known = new Set(
    pins.keys.filter(({ retired_at }) => !retired_at).map(({ public_key }) => public_key),
  );
  const fresh = keys.filter((key) => !known.has(key));
  if (fresh.length === 0) return pins;
  const why = reason === undefined ? {} : { reason };
  const others = pins.keys.filter(({ public_key }) => !fresh.includes(public_key));
  return { ...pins, keys: [...others, ...fresh.map((public_key) => ({ public_key, at, how, ...why }))] };
}
