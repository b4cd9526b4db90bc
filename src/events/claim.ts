import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { ForgeError, refused, usage } from '../core/error.js';
import type { ProcessIdentity } from '../core/holder.js';
import { activeIssuesFile } from '../core/paths.js';
import { checkInput, findTwin } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { ACTIVE_ISSUES } from '../feature/tasks.js';
import { type Context, isBuilding, readConfig, timestamp } from '../project/project.js';
import { readRunning } from '../session/running.js';
import {
  type Bucket,
  isOvertaken,
  keyOf,
  listClaims,
  msLeft,
  openBucket,
  type ServerClaim,
  serverNow,
  takeOnServer,
  toClaim,
} from './bucket.js';
import {
  type Claim,
  type Claims,
  changeClaims,
  describeHolder,
  heldBy,
  isInWay,
  isLive,
  type LocalClaim,
  type RemoteClaim,
  readClaims,
} from './held.js';
import { eventUrl, placeOf } from './outbox.js';
import { BUDGET, closeServer, openServer, SILENCE, warnAway, whySilent, within } from './server.js';

const ClaimInput = z.strictObject({
  id: z.string(),
  seconds: z.optional(z.int().check(z.gte(5), z.lte(30 * 86_400))),
});
export type ClaimInput = z.infer<typeof ClaimInput>;

export interface Claimed {
  task: string;
  /** `server`: for all machines. `machine`: for the worktrees of this repository here. */
  held_by: 'server' | 'machine';
  seconds: number;
  since: string;
}

/** Of a claim that nothing renews. */
const DEFAULT_SECONDS = 3600;
/** How long others leave a finished task alone: its result comes by git. */
const DONE_SECONDS = 30 * 86_400;

/** How a claim is made besides `forge claim`. */
export interface ClaimHow {
  /** It is renewed by this process and ends with it. */
  process?: ProcessIdentity;
  /** Milliseconds for the server. */
  ms?: number;
  /** Also takes a task that another holder finished. */
  again?: boolean;
  byFocus?: boolean;
}

/** EVT-03: takes a task. Exit 3 `claim.held` when another holder has it; exit 2 for one that nobody knows. */
export async function claimTask(context: Context, raw: ClaimInput, how: ClaimHow = {}): Promise<Claimed> {
  const { id, seconds = DEFAULT_SECONDS } = checkInput(ClaimInput, raw);
  const task = requireTask(context, id);
  const { ms = SILENCE, again = true, process = null, byFocus: by_focus = false } = how;
  const own = process ? undefined : ownLoop(context, task);
  if (own)
    return {
      task,
      held_by: own.revision === null ? 'machine' : 'server',
      seconds: own.seconds,
      since: own.since,
    };
  const claim = claimOf(context, task, seconds);
  refuseHeldHere(context, task, again);
  const server = await withBucket(context, ms, async (bucket) => {
    const wanted = bucket.ttl !== null && bucket.ttl < seconds ? { ...claim, seconds: bucket.ttl } : claim;
    return { revision: await takeOnServer(bucket, wanted, again), seconds: wanted.seconds };
  });
  if (server === null) refuseHeldElsewhere(context, task, again);
  const local = {
    ...claim,
    seconds: server?.seconds ?? seconds,
    process,
    by_focus,
    revision: server?.revision ?? null,
  };
  takeHere(context, { ...local, at: timestamp(context) }, again);
  if (local.seconds < seconds)
    context.warnings.push(
      `The claims bucket expires its entries after ${local.seconds} s, so this claim lasts ${local.seconds} s.`,
    );
  return { task, held_by: server ? 'server' : 'machine', seconds: local.seconds, since: claim.since };
}

/** The claim of a loop that runs in this worktree: the agent in it works on the same task. */
const ownLoop = (context: Context, task: string): LocalClaim | undefined =>
  readClaims(context).local.find(
    (claim) =>
      claim.task === task &&
      claim.place === placeOf(context) &&
      claim.process !== null &&
      isLive(context, claim),
  );

function claimOf(context: Context, task: string, seconds: number): Claim {
  const { world } = context;
  const running = readRunning(context);
  return {
    ...{ schema_version: '1.0', task, state: 'held', place: placeOf(context), host: world.self().host },
    ...{ session: running?.id ?? null, branch: running?.branch ?? null },
    actor: isBuilding(context) ? 'builder' : world.isAgent ? 'agent' : 'human',
    ...{ since: timestamp(context), seconds },
  };
}

