import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { Holder } from '../core/holder.js';
import type { Format } from '../core/schema.js';
import { oneLine } from '../core/text.js';

/** `YYYY-MM-DD-session-NNN` (UTC), stored with the writer's suffix `-<6 hex>` (SES-02). */
const STORED_ID = /^(\d{4}-\d{2}-\d{2}-session-\d{3,})-([0-9a-f]{6})$/;

const SESSION_STATUSES = ['running', 'ended', 'interrupted', 'discarded'] as const;

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
  status: z.enum(SESSION_STATUSES),
  ended_at: z.nullable(z.string()),
  /** The ids of what was learned. */
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

/** The options of a session start. */
export const SessionStartInput = z.strictObject({
  /** A feature or an active issue to work on. */
  id: z.optional(z.string()),
  /** The task as text. */
  goal: z.optional(z.string()),
  budget: z.optional(z.int()),
  format: z.optional(z.enum(['text', 'markdown'])),
  resume: z.optional(z.string()),
  join: z.optional(z.boolean()),
  takeOver: z.optional(z.boolean()),
  /** The number of passing features to rerun first. 0: none, overriding the setting. */
  reverify: z.optional(z.int().check(z.gte(0), z.lte(1000))),
});
export type SessionStartInput = z.infer<typeof SessionStartInput>;

export function formatSessionName(date: string, n: number): string {
  return `${date}-session-${String(n).padStart(3, '0')}`;
}

export function isStoredId(id: string): boolean {
  return STORED_ID.test(id);
}

/** The name without the writer's suffix. */
export function sessionName(stored: string): string {
  return STORED_ID.exec(stored)?.[1] ?? stored;
}

/** An id for display: without its suffix, unless two of `all` would then be equal. */
export function shownId(stored: string, all: readonly string[]): string {
  const name = sessionName(stored);
  const same = all.filter((id) => id !== stored && sessionName(id) === name);
  return same.length === 0 ? name : stored;
}

/** The first free number of a date, from every id ever seen. */
export function nextNumber(date: string, ids: readonly string[]): number {
  const numbers = ids
    .filter((id) => id.startsWith(`${date}-session-`))
    .map((id) => Number(/-session-(\d+)/.exec(id)?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}

/** Newest last, by the counter, never by the clock. */
export function bySequence(a: { seq: number; id: string }, b: { seq: number; id: string }): number {
  return a.seq - b.seq || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** The session of a shown or stored id. Exit 2 for none or several. */
export function matchSession<T extends { id: string }>(sessions: readonly T[], wanted: string): T {
  const matches = sessions.filter(({ id }) => id === wanted || sessionName(id) === wanted);
  const [found] = matches;
  if (found && matches.length === 1) return found;
  if (!found)
    throw usage('session.unknown', `There is no session ${JSON.stringify(oneLine(wanted, 80))}.`, {
      hint: 'forge session list',
    });
  throw usage(
    'session.ambiguous',
    `${wanted} is ambiguous: it matches ${matches.map(({ id }) => id).join(', ')}.`,
    {
      hint: `forge session show ${found.id}`,
    },
  );
}

/** Sessions that can still be resumed, newest first. */
export function resumable(sessions: readonly ArchivedSession[]): ArchivedSession[] {
  return sessions
    .filter(({ status, resumed_by }) => status === 'interrupted' && resumed_by === undefined)
    .sort(bySequence)
    .reverse();
}

type SessionCore = Pick<
  RunningSession,
  'schema_version' | 'id' | 'seq' | 'started_at' | 'branch' | 'head' | 'goal' | 'resumed_from'
>;

/** The committed form of a running session, without what is about the machine. */
export function toArchive(
  running: SessionCore & Record<string, unknown>,
  end: Pick<ArchivedSession, 'status' | 'ended_at' | 'learned' | 'next' | 'progress' | 'focus' | 'kfr'>,
): ArchivedSession {
  const { holder: _holder, joined: _joined, parked: _parked, ...kept } = running;
  return { ...kept, ...end };
}
