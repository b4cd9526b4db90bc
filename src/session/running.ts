import { refused } from '../core/error.js';
import { type Holder, judgeHolder, type Verdict } from '../core/holder.js';
import { archiveFolder, sessionFile } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import type { Config } from '../project/config.js';
import { type Context, readConfig } from '../project/project.js';
import { listConversations } from './conversations.js';
import { lastGiven } from './ids.js';
import { RUNNING_SESSION, type RunningSession, sessionName } from './rules.js';

/** The session recorded as running in this worktree, whoever holds it; null when there is none. */
export function readRunning(context: Context): RunningSession | null {
  const record = readRecord(context);
  return record && isOwnSession(context, record.id) && !isArchived(context, record) ? record : null;
}

/**
 * Tells the sessions that were started in this clone, in any worktree. Their files prove nothing: a clone or a commit can
 * bring files of any session. Without git nothing can.
 */
export function ownSessions({ layout, repository }: Context): (id: string) => boolean {
  if (repository === null) return () => true;
  const given = new Set(lastGiven(layout));
  return (id) => given.has(id);
}

export const isOwnSession = (context: Context, id: string): boolean => ownSessions(context)(id);

/** The session recorded as running here that another clone started, or null. */
export function readForeign(context: Context): RunningSession | null {
  const record = readRecord(context);
  return record && !isOwnSession(context, record.id) ? record : null;
}

/** True when a crash between archiving and clearing left the short-term files of an archived session behind. */
export function isLeftBehind(context: Context): boolean {
  const record = readRecord(context);
  return record !== null && isArchived(context, record);
}

const readRecord = ({ disk, layout }: Context): RunningSession | null =>
  disk.readDocument(RUNNING_SESSION, sessionFile(layout), null).value;

const isArchived = ({ disk, layout }: Context, { id }: RunningSession): boolean =>
  disk.exists(archiveFolder(layout, id));

/** For commands that write to it: not in a copy of its folder, which would end it under the same id. */
export function requireRunning(context: Context): RunningSession {
  const hint = 'forge session start';
  const running = readRunning(context);
  if (!running) {
    const foreign = readForeign(context);
    const why = foreign ? ` ${describeForeign(foreign)}.` : '';
    throw refused('session.none', `No session is running.${why}`, { hint });
  }
  if (isHere(context, running)) return running;
  throw refused(
    'session.elsewhere',
    `Session ${sessionName(running.id)} was started in another folder; this one is a copy, or was moved.`,
    { hint },
  );
}

export const describeForeign = ({ id }: { id: string }): string =>
  `Session ${sessionName(id)} was not started in this clone`;

/** Not in a copy of its folder. */
const isHere = ({ layout, disk }: Context, { root, inode }: RunningSession): boolean =>
  root === layout.root || inode === disk.inode(layout.dir);

/**
 * Who would hold a session started now: the agent that a hook speaks for, or below which this process runs; else the
 * parent of this process.
 */
export function holderHere({ world, layout }: Context): Holder {
  const own = world.holder();
  if (own.agent !== undefined) return own;
  for (const { id, process } of listConversations(layout))
    if (process !== null && world.isBelow(process)) return { ...process, agent: id };
  return own;
}

/** Whether the running session is ours, someone else's, or was left behind. */
export function judgeRunning(context: Context, running: RunningSession, config: Config): Verdict {
  const { world, lastActivity } = context;
  if (!isHere(context, running)) return { state: 'interrupted', why: 'the folder was copied or moved' };
  const joined = running.joined ?? [];
  const me = holderHere(context);
  // The same process may have begun another conversation: it was told that the first one ended.
  if (running.parked && running.parked.agent !== me.agent)
    return { state: 'interrupted', why: `${agentName(running.parked.agent)} ended at ${running.parked.at}` };
  const verdicts = [running.holder, ...joined].map((holder) =>
    judgeHolder({
      holder,
      me,
      liveness: world.liveness(holder),
      activity: lastActivity,
      now: world.activity(),
      silenceMinutes: config.session.silence_minutes,
      unknownHostMinutes: config.session.unknown_host_minutes,
    }),
  );
  const strongest = (state: Verdict['state']): Verdict | undefined =>
    verdicts.find((verdict) => verdict.state === state);
  const verdict = strongest('same') ?? strongest('held') ?? (verdicts[0] as Verdict);
  // An agent that was started from a terminal, where a person had started the session, works in that session.
  const isOurs = verdict.state === 'held' && [running.holder, ...joined].some((id) => world.isBelow(id));
  return isOurs ? { state: 'same' } : verdict;
}

/**
 * Whether an agent can be asked to settle what is open in a session: not while somebody else is at work in it, and not in
 * a copy of its folder, where nothing of it can be written.
 */
export function isOursToSettle(context: Context, running: RunningSession): boolean {
  if (!isHere(context, running)) return false;
  if (judgeRunning(context, running, readConfig(context)).state !== 'held') return true;
  return [running.holder, ...(running.joined ?? [])].every((id) => context.world.liveness(id) === 'gone');
}

/** `claude` of `claude-0f3c…`; from a file that anyone here may have written. */
const agentName = (id: string): string => oneLine(id.split('-')[0] ?? '', 20);
