import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, must } from './client.js';
import type { Repository } from './repository.js';

/** All that this repository has at this moment: the tips of refs and stashes, and what the reflog leads to. */
export async function listHeldCommits(git: Git): Promise<string[]> {
  const list = await must(git, ['rev-list', '--no-walk=unsorted', '--ignore-missing', '--all', '--reflog']);
  return [...new Set(list.split('\n').filter(Boolean))];
}

/** What came here from somewhere else: remote branches, what was fetched last, and the work of other worktrees. */
export async function listBrought(git: Git, repository: Repository): Promise<string[]> {
  const [remotes, worktrees] = await Promise.all([
    must(git, ['for-each-ref', '--format=%(objectname)', 'refs/remotes']),
    must(git, ['worktree', 'list', '--porcelain']),
  ]);
  const others = worktrees
    .split('\n\n')
    .filter((entry) => !entry.startsWith(`worktree ${repository.root}\n`));
  const heads = others.flatMap((entry) => /^HEAD ([0-9a-f]+)$/m.exec(entry)?.[1] ?? []);
  const found = [...remotes.split('\n'), ...heads, ...readFetched(repository)];
  return [...new Set(found)].filter((oid) => /[1-9a-f]/.test(oid));
}

/** Not what was fetched from this very repository. */
function readFetched({ gitDir }: Repository): string[] {
  try {
    const lines = readFileSync(join(gitDir, 'FETCH_HEAD'), 'utf8').split('\n');
    return lines.flatMap((line) => (/ of \.$/.test(line) ? [] : (/^[0-9a-f]{40,64}(?=\t)/.exec(line) ?? [])));
  } catch {
    return [];
  }
}
