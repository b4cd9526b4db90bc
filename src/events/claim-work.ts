import { ForgeError } from '../core/error.js';
import { type Context, readConfig } from '../project/project.js';
import type { Focus } from '../session/rules.js';
import { claimTask, findTask, refreshHeld, refuseLost, releaseTask, renewClaims } from './claim.js';
import { hasClaimed, heldBy, ownClaims, readOthersClaims } from './local-claims.js';
import { eventUrl } from './outbox.js';
import { BUDGET, SILENCE } from './server.js';

/** The feature or issue that a focus is about: `F-1` of `F-1: Login works`. */
export function taskOfFocus(context: Context, task: string | null, issue: string | null): string | null {
  const id = /^([\w.-]{1,64})(?::|$)/.exec(task ?? '')?.[1];
  return (id === undefined ? null : findTask(context, id)) ?? (issue ? findTask(context, issue) : null);
}

/**
 * Claims the task in focus and releases the one before. Exit 3 when another holder has the task. Without a server, the
 * focus claims nothing, but respects what the other worktrees have claimed.
 */
export async function turnTo(context: Context, task: string): Promise<void> {
  const other = eventUrl(context) === null ? readOthersClaims(context).get(task) : undefined;
  if (other) throw heldBy(other);
  if (context.disk.dryRun || eventUrl(context) === null) return;
  await claimTask(context, { id: task }, { ms: BUDGET, again: false, byFocus: true });
  await releaseOthers(context, task);
}

/** Before an issue is done: exit 3 when another holder has it. */
export async function refuseHeld(context: Context, task: string): Promise<void> {
  await refuseLost(context, [task]);
  if (eventUrl(context) !== null) await refreshHeld(context);
  const other = readOthersClaims(context).get(task);
  if (other?.state === 'held') throw heldBy(other);
}

/** Others leave a task that this worktree had claimed alone until its result comes by git. */
export async function finishClaim(context: Context, task: string): Promise<void> {
  if (hasClaimed(context, task)) await releaseTask(context, { id: task }, { done: true, ms: BUDGET });
}

/** Releases what the focus claimed, at the end of the focus or of the session. */
export async function releaseOthers(context: Context, keep: string | null = null): Promise<void> {
  for (const { task, state, by_focus } of ownClaims(context))
    if (task !== keep && state === 'held' && by_focus)
      await releaseTask(context, { id: task }, { ms: BUDGET });
}

/** Claims the task that a session starts with. Warns if another holder has it. */
export async function claimFocus(context: Context, focus: Focus): Promise<void> {
  const task = taskOfFocus(context, focus.task, focus.linear_issue);
  try {
    if (task === null) await releaseOthers(context);
    else await turnTo(context, task);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'claim.held') throw error;
    context.warnings.push(`${error.message} Choose another task: forge next`);
  }
}

export interface HeldTask {
  /** Exit 3 `claim.lost` when another holder took it. */
  check(): Promise<void>;
  /** Ends the claim. `done`: its tests pass, so others leave it alone. */
  end(done: boolean): Promise<void>;
}

/** ms for a cluster that lost its leader. Two loops must not take the same task meanwhile. */
const ELECTION = 15_000;

/** Claims the task of a cycle and renews it until `end`. Null for a task that nobody knows. `again`: see ClaimHow. */
export async function holdTask(context: Context, id: string, again: boolean): Promise<HeldTask | null> {
  const task = findTask(context, id);
  if (task === null) return null;
  const seconds = readConfig(context).events.lease_seconds;
  await claimTask(context, { id: task, seconds }, { process: context.world.self(), again, ms: ELECTION });
  const renew = (): void => void renewClaims(context, SILENCE).catch(() => undefined);
  const timer = setInterval(renew, (seconds * 1000) / 3).unref();
  return {
    check: () => refuseLost(context, [task], SILENCE),
    end: async (done) => {
      clearInterval(timer);
      try {
        await releaseTask(context, { id: task }, { done });
      } catch (error) {
        // It was released by hand.
        if (!(error instanceof ForgeError) || error.code !== 'claim.none') throw error;
      }
    },
  };
}
