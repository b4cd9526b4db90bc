import * as z from 'zod/mini';
import { oneLine, plural } from '../core/text.js';
import type { Focus } from '../session/focus-rules.js';
import { type CommitMessage, parseAnyMessage, parseCommitMessage } from './message.js';
import { NO_ISSUE } from './rules.js';

/** What a commit is to say, as far as somebody said so. */
export const CommitInput = z.strictObject({
  title: z.optional(z.string()),
  why: z.optional(z.string()),
  what: z.optional(z.array(z.string())),
  /** Said of the work beside the log; `what` takes its place, too. */
  done: z.optional(z.array(z.string())),
  learned: z.optional(z.array(z.string())),
  issue: z.optional(z.string()),
  /** As `git commit -a`. */
  all: z.optional(z.boolean()),
  /** As `git commit --amend`: what the last message says is kept where nothing else is given. */
  amend: z.optional(z.boolean()),
  /** In the editor that git would open; a terminal is needed. */
  edit: z.optional(z.boolean()),
});
export type CommitInput = z.infer<typeof CommitInput>;

/** What forge knows besides. */
export interface KnownWork {
  focus: Focus;
  /** Ids of the feature list. */
  features: readonly string[];
  session: { name: string; goal: string | null } | null;
  /** Lines of the log, texts learned and features changed, since the last commit. */
  done: readonly string[];
  learned: readonly string[];
  updated: readonly string[];
  files: readonly { status: string; path: string }[];
  parent: { short: string; subject: string } | null;
  /** What the last commits say: the log has no seconds, so its lines may be in one of them. */
  earlier: readonly CommitMessage[];
  ledger: readonly string[];
  /** The rule for subjects is off: another convention decides what they look like. */
  isBare: boolean;
}

const PREFIX = /^\[([^[\] ]{1,100})\] +(.+)$/;
const MAX_ITEMS = 20;
const MAX_FILES = 8;

/** GIT-02. Subject and Why are empty where nothing is known. */
export function composeMessage(given: CommitInput, known: KnownWork): CommitMessage {
  const { focus, parent, earlier } = known;
  const typed = PREFIX.exec(given.title ?? '');
  const feature = known.features.find((id) => focus.task?.startsWith(`${id}: `));
  const isFeature = (id: string | undefined): boolean => id !== undefined && known.features.includes(id);
  const typedId = typed?.[1] === NO_ISSUE ? undefined : typed?.[1];
  const issue = given.issue ?? typedId ?? focus.linear_issue ?? undefined;
  const knownId = given.issue ?? focus.linear_issue ?? feature ?? NO_ISSUE;
  const id = given.issue ?? typed?.[1] ?? (known.isBare ? '' : knownId);
  // What an earlier message said is no news, though it was written a moment after that commit.
  const fresh = (texts: readonly string[], old: readonly string[]): string[] =>
    [...new Set(texts.map((text) => oneLine(text, 500)))]
      .filter((text) => !old.includes(text))
      .slice(-MAX_ITEMS);
  const told = (pick: (message: CommitMessage) => readonly string[]): string[] => earlier.flatMap(pick);
  const done = fresh(
    [...known.done, ...(given.done ?? [])],
    told(({ what }) => what),
  );
  return {
    id,
    subject: typed?.[2] ?? given.title ?? withoutId(focus.task, [id, feature, focus.linear_issue]) ?? '',
    what: given.what?.length ? [...given.what] : describeWork(done, known.files),
    why: given.why ?? known.session?.goal ?? focus.task ?? '',
    learned: fresh(
      [...known.learned, ...(given.learned ?? [])],
      told(({ learned }) => learned),
    ),
    updated: fresh(
      known.updated,
      told(({ updated }) => updated),
    ),
    backtrace: {
      parent: parent?.short ?? 'none',
      ...(parent ? { parentNote: oneLine(parent.subject, 60) } : {}),
      linear: issue !== undefined && !isFeature(issue) ? issue : 'none',
      session: known.session?.name ?? 'none',
    },
    ledger: [...known.ledger],
  };
}

