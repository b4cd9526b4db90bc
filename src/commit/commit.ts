import { formatArgv } from '../core/argv.js';
import { readEntries } from '../core/entries.js';
import { ForgeError, outside, refused, usage } from '../core/error.js';
import { commitMessageFile, featureFile, learnedFolder, memoryFolder, shownFrom } from '../core/paths.js';
import { checkId, checkInput } from '../core/schema.js';
import { checkText, tellingLine } from '../core/text.js';
import type { Feature } from '../feature/rules.js';
import { newlyPassing, readActive, readFeatures } from '../feature/store.js';
import { type Git, lines, type UserGit, userGit } from '../git/client.js';
import { openEditor } from '../git/commit.js';
import { commitAt, type LoggedCommit, readCommit, readLog } from '../git/read.js';
import { findRemote, ORIGIN } from '../git/remote.js';
import { mergedCommit, operationInProgress, type Repository } from '../git/repository.js';
import { type ChangedFile, holdsLedgers, readStagedFiles } from '../git/status.js';
import { loadGuard, refuseFound } from '../guard/guard.js';
import { scanTree } from '../guard/scan-tree.js';
import { keepLearnings, listKnowledge } from '../knowledge/knowledge.js';
import { ANY_TASK, idOf, LEARNED_LIST, MAX_LESSON } from '../knowledge/rules.js';
import { type Context, isBuilding, mainBranch, orWarn, readConfig, timestamp } from '../project/project.js';
import { ledgerHeads } from '../session/commit.js';
import { isAbout, sessionName, workSince } from '../session/rules.js';
import { readRunning, showFocus } from '../session/running.js';
import { readProgressText } from '../session/store.js';
import { operationOf, readMessageRules, readRules } from './check.js';
import { amendMessage, CommitInput, composeMessage, gatherMessages, type KnownWork } from './compose.js';
import { type CommitMessage, cleanMessage, formatCommitMessage, parseMessage } from './message.js';
import { checkMessage } from './protocol.js';
import { keepGitState } from './recent.js';

export interface CommitWatch {
  onOutput?: (chunk: string) => void;
  signal?: AbortSignal;
}

export type MadeCommit = Awaited<ReturnType<typeof makeCommit>>;

/** The message that a commit would have. Subject and Why may be empty. */
export async function draftCommit(context: Context, raw: CommitInput = {}): Promise<CommitMessage> {
  const input = checkCommitInput(raw);
  const { git } = requireGit(context);
  const { all = false, amend = false } = input;
  if (amend) {
    const last = await readCommit(git);
    if (!last) throw usage('commit.nothing', 'There is no commit to amend.', { hint: 'forge commit' });
    const parent = 'HEAD^1';
    const files = await readStagedFiles(git, all, (await commitAt(git, parent)) === null ? 'HEAD' : parent);
    return amendMessage(input, await readWork(context, { git, files, all, parent }), last.message);
  }
  const files = await readStagedFiles(git, all);
  if (files.length === 0)
    throw usage('commit.nothing', all ? 'No tracked file has changed.' : 'Nothing is staged.', {
      hint: all ? 'git add -A   # new files too' : 'git add -A\nforge commit -a   # changed files only',
    });
  return composeMessage(input, await readWork(context, { git, files, all }));
}

export type CommitTemplate = Awaited<ReturnType<typeof commitTemplate>>;

/** GIT-02: a message with the known parts filled in. With `pullRequest`, one text for all commits of the branch. */
export async function commitTemplate(
  context: Context,
  { pullRequest = false }: { pullRequest?: boolean } = {},
) {
  const { git } = requireGit(context);
  const files = await readStagedFiles(git, false);
  const work = await readWork(context, { git, files, all: false });
  const base = pullRequest && work.parent ? await mainBranch(context) : null;
  const branch = base === null ? null : await readOwnCommits(context, base);
  const draft = composeMessage({}, work);
  const message = branch ? gatherMessages(draft, branch.messages, branch.start) : draft;
  return { text: formatCommitMessage(message, readConfig(context).commit) };
}

