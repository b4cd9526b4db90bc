import { isEncryptedKey, keptPassphrase, keyFileOf, makeKey, openKey } from '../adapters/key.js';
import { decodeConfig } from '../domain/config.js';
import { decodeUtf8 } from '../domain/document.js';
import { ForgeError, usage } from '../domain/error.js';
import { fingerprintOf, isPublicKey } from '../domain/seal.js';
import {
  retireKey as markRetired,
  type PinnedKey,
  pinKeys,
  type SupervisorKey,
} from '../domain/supervisor.js';
import { oneLine } from '../domain/text.js';
import { addTomlItem, removeTomlItem } from '../domain/toml.js';
import { configFile, shown } from '../store/layout.js';
import { type Context, readConfig, timestamp } from './context.js';
import { requireDecision, requireHuman } from './human.js';
import { requireMemory } from './integrity.js';
import { type RecordRef, storeAudit } from './ledger.js';
import { type ReadRecord, readRecords } from './memory-read.js';
import { knownKeys, pin, repositoryRoots, supervisorKeys } from './supervisor-keys.js';

/** The private half on this machine; `fingerprint` and `public_key` are null while it is encrypted and unopened. */
export interface KeyHere {
  fingerprint: string | null;
  public_key: string | null;
  file: string;
  encrypted: boolean;
}

export interface SupervisorReport {
  /** Null: there is none at the usual place, or at FORGE_SUPERVISOR_KEY. */
  key: KeyHere | null;
  keys: SupervisorKey[];
  last_seal: { id: string; n: number; at: string; key: string } | null;
}

/** Whose seals count here, and whether the private half of one is at hand. */
export function showSupervisor(context: Context): SupervisorReport {
  const last = readRecords(context, 'audit', { wanted: ({ kind }) => kind === 'seal' }).at(-1);
  return {
    key: keyQuietly(context),
    keys: supervisorKeys(context),
    last_seal: last ? describeSeal(last) : null,
  };
}

const describeSeal = ({ id, record: { n, at = '', key } }: ReadRecord) => ({ id, n, at, key: String(key) });

/** A key that cannot be used is told; everything else is shown all the same. */
function keyQuietly(context: Context): KeyHere | null {
  try {
    return keyHere(context);
  } catch (error) {
    context.warnings.push((error as Error).message);
    return null;
  }
}

function keyHere(context: Context): KeyHere | null {
  const file = keyFileOf(context.world.env);
  const roots = repositoryRoots(context);
  const encrypted = isEncryptedKey(file, roots);
  if (encrypted === null) return null;
  const secret = keptPassphrase(context.world.env);
  if (encrypted && secret === undefined) return { fingerprint: null, public_key: null, file, encrypted };
  const { fingerprint, public_key } = openKey(file, roots, secret);
  return { fingerprint, public_key, file, encrypted };
}

/** Whether `init` would take a key that is there, or make one. */
export function lookForKey(context: Context, input: { key?: string } = {}): { exists: boolean } {
  const file = input.key ?? keyFileOf(context.world.env);
  return { exists: isEncryptedKey(file, repositoryRoots(context)) !== null };
}

/** Makes a key outside the repository, or takes the one that is there, and adds its public half to the settings. */
export async function initSupervisor(
  context: Context,
  input: { key?: string; passphrase?: string } = {},
): Promise<SupervisorReport> {
  const by = requireHuman(context, "Making a supervisor's key", 'supervisor keys');
  const { around } = await requireMemory(context);
  const file = input.key ?? keyFileOf(context.world.env);
  const roots = repositoryRoots(context);
  const isNew = isEncryptedKey(file, roots) === null;
  const secret = input.passphrase ?? keptPassphrase(context.world.env);
  if (isNew) {
    // The key stays if the rest fails: the next `init` takes it.
    makeKey(file, roots, secret, context.disk.dryRun);
    if (context.disk.dryRun) return showSupervisor(context);
  }
  const { public_key, fingerprint, encrypted } = openKey(file, roots, secret);
  const added = editKeys(context, public_key, true);
  pinKey(context, public_key, 'made');
  if (added)
    storeAudit(context, around, {
      kind: 'supervisor_key',
      action: 'added',
      key: fingerprint,
      public_key,
      by,
    });
  return { ...showSupervisor(context), key: { fingerprint, public_key, file, encrypted } };
}

