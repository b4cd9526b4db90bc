import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { ForgeError, refused } from '../core/error.js';
import type { ProcessIdentity } from '../core/holder.js';
import { checkInput, findTwin } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { readActive, readFeatures } from '../feature/store.js';
import { commitAt, readPerson } from '../git/read.js';
import { readBranch } from '../git/repository.js';
import { actorOf, type Context, timestamp, warnOnce } from '../project/project.js';
import { readRunning } from '../session/running.js';
import {
  type Bucket,
  changeEntry,
  listClaims,
  msLeft,
  openBucket,
  serverNow,
  type Taken,
  takeOnServer,
} from './bucket.js';
import {
  asClaim,
  type Claim,
  type Claims,
  changeClaims,
  describeHolder,
  heldBy,
  isInWay,
  isLive,
  type LocalClaim,
  ownClaims,
  type RemoteClaim,
  readClaims,
  type ServerClaim,
  unknownTask,
} from './local-claims.js';
import { eventUrl, placeOf, warnUnapproved } from './outbox.js';
import {
  asOutside,
  BUDGET,
  closeServer,
  openServer,
  type Server,
  SILENCE,
  warnAway,
  whySilent,
  within,
} from './server.js';

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

/** The duration of a claim that nothing renews. */
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
  const { ms = SILENCE, again = true, process = null, byFocus: by_focus = false } = how;
  const task = requireTask(context, id);
  // The agent inside a loop works on the same task.
  const ofLoop = ownClaims(context).find(
    (claim) => claim.task === task && claim.process !== null && isLive(context, claim),
  );
  if (ofLoop && process === null) return toClaimed(ofLoop);
  const { git, layout } = context;
  const running = readRunning(context);
  const claim: Claim = {
    ...{
      schema_version: '1.0',
      task,
      state: 'held',
      place: placeOf(context),
      host: context.world.self().host,
    },
    ...{ session: running?.id ?? null, branch: await presentBranch(context) },
    ...{ person: git && (await readPerson(git)), folder: basename(layout.root) },
    ...{ actor: actorOf(context), since: timestamp(context), seconds },
  };
  refuseHeld(context, claim, again);
  const answer = await withBucket(context, ms, (bucket) => takeOnServer(bucket, claim, again));
  if (typeof answer === 'object' && answer) throw heldBy(answer.claim);
  // Without a server, use its last answer.
  if (answer === null) refuseHeld(context, claim, again, true);
  const taken = { ...claim, process, by_focus, revision: answer, at: timestamp(context) };
  changeClaims(context, ({ local, remote, owed = [], ...rest }) => {
    // Under the lock, only one of two worktrees gets the task. The former holder's claim is marked as lost.
    refuseHeld(context, claim, again);
    const others = local.flatMap((each) => {
      if (each.task !== task) return [each];
      return each.place === claim.place || each.state === 'done' ? [] : [{ ...each, state: 'lost' as const }];
    });
    const isOther = (each: { task: string }): boolean => each.task !== task;
    return { ...rest, local: [...others, taken], remote: remote.filter(isOther), owed: owed.filter(isOther) };
  });
  return toClaimed(taken);
}

const presentBranch = async ({ repository, git }: Context): Promise<string | null> =>
  repository && git && readBranch(repository, git);

const toClaimed = ({ task, revision, seconds, since }: LocalClaim): Claimed => ({
  ...{ task, held_by: revision === null ? 'machine' : 'server', seconds, since },
});

/** The id of a feature or an active issue, as it is written there. */
function requireTask(context: Context, id: string): string {
  const task = findTask(context, id);
  if (task !== null) return task;
  throw unknownTask(context, id, 'forge ls\nforge linear list');
}

export const findTask = (context: Context, id: string): string | null =>
  findTwin(
    listTasks(context).map((task) => ({ id: task })),
    id,
  )?.id ?? null;

/** Ids of all features and active issues here. */
const listTasks = (context: Context): string[] => [
  ...readFeatures(context).map(({ id }) => id),
  ...readActive(context).map(({ linear_id }) => linear_id),
];

/** Exit 3 when a worktree here holds the task. `offline`: also when another machine did in the server's last answer. */
function refuseHeld(context: Context, { task, place }: Claim, again: boolean, offline = false): void {
  const { local, remote } = readClaims(context);
  const now = context.world.now().getTime();
  const others: Claim[] = [
    ...local.filter((claim) => isLive(context, claim)),
    ...remote.filter(({ until }) => offline && Date.parse(until) > now),
  ];
  const other = others.find((claim) => claim.task === task && isInWay(claim, place, again));
  if (other) throw heldBy(other);
}