/**
 * The messages of the commits in this branch's pull request, oldest first; at most 500. Its base is the branch on the
 * server. The local one is the fallback.
 */
async function readOwnCommits(context: Context, base: string) {
  const { repository, git } = requireGit(context);
  const remote = (await findRemote(repository, git)) ?? ORIGIN;
  for (const name of [`refs/remotes/${remote}/${base}`, `refs/heads/${base}`])
    if ((await commitAt(git, name)) !== null) {
      const commits = (await readLog(git, 500, `${name}..HEAD`)).reverse();
      const [fork] = lines((await git(['merge-base', name, 'HEAD'])).stdout);
      return {
        messages: commits.filter(({ parents }) => parents < 2).map(({ message }) => message),
        start: fork === undefined ? null : await readParent(context, git, fork),
      };
    }
  return null;
}

/** GIT-02: commits the index with the user's own git, so that their hooks, signing and filters run. */
export async function makeCommit(context: Context, raw: CommitInput = {}, watch: CommitWatch = {}) {
  const input = checkCommitInput(raw);
  const { repository, git } = requireGit(context);
  requireNoOperation(repository, input.amend ?? false);
  const own = userGit(repository.root, context.world.env);
  const draft = requireTexts(context, input, await draftCommit(context, input));
  const learned = isBuilding(context) ? [] : (input.learned ?? []);
  const written = formatCommitMessage(draft, readConfig(context).commit);
  const message = input.edit && !context.disk.dryRun ? await editMessage(context, own, written) : written;
  const found = (await loadGuard(context.world.env, context)).scanGrave(message);
  if (found.length > 0) refuseFound(context, 'commit message', found);
  await refuseStagedSecret(context, input);
  await requireProtocol(context, message);
  if (context.disk.dryRun) return { message };
  await commitIndex(context, own, message, input, watch);
  const head = (await readCommit(git)) as LoggedCommit;
  if (learned.length > 0) await keepLearned(context, learned);
  await keepGitState(context);
  const { hash, short, subject } = head;
  return { commit: { hash, short, subject }, message: head.message };
}

/** LTM-13: hooks may be missing. */
async function refuseStagedSecret({ layout, world }: Context, { all }: CommitInput): Promise<void> {
  const { findings } = await scanTree(layout.root, world, { staged: all ? 'tracked' : true });
  const [first] = findings;
  if (!first) return;
  const more = findings.length > 1 ? ` and ${findings.length - 1} more` : '';
  throw new ForgeError(
    'secret',
    `guard.${first.class}`,
    `${first.file}:${first.line}: ${first.what}${more}; nothing was committed.`,
    {
      hint: `${all ? 'forge guard scan' : 'forge guard scan --staged'}\nforge guard allow ${first.fingerprint} --reason "TEXT"   # only for a false alarm`,
      data: { findings },
    },
  );
}

function checkCommitInput(raw: CommitInput): CommitInput {
  const input = checkInput(CommitInput, raw);
  const { title, why, what = [], done = [], learned = [], issue } = input;
  if (title !== undefined) checkText(title, { what: 'The title', lines: false });
  if (why !== undefined) checkText(why, { what: 'The reason' });
  for (const text of [...what, ...done]) checkText(text, { what: 'What changed' });
  for (const text of learned) checkText(text, { what: 'What was learned', maxBytes: MAX_LESSON });
  if (issue !== undefined) checkId(issue, 'issue id');
  return input;
}

function requireGit({ repository, git, layout }: Context): { repository: Repository; git: Git } {
  if (repository && git) return { repository, git };
  throw usage('commit.no_git', `${layout.root} is not in a git repository.`, { hint: 'git init' });
}

/** Git already has the message and the parents of that commit. A rebase may stop to amend one. */
function requireNoOperation(repository: Repository, amend: boolean): void {
  const operation = operationOf(repository);
  if (!operation || (amend && operation === 'rebase')) return;
  const name = operationInProgress(repository) ?? operation;
  throw refused('commit.operation', `Finish ${name} with git first.`, {
    hint: `git ${name.replace(/^a |^git /, '')} --continue`,
  });
}

