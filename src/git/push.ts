import { type Git, must } from './client.js';

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

/** Whose commits count as known: those of every remote, or of the one of that name. */
const knownTo = (remote: string | null): string[] => {
  if (remote === null) return ['--remotes'];
  // A remote that is only an address has no refs here.
  return /^[\w./-]+$/.test(remote) && !remote.startsWith('-') ? [`--remotes=${remote}`] : [];
};

/**
 * The commits that a remote (null: every one) lacks, as ids for git: those to push, and with `^` in front the last ones that
 * it has. None: it has them all.
 */
export async function newCommits(
  git: Git,
  remote: string | null,
  pushed: readonly Pushed[],
): Promise<string[]> {
  const tips = pushed.map(({ id }) => id);
  if (tips.length === 0) return [];
  const input = [...tips, ...pushed.flatMap(({ remoteId }) => (remoteId ? [`^${remoteId}`] : []))];
  // Of what the other side has, git may never have heard.
  const args = ['rev-list', '--boundary', '--ignore-missing', '--stdin', '--not', ...knownTo(remote)];
  const listed = (await must(git, args, { input: `${input.join('\n')}\n` })).split('\n').filter(Boolean);
  const borders = listed.filter((line) => line.startsWith('-')).map((line) => `^${line.slice(1)}`);
  return listed.some((line) => !line.startsWith('-')) ? [...tips, ...borders] : [];
}

/** Which of these commits were made where that file already was: their first parent has it. */
export async function madeBeside(git: Git, commits: readonly string[], file: string): Promise<Set<string>> {
  if (commits.length === 0) return new Set();
  const input = commits.map((id) => `${id}^1:${file}\n`).join('');
  const said = (await must(git, ['cat-file', '--batch-check'], { input })).split('\n');
  return new Set(commits.filter((_, i) => !said[i]?.endsWith(' missing')));
}
