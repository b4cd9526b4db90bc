import { ForgeError } from '../core/error.js';
import { TAG_FOLDER, tagOf } from '../core/paths.js';
import { type Git, gitError, lines, must, PORCELAIN, records } from './client.js';

export interface TagFacts {
  name: string;
  isAnnotated: boolean;
  /** The tagged commit; null for another object. */
  commit: string | null;
  message: string;
}

const FOLDER = `refs/tags/${TAG_FOLDER}`;
const TAG_FIELDS = ['refname:lstrip=3', 'objecttype', 'objectname', '*objecttype', '*objectname', 'contents'];

/** Every tag below `checkpoint/`, or only those reachable from HEAD, in one git call. */
export async function listTags(git: Git, reachable = false): Promise<TagFacts[]> {
  const format = TAG_FIELDS.map((field) => `%(${field})%00`).join('');
  const args = ['for-each-ref', ...(reachable ? ['--merged=HEAD'] : []), `--format=${format}`, FOLDER];
  const { code, stdout, stderr } = await git(args);
  // From an unborn HEAD no tag is reachable.
  if (code !== 0 && !reachable) throw gitError(args, stderr);
  return records(code === 0 ? stdout : '', TAG_FIELDS.length).map((fields) => {
    const [name = '', type, oid, innerType, inner, message = ''] = fields;
    const isAnnotated = type === 'tag';
    const [ownType, own] = isAnnotated ? [innerType, inner] : [type, oid];
    const commit = ownType === 'commit' ? (own ?? null) : null;
    return { name, isAnnotated, commit, message };
  });
}

export const reachableTags = async (git: Git): Promise<Set<string>> =>
  new Set((await listTags(git, true)).map(({ name }) => name));

interface NewTag {
  name: string;
  commit: string;
  message: string;
  /** `[git] sign`. Otherwise the tag is signed if `tag.gpgSign` is set. */
  sign: boolean;
}

/** Makes an annotated tag. Null if the name is taken, which only git can decide. `unsigned`: why `sign` was not possible. */
export async function createTag(git: Git, tag: NewTag): Promise<{ unsigned?: string } | null> {
  if (!tag.sign) return (await makeTag(git, tag, '--annotate')) ? {} : null;
  // If ssh-keygen fails, git makes the tag without a signature and exits with 0.
  let unsigned = 'the signing program failed';
  const isMade = await makeTag(signingGit(git), tag, '--sign').catch((error) => {
    if (!(error instanceof ForgeError)) throw error;
    unsigned = error.message;
    return makeTag(git, tag, '--annotate', '--no-sign');
  });
  if (!isMade) return null;
  const signature = ['for-each-ref', '--format=%(contents:signature)', `refs/tags/${tagOf(tag.name)}`];
  return (await must(git, signature, PORCELAIN)).trim() === '' ? { unsigned } : {};
}

/** False if the name is taken. */
async function makeTag(git: Git, { name, commit, message }: NewTag, ...options: string[]): Promise<boolean> {
  const args = ['tag', ...options, '--cleanup=verbatim', '--file=-', '--', tagOf(name), commit];
  const { code, stderr } = await git(args, { ...PORCELAIN, input: message });
  if (code === 0) return true;
  const ref = ['rev-parse', '-q', '--verify', `refs/tags/${tagOf(name)}`];
  if ((await git(ref, PORCELAIN)).code === 0) return false;
  throw gitError(args, stderr);
}

/** `unknown`: nobody here vouches for the key, or git lacks it. `none`: not signed. */
type SignatureStatus = 'good' | 'bad' | 'unknown' | 'none';

/** Git's verdict on one signature. `signer` is a name, or the key if git knows no name. */
export interface Signature {
  status: SignatureStatus;
  signer: string | null;
}

/** A commit whose message names ledger heads. */
interface AnchorCommit extends Signature {
  commit: string;
  /** The values of its `Forge-Ledger` trailers. None of a commit that was picked, rebased or amended. */
  anchors: string[];
}

/** ms. Git starts the verifying program once for each signature. */
const LIMIT = 600_000;

/** Git for a command that verifies. Without allowed signers git would call a commit with an SSH signature unsigned. */
export async function verifyingGit(git: Git): Promise<Git> {
  const signers = (await git(['config', 'gpg.ssh.allowedSignersFile'])).stdout.trim();
  const settings = signers === '' ? [['gpg.ssh.allowedSignersFile', '/dev/null'] as const] : [];
  return (args, options) => git(args, { timeout: LIMIT, settings, ...options });
}

const LOG_FIELDS = ['H', 'at', 'ct', 'G?', 'GS', 'GK', '(trailers:key=Forge-Ledger,valueonly,unfold)'];

/** Commits reachable from HEAD that changed the folder and name ledger heads, newest first, in one git call. */
export async function readAnchorCommits(verifying: Git, folder: string): Promise<AnchorCommit[]> {
  const format = LOG_FIELDS.map((field) => `%${field}%x00`).join('');
  const chosen = ['--basic-regexp', '--grep=^Forge-Ledger: ', '--full-history'];
  const args = ['log', ...chosen, `--format=${format}`, 'HEAD', '--', folder];
  return records(await must(verifying, args), LOG_FIELDS.length).map((fields) => {
    const [hash = '', authored, committed, grade = 'N', name, key, trailers = ''] = fields;
    return {
      commit: hash,
      status: GRADES[grade] ?? 'unknown',
      signer: name || key || null,
      anchors: authored === committed ? lines(trailers) : [],
    };
  });
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

/** A signer must not ask: gpg finds no terminal for its pinentry, and ssh-keygen would open one by itself. */
const NO_PROMPT = {
  GPG_TTY: '',
  DISPLAY: '',
  WAYLAND_DISPLAY: '',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
};

/** Git for a command that signs. A signature that needs a prompt fails. */
export const signingGit =
  (git: Git): Git =>
  (args, options = {}) =>
    git(args, { timeout: SIGN_LIMIT, ...options, env: { ...NO_PROMPT, ...options.env } });

/** Signs an object that no ref names, so a person can see at a terminal why signing fails. */
const TRY_SIGNING = 'git commit-tree -S -m test HEAD^{tree}';

/** The warning for an object that was made without the signature that `[git] sign` asks for. */
export const describeUnsigned = (what: string, reason: string): string =>
  `${what} is not signed: ${reason.replace(/\.$/, '')}. Try at a terminal: ${TRY_SIGNING}`;