/** The id of a feature or an active issue, as it is written there. */
function requireTask(context: Context, id: string): string {
  const task = findTask(context, id);
  if (task !== null) return task;
  throw usage('task.unknown', `There is no feature and no active issue ${JSON.stringify(oneLine(id, 60))}.`, {
    hint: 'forge ls',
  });
}

const findTask = (context: Context, id: string): string | null =>
  findTwin(
    listTasks(context).map((task) => ({ id: task })),
    id,
  )?.id ?? null;

/** Ids of all features and active issues here. */
function listTasks(context: Context): string[] {
  const { disk, layout } = context;
  const { issues } = disk.readDocument(ACTIVE_ISSUES, activeIssuesFile(layout), { issues: [] }).value;
  return [...readFeatures(context).map(({ id }) => id), ...issues.map(({ linear_id }) => linear_id)];
}

function refuseHeldHere(context: Context, task: string, again: boolean, claims = readClaims(context)): void {
  const place = placeOf(context);
  const other = claims.local.find(
    (claim) => claim.task === task && isInWay(claim, place, again) && isLive(context, claim),
  );
  if (other) throw heldBy(other);
}

/** Uses the last answer of the server while it cannot be reached. */
function refuseHeldElsewhere(context: Context, task: string, again: boolean): void {
  const now = context.world.now().getTime();
  const other = readClaims(context).remote.find(
    (claim) =>
      claim.task === task && isInWay(claim, placeOf(context), again) && new Date(claim.until).getTime() > now,
  );
  if (other) throw heldBy(other);
}

/** Under the lock of the claims: of two worktrees one gets the task. The one that had it learns that it lost it. */
function takeHere(context: Context, claim: LocalClaim, again: boolean): void {
  changeClaims(context, (claims) => {
    refuseHeldHere(context, claim.task, again, claims);
    const others = claims.local.flatMap((each) => {
      if (each.task !== claim.task) return [each];
      return each.place === claim.place || each.state === 'done' ? [] : [{ ...each, state: 'lost' as const }];
    });
    const remote = claims.remote.filter(({ task }) => task !== claim.task);
    return { claims: { ...claims, local: [...others, claim], remote }, result: undefined };
  });
}

/** Null while events are off or the server cannot be used, with one warning that says why. */
async function withBucket<T>(
  context: Context,
  ms: number,
  work: (bucket: Bucket) => Promise<T>,
): Promise<T | null> {
  if (context.disk.dryRun || eventUrl(context) === null) return null;
  // Retry at once when a person asks.
  if (ms <= BUDGET && whySilent(context) !== null) return null;
  const deadline = elapsed() + ms;
  const left = (): number => Math.max(1, deadline - elapsed());
  try {
    const server = await within(left(), openServer(context, left()));
    try {
      return await within(
        left(),
        persist(left, () => openBucket(context, server, left()).then(work)),
      );
    } catch (error) {
      if (error instanceof ForgeError) throw error;
      throw new ForgeError('outside', 'claim.server', `${server.name}: ${server.describe(error)}.`);
    } finally {
      closeServer(server);
    }
  } catch (error) {
    const { message, kind } = error as ForgeError;
    if (error instanceof ForgeError && kind !== 'outside') throw error;
    if (!(error instanceof ForgeError) && message !== 'timeout') throw error;
    warnAway(context, 'claims hold on this machine only', error);
    return null;
  }
}

/** Tries again while a cluster elects a leader. */
async function persist<T>(left: () => number, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      const isBusy = /timeout|no responders|temporarily unavailable|no leader/i.test(
        (error as Error).message,
      );
      if (!isBusy || left() < 100) throw error;
      await setTimeout(50);
    }
}

/** Gives a task up, or leaves a mark that it is done. Exit 3 for one that this worktree does not hold. */
export async function releaseTask(
  context: Context,
  { id }: { id: string },
  { done = false, ms = SILENCE }: { done?: boolean; ms?: number } = {},
): Promise<{ task: string; released: boolean }> {
  const place = placeOf(context);
  const isOwn = (claim: LocalClaim): boolean =>
    claim.place === place && claim.task.toLowerCase() === id.toLowerCase();
  const own = readClaims(context).local.find(isOwn);
  if (!own)
    throw refused('claim.none', `This worktree does not hold ${JSON.stringify(oneLine(id, 64))}.`, {
      hint: 'forge fleet',
    });
  const finished: LocalClaim = {
    ...own,
    ...{ state: 'done', seconds: DONE_SECONDS, at: timestamp(context), process: null },
  };
  if (own.revision !== null)
    await withBucket(context, ms, (bucket) => leaveServer(bucket, own, done ? finished : null));
  changeClaims(context, (claims) => {
    const others = claims.local.filter((claim) => !isOwn(claim));
    const keeps = done && own.state === 'held';
    return { claims: { ...claims, local: keeps ? [...others, finished] : others }, result: undefined };
  });
  return { task: own.task, released: own.state === 'held' };
}

