import { formatArgv } from '../core/argv.js';
import { ForgeError, outside, refused, usage } from '../core/error.js';
import { commitMessageFile } from '../core/paths.js';
import { checkId, checkInput } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { type Git, type UserGit, userGit } from '../git/client.js';
import { openEditor } from '../git/editor.js';
import { commitAt, type HeadCommit, readHead } from '../git/read.js';
import { knownRemote, ORIGIN } from '../git/remote.js';
import type { Repository } from '../git/repository.js';
import { readStagedFiles } from '../git/status.js';
import { loadGuard, refuseFound } from '../guard/guard.js';
import { keepLearnings, listKnowledge } from '../knowledge/knowledge.js';
import { type Context, isBuilding, mainBranch, timestamp } from '../project/project.js';
import { showFocus } from '../session/focus.js';
import { operationOf, rulesHere } from './check.js';
import { amendMessage, CommitInput, composeMessage, gatherMessages } from './compose.js';
import { keepGitState } from './git-state.js';
import { type CommitMessage, cleanMessage, formatCommitMessage } from './message.js';
import { checkMessage } from './protocol.js';
import { branchMessages, knownWork } from './work.js';

export interface CommitWatch {
  /** What hooks and git say, as it comes. */
  onOutput?: (chunk: string) => void;
  /** Ends git. */
  signal?: AbortSignal;
}

export interface MadeCommit {
  /** Not there with dryRun. */
  commit?: { hash: string; short: string; subject: string };
  message: string;
}

/** The message that a commit would have, as far as it is known. */
export async function draftCommit(context: Context, raw: CommitInput = {}): Promise<CommitMessage> {
  const input = checkCommitInput(raw);
  const { repository, git } = requireRepository(context);
  const { all = false, amend = false } = input;
  const { root } = repository;
  if (amend) {
    const last = await readHead(git);
    if (!last) throw usage('commit.nothing', 'There is no commit to amend.', { hint: 'forge commit' });
    const parent = 'HEAD^1';
    const isRoot = (await commitAt(git, parent)) === null;
    const files = await readStagedFiles(git, all, isRoot ? 'HEAD' : parent);
    return amendMessage(input, await knownWork(context, { root, git, all, files, parent }), last.message);
  }
  const files = await readStagedFiles(git, all);
  if (files.length === 0)
    throw usage('commit.nothing', all ? 'No file that git knows has changed.' : 'Nothing is staged.', {
      hint: all ? 'git add -A   # new files too' : 'git add -A\nforge commit -a   # changed files only',
    });
  return composeMessage(input, await knownWork(context, { root, git, all, files }));
}

export interface CommitTemplate {
  text: string;
}

/** GIT-02: a message, or with `pullRequest` a description, with what is known filled in and the rest left open. */
export async function commitTemplate(
  context: Context,
  { pullRequest = false }: { pullRequest?: boolean } = {},
): Promise<CommitTemplate> {
  const { repository, git } = requireRepository(context);
  const files = await readStagedFiles(git, false);
  const work = await knownWork(context, { root: repository.root, git, files, all: false });
  const draft = composeMessage({}, work);
  const base = pullRequest && work.parent ? await mainBranch(context) : null;
  const commits = base === null ? [] : await messagesSince(repository, git, base);
  return { text: formatCommitMessage(gatherMessages(draft, commits)) };
}

/** What is on the server comes first: that is what the pull request is against. */
async function messagesSince(repository: Repository, git: Git, base: string): Promise<string[]> {
  const remote = (await knownRemote(repository, git)) ?? ORIGIN;
  for (const name of [`refs/remotes/${remote}/${base}`, `refs/heads/${base}`])
    if ((await commitAt(git, name)) !== null) return branchMessages(git, name);
  return [];
}

/**
 * GIT-02. A commit of the index as git makes it: with the person's own git, so that their hooks, signing and filters run.
 * Until it is made the message lies in a file, whatever stops it.
 */
export async function makeCommit(
  context: Context,
  raw: CommitInput = {},
  watch: CommitWatch = {},
): Promise<MadeCommit> {
  const input = checkCommitInput(raw);
  const { repository, git } = requireRepository(context);
  requireNoOperation(repository, input.amend ?? false);
  const own = userGit(repository.root, context.world.env);
  const draft = requireTexts(await draftCommit(context, input));
  const learned = isBuilding(context) ? [] : (input.learned ?? []);
  // Report a problem with keeping it before the commit is made.
  if (learned.length > 0) listKnowledge(context);
  const written = formatCommitMessage(draft);
  const message = input.edit && !context.disk.dryRun ? await editMessage(context, own, written) : written;
  const found = (await loadGuard(context.world.env, context)).scanGrave(message);
  if (found.length > 0) refuseFound(context, 'commit message', found);
  requireProtocol(context, message);
  if (context.disk.dryRun) return { message };
  await commitIndex(context, own, message, input, watch);
  const head = (await readHead(git)) as HeadCommit;
  if (learned.length > 0) keepLearned(context, learned);
  await keepGitState(context);
  const { hash, short, subject } = head;
  return { commit: { hash, short, subject }, message: head.message };
}

