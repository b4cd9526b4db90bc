import { resolve } from 'node:path';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type Context, timestamp } from '../project/project.js';
import { type RecordRef, storeAudit } from './append.js';
import { requireDecision, requireHuman } from './human.js';
import { requireMemory } from './integrity.js';
import { isEncryptedKey, keptPassphrase, keyFileOf, makeKey, openKey } from './key.js';
import { type ReadRecord, readRecords } from './read.js';
import { fingerprintOf, isPublicKey } from './rules/seal.js';
import { retireKey as markRetired, type SupervisorKey } from './rules/supervisor.js';
import { editKeys, pinKey } from './supervisor-edit.js';
import { pin, repositoryRoots, supervisorKeys } from './supervisor-keys.js';

/** The private half on this machine; `fingerprint` and `public_key` are null while it is encrypted and unopened. */
export interface KeyHere {
  fingerprint: string | null;
  public_key: string | null;
  file: string;
  encrypted: boolean;
}

export interface KeyInput {
  /** A fingerprint or the beginning of one, or a public half. */
  key: string;
  reason?: string;
}

export interface KeyDecided {
  key: SupervisorKey;
  audit: RecordRef;
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
  const file = input.key ?? keyFileOf(context.world.env);
  const by = requireFirst(context, file, input.passphrase);
  const { around } = await requireMemory(context);
  const roots = repositoryRoots(context);
  const isNew = isEncryptedKey(file, roots) === null;
  const secret = input.passphrase ?? keptPassphrase(context.world.env);
  if (isNew) {
    // The key stays if the rest fails: the next `init` takes it.
    makeKey(file, roots, secret, context.disk.dryRun);
    if (context.disk.dryRun) return showSupervisor(context);
  }
  const { public_key, fingerprint, encrypted } = openKey(file, roots, secret);
  editKeys(context, public_key, true, () => {
    if (isRecorded(context, public_key)) return;
    storeAudit(context, around, {
      kind: 'supervisor_key',
      action: 'added',
      key: fingerprint,
      public_key,
      by,
    });
  });
  pinKey(context, public_key, 'made');
  return { ...showSupervisor(context), key: { fingerprint, public_key, file, encrypted } };
}

const keyRecords = (context: Context): ReadRecord[] =>
  readRecords(context, 'audit', { wanted: ({ kind }) => kind === 'supervisor_key' });

/** The audit ledger says that this key counts. */
function isRecorded(context: Context, public_key: string): boolean {
  const last = keyRecords(context).findLast(({ record }) => record.public_key === public_key);
  return last !== undefined && last.record.action !== 'retired';
}

/**
 * Where nobody was ever named, somebody has to be the first, and may be without a terminal: with a key that names itself.
 * An `init` that was cut off is not in its own way.
 */
function requireFirst(context: Context, file: string, passphrase: string | undefined): string {
  const isFirst = (public_key: string): boolean =>
    supervisorKeys(context).length === 0 &&
    keyRecords(context).every(({ record }) => record.public_key === public_key && record.action === 'added');
  const isItself = resolve(keyFileOf(context.world.env)) === resolve(file);
  return requireHuman(context, "Making a supervisor's key", 'supervisor keys', {
    ...(isItself ? { passphrase } : {}),
    accepts: ({ public_key }) => isItself && isFirst(public_key),
  });
}

/**
 * A human accepts a key: of those that the settings name or that this machine knows by its fingerprint, or any by its
 * public half. From then on it is named and pinned.
 */
export async function trustKey(context: Context, input: KeyInput): Promise<KeyDecided> {
  const { decision, public_key, fingerprint, audit } = await decideKey(context, input, 'trusted');
  pinKey(context, public_key, 'accepted', decision.reason);
  return { key: { fingerprint, public_key, state: 'known' }, audit };
}

/** A human takes a key out, of the settings and of what counts here: what it sealed is vouched for by nobody any more. */
export async function retireKey(context: Context, input: KeyInput): Promise<KeyDecided> {
  const { public_key, fingerprint, audit } = await decideKey(context, input, 'retired');
  pinKey(context, public_key, 'first');
  pin(context, (pins) => markRetired(pins, public_key, timestamp(context)));
  return { key: { fingerprint, public_key, state: 'retired' }, audit };
}

const DECISIONS = {
  trusted: "Accepting a supervisor's key",
  retired: "Retiring a supervisor's key",
};

/** Into the audit ledger first, then into the settings, or out of them. */
async function decideKey(context: Context, input: KeyInput, action: keyof typeof DECISIONS) {
  const decision = requireDecision(context, DECISIONS[action], input.reason, 'supervisor keys');
  const public_key = findKey(context, input.key);
  const fingerprint = fingerprintOf(public_key);
  const { around } = await requireMemory(context);
  const record = { kind: 'supervisor_key', action, key: fingerprint, public_key, ...decision };
  const audit = editKeys(context, public_key, action === 'trusted', () =>
    storeAudit(context, around, record),
  );
  return { decision, public_key, fingerprint, audit };
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
