import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { refused } from '../core/error.js';
import { readHint, readPlain, replaceFiles, writeHint } from '../core/files.js';
import { type Holder, judgeHolder, type ProcessIdentity, type Verdict } from '../core/holder.js';
import { type LockPolicy, withLock } from '../core/lock.js';
import {
  archiveFile,
  conversationFile,
  conversationsFolder,
  focusFile,
  kfrFile,
  type Layout,
  openFile,
  sessionFile,
  sessionIdsFile,
  sessionIdsLock,
} from '../core/paths.js';
import { makeToken, oneLine } from '../core/text.js';
import { KFR, type Kfr, NO_KFR } from '../kfr/rules.js';
import { type Context, isBuilding } from '../project/project.js';
import {
  FOCUS,
  type Focus,
  formatSessionName,
  NO_FOCUS,
  nextNumber,
  RUNNING_SESSION,
  type RunningSession,
  sessionName,
} from './rules.js';

/** The session recorded as running in this worktree, for any holder. Null without one. */
export function readRunning(context: Context): RunningSession | null {
  const record = readRecord(context);
  return record && isOwnSession(context, record.id) && !isArchived(context, record) ? record : null;
}

/**
 * Recognizes sessions that were started in this clone, in any worktree. Their files prove nothing: a clone or a commit can
 * bring files of any session. Without git they cannot be told apart.
 */
export function ownSessions({ layout, repository }: Context): (id: string) => boolean {
  if (repository === null) return () => true;
  // Searched as text, because nearly every command asks.
  const issued = readPlain(sessionIdsFile(layout), MAX_BYTES) ?? '';
  return (id) => issued.includes(JSON.stringify(id));
}

export const isOwnSession = (context: Context, id: string): boolean => ownSessions(context)(id);

/** True if a crash between archiving and clearing left the short-term files of an archived session. */
export function isLeftBehind(context: Context): boolean {
  const record = readRecord(context);
  return record !== null && isArchived(context, record);
}

const readRecord = ({ disk, layout }: Context): RunningSession | null =>
  disk.readDocument(RUNNING_SESSION, sessionFile(layout), null).value;

const isArchived = ({ disk, layout }: Context, { id }: RunningSession): boolean =>
  disk.exists(archiveFile(layout, id));

export function requireRunning(context: Context): RunningSession {
  const running = readRunning(context);
  if (running) return running;
  const { session, entries } = keptOpen(context);
  const named = entries.map(({ id, text }) => `${id} "${oneLine(text, 120)}"`).join(', ');
  const lost = ` The files of session ${sessionName(session ?? '')} are gone; still open: ${named}.`;
  throw refused('session.none', `No session is running.${named === '' ? '' : lost}`, {
    hint: isBuilding(context)
      ? 'forge note add "TEXT"   # its cycle keeps it'
      : `forge start${named === '' ? '' : ' --resume latest'}`,
  });
}

/** Whether an agent works beside the session: somebody else holds it, and it has not joined. */
const isBeside = (context: Context, running: RunningSession): boolean =>
  context.world.isAgent && !isOursToSettle(context, running);

/** The session of what is stored now: none for a server beside it. */
export function sessionHere(context: Context): string | null {
  const running = readRunning(context);
  return running && !(context.world.tool && isBeside(context, running)) ? running.id : null;
}

/**
 * SES-09: a server knows which client calls, so it changes nothing of a session that another agent works in. In a shell that
 * is less certain, so an agent is only warned.
 */
export function refuseBeside(context: Context): void {
  // A person may go on while the file is damaged.
  const running = context.world.isAgent ? readRunning(context) : null;
  if (!running || judgeRunning(context, running).state === 'same') return;
  const held = sessionHeld(context, running, 'forge start --join');
  if (context.world.tool && isBeside(context, running)) throw held;
  context.warnings.push(`${held.message} What you write here goes into it.`);
}

