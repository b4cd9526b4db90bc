import * as z from 'zod/mini';
import { oneLine } from './text.js';

/** A process. Its start time and the machine's boot distinguish it from a later one with the same number. */
export const ProcessIdentity = z.looseObject({
  /** 0 is a parent outside of this container. */
  pid: z.int().check(z.gte(0)),
  /** Start time as the system counts it; null when unknown. */
  started: z.nullable(z.string()),
  boot: z.nullable(z.string()),
  host: z.string(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** The holder of a session: the agent that a hook names, else the process whose shell started it. */
export const Holder = z.looseObject({
  ...ProcessIdentity.shape,
  agent: z.optional(z.string()),
  /** A person typed it. */
  terminal: z.optional(z.literal(true)),
});
export type Holder = z.infer<typeof Holder>;

/** Processes on other hosts are `unknown`. */
export type Liveness = 'alive' | 'gone' | 'unknown';

export interface HolderQuestion {
  holder: Holder;
  me: Holder;
  liveness: Liveness;
  /** When forge was last used here, in ms since 1970; null when unknown. */
  lastUsed: number | null;
  now: number;
}

export type Verdict =
  | { state: 'same' }
  | { state: 'interrupted'; why: string }
  | { state: 'held'; why: string };

export function sameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.host === b.host && a.boot === b.boot && a.pid === b.pid && a.started === b.started;
}

/** A conversation may go on in another process, and `/clear` starts another one in the same process. */
export function sameHolder(a: Holder, b: Holder): boolean {
  return sameProcess(a, b) || (a.agent !== undefined && a.agent === b.agent && a.host === b.host);
}

/** A holder on another host counts as alive for this long after forge was last used here. */
const UNKNOWN_HOST_MS = 60 * 60_000;

/** Decides if a session is ours, is held by another holder, or was interrupted (docs/architecture.md, "Sessions"). */
export function judgeHolder(question: HolderQuestion): Verdict {
  const { holder, me, liveness, lastUsed, now } = question;
  if (sameHolder(holder, me)) return { state: 'same' };
  // Two terminals of the same person, who may have closed the first one.
  if (holder.terminal && me.terminal && liveness !== 'unknown') return { state: 'same' };
  if (liveness === 'gone') return { state: 'interrupted', why: `process ${holder.pid} is gone` };
  if (liveness === 'alive') return { state: 'held', why: `process ${holder.pid} is running` };
  const host = oneLine(holder.host, 100);
  return lastUsed === null || now - lastUsed >= UNKNOWN_HOST_MS
    ? { state: 'interrupted', why: `nothing was heard from host ${host}` }
    : { state: 'held', why: `it runs on another host (${host}), which cannot be checked from here` };
}
