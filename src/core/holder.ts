import * as z from 'zod/mini';
import { oneLine } from './text.js';

const identityFrom = (least: number) =>
  z.looseObject({
    pid: z.int().check(z.gte(least)),
    /** Start time as the system counts it; null where it cannot be had. */
    started: z.nullable(z.string()),
    boot: z.nullable(z.string()),
    host: z.string(),
  });

/**
 * A process, told apart from a later one with the same number by its start time and the machine's boot. Number 0 is a
 * parent outside of this container; to a negative one, `kill` would mean a whole group.
 */
export const ProcessIdentity = identityFrom(0);
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;
/** A forge, which may be the first process of a container. */
export const ForgeProcess = identityFrom(1);
/** What forge started: never number 1, and to end group 1 would be to end everything (`kill(-1)`). */
export const CommandProcess = identityFrom(2);

/** Who holds a session: the agent that a hook names, else the parent of the forge that started it. */
export const Holder = z.looseObject({
  ...ProcessIdentity.shape,
  agent: z.optional(z.string()),
  /** A person typed it. */
  terminal: z.optional(z.literal(true)),
});
export type Holder = z.infer<typeof Holder>;

export type Liveness = 'alive' | 'gone' | 'unknown';

/** The last forge command in this worktree, on the clock that no one sets: seconds since boot. */
export interface Activity {
  boot: string | null;
  uptime: number;
  /** Wall clock, ms; only for a holder on another host, where nothing better exists. */
  at: number;
}

export interface HolderQuestion {
  holder: Holder;
  me: Holder;
  /** Of the holder's process, as this machine sees it. */
  liveness: Liveness;
  /** Null when nothing is known of it. */
  activity: Activity | null;
  now: Activity;
  silenceMinutes: number;
  unknownHostMinutes: number;
}

export type Verdict =
  | { state: 'same' }
  | { state: 'interrupted'; why: string }
  | { state: 'held'; why: string };

export function sameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.host === b.host && a.boot === b.boot && a.pid === b.pid && a.started === b.started;
}

/** A conversation that goes on in another process, or another one in the same process (`/clear`), is the same agent. */
export function sameHolder(a: Holder, b: Holder): boolean {
  return sameProcess(a, b) || (a.agent !== undefined && a.agent === b.agent && a.host === b.host);
}

/** Whether a session runs on, counts as interrupted, or belongs to someone else (docs/architecture.md, "Sessions"). */
export function judgeHolder(question: HolderQuestion): Verdict {
  const { holder, me, now } = question;
  if (sameHolder(holder, me)) return { state: 'same' };
  if (holder.host !== me.host) return judgeForeign(question);
  // A boot that the system does not tell is no other boot.
  if (holder.boot !== null && now.boot !== null && holder.boot !== now.boot)
    return { state: 'interrupted', why: 'the machine was restarted since' };
  // Another terminal of the same person.
  if (question.liveness === 'alive')
    return holder.terminal && me.terminal
      ? { state: 'same' }
      : { state: 'held', why: `process ${holder.pid} is running` };
  if (question.liveness === 'gone') return { state: 'interrupted', why: `process ${holder.pid} is gone` };
  const silent = silenceSeconds(question);
  if (silent >= question.silenceMinutes * 60)
    return { state: 'interrupted', why: `nothing was heard from process ${holder.pid}` };
  const minutes = Math.max(0, Math.floor(silent / 60));
  return {
    state: 'held',
    why: `process ${holder.pid} cannot be seen from here, and forge was used ${minutes === 0 ? 'less than a minute' : `${minutes} min`} ago`,
  };
}

/** Nobody's activity on record counts as long silence. */
function silenceSeconds({ activity, now }: HolderQuestion): number {
  if (!activity || activity.boot !== now.boot) return Number.POSITIVE_INFINITY;
  return now.uptime - activity.uptime;
}

function judgeForeign({ holder, activity, now, unknownHostMinutes }: HolderQuestion): Verdict {
  const minutes = activity ? (now.at - activity.at) / 60_000 : Number.POSITIVE_INFINITY;
  if (minutes >= unknownHostMinutes)
    return { state: 'interrupted', why: `nothing was heard from host ${hostOf(holder)}` };
  return {
    state: 'held',
    why: `it runs on another host (${hostOf(holder)}), where nobody can look from here`,
  };
}

/** From a file that anyone here may have written. */
const hostOf = ({ host }: Holder): string => oneLine(host, 100);