export function requireOwn(context: Context): RunningSession {
  refuseBeside(context);
  return requireRunning(context);
}

/** SES-13: what is open in working memory whose file is missing (`git clean -fdx`). The git dir keeps it. */
export function keptOpen({ disk, layout }: Context): Kfr {
  if (disk.exists(kfrFile(layout))) return NO_KFR;
  const kept = disk.readDocument(KFR, openFile(layout), NO_KFR).value;
  return kept.session !== null && !disk.exists(archiveFile(layout, kept.session)) ? kept : NO_KFR;
}

/**
 * The holder of a session started now: the agent named by a hook, or above this process, or else the
 * process whose shell runs this one.
 */
export function holderHere({ world, layout }: Context): Holder {
  const own = world.holder();
  if (own.agent !== undefined) return own;
  for (const { id, process } of listConversations(layout))
    if (process !== null && world.isBelow(process)) return { ...process, agent: id };
  return own;
}

const holdersOf = ({ holder, joined = [] }: RunningSession): Holder[] => [holder, ...joined];

export const holdsSession = (running: RunningSession, conversation: string): boolean =>
  holdersOf(running).some(({ agent }) => agent === conversation);

/** What this process, `me`, can tell about a holder. */
export function judgeHere(context: Context, holder: Holder, me: Holder): Verdict {
  const { world, lastActivity } = context;
  return judgeHolder({
    ...{ holder, me, liveness: world.liveness(holder), lastUsed: lastActivity },
    now: world.now().getTime(),
  });
}

/** Whether the running session is ours, someone else's, or abandoned. */
export function judgeRunning(context: Context, running: RunningSession): Verdict {
  const { world } = context;
  const me = holderHere(context);
  // The same process may have started another conversation after the first one ended.
  if (running.parked && running.parked.agent !== me.agent)
    return { state: 'interrupted', why: `${agentName(running.parked.agent)} ended at ${running.parked.at}` };
  const verdicts = holdersOf(running).map((holder) => judgeHere(context, holder, me));
  const find = (state: Verdict['state']): Verdict | undefined =>
    verdicts.find((verdict) => verdict.state === state);
  const verdict = find('same') ?? find('held') ?? (verdicts[0] as Verdict);
  // An agent started from a terminal where a person had started the session works in that session.
  const isOurs = verdict.state === 'held' && holdersOf(running).some((id) => world.isBelow(id));
  return isOurs ? { state: 'same' } : verdict;
}

/** Whether an agent can be asked to settle open entries of a session: not while somebody else works in it. */
export const isOursToSettle = (context: Context, running: RunningSession): boolean =>
  judgeRunning(context, running).state !== 'held';

/** Exit 3 `session.held`: who holds the session, and how to work here nevertheless. */
export function sessionHeld(context: Context, running: RunningSession, hint: string): Error {
  const { id, holder } = running;
  const { tool } = context.world;
  const verdict = judgeRunning(context, running);
  const why = verdict.state === 'same' ? '' : `: ${verdict.why}`;
  const owner = holder.terminal ? 'a person at a terminal' : 'another agent';
  return refused('session.held', `Session ${sessionName(id)} belongs to ${owner}${why}.`, {
    hint: tool ? `Ask the user. To work in it too, call ${tool('session_start')}: {"join":true}` : hint,
    data: { session: sessionName(id), holder: { pid: holder.pid, host: holder.host } },
  });
}

/** `claude` of `claude-0f3c…`. The file may have been written by anyone on this machine. */
const agentName = (id: string): string => oneLine(id.split('-')[0] ?? '', 20);

/** `session-ids.json` in the git common dir. */
interface Issued {
  /** The counter over all sessions. */
  seq: number;
  /** The newest ids, newest last. A session counts only if its id is here: a clone can bring any other. */
  last: string[];
}

const KEPT = 1000;

/**
 * The next session id of this repository, under the git common dir, so that worktrees never repeat one. `known` are
 * the ids and counters that the folder itself shows (archives from a clone or merge). A crash wastes a number.
 */