const flagsOf = ({ all, amend }: CommitInput): string[] => [
  ...(all ? ['-a'] : []),
  ...(amend ? ['--amend'] : []),
];

function requireTexts(context: Context, input: CommitInput, draft: CommitMessage): CommitMessage {
  const again = ['forge', 'commit', ...flagsOf(input)];
  if (draft.subject === '')
    throw usage('commit.title', 'There is no title: no task is in focus.', {
      hint: `${formatArgv(again)} -m "TEXT" --why "TEXT"`,
    });
  if (draft.why === '' && readConfig(context).commit.sections.includes('Why'))
    throw usage('commit.why', 'There is no reason: the session has no goal, and no task is in focus.', {
      hint: `${formatArgv(input.title === undefined ? again : [...again, '-m', input.title])} --why "TEXT"`,
    });
  return draft;
}

/** The message stays in a file until the commit is made: one of the user's hooks may reject it. */
async function commitIndex(
  context: Context,
  own: UserGit,
  message: string,
  input: CommitInput,
  watch: CommitWatch,
): Promise<void> {
  const { disk, layout } = context;
  const file = saveMessage(context, message);
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit', '-q', '-F', '-', '--cleanup=verbatim'];
  const { code, stderr } = await own([...args, ...flagsOf(input)], { input: message, ...watch });
  if (code === 0) {
    disk.withLock(() => disk.remove(commitMessageFile(layout)));
    return;
  }
  const reason = /^(?:fatal|error):.*/m.exec(stderr)?.[0] ?? tellingLine(stderr);
  const again = formatArgv(['git', 'commit', ...flagsOf(input), '--cleanup=verbatim', '-F', file]);
  throw outside('commit.failed', `git made no commit: ${reason || 'a hook rejected it'}`, {
    hint: `The message is saved. Once that is fixed: ${again}`,
    data: { file },
  });
}

/** The commit is made by now, so a failure is a warning. */
async function keepLearned(context: Context, learned: readonly string[]): Promise<void> {
  const keep = (): void => {
    const task = showFocus(context).task ?? ANY_TASK;
    const learnings = learned.map((approach) => ({ kind: 'success' as const, context: task, approach }));
    keepLearnings(context, learnings, timestamp(context));
  };
  const what = 'The commit was made, but the learnings were not saved';
  await orWarn(context, what, keep, ({ kind }) => kind !== 'secret');
}

async function editMessage(context: Context, own: UserGit, text: string): Promise<string> {
  if (!context.world.terminal)
    throw usage('commit.edit', '--edit needs a terminal.', { hint: 'forge commit --dry-run' });
  const file = saveMessage(context, text);
  const byHand = formatArgv(['git', 'commit', '-e', '--cleanup=verbatim', '-F', file]);
  const hint = `The text is saved: ${byHand}   Another editor: git config core.editor …`;
  await openEditor(own, file, context.world.env, hint);
  const lines = cleanMessage(context.disk.read(file)?.toString('utf8') ?? '');
  if (lines.length === 0) throw usage('commit.empty', 'The message is empty; nothing was committed.');
  return `${lines.map((line) => line.text).join('\n')}\n`;
}

async function requireProtocol(context: Context, message: string): Promise<void> {
  const { problems } = checkMessage(Buffer.from(message), await readMessageRules(context), { stored: true });
  const [first] = problems;
  if (!first) return;
  const file = saveMessage(context, message);
  const more = problems.length > 1 ? ` and ${problems.length - 1} more` : '';
  throw new ForgeError('findings', 'commit.protocol', `line ${first.line}: ${first.message}${more}`, {
    hint: `The message is saved in ${file}. Write: ${first.fix}`,
    data: { problems, file },
  });
}

/** Not scanned again: the guard has checked the message, and a commit may name people. */
function saveMessage({ disk, layout }: Context, message: string): string {
  const file = commitMessageFile(layout);
  disk.withLock(() => disk.replaceMoved(file, Buffer.from(message)));
  return file;
}

