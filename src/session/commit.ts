import { type CommitMessage, formatCommitMessage } from '../commit/message.js';
import { ForgeError } from '../core/error.js';
import { archiveFile, shownFrom } from '../core/paths.js';
import { readFeatures } from '../feature/store.js';
import type { Git } from '../git/client.js';
import { type CommitOutcome, commitFolder } from '../git/commit.js';
import type { Repository } from '../git/repository.js';
import { describeUnsigned } from '../git/signatures.js';
import { readBranch } from '../git/state.js';
import { ledgerTrailer } from '../ledger/memory.js';
import { type Context, readConfig } from '../project/project.js';
import type { Focus } from './focus-rules.js';
import { parseProgress } from './progress-rules.js';
import { ARCHIVED_SESSION, type RunningSession, sessionName } from './rules.js';

interface EndedWork {
  running: RunningSession;
  focus: Focus;
  /** What worked and what did not. */
  learned: readonly string[];
}

/** The session-end commit: `.forge/` alone, in the protocol of RFC-9060 §5.1. */
export async function commitSession(context: Context, work: EndedWork): Promise<CommitOutcome> {
  const { repository, git, disk } = context;
  if (!repository || !git) return { skipped: 'this folder is not a git repository' };
  if (disk.dryRun) return { skipped: 'dry run' };
  // The session is archived by now, so a failed commit (git, a damaged features.json) is reported, not thrown.
  return makeCommit(context, work, repository, git).catch(whyNot);
}

async function makeCommit(
  context: Context,
  work: EndedWork,
  repository: Repository,
  git: Git,
): Promise<CommitOutcome> {
  const { layout, world } = context;
  const message = { ...describeWork(context, work), ledger: ledgerHeads(context) };
  const outcome = await commitFolder({
    repository,
    git,
    folder: shownFrom(repository.root, layout.dir),
    outerIndex: world.env.GIT_INDEX_FILE,
    sign: readConfig(context).git.sign,
    message: (parent) =>
      formatCommitMessage({ ...message, backtrace: { ...message.backtrace, parent: parent ?? 'none' } }),
  });
  if ('hash' in outcome && outcome.unsigned !== undefined)
    context.warnings.push(describeUnsigned('The session-end commit', outcome.unsigned));
  if ('hash' in outcome && (await readBranch(repository, git)) === null)
    context.warnings.push(
      `HEAD is detached: no branch holds this commit. Keep it with: git branch NAME ${outcome.short}`,
    );
  return outcome;
}

/** The ledger state in the commit. */
export const ledgerHeads = (context: Context): string[] => {
  const trailer = ledgerTrailer(context);
  return trailer === null ? [] : [trailer];
};

function whyNot(error: unknown): CommitOutcome {
  if (!(error instanceof ForgeError) || !['outside', 'corrupted'].includes(error.kind)) throw error;
  return { skipped: error.hint ? `${error.message} (${error.hint})` : error.message };
}

/** The id is the issue's, else the feature's, else FORGE. */
function describeWork(context: Context, { running, focus, learned }: EndedWork): CommitMessage {
  const features = readFeatures(context);
  const feature = features.find(({ id }) => focus.task?.startsWith(`${id}:`));
  const verified = features.filter(
    ({ status, verified_at }) => status === 'passing' && verified_at && verified_at >= running.started_at,
  );
  const done = progressTexts(context, running.id);
  return {
    id: focus.linear_issue ?? feature?.id ?? 'FORGE',
    subject: `Session end: ${withoutId(focus, feature?.id) ?? sessionName(running.id)}`,
    what: done.length > 0 ? done : ['Archived the session'],
    why: running.goal ?? focus.task ?? 'The next session starts from what this one knew.',
    learned: [...learned],
    updated: verified.map(({ id }) => `features.json (${id} now passing)`),
    backtrace: { parent: 'none', linear: focus.linear_issue ?? 'none', session: sessionName(running.id) },
  };
}

/** The subject already starts with the id. */
function withoutId({ task, linear_issue }: Focus, feature: string | undefined): string | null {
  const prefix = [feature, linear_issue].find((id) => id && task?.startsWith(`${id}: `));
  return prefix && task ? task.slice(prefix.length + 2) : task;
}

/** The session's own entries, without the start lines and the last one. */
function progressTexts({ disk, layout }: Context, id: string): string[] {
  const archived = disk.readDocument(ARCHIVED_SESSION, archiveFile(layout, id), null).value;
  const { lines } = parseProgress(archived?.progress?.join('\n') ?? '');
  return lines.slice(2, -1).map(({ text }) => text);
}
