import * as z from 'zod/mini';
import { SHELL_TOKENS } from '../core/argv.js';
import { usage } from '../core/error.js';
import { Holder } from '../core/holder.js';
import { type Format, isSameId } from '../core/schema.js';
import { compareText, firstNames, oneLine } from '../core/text.js';
import type { World } from '../core/world.js';

/** `YYYY-MM-DD-session-NNN` (UTC), stored with the writer's suffix `-<6 hex>` (SES-02). */
const STORED_ID = /^(\d{4}-\d{2}-\d{2}-session-\d{3,})-([0-9a-f]{6})$/;

const Core = {
  schema_version: z.string(),
  id: z.string().check(z.regex(STORED_ID)),
  /** Increases in this repository independently of the clock. Orders sessions. */
  seq: z.int(),
  started_at: z.string(),
  branch: z.nullable(z.string()),
  head: z.nullable(z.string()),
  goal: z.optional(z.nullable(z.string())),
  resumed_from: z.optional(z.string()),
  /** The sessions whose next steps its start handed over; once ended, only those that it replaced. */
  after: z.optional(z.array(z.string())),
};

/** `short-term/session.json`: the running session. Machine-local. */
export const RunningSession = z.looseObject({
  ...Core,
  holder: Holder,
  joined: z.optional(z.array(Holder)),
  /** Its agent has ended the conversation. The next start offers to resume it. */
  parked: z.optional(z.looseObject({ at: z.string(), agent: z.string() })),
});
export type RunningSession = z.infer<typeof RunningSession>;

/** `memory/sessions/<id>.json`: its lasting part. Committed, so it has nothing about the machine. */
export const ArchivedSession = z.looseObject({
  ...Core,
  status: z.enum(['running', 'ended', 'interrupted', 'discarded']),
  ended_at: z.nullable(z.string()),
  learned: z.array(z.string()),
  next: z.nullable(z.string()),
  resumed_by: z.optional(z.string()),
  /** The lines of progress.txt, focus.json, and kfr.json if working memory was used. */
  progress: z.optional(z.array(z.string())),
  focus: z.optional(z.unknown()),
  kfr: z.optional(z.unknown()),
});
export type ArchivedSession = z.infer<typeof ArchivedSession>;

export const RUNNING_SESSION: Format<RunningSession> = {
  name: 'session',
  version: '1.0',
  schema: RunningSession,
};
export const ARCHIVED_SESSION: Format<ArchivedSession> = {
  name: 'session-archive',
  version: '1.0',
  schema: ArchivedSession,
};

/** Tokens of a briefing. */
export const Budget = z.optional(z.int().check(z.gte(200), z.lte(100_000)));

export const SessionStartInput = z.strictObject({
  /** A feature or an active issue to work on. */
  id: z.optional(z.string()),
  /** The task as text. */
  goal: z.optional(z.string()),
  budget: Budget,
  format: z.optional(z.enum(['text', 'markdown'])),
  resume: z.optional(z.string()),
  join: z.optional(z.boolean()),
  takeOver: z.optional(z.boolean()),
  /** The number of passing features to rerun first. 0: none, overriding the setting. */
  reverify: z.optional(z.int().check(z.gte(0), z.lte(1000))),
});
export type SessionStartInput = z.infer<typeof SessionStartInput>;

export const formatSessionName = (date: string, n: number): string =>
  `${date}-session-${String(n).padStart(3, '0')}`;

export const isStoredId = (id: string): boolean => STORED_ID.test(id);

/** The name without the writer's suffix. */
export const sessionName = (stored: string): string => STORED_ID.exec(stored)?.[1] ?? stored;

/** An id for display: without its suffix, unless two of `all` would then be equal. */
export function shownId(stored: string, all: readonly string[]): string {
  const name = sessionName(stored);
  return all.some((id) => id !== stored && sessionName(id) === name) ? stored : name;
}

