import type { Git } from './git.js';
import { must } from './git.js';

/** A ref that is about to be pushed, as git tells its hook: `<local ref> <local id> <remote ref> <remote id>`. */
export interface Pushed {
  ref: string;
  id: string;
  /** What the other side has there; null: nothing. */
  remoteId: string | null;
}

const isNothing = (id: string): boolean => /^0+$/.test(id);
const isId = (word: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(word);

/** What comes on stdin of `pre-push`; refs that are taken away hold nothing new. */
export function parsePushed(text: string): Pushed[] {
  return text.split('\n').flatMap((line) => {
    const [ref = '', id = '', , remoteId = ''] = line.split(' ');
    if (!isId(id) || !isId(remoteId) || isNothing(id)) return [];
    return [{ ref, id, remoteId: isNothing(remoteId) ? null : remoteId }];
  });
}

/**
 * The commits that the other side lacks, as ids for git: those to push, and with `^` in front the last ones that a remote
 * of that name has. None: it has them all.
 */
export async function newCommits(git: Git, remote: string, pushed: readonly Pushed[]): Promise<string[]> {
  const tips = pushed.map(({ id }) => id);
  if (tips.length === 0) return [];
  const input = [...tips, ...pushed.flatMap(({ remoteId }) => (remoteId ? [`^${remoteId}`] : []))];
  // A remote that is only an address has no refs here.
  const known = /^[\w./-]+$/.test(remote) && !remote.startsWith('-') ? [`--remotes=${remote}`] : [];
  // Of what the other side has, git may never have heard.
  const args = ['rev-list', '--boundary', '--ignore-missing', '--stdin', '--not', ...known];
  const listed = (await must(git, args, { input: `${input.join('\n')}\n` })).split('\n').filter(Boolean);
  const borders = listed.filter((line) => line.startsWith('-')).map((line) => `^${line.slice(1)}`);
  return listed.some((line) => !line.startsWith('-')) ? [...tips, ...borders] : [];
}

/** What HEAD leads to, as if it were pushed; nothing on an unborn branch. */
export async function readHead(git: Git): Promise<Pushed[]> {
  const { stdout } = await git(['rev-parse', '-q', '--verify', 'HEAD']);
  const id = stdout.trim();
  return isId(id) ? [{ ref: 'HEAD', id, remoteId: null }] : [];
}
