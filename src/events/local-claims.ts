import * as z from 'zod/mini';
import { type ForgeError, refused, unlessFailed, usage } from '../core/error.js';
import { ProcessIdentity } from '../core/holder.js';
import { withLock } from '../core/lock.js';
import { claimsFile, claimsLock } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { readActive, readFeatures } from '../feature/store.js';
import { type Context, otherWorktrees } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { judgeRunning, readRunning, showFocus } from '../session/running.js';
import { eventUrl, placeOf } from './outbox.js';

export const Claim = z.looseObject({
  task: z.string().check(z.maxLength(64)),
  /** `done`: its holder finished it, and the result comes by git. `lost`: another holder took it. */
  state: z.enum(['held', 'done', 'lost']),
  place: z.string().check(z.maxLength(64)),
  host: z.string().check(z.maxLength(300)),
  session: z.nullable(z.string().check(z.maxLength(300))),
  branch: z.nullable(z.string().check(z.maxLength(300))),
  person: z.optional(z.nullable(z.string().check(z.maxLength(300)))),
  folder: z.optional(z.nullable(z.string().check(z.maxLength(300)))),
  since: z.string().check(z.maxLength(64)),
  /** How long it is held after the last renewal. */
  seconds: z.number().check(z.gte(1), z.lte(100_000_000)),
});
export type Claim = z.infer<typeof Claim>;

/** A claim on the server, which has held it since `created`, by its own clock. */
export interface ServerClaim {
  claim: Claim;
  revision: number;
  created: number;
}

/** A claim as this machine knows it. */
const KnownClaim = z.looseObject({
  ...Claim.shape,
  /** When it ends unless it is renewed, by this machine's clock. */
  until: z.string(),
  /** A worktree of this repository made it. The others are as the server had them last. */
  here: z.boolean(),
  /** The loop or cycle that renews it: it ends with that process. */
  process: z.nullable(ProcessIdentity),
  /** Of its entry on the server. Null while only this machine has it. */
  revision: z.nullable(z.number()),
  /** It came with the focus, and ends with it. */
  by_focus: z.boolean(),
});
export type KnownClaim = z.infer<typeof KnownClaim>;

const Claims = z.looseObject({ schema_version: z.string(), claims: z.optional(z.array(KnownClaim)) });
const CLAIMS: Format<z.infer<typeof Claims>> = { name: 'claims', version: '1.0', schema: Claims };

export const readClaims = ({ disk, layout }: Context): KnownClaim[] =>
  disk.readDocument(CLAIMS, claimsFile(layout), null).value?.claims ?? [];

/** What this worktree holds, has finished or has lost. */
export function ownClaims(context: Context): KnownClaim[] {
  const place = placeOf(context);
  return readClaims(context).filter((claim) => claim.place === place);
}

/** The fields that others need. */
export const asClaim = (claim: Claim): Claim => {
  const { task, state, place, host, session, branch, person, folder, since, seconds } = claim;
  const who = { host, session, branch, person, folder };
  return { schema_version: '1.0', task, state, place, ...who, since, seconds };
};

/** Reads, changes and writes the claims. All worktrees share them, so they have a lock of their own. */
export function changeClaims(context: Context, change: (claims: KnownClaim[]) => KnownClaim[]): void {
  const { disk, layout, world } = context;
  if (disk.dryRun) return void change(readClaims(context));
  disk.makeFolder(layout.shared);
  withLock(claimsLock(layout), world, () => {
    const claims = change(readClaims(context));
    disk.replaceMoved(claimsFile(layout), encodeDocument({ schema_version: CLAIMS.version, claims }));
  });
}

/** True until a claim ends. A held one also ends with its process, and one of this repository with its worktree. */
export function isLive(context: Context, { state, process, until, here, place }: KnownClaim): boolean {
  const { world } = context;
  if (state === 'lost' || Date.parse(until) <= world.now().getTime()) return false;
  if (state === 'done') return true;
  if (process && world.liveness(process) === 'gone') return false;
  return !here || [context, ...otherWorktrees(context)].some((each) => placeOf(each) === place);
}

/** EVT-03: tasks that others hold, and who. Reads one file. */
export function readOthersClaims(context: Context): ReadonlyMap<string, KnownClaim> {
  const place = placeOf(context);
  const others = readClaims(context).filter((claim) => claim.place !== place && isLive(context, claim));
  return new Map(others.map((claim) => [claim.task, claim]));
}