/** The first free number of a date, from every id ever seen. */
export function nextNumber(date: string, ids: readonly string[]): number {
  const numbers = ids
    .filter((id) => id.startsWith(`${date}-session-`))
    .map((id) => Number(/-session-(\d+)/.exec(id)?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}

type Ordered = Pick<ArchivedSession, 'seq' | 'id' | 'started_at' | 'ended_at'>;

/** Newest last, by the counter. The clock only orders sessions of clones that did not know of each other. */
export const bySequence = (a: Ordered, b: Ordered): number =>
  a.seq - b.seq ||
  compareText(a.ended_at ?? a.started_at, b.ended_at ?? b.started_at) ||
  compareText(a.id, b.id);

/** By the shown or the stored id, or by the number at its end. */
export const isCalled = (stored: string, wanted: string): boolean =>
  isSameId(stored, wanted) ||
  isSameId(sessionName(stored), wanted) ||
  (/^\d{1,4}$/.test(wanted) && sessionName(stored).endsWith(`-session-${wanted.padStart(3, '0')}`));

/** The session of a shown or stored id. Exit 2 for none or several. */
export function matchSession<T extends { id: string }>(sessions: readonly T[], wanted: string): T {
  const matches = sessions.filter(({ id }) => isCalled(id, wanted));
  const [found] = matches;
  if (found && matches.length === 1) return found;
  const shown = JSON.stringify(oneLine(wanted, 80));
  const why = found
    ? `${shown} is ambiguous: it matches ${matches.map(({ id }) => id).join(', ')}.`
    : `There is no session ${shown}.`;
  throw usage(found ? 'session.ambiguous' : 'session.unknown', why, { hint: 'forge session list' });
}

type Passing = { id: string; status: string; verified_at?: string | null | undefined };

/** When and where features passed that fail now. */
export type Regressions = Readonly<Record<string, { at: string; commit: string }>>;

/** Sessions with a note on what passed since, also if it fails again. One whose own feature did comes last. */
export function notePassed(
  sessions: readonly ArchivedSession[],
  features: readonly Passing[],
  regressions: Regressions = {},
) {
  const noted = sessions.map((session) => {
    const isSince = ({ id, status, verified_at }: Passing): boolean => {
      const at = status === 'passing' ? verified_at : regressions[id]?.at;
      // An interrupted one has no end.
      return !!at && at > (session.ended_at ?? session.started_at);
    };
    const passed = features.filter(isSince).map(({ id }) => id);
    const isDone = passed.some((id) => isAbout(focusIn(session), id));
    return { session, isDone, notes: passed.length > 0 ? [`${firstNames(passed, 3)} passed since`] : [] };
  });
  return noted.sort((a, b) => Number(a.isDone) - Number(b.isDone));
}
export type Noted = ReturnType<typeof notePassed>[number];

/** The sessions whose next steps no ended session replaced: the one that ended last in this clone, then the newest first. */
export function handoversOf(
  recent: readonly ArchivedSession[],
  isOwn: (id: string) => boolean,
): ArchivedSession[] {
  const replaced = new Set(recent.flatMap(({ status, after = [] }) => (status === 'ended' ? after : [])));
  const open = recent.filter(({ id, next }) => next !== null && !replaced.has(id)).reverse();
  const endOf = ({ ended_at, started_at }: ArchivedSession): string => ended_at ?? started_at;
  // One of another worktree may have started earlier.
  const [own] = open.filter(({ id }) => isOwn(id)).sort((a, b) => compareText(endOf(b), endOf(a)));
  const ordered = own ? [own, ...open] : open;
  return ordered.filter(({ next }, i) => ordered.findIndex((other) => other.next === next) === i);
}

/** The last session on the same feature or issue, whose ids are `known`, or on the same text. */
export function lastOnTask(
  recent: readonly ArchivedSession[],
  focus: Focus,
  known: readonly string[],
): ArchivedSession | null {
  const id = known.find((one) => isAbout(focus, one)) ?? focus.task;
  if (id === null) return null;
  const left = recent.filter(({ status, resumed_by }) => status !== 'discarded' && !resumed_by);
  return left.findLast((session) => isAbout(focusIn(session), id)) ?? null;
}

/** Sessions that can still be resumed, newest first. */
export function resumable(sessions: readonly ArchivedSession[]): ArchivedSession[] {
  return sessions
    .filter(({ status, resumed_by }) => status === 'interrupted' && resumed_by === undefined)
    .sort(bySequence)
    .reverse();
}

/** The committed form of a running session, without what is about the machine. */
export function toArchive(
  running: Pick<ArchivedSession, keyof typeof Core> & Record<string, unknown>,
  end: Pick<ArchivedSession, 'status' | 'ended_at' | 'learned' | 'next' | 'progress' | 'focus' | 'kfr'>,
): ArchivedSession {
  const { holder: _holder, joined: _joined, parked: _parked, ...kept } = running;
  return { ...kept, ...end };
}

/** RFC-9060 §3.2, `short-term/focus.json`, plus the active skill (§4.4). */
export const Focus = z.looseObject({
  schema_version: z.optional(z.string()),
  task: z.nullable(z.string()),
  linear_issue: z.nullable(z.string()),
  files: z.array(z.string()),
  phase: z.nullable(z.string()),
  blockers: z.array(z.string()),
  skill: z.optional(z.nullable(z.string())),
  started_at: z.nullable(z.string()),
});
export type Focus = z.infer<typeof Focus>;

export const FOCUS: Format<Focus> = { name: 'focus', version: '1.0', schema: Focus };

export const NO_FOCUS: Focus = {
  schema_version: '1.0',
  task: null,
  linear_issue: null,
  files: [],
  phase: null,
  blockers: [],
  skill: null,
  started_at: null,
};

export const focusIn = ({ focus }: ArchivedSession): Focus => Focus.safeParse(focus).data ?? NO_FOCUS;

/** Whether the task is this feature or issue: `F-1: Login works`. */
export const isAbout = ({ task }: Pick<Focus, 'task'>, id: string): boolean =>
  task === id || task?.startsWith(`${id}: `) === true;

/** The task without the id that it begins with, if that is one of `ids`. */
export function taskTitle({ task }: Focus, ids: readonly (string | null | undefined)[]): string {
  const id = ids.find((one) => one && task?.startsWith(`${one}: `));
  return task?.slice(id ? id.length + 2 : 0) ?? '';
}

/** The goal of the session, unless it was a feature: then the task, which may be another one by now. */
export function reasonOf(focus: Focus, goal: string | null | undefined, features: readonly string[]): string {
  const isFeature = features.some((id) => isAbout({ task: goal ?? null }, id));
  return (isFeature ? null : goal) ?? focus.task ?? '';
}

type Changeable = 'task' | 'linear_issue' | 'files' | 'phase' | 'blockers' | 'skill';
type FocusChange = { [Field in Changeable]?: Focus[Field] | undefined };

/** True when the change leaves the task: a context switch (AGN-025 §7, §9). */
export function switchesContext(focus: Focus, change: FocusChange): boolean {
  return focus.task !== null && change.task !== undefined && change.task !== focus.task;
}

/**
 * The focus after a change. Another task starts fresh: files, blockers, phase and issue of the old one do not
 * belong to it.
 */
export function planFocus(focus: Focus, change: FocusChange, now: string): Focus {
  const base = switchesContext(focus, change) ? { ...focus, ...NO_FOCUS } : focus;
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const after: Focus = { ...base, ...given, schema_version: focus.schema_version ?? FOCUS.version };
  const fresh = base.started_at === null || base.task !== after.task;
  return {
    ...after,
    phase: after.phase ?? (after.task === null ? null : 'PLAN'),
    started_at: fresh ? now : base.started_at,
  };
}

/**
 * `short-term/progress.txt`, RFC-9060 §3.2: a header, `[HH:MM] text` lines (UTC), and a NEXT line that stays last.
 * A line `=== DATE ===` precedes an entry of another day than the previous one.
 * Further lines of a text are indented below its stamp, so that none of them can pose as another entry.
 */
export const NO_SESSION_TEXT = 'No session is running. Start one with: forge start\n';

const STAMP = /^\[(\d{2}:\d{2})\] (.*)$/s;
const INDENT = ' '.repeat('[00:00] '.length);
/** A line that gives the day of the entries below it. */
export const LOG_DAY = /^=== (?:FORGE Session )?(\d{4}-\d{2}-\d{2}) ===$/;
const NEXT = 'NEXT: ';
const NEXT_INDENT = ' '.repeat(NEXT.length);
const CHECKPOINT = 'CHECKPOINT: ';

export interface ProgressLine {
  time: string;
  text: string;
}

export interface Progress {
  /** The header's date; null without a session. */
  date: string | null;
  lines: ProgressLine[];
  next?: string | undefined;
}

const hourMinute = (at: Date): string => at.toISOString().slice(11, 16);
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
const sessionHeader = (at: Date): string => `=== FORGE Session ${dayOf(at)} ===\n(times in UTC)\n\n`;
const dayHeader = (at: Date): string => `\n=== ${dayOf(at)} ===\n\n`;
const indented = (text: string, indent: string): string => text.replaceAll('\n', `\n${indent}`);

/** The line that forge writes at a resume. */
export const RESUMED = /^Resumed \d{4}-\d\d-\d\d-session-/;

/** How to pick up an interrupted session: by a tool, or in a shell. */
export const resumeStep = (tool: World['tool'], name: string): string =>
  tool ? `${tool('session_start')} {"resume":"${name}"}` : `forge start --resume ${name}`;

/** The lines that forge itself writes at a start. */
export const OPENING = new RegExp(`^Started - branch: |^Active issues: \\d+$|${RESUMED.source}`);

/** The lines that forge records at the end of a turn. */
export const RECORDED = /^(?:Changed: |Ran: |Committed [0-9a-f]{4,40}: )/;

export function startProgress(at: Date, branch: string, activeIssues: number): string {
  const first = formatEntry(at, `Started - branch: ${branch}`);
  return `${sessionHeader(at)}${first}${formatEntry(at, `Active issues: ${activeIssues}`)}`;
}

const formatEntry = (at: Date, text: string): string => `[${hourMinute(at)}] ${indented(text, INDENT)}\n`;

export function addEntry(file: string, at: Date, text: string, checkpoint = false): string {
  const { body, day, next } = parse(file);
  const header = day === '' ? (body === '' ? '' : '\n') + sessionHeader(at) : dayHeader(at);
  const entry = formatEntry(at, `${checkpoint ? CHECKPOINT : ''}${text}`);
  return join(`${body}${day === dayOf(at) ? '' : header}${entry}`, next);
}

export const setNext = (file: string, text: string): string => join(parse(file).body, text);

const join = (body: string, next: string | undefined): string =>
  next === undefined ? body : `${body}\n${NEXT}${indented(next, NEXT_INDENT)}\n`;

interface Entry extends ProgressLine {
  /** In minutes since 1970. NaN below no day, or with an invalid time. */
  at: number;
}

interface Log {
  /** The file without its NEXT block, wherever that is. */
  body: string;
  entries: Entry[];
  /** The day of the last entry. */
  day: string;
  /** The last NEXT block. */
  next: string | undefined;
}

function parse(file: string): Log {
  const [body, entries]: [string[], Entry[]] = [[], []];
  let next: string[] | undefined;
  let [day, inNext] = ['', false];
  for (const line of file.replace(/\n+$/, '').split('\n')) {
    if (line.startsWith(NEXT)) next = [];
    inNext = line.startsWith(NEXT) || (inNext && line.startsWith(NEXT_INDENT));
    if (inNext) next?.push(line.slice(NEXT.length));
    else body.push(line);
  }
  for (const line of body) {
    day = LOG_DAY.exec(line)?.[1] ?? day;
    const [, time, text = ''] = STAMP.exec(line) ?? [];
    const last = entries.at(-1);
    if (time !== undefined) entries.push({ time, text, at: Date.parse(`${day}T${time}:00Z`) / 60_000 });
    else if (last && line.startsWith(INDENT)) last.text += `\n${line.slice(INDENT.length)}`;
  }
  const text = body.join('\n').replace(/\n+$/, '');
  return { body: text === '' ? '' : `${text}\n`, entries, day, next: next?.join('\n') };
}

/** When each entry below a day was written, in minutes since 1970, in the order of the file. */
export const entryTimes = (file: string): number[] =>
  parse(file).entries.flatMap(({ at }) => (Number.isNaN(at) ? [] : [at]));

/** The work that was noted since that time. The log has no seconds. */
export function workSince(file: string, since: string | null): string[] {
  const from = since === null ? 0 : Math.floor(Date.parse(since) / 60_000);
  return parse(file).entries.flatMap(({ at, text }) => (at >= from && !OPENING.test(text) ? [text] : []));
}

export function parseProgress(file: string): Progress {
  const { body, entries, next } = parse(file);
  const date = /^=== FORGE Session (\d{4}-\d{2}-\d{2}) ===/m.exec(body)?.[1] ?? null;
  return { date, lines: entries.map(({ time, text }) => ({ time, text })), next };
}

/** A file with only the lines of `startProgress` holds no work. */
export function holdsWork(file: string): boolean {
  const { date, lines, next } = parseProgress(file);
  return date !== null && (next !== undefined || lines.some(({ text }) => !OPENING.test(text)));
}

/** Read-only commands, and forge's own. */
const LOOKS =
  /^(?:cd|ls|cat|head|tail|less|grep|rg|find|pwd|echo|printf|which|wc|sed -n|tree|stat|file|env|true|sleep|forge|git (?:status|diff|log|show|branch|add|commit|blame|rev-parse|ls-files|checkout|switch|fetch|pull|push))\b/;

/** A here-document may be cut off before its end. */
const HERE_DOCUMENT = /<<-?\s*(['"]?)(\w+)\1(?:[\s\S]*?\n\s*\2\b|[\s\S]*$)/g;

/** A pipeline ends with the code of its last command, which says nothing about its first. So does `x || y`. */
export const isPipeline = (line: string): boolean =>
  !/\bpipefail\b/.test(line) &&
  (line.replace(HERE_DOCUMENT, '').match(SHELL_TOKENS) ?? []).some((token) => token === '|');

/** Whether a line of shell has a command that neither looks nor is forge's own. A commit is recorded as such. */
export const isWork = (line: string): boolean =>
  line
    .replace(HERE_DOCUMENT, '')
    .replace(SHELL_TOKENS, (token) => (/^(?:&&|[;\n])$/.test(token) ? '\0' : token))
    .split('\0')
    .some((command) => command.trim() !== '' && !LOOKS.test(command.trim()));
