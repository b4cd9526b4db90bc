import { usage } from '../core/error.js';
import type { Git } from '../git/client.js';
import { knownRemote, ORIGIN } from '../git/remote.js';
import type { Repository } from '../git/repository.js';
import { readStagedFiles } from '../git/status.js';
import { type Context, mainBranch } from '../project/project.js';
import { composeMessage, gatherMessages } from './compose.js';
import { formatCommitMessage } from './message.js';
import { branchMessages, knownWork } from './work.js';

export interface CommitTemplate {
  text: string;
}

/** GIT-02: a message, or with `pullRequest` a description, with what is known filled in and the rest left open. */
export async function commitTemplate(
  context: Context,
  { pullRequest = false }: { pullRequest?: boolean } = {},
): Promise<CommitTemplate> {
  const { repository, git, layout } = context;
  if (!repository || !git)
    throw usage('commit.no_git', `${layout.root} is in no git repository.`, { hint: 'git init' });
  const files = await readStagedFiles(git, false);
  const draft = composeMessage(
    {},
    await knownWork(context, { root: repository.root, git, files, all: false }),
  );
  if (!pullRequest) return { text: formatCommitMessage(draft) };
  const base = await mainBranch(context);
  const commits =
    base === null || draft.backtrace.parent === 'none' ? [] : await messagesSince({ repository, git }, base);
  return { text: formatCommitMessage(gatherMessages(draft, commits)) };
}

/** What is on the server comes first: that is what the pull request is against. */
async function messagesSince(
  { repository, git }: { repository: Repository; git: Git },
  base: string,
): Promise<string[]> {
  const remote = (await knownRemote(repository, git)) ?? ORIGIN;
  for (const name of [`refs/remotes/${remote}/${base}`, `refs/heads/${base}`])
    if ((await git(['rev-parse', '-q', '--verify', `${name}^{commit}`])).code === 0)
      return branchMessages(git, name);
  return [];
}
