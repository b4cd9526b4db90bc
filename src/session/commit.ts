import { type CommitMessage, formatCommitMessage } from '../commit/message.js';
import { ForgeError } from '../core/error.js';
import { archiveFile, shownFrom } from '../core/paths.js';
import { newlyPassing, readFeatures } from '../feature/store.js';
import { type CommitOutcome, commitFolder } from '../git/commit.js';
import { describeUnsigned } from '../git/tags.js';
import { ledgerTrailer } from '../ledger/memory.js';
import { type Context, findIgnored, readConfig, requireRepository } from '../project/project.js';
import { type Focus, isAbout, type RunningSession, reasonOf, sessionName, taskTitle } from './rules.js';
import { readRunning } from './running.js';

interface EndedWork {
  running: RunningSession;
  focus: Focus;
  /** The session's own log lines. */
  done: readonly string[];
  learned: readonly string[];
}

/** The session-end commit: `.forge/` alone, in the protocol of RFC-9060 §5.1. */
export async function commitSession(context: Context, work: EndedWork): Promise<CommitOutcome> {
  const { repository, git, disk, layout } = context;
  if (!repository || !git) return { skipped: 'this folder is not a git repository' };
  if (disk.dryRun) return { skipped: 'dry run' };
  try {
    const message = { ...(await describeWork(context, work)), ledger: ledgerHeads(context) };
    const outcome = await commitInForm(context, shownFrom(repository.root, layout.dir), message);
    const ignored = 'hash' in outcome ? await findIgnored(context) : null;
    if (ignored) context.warnings.push(`${ignored.message}, so no commit has it: ${ignored.fix}`);
    return outcome;
  } catch (error) {
    // The session is archived by now, so a failed commit (git, a damaged features.json) is reported, not thrown.
    if (!(error instanceof ForgeError) || !['outside', 'corrupted'].includes(error.kind)) throw error;
    return { skipped: error.hint ? `${error.message} (${error.hint})` : error.message };
  }
}

export type OwnText = Pick<CommitMessage, 'id' | 'subject' | 'what' | 'why'> &
  Partial<Pick<CommitMessage, 'updated' | 'ledger'>> &
  Partial<CommitMessage['backtrace']>;

/** The message of one of forge's own commits, with the running session in its Backtrace. */
export function ownMessage(
  context: Context,
  { parent = 'none', linear = 'none', parentNote, updated = [], ...text }: OwnText,
): CommitMessage {
  const running = readRunning(context);
  const session = running ? sessionName(running.id) : 'none';
  return { ...text, learned: [], updated, backtrace: { parent, parentNote, linear, session } };
}

/** Commits one folder in forge's form. The message names HEAD as the parent. */
export async function commitInForm(
  context: Context,
  folder: string,
  message: CommitMessage,
): Promise<CommitOutcome> {
  const { repository, git } = requireRepository(context);
  const { commit, git: settings } = readConfig(context);
  const outcome = await commitFolder({
    repository,
    git,
    folder,
    outerIndex: context.world.env.GIT_INDEX_FILE,
    sign: settings.sign,
    message: (parent) =>
      formatCommitMessage(
        { ...message, backtrace: { ...message.backtrace, parent: parent ?? 'none' } },
        commit,
      ),
  });
  if ('hash' in outcome && outcome.unsigned !== undefined)
    context.warnings.push(describeUnsigned(`The commit "${outcome.subject}"`, outcome.unsigned));
  return outcome;
}

/** The ledger state in the commit. */
export const ledgerHeads = (context: Context): string[] => [ledgerTrailer(context) ?? []].flat();

/** The id is the issue's, else the feature's, else FORGE. The subject does not repeat it. */
async function describeWork(
  context: Context,
  { running, focus, done, learned }: EndedWork,
): Promise<CommitMessage> {
  const { linear_issue } = focus;
  const features = readFeatures(context);
  const ids = features.map(({ id }) => id);
  const feature = ids.find((id) => isAbout(focus, id));
  const subject = taskTitle(focus, [feature, linear_issue]) || sessionName(running.id);
  const verified = features.filter(({ verified_at }) => verified_at && verified_at >= running.started_at);
  const passing = await newlyPassing(context, verified);
  // SES-14: an empty session has no archive.
  const isKept = context.disk.exists(archiveFile(context.layout, running.id));
  return {
    id: linear_issue ?? feature ?? 'FORGE',
    subject: isKept ? `Session end: ${subject}` : 'Save memory',
    what:
      done.length > 0 ? [...done] : [isKept ? 'Archived the session' : 'Saved what was changed in .forge/'],
    why: reasonOf(focus, running.goal, ids) || 'The next session starts from what this one knew.',
    learned: [...learned],
    updated: passing.map(({ id }) => `features.json (${id} now passing)`),
    backtrace: {
      parent: 'none',
      linear: linear_issue ?? 'none',
      session: isKept ? sessionName(running.id) : 'none',
    },
  };
}