/** Null while events are off or the server cannot be used, with one warning that gives the reason. */
async function withBucket<T>(
  context: Context,
  ms: number,
  work: (bucket: Bucket) => Promise<T>,
): Promise<T | null> {
  if (context.disk.dryRun) return null;
  if (eventUrl(context) === null) {
    warnUnapproved(context);
    return null;
  }
  // Retry at once when a person asks.
  if (ms <= BUDGET && whySilent(context) !== null) return null;
  const deadline = elapsed() + ms;
  const left = (): number => Math.max(1, deadline - elapsed());
  let server: Server | undefined;
  try {
    const open = await within(left(), openServer(context, left()));
    server = open;
    return await within(
      left(),
      persist(left, async () => {
        const bucket = await openBucket(context, open, left());
        return work(bucket).catch(asStarting);
      }),
    );
  } catch (error) {
    const isAway = error instanceof ForgeError ? error.kind === 'outside' : server || isTimeout(error);
    if (!isAway) throw error;
    warnAway(
      context,
      'claims hold in the worktrees of this repository only',
      server ? asOutside(server, error, '') : error,
    );
    return null;
  } finally {
    if (server) closeServer(server);
  }
}

const isTimeout = (error: unknown): boolean => (error as Error).message === 'timeout';

/** Until a new bucket is ready, the library reports that JetStream is off. */
function asStarting(error: Error): never {
  throw error.name === 'JetStreamNotEnabled' ? new Error('no leader') : error;
}

/** Tries again while a bucket has no leader. */
export async function persist<T>(left: () => number, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      const { message } = error as Error;
      const isBusy = /timeout|no responders|temporarily unavailable|no leader/i.test(message);
      if (!isBusy || left() < 100) throw error;
      await setTimeout(50);
    }
}

type Owed = NonNullable<Claims['owed']>[number];

export interface Released {
  task: string;
  /** False for a task that another holder has taken, or that was finished here. */
  released: boolean;
  /** Who holds it now. */
  holder?: string;
}

/** Releases a task, or marks it as done. Exit 3 if this worktree does not hold it. */
export async function releaseTask(
  context: Context,
  { id }: { id: string },
  { done = false, ms = SILENCE }: { done?: boolean; ms?: number } = {},
): Promise<Released> {
  const own = ownClaims(context).find(({ task }) => task.toLowerCase() === id.toLowerCase());
  if (!own)
    throw refused('claim.none', `This worktree does not hold ${JSON.stringify(oneLine(id, 64))}.`, {
      hint: 'forge fleet',
    });
  const { task, place } = own;
  if (done && own.state === 'done') return { task, released: false };
  const at = timestamp(context);
  const head = done && context.git ? await commitAt(context.git, 'HEAD') : null;
  const finished: LocalClaim = { ...own, state: 'done', seconds: DONE_SECONDS, at, process: null, head };
  const left = done ? asClaim(finished) : null;
  let other = own.state === 'lost' ? findOther(context, own) : undefined;
  const isShared = own.revision !== null || (done && eventUrl(context) !== null);
  const isSent =
    isShared &&
    (await withBucket(context, ms, async (bucket) => {
      other = (await leaveOnServer(bucket, { task, place, claim: left })) ?? other;
      return true;
    }));
  changeClaims(context, (claims) => {
    const isOther = (claim: Claim): boolean => claim.task !== task || claim.place !== place;
    const local = claims.local.filter(isOther);
    return {
      ...claims,
      local: done && own.state === 'held' ? [...local, finished] : local,
      remote: claims.remote.filter(isOther),
      ...(isShared && !isSent ? { owed: [...(claims.owed ?? []), { task, place, claim: left }] } : {}),
    };
  });
  const holder = other && describeHolder(other);
  return { task, released: own.state === 'held' && !holder, ...(holder ? { holder } : {}) };
}

/** Leaves this claim on the server, or none (null). Returns the claim of another holder, which stays. */
async function leaveOnServer(bucket: Bucket, { task, place, claim: left }: Owed): Promise<Claim | undefined> {
  let other: Claim | undefined;
  await changeEntry(bucket, task, null, async ({ claim: found }) => {
    other = found && found.claim.place !== place ? found.claim : undefined;
    return other || (!found && !left) ? undefined : left;
  });
  return other;
}

/** After its tests passed here. */
export const finishTask = (context: Context, id: string): Promise<unknown> =>
  releaseTask(context, { id }, { done: true, ms: BUDGET });

