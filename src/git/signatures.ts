import { type Git, gitError, must } from './client.js';
import { ownSigners, withoutLocalFilters } from './config.js';

/** `unknown`: nobody here vouches for the key, or git lacks it. `none`: not signed. */
export type SignatureStatus = 'good' | 'bad' | 'unknown' | 'none';

/** Git's verdict on one signature. `signer` is a name, or the key if git knows no name. */
export interface Signature {
  status: SignatureStatus;
  signer: string | null;
}

/** A commit whose message names ledger heads. */
export interface AnchorCommit extends Signature {
  commit: string;
  /** The values of its `Forge-Ledger` trailers. None of a commit that was picked, rebased or amended. */
  anchors: string[];
}

/** ms. Git starts the verifying program once for each signature. */
const LIMIT = 600_000;

/** Git with the person's own programs. Without allowed signers git would call a commit with an SSH signature unsigned. */
export async function verifyingGit(unsafe: Git): Promise<Git> {
  const signers = (await unsafe(['config', 'gpg.ssh.allowedSignersFile'])).stdout.trim();
  const none = signers === '' ? [['gpg.ssh.allowedSignersFile', '/dev/null'] as const] : [];
  const git = await withoutLocalFilters(unsafe, [...(await ownSigners(unsafe)), ...none]);
  return (args, options = {}) => git(args, { timeout: LIMIT, ...options });
}

const FIELDS = ['H', 'at', 'ct', 'G?', 'GS', 'GK', '(trailers:key=Forge-Ledger,valueonly,unfold)'];

/** Commits reachable from HEAD that changed the folder and name ledger heads, newest first, in one git call. */
export async function readAnchorCommits(verifying: Git, folder: string): Promise<AnchorCommit[]> {
  const format = FIELDS.map((field) => `%${field}%x00`).join('');
  const chosen = ['--basic-regexp', '--grep=^Forge-Ledger: ', '--full-history'];
  const words = (await must(verifying, ['log', ...chosen, `--format=${format}`, 'HEAD', '--', folder])).split(
    '\0',
  );
  const commits: AnchorCommit[] = [];
  for (let at = 0; at + FIELDS.length <= words.length; at += FIELDS.length) {
    const [hash = '', authored, committed, grade = 'N', name, key, trailers = ''] = words.slice(
      at,
      at + FIELDS.length,
    );
    commits.push({
      commit: hash.trim(),
      status: GRADES[grade] ?? 'unknown',
      signer: name || key || null,
      anchors: authored === committed ? trailers.split('\n').filter(Boolean) : [],
    });
  }
  return commits;
}

/** The letters of `%G?`. A key that expired later made a good signature. A revoked key made a bad one. */
const GRADES: Record<string, SignatureStatus> = {
  G: 'good',
  X: 'good',
  Y: 'good',
  B: 'bad',
  R: 'bad',
  N: 'none',
};

/** The signature of an annotated tag. */
export async function verifyTag(verifying: Git, tag: string): Promise<Signature> {
  const args = ['verify-tag', '--raw', `refs/tags/${tag}`];
  const { stderr } = await verifying(args);
  // A lightweight tag has no object of its own.
  if (/^error: (?:no signature found|.*cannot verify a non-tag object)/m.test(stderr))
    return { status: 'none', signer: null };
  const judged = judgeGpg(stderr) ?? judgeSsh(stderr);
  if (!judged) throw gitError(args, stderr);
  return judged;
}

/** GnuPG's status lines: doc/DETAILS of its source. */
function judgeGpg(text: string): Signature | null {
  const [, word = '', key = '', name] =
    /^\[GNUPG:\] (GOODSIG|BADSIG|EXPSIG|EXPKEYSIG|REVKEYSIG|ERRSIG) (\S+)(?: (.*))?$/m.exec(text) ?? [];
  if (word === '') return null;
  if (word === 'ERRSIG') return { status: 'unknown', signer: key };
  const signer = name || key;
  if (word === 'BADSIG' || word === 'REVKEYSIG') return { status: 'bad', signer };
  return { status: /^\[GNUPG:\] TRUST_(?:UNDEFINED|NEVER)/m.test(text) ? 'unknown' : 'good', signer };
}

/** Reads the output of `ssh-keygen -Y verify`, or of `-Y check-novalidate` for a key without an allowed signer. */
function judgeSsh(text: string): Signature | null {
  const [, signer, key] = /^Good "git" signature (?:for (.+) )?with .* key (SHA256:\S+)$/m.exec(text) ?? [];
  if (key !== undefined) return { status: signer === undefined ? 'unknown' : 'good', signer: signer ?? key };
  const isBad = /incorrect signature|Could not verify signature/i.test(text);
  return isBad ? { status: 'bad', signer: null } : null;
}

/** ms. A signature takes a fraction of a second; a signer that takes longer waits for a person. */
const SIGN_LIMIT = 10_000;

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
    git(args, { timeout: SIGN_LIMIT, ...options, env: { ...NO_PROMPT, ...options.env } });
}

/** Signs an object that no ref names, so a person can see at a terminal why signing fails. */
const TRY_SIGNING = 'git commit-tree -S -m test HEAD^{tree}';

/** The warning for an object that was made without the signature that `[git] sign` asks for. */
export const describeUnsigned = (what: string, reason: string): string =>
  `${what} is not signed: ${reason.replace(/\.$/, '')}. Try at a terminal: ${TRY_SIGNING}`;
