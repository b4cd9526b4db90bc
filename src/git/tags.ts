import { ForgeError } from '../core/error.js';
import { TAG_FOLDER, tagOf } from '../core/paths.js';
import { type Git, gitError, must, PORCELAIN } from './client.js';
import { ownSigners, withoutLocalFilters } from './config.js';
import { signingGit } from './signatures.js';

/** A checkpoint's tag in git. */
export interface TagFacts {
  name: string;
  isAnnotated: boolean;
  /** The tagged commit; null for another object. */
  commit: string | null;
  message: string;
}

const FOLDER = `refs/tags/${TAG_FOLDER}`;
const FIELDS = ['refname:lstrip=3', 'objecttype', 'objectname', '*objecttype', '*objectname', 'contents'];

/** Every tag below `checkpoint/`, or only those reachable from HEAD, in one git call. */
export async function listTags(git: Git, reachable = false): Promise<TagFacts[]> {
  const format = FIELDS.map((field) => `%(${field})%00`).join('');
  const args = ['for-each-ref', ...(reachable ? ['--merged=HEAD'] : []), `--format=${format}`, FOLDER];
  const { code, stdout, stderr } = await git(args);
  // From an unborn HEAD no tag is reachable.
  if (code !== 0 && !reachable) throw gitError(args, stderr);
  const words = code === 0 ? stdout.split('\0') : [];
  const tags: TagFacts[] = [];
  for (let at = 0; at + FIELDS.length <= words.length; at += FIELDS.length) {
    const [name = '', type, oid, innerType, inner, message = ''] = words.slice(at, at + FIELDS.length);
    const isAnnotated = type === 'tag';
    const [ownType, own] = isAnnotated ? [innerType, inner] : [type, oid];
    const commit = ownType === 'commit' ? (own ?? null) : null;
    tags.push({ name: name.replace(/^\n/, ''), isAnnotated, commit, message });
  }
  return tags;
}

export const hasTag = async (git: Git, name: string): Promise<boolean> =>
  (await git(['rev-parse', '-q', '--verify', `refs/tags/${name}`], PORCELAIN)).code === 0;

/** Names of the tags reachable from HEAD. */
export const reachableTags = async (git: Git): Promise<Set<string>> =>
  new Set((await listTags(git, true)).map(({ name }) => name));

/** The commits that this repository has. */
export async function knownCommits(git: Git, commits: readonly string[]): Promise<Set<string>> {
  if (commits.length === 0) return new Set();
  const input = commits.map((commit) => `${commit}^{commit}\n`).join('');
  const answers = (await must(git, ['cat-file', '--batch-check'], { ...PORCELAIN, input })).split('\n');
  return new Set(commits.filter((_, i) => / commit \d+$/.test(answers[i] ?? '')));
}

export interface NewTag {
  name: string;
  commit: string;
  message: string;
  /** `[git] sign`. Otherwise the tag is signed if `tag.gpgSign` is set. */
  sign: boolean;
}

/**
 * Makes an annotated tag. Null if the name is taken, which only git can decide. `unsigned` says why `sign` was not
 * possible. Lines that begin with `#` are kept.
 */
export async function createTag(unsafe: Git, tag: NewTag): Promise<{ unsigned?: string } | null> {
  const plain = await withoutLocalFilters(unsafe, await ownSigners(unsafe));
  if (!tag.sign) return (await makeTag(plain, tag, '--annotate')) && {};
  try {
    const made = await makeTag(await signingGit(unsafe), tag, '--sign');
    // If ssh-keygen fails, git makes the tag without a signature and exits with 0.
    return made && ((await isSigned(plain, tag.name)) ? {} : { unsigned: made.message });
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return (await makeTag(plain, tag, '--annotate', '--no-sign')) && { unsigned: error.message };
  }
}

async function isSigned(git: Git, name: string): Promise<boolean> {
  const args = ['for-each-ref', '--format=%(contents:signature)', `refs/tags/${tagOf(name)}`];
  return (await must(git, args, PORCELAIN)).trim() !== '';
}

/** Git's messages, or null if the name is taken. */
async function makeTag(
  git: Git,
  { name, commit, message }: NewTag,
  ...options: string[]
): Promise<Error | null> {
  const args = ['tag', ...options, '--cleanup=verbatim', '--file=-', '--', tagOf(name), commit];
  const { code, stderr } = await git(args, { ...PORCELAIN, input: message });
  if (code === 0) return gitError(args, stderr);
  if (await hasTag(git, tagOf(name))) return null;
  throw gitError(args, stderr);
}
