import { basename } from 'node:path';
import * as z from 'zod/mini';
import { refused } from '../core/error.js';
import type { ProcessIdentity } from '../core/holder.js';
import { checkInput, isSameId } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { readPerson } from '../git/read.js';
import { readBranch } from '../git/repository.js';
import { type Context, timestamp } from '../project/project.js';
import { readRunning } from '../session/running.js';
import {
  asSeen,
  type Bucket,
  endOf,
  freeOnServer,
  readHeld,
  type Taken,
  takeOnServer,
  withBucket,
} from './bucket.js';
import {
  type Claim,
  changeClaims,
  describeHolder,
  heldBy,
  isInWay,
  isLive,
  type KnownClaim,
  listTasks,
  ownClaims,
  readClaims,
  refuseWorkedOn,
  tasksInFocus,
  unknownTask,
} from './local-claims.js';
import { eventUrl, placeOf } from './outbox.js';
import { BUDGET, SILENCE } from './server.js';

const ClaimInput = z.strictObject({
  id: z.string(),
  seconds: z.optional(z.int().check(z.gte(5), z.lte(30 * 86_400))),
});
type ClaimInput = z.infer<typeof ClaimInput>;

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
  const task = findTask(context, id);
  if (task === null) throw unknownTask(id, 'forge ls\nforge linear list');
  // The agent inside a loop works on the same task.
  const own = ownClaims(context).find((claim) => claim.task === task);
  if (process === null && own?.process && isLive(context, own)) return toClaimed(own);
  const { git, layout } = context;
  const running = readRunning(context);
  const claim: Claim = {
    ...{ schema_version: '1.0', task, state: 'held' },
    ...{ place: placeOf(context), host: context.world.self().host, session: running?.id ?? null },
    ...{ branch: await presentBranch(context), person: git && (await readPerson(git)) },
    folder: basename(layout.root),
    ...{ since: timestamp(context), seconds },
  };
  refuseWorkedOn(context, task);
  refuseHeld(context, claim, again);
  const answer = await withBucket(context, ms, (bucket) => takeOnServer(bucket, claim, again));
  if (typeof answer === 'object' && answer) throw heldBy(answer.claim);
  const until = endOf(context, seconds * 1000);
  const taken = { ...claim, until, here: true, process, revision: answer, by_focus };
  changeClaims(context, (claims) => {
    // Under the lock, only one of two worktrees gets the task. Without a server, its last answer counts too.
    refuseHeld(context, claim, again, answer === null);
    const others = claims.flatMap((each) => {
      if (each.task !== task) return [each];
      const isFormer = each.here && each.place !== claim.place && each.state !== 'done';
      return isFormer ? [{ ...each, state: 'lost' as const }] : [];
    });
    return [...others, taken];
  });
  return toClaimed(taken);
}

const presentBranch = async ({ repository, git }: Context): Promise<string | null> =>
  repository && git && readBranch(repository, git);

const toClaimed = ({ task, revision, seconds, since }: KnownClaim): Claimed => ({
  ...{ task, held_by: revision === null ? 'machine' : 'server', seconds, since },
});

/** The id of a feature or an active issue, as it is written there. */
export const findTask = (context: Context, id: string): string | null =>
  listTasks(context).find((task) => isSameId(task, id)) ?? null;

/** Exit 3 when a worktree here holds the task. `offline`: also when another machine did in the server's last answer. */
function refuseHeld(context: Context, { task, place }: Claim, again: boolean, offline = false): void {
  for (const claim of readClaims(context))
    if (claim.task === task && (claim.here || offline) && isInWay(claim, place, again))
      if (isLive(context, claim)) throw heldBy(claim);
}

export interface Released {
  task: string;
  /** False for a task that another holder has taken, or that was finished here. */
  released: boolean;
  holder?: string;
}

