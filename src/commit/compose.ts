import * as z from 'zod/mini';
import { oneLine, plural } from '../core/text.js';
import { taskLine, type Unit } from '../feature/tasks.js';
import { isTestFile } from '../feature/test-files.js';
import { type Focus, isAbout, RECORDED, reasonOf, taskTitle } from '../session/rules.js';
import { type CommitMessage, isOwnSubject, parseMessage } from './message.js';
import { type CommitRules, NO_ISSUE } from './rules.js';

/** What the caller gives for a commit message. */
export const CommitInput = z.strictObject({
  title: z.optional(z.string()),
  why: z.optional(z.string()),
  what: z.optional(z.array(z.string())),
  /** Work to list besides the progress log. `what` replaces it. */
  done: z.optional(z.array(z.string())),
  learned: z.optional(z.array(z.string())),
  issue: z.optional(z.string()),
  /** As `git commit -a`. */
  all: z.optional(z.boolean()),
  /** As `git commit --amend`. The last message supplies whatever is not given. */
  amend: z.optional(z.boolean()),
  /** Opens git's editor. Needs a terminal. */
  edit: z.optional(z.boolean()),
});
export type CommitInput = z.infer<typeof CommitInput>;

/** What forge knows about the work since the last commit. */
export interface KnownWork {
  focus: Focus;
  features: readonly string[];
  issues: readonly Unit[];
  /** Features that passed since the last commit. */
  passed: readonly { id: string; title: string; linear_issue: string | null }[];
  isDone: boolean;
  session: { name: string; goal: string | null } | null;
  done: readonly string[];
  learned: readonly string[];
  updated: readonly string[];
  files: readonly { status: string; path: string }[];
  parent: { short: string; subject: string } | null;
  /** The last few commit messages of all branches. They may contain lines of the log already, which has no seconds. */
  earlier: readonly CommitMessage[];
  ledger: readonly string[];
  rules: CommitRules;
}

const PREFIX = /^\[([^[\] ]{1,100})\] +(.+)$/;
const MAX_ITEMS = 20;
const MAX_FILES = 8;

/** GIT-02. Subject and Why are empty if nothing is known. */
export function composeMessage(given: CommitInput, known: KnownWork): CommitMessage {
  const { parent, earlier, features } = known;
  const focus = focusOf(known);
  const typed = PREFIX.exec(given.title ?? '');
  const feature = features.find((id) => isAbout(focus, id));
  const issue = givenIssue(given, known.rules) ?? focus.linear_issue ?? undefined;
  // A subject without an id leaves the name of a feature to `Linear`.
  const isBare = known.rules.off.has('subject');
  const knownId = given.issue ?? focus.linear_issue ?? feature ?? NO_ISSUE;
  const fresh = (texts: readonly string[], field: 'what' | 'learned' | 'updated'): string[] => {
    const old = earlier.flatMap((message) => message[field]);
    const lines = new Set(texts.map((text) => oneLine(text, 500)));
    return [...lines].filter((line) => !old.includes(line)).slice(-MAX_ITEMS);
  };
  const done = fresh([...known.done, ...(given.done ?? [])], 'what');
  return {
    id: given.issue ?? typed?.[1] ?? (isBare ? '' : knownId),
    subject: typed?.[2] ?? given.title ?? taskTitle(focus, [given.issue, feature, focus.linear_issue]),
    ...(given.title === undefined ? {} : { isTyped: true }),
    ...conventionalType(
      known.issues.find(({ linear_id }) => linear_id === issue),
      known.files,
    ),
    what: given.what?.length ? [...given.what] : describeWork(done, known.files),
    why: given.why ?? reasonOf(focus, known.session?.goal, features),
    learned: fresh([...known.learned, ...(given.learned ?? [])], 'learned'),
    updated: fresh(known.updated, 'updated'),
    backtrace: {
      parent: parent?.short ?? 'none',
      parentNote: parent ? noteOf(parent) : undefined,
      linear: issue !== undefined && (isBare || !features.includes(issue)) ? issue : 'none',
      session: known.session?.name ?? 'none',
    },
    ledger: [...known.ledger],
  };
}

function givenIssue({ issue, title = '' }: CommitInput, { isId }: CommitRules): string | undefined {
  const [, id = NO_ISSUE] = PREFIX.exec(title) ?? [];
  return issue ?? (id !== NO_ISSUE && isId(id) ? id : undefined);
}