/** Renews the claims of this worktree. `unsent`: only those that the server does not have yet. */
export async function renewClaims(context: Context, ms = BUDGET, unsent = false): Promise<void> {
  const own = ownClaims(context).filter(
    ({ state, revision }) => state === 'held' && (!unsent || revision === null),
  );
  if (own.length === 0) return;
  const branch = await presentBranch(context);
  const answers = new Map<string, Taken>();
  await withBucket(context, ms, async (bucket) => {
    for (const claim of own)
      answers.set(
        claim.task,
        await takeOnServer(bucket, asClaim({ ...claim, branch }), false, claim.revision),
      );
  });
  const [at, place] = [timestamp(context), placeOf(context)];
  const takers = [...answers.values()].flatMap((answer) =>
    typeof answer === 'object' && answer ? [answer.claim] : [],
  );
  changeClaims(context, ({ local, remote, ...rest }) => ({
    ...rest,
    local: local.map((claim) => {
      const answer = claim.place === place && claim.state === 'held' ? answers.get(claim.task) : undefined;
      if (answer === undefined) return claim;
      return typeof answer === 'number'
        ? { ...claim, at, branch, revision: answer }
        : { ...claim, state: 'lost' };
    }),
    remote: [
      ...remote.filter(({ task }) => !takers.some((claim) => claim.task === task)),
      ...takers.map((claim) => ({ ...asClaim(claim), until: endOf(context, claim.seconds * 1000) })),
    ],
  }));
}

/**
 * Fencing: exit 3 `claim.lost` when another holder took a task that this worktree had claimed. Without a server, only this
 * machine's claims count.
 */
export async function refuseLost(context: Context, tasks: readonly string[], ms = BUDGET): Promise<void> {
  const isAsked = ({ task }: Claim): boolean => tasks.includes(task);
  if (ownClaims(context).some((claim) => isAsked(claim) && claim.state === 'held'))
    await renewClaims(context, ms);
  const lost = ownClaims(context).find((claim) => isAsked(claim) && claim.state === 'lost');
  if (!lost) return;
  throw refused('claim.lost', `${describeLost(context, lost)} Nothing was recorded.`, {
    hint: `forge next\nforge release ${lost.task}   # gives up this claim`,
  });
}

/** Another holder's claim of the same task. */
function findOther(context: Context, own: Claim): Claim | undefined {
  const { local, remote } = readClaims(context);
  return [...local, ...remote].find(({ task, place }) => task === own.task && place !== own.place);
}

function describeLost(context: Context, lost: Claim): string {
  const other = findOther(context, lost);
  return `${lost.task} was taken over${other ? ` by ${describeHolder(other)}` : ''}.`;
}

/** Sends what was claimed, released and finished without the server. Warns about those that another holder has. */
export async function sendClaims(context: Context, ms = BUDGET): Promise<void> {
  const owed = (readClaims(context).owed ?? []).filter(({ place }) => place === placeOf(context));
  const isSent =
    owed.length > 0 &&
    (await withBucket(context, ms, async (bucket) => {
      for (const each of owed) await leaveOnServer(bucket, each);
      return true;
    }));
  const names = new Set(owed.map(({ task }) => task));
  if (isSent)
    changeClaims(context, (claims) => ({
      ...claims,
      owed: (claims.owed ?? []).filter(({ task, place }) => place !== placeOf(context) || !names.has(task)),
    }));
  await renewClaims(context, ms, true);
  for (const claim of ownClaims(context))
    if (claim.state === 'lost')
      warnOnce(context, `${describeLost(context, claim)} To give up your claim: forge release ${claim.task}`);
}

/** Reads what others hold from the server, for `forge next`. */
export async function refreshHeld(context: Context, ms = BUDGET): Promise<void> {
  await sendClaims(context, ms);
  await withBucket(context, ms, async (bucket) => {
    const claims = await listClaims(bucket, ms);
    const hasOthers = claims.some(({ claim }) => claim.place !== placeOf(context));
    keepHeld(context, claims, hasOthers ? await serverNow(bucket) : 0);
  });
}

/** Keeps what others hold of this project's tasks, for the time without the server. Forgets what they held before. */
export function keepHeld(context: Context, claims: readonly ServerClaim[], now: number): void {
  const place = placeOf(context);
  const tasks = new Set(listTasks(context));
  const seen = claims.flatMap((each): RemoteClaim[] => {
    const left = msLeft(each, now);
    const isOthers = each.claim.place !== place && tasks.has(each.claim.task);
    return isOthers && left > 0 ? [{ ...asClaim(each.claim), until: endOf(context, left) }] : [];
  });
  if (readClaims(context).remote.length > 0 || seen.length > 0)
    changeClaims(context, (stored) => ({ ...stored, remote: seen }));
}

/** The end of a lease by this machine's clock. */
const endOf = ({ world }: Context, ms: number): string => new Date(world.now().getTime() + ms).toISOString();
