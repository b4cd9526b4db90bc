import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { refused } from '../domain/error.js';

/** The fingerprint of the Ed25519 key in a file outside the repository (16 hex digits of SHA-256 over its public half). */
export function keyFingerprint(path: string, root: string): string {
  try {
    if (`${realpathSync.native(path)}`.startsWith(realpathSync.native(root) + sep))
      throw new Error('it lies in the repository');
    // A device or a FIFO has no end.
    const file = statSync(path);
    if (!file.isFile() || file.size > 65_536) throw new Error('it is no small plain file');
    if (file.nlink > 1)
      throw new Error('it has a second name (a hard link), which may lie in the repository');
    const key = createPrivateKey(readFileSync(path));
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('it is no Ed25519 key');
    const bytes = createPublicKey(key).export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  } catch (error) {
    throw refused(
      'key.unusable',
      `FORGE_SUPERVISOR_KEY names ${path}, which cannot be used: ${(error as Error).message}.`,
      {
        // No command: whoever reads this may be an agent, which must not make itself a supervisor.
        hint: 'ask a human, who makes the key and keeps it where no agent can read it (README, "Trust")',
      },
    );
  }
}