/** `#12` would link the commit to that pull request, and begins a footer for commitlint. */
const noteOf = ({ subject }: { subject: string }): string => oneLine(subject.replace(/#(?=\d)/g, ''), 60);

const DOCS = /^docs?\/|\.(?:md|mdx|rst|adoc)$/i;

/** A release tool publishes a version for `feat` and `fix`. */
function conventionalType(issue: Unit | undefined, files: KnownWork['files']): { type?: string } {
  const words = [issue?.type ?? '', ...(issue?.labels ?? [])].map((word) => word.toLowerCase());
  if (words.includes('bug')) return { type: 'fix' };
  const isAll = (test: (path: string) => boolean): boolean =>
    files.length > 0 && files.every(({ path }) => test(path));
  if (words.some((word) => word === 'docs' || word === 'documentation') || isAll((path) => DOCS.test(path)))
    return { type: 'docs' };
  if (isAll(isTestFile)) return { type: 'test' };
  // Memory and the settings of tools.
  return isAll((path) => path.startsWith('.')) ? { type: 'chore' } : {};
}

/** What the commit is about: the one feature that passed, if there is no task or it was done before. */
function focusOf({ focus, passed, isDone, earlier }: KnownWork): Focus {
  const reported = new Set(earlier.flatMap(({ updated }) => updated));
  const [first, ...more] = passed.filter(({ id }) => !reported.has(`features.json (${id} now passing)`));
  const isOpen = focus.task !== null && !isDone;
  if (isOpen || !first || more.length > 0 || isAbout(focus, first.id)) return focus;
  return { ...focus, task: taskLine(first), linear_issue: first.linear_issue };
}

/** `forge commit --amend`: the last message, with what was given, and completed to follow the protocol. */
export function amendMessage(given: CommitInput, known: KnownWork, last: string): CommitMessage {
  const old = parseMessage(last);
  const { rules } = known;
  const title = given.title ?? old.subject;
  const draft = composeMessage(
    {
      ...given,
      title: PREFIX.test(title) || old.id === '' ? title : `[${old.id}] ${title}`,
      why: given.why ?? (old.why || undefined),
      what: given.what?.length ? given.what : old.what,
    },
    known,
  );
  const { linear, session } = old.backtrace;
  const hasId = old.id !== '' || rules.off.has('subject');
  // A new title may drop the only mention of the issue.
  const isNamedOnce = given.title !== undefined && !isNamed(linear) && rules.isIssue(old.id);
  const keepsLinear = givenIssue(given, rules) === undefined && linear !== '' && hasId && !isNamedOnce;
  return {
    ...draft,
    isKept: given.title === undefined,
    learned: unique([...old.learned, ...draft.learned]),
    updated: unique([...old.updated, ...draft.updated]),
    backtrace: {
      ...draft.backtrace,
      ...(keepsLinear ? { linear } : {}),
      ...(session === '' ? {} : { session }),
    },
    other: old.other ?? '',
    trailers: old.trailers ?? [],
  };
}

/** What was said in the progress log, and the file names; without a log, one line per file. */
function describeWork(log: readonly string[], all: KnownWork['files']): string[] {
  const done = log.filter((line) => !RECORDED.test(line));
  const others = all.filter(({ path }) => !path.startsWith('.forge/'));
  const files = others.length > 0 ? others : all;
  const shown = files.slice(0, MAX_FILES).map(({ status, path }) => ({ status, name: oneLine(path, 120) }));
  const more = files.length > MAX_FILES ? [plural(files.length - MAX_FILES, 'more file')] : [];
  if (done.length === 0)
    return [...shown.map(({ status, name }) => `${VERBS[status] ?? 'Change'} ${name}`), ...more];
  const names = [...shown.map(({ name }) => name), ...more].join(', ');
  return names === '' ? [...done] : [...done, `Files: ${names}`];
}

const VERBS: Record<string, string> = { A: 'Add', D: 'Remove', R: 'Move to', C: 'Copy to' };

const unique = (texts: string[]): string[] => [...new Set(texts)];

const isNamed = (text: string): boolean => text !== '' && text !== 'none';

/**
 * A pull request's text: its commits' messages as one. `draft` describes what is not committed yet, `start` the commit that
 * the branch started from. Commits of plain git say little, so the ends of sessions supply what they lack.
 */
export function gatherMessages(
  draft: CommitMessage,
  texts: readonly string[],
  start: { short: string; subject: string } | null,
): CommitMessage {
  const parsed = texts.map(parseMessage);
  const commits = parsed
    .filter(({ subject }) => !isOwnSubject(subject))
    .map((commit) => (commit.what.length > 0 ? commit : { ...commit, what: [commit.subject] }));
  const last = commits.at(-1);
  if (!last) return draft;
  const all = [...commits, draft];
  // A session-end commit may be the only one that names a lesson or a pass.
  const messages = [...parsed, draft];
  const reasonsOf = (some: readonly CommitMessage[]): string =>
    unique(some.map(({ why }) => why).filter((why) => why !== '')).join('\n\n');
  const lastNamed = (name: 'linear' | 'session'): string =>
    messages.map(({ backtrace }) => backtrace[name]).findLast(isNamed) ?? 'none';
  return {
    id: last.id || draft.id,
    subject: draft.subject !== '' && commits.length > 1 ? draft.subject : last.subject,
    isTyped: true,
    what: unique(all.flatMap(({ what }) => what)),
    why: reasonsOf(commits) || draft.why || reasonsOf(parsed),
    learned: unique(messages.flatMap(({ learned }) => learned)),
    updated: unique(messages.flatMap(({ updated }) => updated)),
    backtrace: {
      parent: start?.short ?? 'none',
      parentNote: start ? noteOf(start) : undefined,
      linear: lastNamed('linear'),
      session: lastNamed('session'),
    },
  };
}
