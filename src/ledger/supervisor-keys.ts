import { stateHome } from '../core/environment.js';
import { refused } from '../core/error.js';
import { pinsFile } from '../core/paths.js';
import { identityOf } from '../git/repository.js';
import { type Context, lockPolicy, readConfig } from '../project/project.js';
import { hasKeyFile, keptPassphrase, keyFileOf, type OpenKey, openKey } from './key.js';
import { judgeKeys, type Pins, pinSeals, type SupervisorKey } from './rules/supervisor.js';
import { appendPinnedSeal, readPins, updatePins } from './store/pins.js';

const pinsOf = ({ world, layout, repository }: Context): { path: string; identity: string } => {
  const identity = identityOf(layout.root, repository);
  return { path: pinsFile(stateHome(world.env), identity), identity };
};

/** What this machine has seen of this repository's keys and seals. */
export function pinned(context: Context): Pins {
  const { path, identity } = pinsOf(context);
  return readPins(path, identity);
}

export function pin(context: Context, change: (pins: Pins) => Pins): void {
  if (context.disk.dryRun) return;
  const { path, identity } = pinsOf(context);
  updatePins(path, identity, lockPolicy(context.world), change);
}

/** A seal that was just made here. */
export function pinSeal(context: Context, id: string, covered: string): void {
  if (context.disk.dryRun) return;
  const { path } = pinsOf(context);
  if (!appendPinnedSeal(path, id, covered)) pin(context, (pins) => ({ ...pinSeals(pins, [id]), covered }));
}

/** The keys of a repository, as they were at one moment. */
export interface Keyring {
  pins: Pins;
  /** Every key that the settings name or this machine has pinned. */
  keys: SupervisorKey[];
}

export function readKeyring(
  context: Context,
  named: readonly string[] = readConfig(context).supervisor.keys,
): Keyring {
  const pins = pinned(context);
  return { pins, keys: judgeKeys(named, pins) };
}

export const supervisorKeys = (context: Context): SupervisorKey[] => readKeyring(context).keys;

export const knownKeys = (keys: readonly SupervisorKey[]): Set<string> =>
  new Set(keys.filter(({ state }) => state === 'known').map(({ public_key }) => public_key));

/** Where no private key may be: whoever has the repository would have it. */
export const repositoryRoots = ({ layout, repository }: Context): string[] =>
  repository ? [layout.root, repository.root, repository.commonDir] : [layout.root];

/** The private key here, open. Exit 3 `key.missing`, `key.passphrase`, `key.unusable` or `key.unknown`. */
export function openKnownKey(context: Context, { keys }: Keyring, passphrase?: string): OpenKey {
  const file = keyFileOf(context.world.env);
  const roots = repositoryRoots(context);
  if (!hasKeyFile(file))
    throw refused('key.missing', `There is no supervisor's key at ${file}.`, {
      hint: 'a human makes it: forge supervisor init',
    });
  const key = openKey(file, roots, passphrase ?? keptPassphrase(context.world.env));
  requireKnown(keys, key);
  return key;
}

/** The private key, where it can be had without asking anybody, and counts; else null. Never throws. */
export function keyAtHand(context: Context, ring: Keyring): OpenKey | null {
  try {
    return openKnownKey(context, ring);
  } catch {
    return null;
  }
}

/** Only a key that is named, and pinned where any is: anybody can make one (docs/governance.md). */
export function requireKnown(
  keys: readonly SupervisorKey[],
  key: Pick<OpenKey, 'public_key' | 'fingerprint'>,
): void {
  if (knownKeys(keys).has(key.public_key)) return;
  const how = keys.length === 0 ? 'names it' : 'accepts it';
  const call = keys.length === 0 ? 'init' : 'trust KEY --reason "…"';
  throw refused('key.unknown', `The key ${key.fingerprint} is none of this repository's supervisors' keys.`, {
    hint: `ask a human, who ${how} at a terminal: forge supervisor ${call}`,
  });
}