/** `forge commit --amend`: what the last message says, with what was given, and what the protocol misses in it. */
export function amendMessage(given: CommitInput, known: KnownWork, last: string): CommitMessage {
  const old = parseAnyMessage(last);
  const isIssue = old.id !== '' && old.id !== NO_ISSUE;
  const title = given.title ?? old.subject;
  const draft = composeMessage(
    {
      ...given,
      title: PREFIX.test(title) || old.id === '' ? title : `[${old.id}] ${title}`,
      why: given.why ?? (old.why || undefined),
      what: given.what?.length ? given.what : old.what,
      learned: [...old.learned, ...(given.learned ?? [])],
    },
    known,
  );
  const { linear, session } = old.backtrace;
  const isKept = given.issue === undefined && linear !== '' && (isIssue || linear === 'none');
  return {
    ...draft,
    updated: [...new Set([...old.updated, ...draft.updated])],
    backtrace: {
      ...draft.backtrace,
      ...(isKept ? { linear } : {}),
      ...(session === '' ? {} : { session }),
    },
    trailers: old.trailers ?? [],
  };
}

/** The id stands in front of the subject already. */
function withoutId(task: string | null, ids: readonly (string | null | undefined)[]): string | null {
  const prefix = ids.find((id) => id && task?.startsWith(`${id}: `));
  return prefix && task ? task.slice(prefix.length + 2) : task;
}

/** The log says what was done; the files, where. */
function describeWork(done: readonly string[], all: KnownWork['files']): string[] {
  const others = all.filter(({ path }) => !path.startsWith('.forge/'));
  const files = others.length > 0 ? others : all;
  const names = files.slice(0, MAX_FILES).map(({ path }) => oneLine(path, 120));
  const left = files.length - names.length;
  const more = left > 0 ? [`${plural(left, 'more file')}`] : [];
  if (done.length > 0)
    return [...done, ...(names.length > 0 ? [`Files: ${[...names, ...more].join(', ')}`] : [])];
  return [
    ...files.slice(0, MAX_FILES).map(({ status, path }) => `${verb(status)} ${oneLine(path, 120)}`),
    ...more,
  ];
}

const VERBS: Record<string, string> = { A: 'Add', D: 'Remove', R: 'Move to', C: 'Copy to' };
const verb = (status: string): string => VERBS[status] ?? 'Change';

/** The log's lines since then, without the two that a session begins with. Its stamps are minutes of a day, in UTC. */
export function linesSince(
  { date, lines }: { date: string | null; lines: readonly { time: string; text: string }[] },
  since: string | null,
): string[] {
  if (date === null) return [];
  const from = since === null ? 0 : Math.floor(Date.parse(since) / 60_000) * 60_000;
  let day = Date.parse(`${date}T00:00:00Z`);
  let last = '';
  return lines.flatMap(({ time, text }, i) => {
    if (time < last) day += 86_400_000;
    last = time;
    const at = day + Date.parse(`1970-01-01T${time}:00Z`);
    return i >= 2 && at >= from ? [text] : [];
  });
}

/**
 * A pull request says what its commits said, in the form of one: squashed with this text it is in the protocol. `draft` is
 * what is not committed yet.
 */
export function gatherMessages(draft: CommitMessage, texts: readonly string[]): CommitMessage {
  const commits = texts.flatMap((text) => parseCommitMessage(text) ?? []);
  const last = commits.at(-1);
  if (!last) return draft;
  const all = (pick: (message: CommitMessage) => readonly string[]): string[] => [
    ...new Set([...commits, draft].flatMap(pick)),
  ];
  const reasons = [...new Set(commits.map(({ why }) => why).filter((why) => why !== ''))];
  const alone = commits.length === 1;
  return {
    id: last.id,
    subject: draft.subject !== '' && !alone ? draft.subject : last.subject,
    what: all(({ what }) => what),
    why: reasons.join('\n\n') || draft.why,
    learned: all(({ learned }) => learned),
    updated: all(({ updated }) => updated),
    backtrace: {
      ...draft.backtrace,
      // Where the branch began, as its first commit knew it.
      parent: commits[0]?.backtrace.parent || 'none',
      parentNote: commits[0]?.backtrace.parentNote ?? 'where this branch began',
      linear: last.backtrace.linear || draft.backtrace.linear,
    },
  };
}