/** Only a status that changed is "now" something. */
const changeOf = (status: Feature['status']): string =>
  status === 'not_implemented' ? 'not implemented yet' : `now ${status.replaceAll('_', ' ')}`;

/** Without a subject that the guard refuses, because the new message would repeat it. */
async function readParent(context: Context, git: Git, rev?: string): Promise<LoggedCommit | null> {
  const commit = await readCommit(git, rev);
  const guard = await loadGuard(context.world.env, context);
  return commit && guard.scanGrave(commit.subject).length > 0 ? { ...commit, subject: '' } : commit;
}

/** The work since the last commit, as far as forge knows it. `parent`: of the new commit; default: HEAD. */
export async function readWork(
  context: Context,
  { git, files, all, parent }: { git: Git; files: readonly ChangedFile[]; all: boolean; parent?: string },
): Promise<KnownWork> {
  const { layout } = context;
  const { root } = context.repository ?? layout;
  const running = readRunning(context);
  const head = await readParent(context, git, parent);
  const since = head?.at ?? null;
  const focus = showFocus(context);
  const paths = new Set(files.map(({ path }) => path));
  const features = readFeatures(context);
  // A later pass is not part of a commit that is amended.
  const passedNow = ({ status, verified_at: at }: Feature): boolean =>
    parent === undefined && status === 'passing' && !!at && !(since && Date.parse(at) < Date.parse(since));
  const updated = features.filter(
    (feature) => paths.has(shownFrom(root, featureFile(layout, feature.id))) || passedNow(feature),
  );
  const fresh = await newlyPassing(context, updated, parent);
  // The messages of a squashed branch may go with it.
  const { repository } = context;
  const isSquash = repository !== null && !operationOf(repository) && mergedCommit(repository) !== undefined;
  const holdsHeads = await holdsLedgers(git, shownFrom(root, memoryFolder(layout)), all);
  return {
    focus,
    features: features.map(({ id }) => id),
    issues: readActive(context),
    passed: fresh
      .filter(passedNow)
      .map(({ id, name, linear_issue = null }) => ({ id, title: name, linear_issue })),
    isDone: features.some((feature) => feature.status === 'passing' && isAbout(focus, feature.id)),
    session: running && { name: sessionName(running.id), goal: running.goal ?? null },
    done: running ? workSince(readProgressText(context), since) : [],
    learned: learnedSince(context, since ?? running?.started_at ?? null, paths),
    updated: updated
      .filter((feature) => feature.status !== 'passing' || fresh.includes(feature))
      .map(({ id, status }) => `features.json (${id} ${changeOf(status)})`),
    files,
    parent: head,
    earlier: head
      ? (await readLog(git, 10, parent ? head.hash : isSquash ? 'HEAD' : ['HEAD', '--branches'])).map(
          ({ message }) => parseMessage(message),
        )
      : [],
    // Verification in other clones would miss heads that the commit does not contain.
    ledger: holdsHeads ? ledgerHeads(context) : [],
    rules: readRules(context),
  };
}

/** Knowledge since then, and what `paths` hold. */
function learnedSince(context: Context, since: string | null, paths: ReadonlySet<string>): string[] {
  const { disk, layout, repository } = context;
  const folder = shownFrom(repository?.root ?? layout.root, learnedFolder(layout));
  const brought = readEntries(disk, LEARNED_LIST)
    .entries.filter((entry) => paths.has(`${folder}/${LEARNED_LIST.nameOf(entry)}.json`))
    .map(idOf);
  const from = since === null ? 0 : Date.parse(since);
  return listKnowledge(context).learnings.flatMap((entry) => {
    if (!(Date.parse(entry.learned_at ?? '') >= from || brought.includes(entry.id))) return [];
    if (entry.kind === 'invariant') return [entry.text];
    return [entry.kind === 'success' ? entry.approach : `This failed: ${entry.issue}`];
  });
}