export function allocateSessionId(
  layout: Layout,
  policy: LockPolicy,
  date: string,
  known: { ids: readonly string[]; seq: number },
  dryRun: boolean,
): { id: string; seq: number } {
  const take = (): { id: string; seq: number } => {
    const { seq, last } = readIssued(layout);
    const n = nextNumber(date, [...known.ids, ...last]);
    const next = { id: `${formatSessionName(date, n)}-${makeToken(6)}`, seq: Math.max(seq, known.seq) + 1 };
    const bytes = Buffer.from(
      `${JSON.stringify({ seq: next.seq, last: [...last, next.id].slice(-KEPT) })}\n`,
    );
    // Durable before the session is written, or a crash would make it look like another clone's.
    if (!dryRun) replaceFiles([{ path: sessionIdsFile(layout), bytes }]);
    return next;
  };
  return dryRun ? take() : withLock(sessionIdsLock(layout), policy, take);
}

const MAX_BYTES = 4 * 1024 * 1024;

function readIssued(layout: Layout): Issued {
  const bytes = readPlain(sessionIdsFile(layout), MAX_BYTES);
  try {
    const { seq, last } = JSON.parse(bytes?.toString('utf8') ?? '') as Issued;
    if (Number.isSafeInteger(seq) && Array.isArray(last)) return { seq, last };
  } catch {
    // Missing or damaged: the archives and the random suffix keep ids apart.
  }
  return { seq: 0, last: [] };
}

/** The state of an agent's conversation in this worktree, from one hook to the next. */
const NEW = {
  process: null as ProcessIdentity | null,
  /** When it started, ms. */
  at: 0,
  /** The working memory that it last got. Null if none of it is in its context any more. */
  seen: null as string | null,
  /** How many of its stops were blocked since the last prompt of a person. */
  blocks: 0,
  /** Its transcript, and the read offset in bytes. */
  transcript: '',
  read: 0,
  /** The read offset for findings, in bytes. */
  noted: 0,
  /** Its commands are recorded from this time on, ms, because a resumed transcript has older ones. */
  since: 0,
  /** The working memory that it was asked to settle at the last blocked stop. */
  asked: null as string | null,
};
/** `id`: the agent and its conversation id, as a file name. */
type Conversation = typeof NEW & { id: string };

/** More than are ever open at the same time in one worktree. */
const KEPT_CONVERSATIONS = 20;

export function readConversation(layout: Layout, id: string): Conversation {
  const known = { ...NEW, ...readHint<Conversation>(conversationFile(layout, id)), id };
  // A damaged count would delay the limit that lets the agent stop.
  return known.blocks > 0 ? known : { ...known, blocks: 0 };
}

/** Neither locked nor synced: after a power failure an agent sees the text again. False if it was not stored. */
export function writeConversation(layout: Layout, conversation: Conversation): boolean {
  const file = conversationFile(layout, conversation.id);
  if (readHint(file) === null)
    for (const { id } of listConversations(layout).slice(KEPT_CONVERSATIONS)) forgetConversation(layout, id);
  writeHint(file, conversation);
  const kept = readConversation(layout, conversation.id);
  return kept.blocks === conversation.blocks && kept.seen === conversation.seen;
}

/** Newest start first. */
export function listConversations(layout: Layout): Conversation[] {
  const folder = conversationsFolder(layout);
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json') && lstatSync(join(folder, name)).isFile())
      .map((name) => readConversation(layout, name.slice(0, -'.json'.length)))
      .sort((a, b) => b.at - a.at);
  } catch {
    return [];
  }
}

/** The conversation has ended, so its state no longer matters. */
export const forgetConversation = (layout: Layout, id: string): void =>
  rmSync(conversationFile(layout, id), { force: true });

export const showFocus = ({ disk, layout }: Context): Focus =>
  disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS).value;