/** After its tests passed here. */
export const finishTask = (context: Context, id: string): Promise<unknown> =>
  releaseTask(context, { id }, { done: true, ms: BUDGET });

/** Only this holder's own entry is touched. */
async function leaveServer({ kv }: Bucket, own: LocalClaim, finished: Claim | null): Promise<void> {
  const key = keyOf(own.task);
  const leave = (revision: number): Promise<unknown> =>
    finished
      ? kv.update(key, JSON.stringify(asClaim(finished)), revision)
      : kv.delete(key, { previousSeq: revision });
  try {
    await leave(own.revision ?? 0);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    // A renewal of this worktree may have come in between.
    const entry = toClaim(await kv.get(key));
    if (entry?.claim.place === own.place) await leave(entry.revision);
  }
}

/** The fields that others need. */
const asClaim = ({ task, state, place, host, session, actor, branch, since, seconds }: Claim): Claim => ({
  ...{ schema_version: '1.0', task, state, place, host, session, actor, branch, since, seconds },
});

/**
 * Renews what this worktree holds, and takes tasks to the server that only this machine knew of. Returns tasks that
 * another holder has taken.
 */
export async function renewClaims(context: Context, ms = BUDGET): Promise<string[]> {
  const place = placeOf(context);
  const own = readClaims(context).local.filter((claim) => claim.place === place && claim.state === 'held');
  if (own.length === 0) return [];
  const found = new Map<string, Renewed>();
  await withBucket(context, ms, async (bucket) => {
    for (const claim of own) found.set(claim.task, await renewOnServer(bucket, claim));
  });
  const at = timestamp(context);
  const lost = [...found].flatMap(([task, outcome]) => (typeof outcome === 'number' ? [] : [task]));
  changeClaims(context, (claims) => {
    const local = claims.local.map((claim): LocalClaim => {
      if (claim.place !== place || claim.state !== 'held') return claim;
      const outcome = found.get(claim.task);
      if (lost.includes(claim.task)) return { ...claim, state: 'lost' };
      return { ...claim, at, revision: typeof outcome === 'number' ? outcome : claim.revision };
    });
    const takers = [...found.values()].filter((outcome) => typeof outcome === 'object');
    const remote = [
      ...claims.remote.filter(({ task }) => !lost.includes(task)),
      ...takers.map(({ claim }) => ({ ...asClaim(claim), until: endOf(context, claim.seconds * 1000) })),
    ];
    return { claims: { ...claims, local, remote }, result: undefined };
  });
  return lost;
}

/** The new revision, the claim of the one who took the task, or `gone` if that one has given it up already. */
type Renewed = number | ServerClaim | 'gone';

async function renewOnServer(bucket: Bucket, own: LocalClaim): Promise<Renewed> {
  const key = keyOf(own.task);
  try {
    if (own.revision !== null) return await bucket.kv.update(key, JSON.stringify(asClaim(own)), own.revision);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const entry = await bucket.kv.get(key);
    if (entry && entry.operation !== 'PUT') return 'gone';
  }
  try {
    return await takeOnServer(bucket, asClaim(own), false);
  } catch (error) {
    const { found } = error as { found?: ServerClaim };
    if (!found) throw error;
    return found;
  }
}

/**
 * Fencing: exit 3 `claim.lost` when a task that this worktree had claimed was taken by another holder meanwhile. Without a
 * server only this machine's claims count.
 */
export async function refuseLost(context: Context, tasks: readonly string[], ms = BUDGET): Promise<void> {
  const place = placeOf(context);
  const own = readClaims(context).local.filter(
    (claim) => claim.place === place && tasks.includes(claim.task),
  );
  if (own.some(({ state }) => state === 'held')) await renewClaims(context, ms);
  const { local, remote } = readClaims(context);
  for (const { task } of own) {
    const isLost = local.some(
      (claim) => claim.place === place && claim.task === task && claim.state === 'lost',
    );
    if (!isLost) continue;
    const other = [...local, ...remote].find((claim) => claim.task === task && claim.place !== place);
    const who = other ? ` by ${describeHolder(other)}` : '';
    throw refused(
      'claim.lost',
      `${task} was taken over${who}: the lease had run out. Nothing was recorded.`,
      {
        hint: `forge next\nforge release ${task}   # gives up this claim`,
      },
    );
  }
}

