import { type Git, gitError, must, withoutLocalFilters } from './client.js';
import { TAG_FOLDER, tagOf } from './tag-name.js';

/** A checkpoint's tag as git has it. */
export interface TagFacts {
  name: string;
  isAnnotated: boolean;
  /** The commit that it leads to; null where it leads to something else. */
  commit: string | null;
  message: string;
}

const FOLDER = `refs/tags/${TAG_FOLDER}`;
const FIELDS = ['refname:lstrip=3', 'objecttype', 'objectname', '*objecttype', '*objectname', 'contents'];

/** Every tag below `checkpoint/`, or only those that HEAD leads to, in one git call. */
export async function listTags(git: Git, reachable = false): Promise<TagFacts[]> {
  const format = FIELDS.map((field) => `%(${field})%00`).join('');
  const args = ['for-each-ref', ...(reachable ? ['--merged=HEAD'] : []), `--format=${format}`, FOLDER];
  const { code, stdout, stderr } = await git(args);
  // An unborn HEAD leads to none.
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
  (await git(['rev-parse', '-q', '--verify', `refs/tags/${name}`])).code === 0;

/** Names of those that HEAD leads to. */
export async function reachableTags(git: Git): Promise<Set<string>> {
  const args = ['for-each-ref', '--merged=HEAD', '--format=%(refname:lstrip=3)', FOLDER];
  const { code, stdout } = await git(args);
  return new Set(code === 0 ? stdout.split('\n').filter(Boolean) : []);
}

/** Those of the commits that this repository has. */
export async function knownCommits(git: Git, commits: readonly string[]): Promise<Set<string>> {
  if (commits.length === 0) return new Set();
  const input = commits.map((commit) => `${commit}^{commit}\n`).join('');
  const answers = (await must(git, ['cat-file', '--batch-check'], { input })).split('\n');
  return new Set(commits.filter((_, i) => / commit \d+$/.test(answers[i] ?? '')));
}

/** The files that a commit has in a folder, from the repository's top. */
export async function pathsIn(git: Git, commit: string, folder: string): Promise<Set<string>> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--name-only', commit, '--', folder];
  return new Set((await must(git, args)).split('\0').filter(Boolean));
}

/**
 * An annotated tag, signed where `tag.gpgSign` asks for it; false when the name is taken, which git alone decides.
 * Lines that begin with `#` stay.
 */
export async function createTag(
  unsafe: Git,
  { name, commit, message }: { name: string; commit: string; message: string },
): Promise<boolean> {
  const git = await withoutLocalFilters(unsafe, await localSigners(unsafe));
  const args = ['tag', '--annotate', '--cleanup=verbatim', '--file=-', '--', tagOf(name), commit];
  const { code, stderr } = await git(args, { input: message });
  if (code === 0) return true;
  if (await hasTag(git, tagOf(name))) return false;
  throw gitError(args, stderr);
}

const DEFAULTS: Record<string, string> = {
  'gpg.program': 'gpg',
  'gpg.openpgp.program': 'gpg',
  'gpg.x509.program': 'gpgsm',
  'gpg.ssh.program': 'ssh-keygen',
  'gpg.ssh.defaultkeycommand': '',
};

/** The person's own programs in the place of those that this repository's config names: it may have come with a clone. */
async function localSigners(git: Git): Promise<[name: string, value: string][]> {
  const args = ['config', '--includes', '--show-scope', '-z', '--get-regexp', '^gpg\\.'];
  const words = (await git(args)).stdout.split('\0');
  const own = new Map(Object.entries(DEFAULTS));
  const replaced = new Set<string>();
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [name = '', value = ''] = (words[at + 1] ?? '').split(/\n(.*)/s);
    if (!(name in DEFAULTS)) continue;
    if (['local', 'worktree'].includes(words[at] ?? '')) replaced.add(name);
    else own.set(name, value);
  }
  return [...replaced].map((name) => [name, own.get(name) ?? '']);
}
