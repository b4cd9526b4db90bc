import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { configHome } from '../core/environment.js';
import { ForgeError, refused } from '../core/error.js';
import { fingerprintOf, formatSignature, publicKeyOf } from './rules/seal.js';

type Env = Record<string, string | undefined>;

/** A supervisor's key, open: it can sign. */
export interface OpenKey {
  fingerprint: string;
  public_key: string;
  file: string;
  encrypted: boolean;
  sign(text: string): string;
}

/** The file that FORGE_SUPERVISOR_KEY names, or the person's own. Never in a repository. */
export const keyFileOf = (env: Env): string =>
  env.FORGE_SUPERVISOR_KEY || join(configHome(env), 'supervisor.pem');

const MAX_KEY_BYTES = 65_536;
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/;

export const hasKeyFile = (path: string): boolean => fs.existsSync(path);

/** Null when there is no file. Exit 3 `key.unusable` for one that is no key, or that others could swap or read. */
export function isEncryptedKey(path: string, roots: readonly string[]): boolean | null {
  if (!hasKeyFile(path)) return null;
  return usable(path, () => ENCRYPTED.test(readKeyFile(path, roots).toString('latin1')));
}

/** Opens it; exit 3 `key.passphrase` when it is encrypted and the passphrase is missing or wrong. */
export function openKey(path: string, roots: readonly string[], passphrase?: string): OpenKey {
  return usable(path, () => {
    const pem = readKeyFile(path, roots);
    const encrypted = ENCRYPTED.test(pem.toString('latin1'));
    const key = encrypted ? decrypt(path, pem, passphrase) : createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('it is no Ed25519 key');
    const public_key = publicKeyOf(rawPublic(key));
    return {
      fingerprint: fingerprintOf(public_key),
      public_key,
      file: path,
      encrypted,
      sign: (text) => formatSignature(sign(null, Buffer.from(text, 'utf8'), key)),
    };
  });
}

/** By way of a JWK, which has the bytes as they are: DER would load OpenSSL's encoders for it. */
const rawPublic = (key: KeyObject): Buffer =>
  Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');

function decrypt(path: string, pem: Buffer, passphrase: string | undefined): KeyObject {
  const hint = 'at a terminal you are asked; elsewhere: FORGE_SUPERVISOR_PASSPHRASE_FILE=FILE';
  if (passphrase === undefined)
    throw refused('key.passphrase', `${path} is encrypted, and its passphrase was not given.`, { hint });
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch {
    throw refused('key.passphrase', `The passphrase for ${path} is wrong.`, { hint });
  }
}

function readKeyFile(path: string, roots: readonly string[]): Buffer {
  const real = fs.realpathSync.native(path);
  if (roots.some((root) => isInside(real, root))) throw new Error('it lies in the repository');
  // A device or a FIFO has no end.
  const file = fs.statSync(path);
  if (!file.isFile() || file.size > MAX_KEY_BYTES) throw new Error('it is no small plain file');
  if (file.nlink > 1) throw new Error('it has a second name (a hard link), which may lie in the repository');
  return fs.readFileSync(path);
}

const isInside = (real: string, root: string): boolean =>
  `${real}${sep}`.startsWith(fs.realpathSync.native(root) + sep);

function usable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    throw refused('key.unusable', `The key ${path} cannot be used: ${(error as Error).message}.`, {
      // No command: whoever reads this may be an agent, which must not make itself a supervisor.
      hint: 'ask a human, who makes the key and keeps it where no agent can read it (docs/governance.md, "Seals")',
    });
  }
}

/** A new key, readable by this person only. Refused inside a repository; never over a file that is there. */
export function makeKey(
  path: string,
  roots: readonly string[],
  passphrase: string | undefined,
  dryRun: boolean,
): void {
  usable(path, () => {
    const folder = dirname(path);
    if (roots.some((root) => isInside(existing(folder), root)))
      throw new Error('it would lie in the repository');
    if (dryRun) return;
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (roots.some((root) => isInside(fs.realpathSync.native(folder), root)))
      throw new Error('it would lie in the repository');
    const { privateKey } = generateKeyPairSync('ed25519');
    const locked = passphrase ? { cipher: 'aes-256-cbc', passphrase } : {};
    writeOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem', ...locked }) as string);
  });
}

/** The folder, or the nearest one above it that is there, by its real name. */
function existing(folder: string): string {
  return fs.existsSync(folder) ? fs.realpathSync.native(folder) : existing(dirname(folder));
}

function writeOnce(path: string, pem: string): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = fs.constants;
  const file = fs.openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    fs.writeFileSync(file, pem);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** The passphrase in the file that FORGE_SUPERVISOR_PASSPHRASE_FILE names, without its line end. */
export function keptPassphrase(env: Env): string | undefined {
  const path = env.FORGE_SUPERVISOR_PASSPHRASE_FILE;
  if (!path) return undefined;
  return usable(path, () => {
    if (!fs.statSync(path).isFile()) throw new Error('it is no plain file');
    return fs.readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  });
}