/** Reads what others hold from the server, for `forge next`. Returns false when the server could not be asked. */
export async function refreshHeld(context: Context, ms = BUDGET): Promise<boolean> {
  const place = placeOf(context);
  const seen = await withBucket(context, ms, async (bucket) => {
    const claims = await listClaims(bucket, ms);
    const tasks = new Set(listTasks(context));
    const others = claims.filter(({ claim }) => claim.place !== place && tasks.has(claim.task));
    return others.length === 0 ? [] : toRemote(context, others, await serverNow(bucket));
  });
  if (seen === null) return false;
  const known = readClaims(context);
  if (known.remote.length > 0 || seen.length > 0)
    changeClaims(context, (claims: Claims) => ({ claims: { ...claims, remote: seen }, result: undefined }));
  return true;
}

/** With the end of each lease by this machine's clock. */
function toRemote(context: Context, claims: readonly ServerClaim[], now: number): RemoteClaim[] {
  return claims.flatMap((each) => {
    const left = msLeft(each, now);
    return left > 0 ? [{ ...asClaim(each.claim), until: endOf(context, left) }] : [];
  });
}

const endOf = ({ world }: Context, ms: number): string => new Date(world.now().getTime() + ms).toISOString();

/** The feature or issue that a focus is about: `F-1` of `F-1: Login works`. */
export function taskOfFocus(
  context: Context,
  { task, issue }: { task?: string | null; issue?: string | null },
): string | null {
  const id = /^([\w.-]{1,64})(?::|$)/.exec(task ?? '')?.[1];
  return (id === undefined ? null : findTask(context, id)) ?? (issue ? findTask(context, issue) : null);
}

/** The worktree turns to a task: what it held before by its focus is free. Exit 3 when another holder has the task. */
export async function turnTo(context: Context, task: string): Promise<void> {
  if (context.disk.dryRun || eventUrl(context) === null) return;
  await claimTask(context, { id: task }, { ms: BUDGET, again: false, byFocus: true });
  await releaseOthers(context, task);
}

/** At the end of the focus or of the session. */
export async function releaseOthers(context: Context, keep: string | null = null): Promise<void> {
  const place = placeOf(context);
  for (const { task, state, by_focus } of readClaims(context).local.filter((claim) => claim.place === place))
    if (task !== keep && state === 'held' && by_focus)
      await releaseTask(context, { id: task }, { ms: BUDGET });
}

/** The session begins with this focus: its task is claimed, or a warning says who holds it. */
export async function claimFocus(
  context: Context,
  focus: { task: string | null; linear_issue: string | null },
): Promise<void> {
  const task = taskOfFocus(context, { task: focus.task, issue: focus.linear_issue });
  try {
    if (task === null) await releaseOthers(context);
    else await turnTo(context, task);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'claim.held') throw error;
    context.warnings.push(`${error.message} Choose another task: forge next`);
  }
}

/** A task that a cycle holds while it runs. */
export interface HeldTask {
  /** Exit 3 `claim.lost` when another holder took it. */
  check(): Promise<void>;
  /** Ends the claim. `done`: its tests pass, so others leave it alone. */
  end(done: boolean): Promise<void>;
}

/** Milliseconds for a cluster that lost its leader: two loops must not take the same task meanwhile. */
const ELECTION = 15_000;

/** Claims the task of a cycle and renews it until `end`. Null for a task that cannot be claimed. */
export async function holdTask(context: Context, id: string): Promise<HeldTask | null> {
  const task = findTask(context, id);
  if (task === null) return null;
  const seconds = readConfig(context).events.lease_seconds;
  const process = context.world.self();
  await claimTask(context, { id: task, seconds }, { process, again: false, ms: ELECTION });
  const renew = (): void => void renewClaims(context, SILENCE).catch(() => undefined);
  const timer = setInterval(renew, (seconds * 1000) / 3).unref();
  return {
    check: () => refuseLost(context, [task], SILENCE),
    end: async (done) => {
      clearInterval(timer);
      try {
        await releaseTask(context, { id: task }, { done });
      } catch (error) {
        // Somebody gave it up by hand.
        if (!(error instanceof ForgeError) || error.code !== 'claim.none') throw error;
      }
    },
  };
}
