import type { Git } from './client.js';
import { ownSigners, withoutLocalFilters } from './config.js';

/** ms. A signature takes a fraction of a second; a signer that takes longer waits for a person. */
const LIMIT = 10_000;

/**
 * A signer must not ask: gpg finds no terminal or display for its pinentry, and ssh-keygen gets no passphrase. It would
 * read one from the terminal otherwise, which it opens by itself.
 */
const NO_PROMPT = {
  GPG_TTY: '',
  DISPLAY: '',
  WAYLAND_DISPLAY: '',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
};

/** Git for a command that signs, with the person's own signing program. A signature that needs a prompt fails. */
export async function signingGit(unsafe: Git): Promise<Git> {
  const git = await withoutLocalFilters(unsafe, await ownSigners(unsafe));
  return (args, options = {}) =>
    git(args, { timeout: LIMIT, ...options, env: { ...NO_PROMPT, ...options.env } });
}

/** Signs an object that no ref names, so a person can see at a terminal why signing fails. */
const TRY_SIGNING = 'git commit-tree -S -m test HEAD^{tree}';

/** The warning for an object that was made without the signature that `[git] sign` asks for. */
export const describeUnsigned = (what: string, reason: string): string =>
  `${what} is not signed: ${reason.replace(/\.$/, '')}. Try at a terminal: ${TRY_SIGNING}`;