function checkCommitInput(raw: CommitInput): CommitInput {
  const input = checkInput(CommitInput, raw);
  const { title, why, what = [], done = [], learned = [], issue } = input;
  if (title !== undefined) checkText(title, { what: 'The title', lines: false });
  if (why !== undefined) checkText(why, { what: 'The reason' });
  for (const text of [...what, ...done]) checkText(text, { what: 'What changed' });
  for (const text of learned) checkText(text, { what: 'What was learned' });
  if (issue !== undefined) checkId(issue, 'issue id');
  return input;
}

function requireRepository({ repository, git, layout }: Context): { repository: Repository; git: Git } {
  if (repository && git) return { repository, git };
  throw usage('commit.no_git', `${layout.root} is not in a git repository.`, { hint: 'git init' });
}

/** Git has the message and the parents of that commit already. A rebase stops for commits to be amended. */
function requireNoOperation(repository: Repository, amend: boolean): void {
  const operation = operationOf(repository);
  if (!operation || (amend && operation === 'rebase')) return;
  throw refused('commit.operation', `A ${operation} is in progress; finish it with git first.`, {
    hint: `git ${operation} --continue`,
  });
}

function requireTexts(draft: CommitMessage): CommitMessage {
  if (draft.subject === '')
    throw usage('commit.title', 'There is no title: no task is in focus.', {
      hint: 'forge commit -m "TEXT" --why "TEXT"',
    });
  if (draft.why === '')
    throw usage(
      'commit.why',
      'The message needs a reason: the session has no goal, and no task is in focus.',
      {
        hint: 'forge commit --why "TEXT"',
      },
    );
  return draft;
}

/** The message is kept in a file until the commit is made: a hook of the person's may refuse it. */
async function commitIndex(
  context: Context,
  own: UserGit,
  message: string,
  { all, amend }: CommitInput,
  watch: CommitWatch,
): Promise<void> {
  const { disk, layout } = context;
  const file = saveMessage(context, message);
  const flags = [...(all ? ['-a'] : []), ...(amend ? ['--amend'] : [])];
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit', '-q', '-F', '-', '--cleanup=verbatim', ...flags];
  const { code, stderr } = await own(args, { input: message, ...watch });
  if (code === 0) {
    disk.withLock(() => disk.remove(commitMessageFile(layout)));
    return;
  }
  const lines = stderr.trim().split('\n');
  const said = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1);
  const again = formatArgv([
    'git',
    'commit',
    ...(amend ? ['--amend'] : []),
    '--cleanup=verbatim',
    '-F',
    file,
  ]);
  throw outside('commit.failed', `git made no commit: ${said || 'a hook refused it'}`, {
    hint: `The message is kept; once that is settled: ${again}`,
    data: { file },
  });
}

/** As at a session's end. The commit is made by now: what hinders this is told, not thrown. */
function keepLearned(context: Context, learned: readonly string[]): void {
  try {
    const about = showFocus(context).task ?? 'any task';
    const learnings = learned.map((approach) => ({ kind: 'success' as const, context: about, approach }));
    keepLearnings(context, learnings, timestamp(context));
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'secret') throw error;
    context.warnings.push(`The commit is made; what was learned is not kept: ${error.message}`);
  }
}

/** As git does it: a file, an editor on it, and what is left there. */
async function editMessage(context: Context, own: UserGit, text: string): Promise<string> {
  if (!context.world.terminal)
    throw usage('commit.edit', '--edit needs a terminal.', {
      hint: 'forge commit --dry-run',
    });
  saveMessage(context, text);
  const file = commitMessageFile(context.layout);
  const byHand = formatArgv(['git', 'commit', '-e', '--cleanup=verbatim', '-F', file]);
  const hint = `What was written is kept: ${byHand}   Another editor: git config core.editor …`;
  await openEditor(own, file, context.world.env, hint);
  const left = context.disk.read(file)?.toString('utf8') ?? '';
  const lines = cleanMessage(left);
  if (lines.length === 0) throw usage('commit.empty', 'The message is empty; nothing was committed.');
  return `${lines.map(({ text: line }) => line).join('\n')}\n`;
}

function requireProtocol(context: Context, message: string): void {
  const { problems } = checkMessage(Buffer.from(message), rulesHere(context), { stored: true });
  const [first] = problems;
  if (!first) return;
  const file = saveMessage(context, message);
  const more = problems.length > 1 ? ` and ${problems.length - 1} more` : '';
  throw new ForgeError('findings', 'commit.protocol', `line ${first.line}: ${first.message}${more}`, {
    hint: `The message is kept in ${file}. Write: ${first.fix}`,
    data: { problems, file },
  });
}

/** It may name people, as commits do: what may be in no message was looked for already. */
function saveMessage({ disk, layout }: Context, message: string): string {
  const file = commitMessageFile(layout);
  disk.withLock(() => disk.replaceMoved(file, Buffer.from(message)));
  return file;
}