/** Releases a task, or marks it as done. Exit 3 if this worktree does not hold it. */
export async function releaseTask(
  context: Context,
  { id }: { id: string },
  { done = false, ms = SILENCE }: { done?: boolean; ms?: number } = {},
): Promise<Released> {
  const own = ownClaims(context).find(({ task }) => isSameId(task, id));
  if (!own) {
    const isInFocus = readRunning(context) && tasksInFocus(context).some((task) => isSameId(task, id));
    const name = JSON.stringify(oneLine(id, 64));
    const message = isInFocus
      ? `${name} is not claimed; the session here has it in focus.`
      : `This worktree does not hold ${name}.`;
    throw refused('claim.none', message, {
      hint: isInFocus ? 'forge focus clear' : 'forge fleet',
    });
  }
  const { task, place } = own;
  if (done && own.state === 'done') return { task, released: false };
  const until = endOf(context, DONE_SECONDS * 1000);
  const finished: KnownClaim = { ...own, state: 'done', seconds: DONE_SECONDS, until, process: null };
  const isShared = own.revision !== null || (done && eventUrl(context) !== null);
  const ask = (bucket: Bucket): Promise<Taken> =>
    done ? takeOnServer(bucket, finished, false, own.revision) : freeOnServer(bucket, { task, place });
  const answer = isShared && (await withBucket(context, ms, ask));
  const other = (answer && typeof answer === 'object' && answer.claim) || findOther(context, own);
  const revision = typeof answer === 'number' ? answer : null;
  changeClaims(context, (claims) => [
    ...claims.filter((claim) => claim.task !== task || claim.place !== place),
    ...(done && own.state === 'held' && !other ? [{ ...finished, revision }] : []),
  ]);
  const holder = other && describeHolder(other);
  return { task, released: own.state === 'held' && !holder, ...(holder ? { holder } : {}) };
}

/** Renews the claims of this worktree. `unsent`: only those that the server does not have yet, finished ones too. */
export async function renewClaims(context: Context, ms = BUDGET, unsent = false): Promise<void> {
  const own = ownClaims(context).filter(({ state, revision }) =>
    unsent ? state !== 'lost' && revision === null : state === 'held',
  );
  if (own.length === 0) return;
  const branch = await presentBranch(context);
  const answers = new Map<string, Taken>();
  await withBucket(context, ms, async (bucket) => {
    for (const claim of own)
      answers.set(claim.task, await takeOnServer(bucket, { ...claim, branch }, false, claim.revision));
  });
  const tasks = own.map(({ task }) => task);
  const place = placeOf(context);
  changeClaims(context, (claims) => [
    ...claims
      .filter(({ here, task }) => here || !tasks.includes(task))
      .map((claim) => {
        if (claim.place !== place || !tasks.includes(claim.task)) return claim;
        const answer = answers.get(claim.task);
        if (answer === null || typeof answer === 'object') return { ...claim, state: 'lost' as const };
        return {
          ...claim,
          ...{ branch, revision: answer ?? claim.revision },
          until: endOf(context, claim.seconds * 1000),
        };
      }),
    ...[...answers.values()].flatMap((answer) =>
      answer && typeof answer === 'object'
        ? [asSeen(context, answer.claim, answer.claim.seconds * 1000)]
        : [],
    ),
  ]);
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
  const other = findOther(context, lost);
  const who = other ? `it is held by ${describeHolder(other)}` : 'somebody else held it meanwhile';
  throw refused('claim.lost', `Your claim on ${lost.task} is lost: ${who}. Nothing was recorded.`, {
    hint: `forge next\nforge release ${lost.task}   # gives up this claim`,
  });
}

/** Who holds a task that this worktree lost. */
const findOther = (context: Context, own: KnownClaim): Claim | undefined =>
  own.state === 'lost'
    ? readClaims(context).findLast(({ task, place }) => task === own.task && place !== own.place)
    : undefined;

/** Sends what was claimed and finished without the server, and reads what others hold, for `forge next`. */
export async function refreshHeld(context: Context, ms = BUDGET): Promise<void> {
  await renewClaims(context, ms, true);
  await withBucket(context, ms, (bucket) => readHeld(context, bucket, ms));
}