/** Tasks that others hold or work on in another worktree here, each with a text about its holder. */
export const describeOthersClaims = (context: Context): ReadonlyMap<string, string> =>
  new Map([
    ...readOthersWork(context).map(({ task, text }): [string, string] => [task, text]),
    ...[...readOthersClaims(context)].map(([task, claim]): [string, string] => [task, describeHolder(claim)]),
  ]);

/** The tasks in focus of sessions that somebody works in. Another worktree's damage is not reported here. */
const readOthersWork = (context: Context) =>
  otherWorktrees(context).flatMap((other) =>
    unlessFailed([], () => {
      const running = readRunning(other);
      const state = running && judgeRunning(other, running).state;
      // One agent may work in several worktrees at once.
      const isAlive = running && context.world.liveness(running.holder) === 'alive';
      if (!running || state === 'interrupted' || (state === 'same' && !isAlive)) return [];
      const text = `session ${sessionName(running.id)} in ${oneLine(other.layout.root, 200)}`;
      const holder = { host: context.world.self().host, session: running.id, since: running.started_at };
      return tasksInFocus(other).map((task) => ({ task, text, holder }));
    }),
  );

/** The ids of the feature and of the issue in focus. */
export function tasksInFocus(context: Context): string[] {
  const { task, linear_issue } = showFocus(context);
  return [/^(\S+): /.exec(task ?? '')?.[1], linear_issue].flatMap((id) => id || []);
}

/** Exit 3 for a task that a session in another worktree here has in focus. */
export function refuseWorkedOn(context: Context, id: string): void {
  const work = readOthersWork(context).find(({ task }) => task === id);
  if (work) throw refuseTask(id, work.text, work.holder);
}

export const unknownTask = (id: string, hint: string): Error =>
  usage('task.unknown', `There is no feature and no active issue ${JSON.stringify(oneLine(id, 60))}.`, {
    hint,
  });

/** `Ada, branch main, folder app on ada-pc`, from a message that anyone may have written. */
export function describeHolder(claim: Claim): string {
  const { person, session, branch, folder, host, state } = claim;
  const who = [
    person ?? '',
    session === null ? '' : `session ${sessionName(session)}`,
    branch === null ? '' : `branch ${branch}`,
    folder ? `folder ${folder}` : '',
  ].filter((text) => text !== '');
  const where = who.map((text) => oneLine(text, 60)).join(', ');
  const holder = `${where === '' ? '' : `${where} on `}${oneLine(host, 60)}`;
  const how = `pull or merge it, or: forge claim ${oneLine(claim.task, 64)}`;
  return state === 'done' ? `${holder}, which finished it (${how})` : holder;
}

/** Forgets the claims of tasks whose result is here: those that others finished, and those that this worktree lost. */
export function forgetArrived(context: Context, arrived: readonly string[]): void {
  const here = placeOf(context);
  const isOver = ({ task, state, place }: Claim): boolean =>
    arrived.includes(task) && state === (place === here ? 'lost' : 'done');
  if (readClaims(context).some(isOver))
    changeClaims(context, (claims) => claims.filter((claim) => !isOver(claim)));
}

/** False while there is no server and nobody here has claimed anything. */
export const usesClaims = (context: Context): boolean =>
  eventUrl(context) !== null || context.disk.exists(claimsFile(context.layout));

/** True if this worktree holds or held a task, so that its results may be stale. */
export const hasClaimed = (context: Context, task: string): boolean =>
  ownClaims(context).some((claim) => claim.task === task);

/** Exit 3 for a task that another holder has. */
export const heldBy = (claim: Claim): ForgeError => refuseTask(claim.task, describeHolder(claim), claim);

const refuseTask = (
  task: string,
  who: string,
  { host, session, since }: Pick<Claim, 'host' | 'session' | 'since'>,
): ForgeError =>
  refused('claim.held', `${oneLine(task, 64)} is held by ${who}.`, {
    hint: 'forge next   # skips what others hold\nforge fleet',
    data: { task, holder: { host, session, since } },
  });

/** `again`: a person asks, so a finished task may be taken. */
export const isInWay = (claim: Claim, place: string, again: boolean): boolean =>
  claim.place !== place && (claim.state === 'held' || (claim.state === 'done' && !again));

export const listTasks = (context: Context): string[] => [
  ...readFeatures(context).map(({ id }) => id),
  ...readActive(context).map(({ linear_id }) => linear_id),
];