/**
 * A human accepts a key: of those that the settings name or that this machine knows by its fingerprint, or any by its
 * public half. From then on it is named and pinned.
 */
export async function trustKey(
  context: Context,
  input: { key: string; reason?: string },
): Promise<{ key: SupervisorKey; audit: RecordRef }> {
  const decision = requireDecision(context, "Accepting a supervisor's key", input.reason, 'supervisor keys');
  const public_key = findKey(context, input.key);
  const fingerprint = fingerprintOf(public_key);
  const { around } = await requireMemory(context);
  editKeys(context, public_key, true);
  pinKey(context, public_key, 'accepted', decision.reason);
  const record = { kind: 'supervisor_key', action: 'trusted', key: fingerprint, public_key, ...decision };
  const audit = storeAudit(context, around, record);
  return { key: { fingerprint, public_key, state: 'known' }, audit };
}

function findKey(context: Context, wanted: string): string {
  if (isPublicKey(wanted)) return wanted;
  const found = supervisorKeys(context).filter(
    ({ fingerprint }) => wanted.length >= 6 && fingerprint.startsWith(wanted),
  );
  const [first] = found;
  if (first && found.length === 1) return first.public_key;
  throw usage('key.unknown', `${JSON.stringify(oneLine(wanted, 80))} names no supervisor's key here.`, {
    hint: 'forge supervisor show   (or give its public half: ed25519:…)',
  });
}

/** A human takes a key out, of the settings and of what counts here: what it sealed is vouched for by nobody any more. */
export async function retireKey(
  context: Context,
  input: { key: string; reason?: string },
): Promise<{ key: SupervisorKey; audit: RecordRef }> {
  const decision = requireDecision(context, "Retiring a supervisor's key", input.reason, 'supervisor keys');
  const public_key = findKey(context, input.key);
  const fingerprint = fingerprintOf(public_key);
  const { around } = await requireMemory(context);
  editKeys(context, public_key, false);
  pinKey(context, public_key, 'first');
  pin(context, (pins) => markRetired(pins, public_key, timestamp(context)));
  const record = { kind: 'supervisor_key', action: 'retired', key: fingerprint, public_key, ...decision };
  const audit = storeAudit(context, around, record);
  return { key: { fingerprint, public_key, state: 'retired' }, audit };
}

/** Puts it into `[supervisor] keys`, or takes it out; comments and everything else stay. False when it was so already. */
function editKeys(context: Context, public_key: string, wanted: boolean): boolean {
  const { disk, layout } = context;
  const path = configFile(layout);
  const file = shown(layout, path);
  return disk.withLock(() => {
    if (readConfig(context).supervisor.keys.includes(public_key) === wanted) return false;
    const bytes = disk.read(path) as Buffer;
    const edit = wanted ? addTomlItem : removeTomlItem;
    const after = edit(decodeUtf8(bytes, file), 'supervisor', 'keys', public_key);
    if (isNamed(after, file, public_key) !== wanted)
      throw usage('config.form', `${file}: the list of keys in [supervisor] could not be changed.`, {
        hint: `by hand, below [supervisor], ${wanted ? 'add to' : 'take out of'} keys = […]: "${public_key}"`,
      });
    disk.replace(path, Buffer.from(after, 'utf8'), bytes);
    return true;
  });
}

function isNamed(text: string, file: string, public_key: string): boolean | null {
  try {
    return decodeConfig(text, file).config.supervisor.keys.includes(public_key);
  } catch (error) {
    if (error instanceof ForgeError) return null;
    throw error;
  }
}

/** Those that were taken as they are until now are pinned too: another one beside them is foreign from here on. */
function pinKey(context: Context, public_key: string, how: PinnedKey['how'], reason?: string): void {
  const at = timestamp(context);
  const others = [...knownKeys(supervisorKeys(context))].filter((key) => key !== public_key);
  pin(context, (pins) => {
    const first = pins.keys.length === 0 ? pinKeys(pins, others, 'first', at) : pins;
    return pinKeys(first, [public_key], how, at, reason);
  });
}
