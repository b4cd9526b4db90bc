import { type Git, must } from '../git/client.js';
import type { Told } from './issues.js';

/** The last commits of HEAD that are no merges, oldest first; none on an unborn branch. */
export async function readMessagesOfHead(git: Git, count: number): Promise<Told[]> {
  if ((await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).code !== 0) return [];
  const format = ['--no-show-signature', '--no-notes', '--encoding=UTF-8', '--format=%H%n%B'];
  const out = await must(git, ['log', '-z', `-${count}`, '--no-merges', ...format, 'HEAD', '--']);
  return out
    .split('\0')
    .filter(Boolean)
    .map((record) => ({
      hash: record.slice(0, record.indexOf('\n')),
      message: record.slice(record.indexOf('\n') + 1),
    }))
    .reverse();
}

const FULL = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** No branch of anybody's: what they lead to was given up. */
const ASIDE = ['--exclude=refs/stash', '--exclude=refs/forge/*', '--exclude=refs/notes/*'];

/** Those that are here, and to which neither HEAD nor any branch or tag leads. What another clone has is not known here. */
export async function unreachableOf(git: Git, hashes: readonly string[]): Promise<Set<string>> {
  const asked = hashes.filter((hash) => FULL.test(hash));
  if (asked.length === 0) return new Set();
  const args = ['rev-list', '--ignore-missing', '--stdin', '--not', ...ASIDE, '--all', 'HEAD'];
  const found = new Set((await must(git, args, { input: `${asked.join('\n')}\n` })).split('\n'));
  return new Set(asked.filter((hash) => found.has(hash)));
}
