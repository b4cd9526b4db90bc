import * as z from 'zod/mini';
import { ForgeError, refused, usage } from '../core/error.js';
import { ProcessIdentity } from '../core/holder.js';
import { withLock } from '../core/lock.js';
import { claimsFile, claimsLock } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { commitAt, isAncestor } from '../git/read.js';
import { type Context, lockPolicy, otherWorktrees } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { judgeRunning, readRunning, showFocus } from '../session/running.js';
import { eventUrl, placeOf } from './outbox.js';

/** A task that one worktree holds. */
export const Claim = z.looseObject({
  task: z.string().check(z.maxLength(64)),
  /** `done`: its holder finished it, and the result comes by git. `lost`: another holder took it. */
  state: z.enum(['held', 'done', 'lost']),
  place: z.string().check(z.maxLength(64)),
  host: z.string().check(z.maxLength(300)),
  session: z.nullable(z.string().check(z.maxLength(300))),
  actor: z.enum(['human', 'agent', 'builder']),
  branch: z.nullable(z.string().check(z.maxLength(300))),
  /** The name that git has for the person. */
  person: z.optional(z.nullable(z.string().check(z.maxLength(300)))),
  /** The name of the worktree's top folder. */
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

const LocalClaim = z.looseObject({
  ...Claim.shape,
  /** The last renewal, by this machine's clock. */
  at: z.string(),
  /** The loop or cycle that renews it: it ends with that process. */
  process: z.nullable(ProcessIdentity),
  /** Of its entry on the server. Null while only this machine has it. */
  revision: z.nullable(z.number()),
  /** It came with the focus, and ends with it. */
  by_focus: z.boolean(),
  /** The commit of its worktree when the task was finished there. */
  head: z.optional(z.nullable(z.string())),
});
export type LocalClaim = z.infer<typeof LocalClaim>;

const RemoteClaim = z.looseObject({ ...Claim.shape, until: z.string() });
export type RemoteClaim = z.infer<typeof RemoteClaim>;

const Claims = z.looseObject({
  schema_version: z.string(),
  /** Of the worktrees of this repository. */
  local: z.array(LocalClaim),
  /** Of others, as the server had them last. `until` is by this machine's clock. */
  remote: z.array(RemoteClaim),
  /** What the server does not know yet of tasks that were released (null) or finished while it was away. */
  owed: z.optional(z.array(z.object({ task: z.string(), place: z.string(), claim: z.nullable(Claim) }))),
});
export type Claims = z.infer<typeof Claims>;
const CLAIMS: Format<Claims> = { name: 'claims', version: '1.0', schema: Claims };
const NONE: Claims = { schema_version: CLAIMS.version, local: [], remote: [] };

export const readClaims = ({ disk, layout }: Context): Claims =>
  disk.readDocument(CLAIMS, claimsFile(layout), NONE).value;

/** What this worktree holds, has finished or has lost. */
export function ownClaims(context: Context): LocalClaim[] {
  const place = placeOf(context);
  return readClaims(context).local.filter((claim) => claim.place === place);
}

/** The fields that others need. */
export const asClaim = (claim: Claim): Claim => {
  const { task, state, place, host, session, actor, branch, person, folder, since, seconds } = claim;
  const who = { host, session, actor, branch, person, folder };
  return { schema_version: '1.0', task, state, place, ...who, since, seconds };
};

/** Reads, changes and writes the claims. All worktrees share them, so they have a lock of their own. */
export function changeClaims(context: Context, change: (claims: Claims) => Claims): void {
  const { disk, layout, world } = context;
  if (disk.dryRun) return void change(readClaims(context));
  disk.makeFolder(layout.shared);
  withLock(claimsLock(layout), lockPolicy(world), () =>
    disk.replaceMoved(claimsFile(layout), encodeDocument(change(readClaims(context)))),
  );
}

const isAhead = ({ world }: Context, time: string, seconds = 0): boolean =>
  new Date(time).getTime() + seconds * 1000 > world.now().getTime();

/** True while nobody else may take a task that a worktree of this machine claimed. */
export function isLive(context: Context, claim: LocalClaim): boolean {
  if (claim.state === 'lost') return false;
  if (claim.state === 'held' && claim.process && context.world.liveness(claim.process) === 'gone')
    return false;
  return isAhead(context, claim.at, claim.seconds);
}

/** EVT-03: tasks that others hold, and who. Reads one file. */
export function readOthersClaims(context: Context): ReadonlyMap<string, Claim> {
  if (!context.disk.exists(claimsFile(context.layout))) return new Map();
  const { local, remote } = readClaims(context);
  const place = placeOf(context);
  const others = [
    ...remote.filter(({ until }) => isAhead(context, until)),
    ...local.filter((claim) => isLive(context, claim)),
  ].filter((claim) => claim.place !== place);
  return new Map(others.map((claim) => [claim.task, claim]));
}

/** Tasks that others hold or work on in another worktree here, each with a text about its holder. */
export const describeOthersClaims = (context: Context): ReadonlyMap<string, string> =>
  new Map([
    ...otherWorktrees(context).flatMap(describeWork),
    ...[...readOthersClaims(context)].map(([task, claim]): [string, string] => [task, describeHolder(claim)]),
  ]);

/** The task in focus of a session that somebody works in. Another worktree's damage is not reported here. */
function describeWork(other: Context): [task: string, text: string][] {
  try {
    const running = readRunning(other);
    if (!running || judgeRunning(other, running).state !== 'held') return [];
    const { task, linear_issue } = showFocus(other);
    const text = `session ${sessionName(running.id)} in ${oneLine(other.layout.root, 200)}`;
    return [/^(\S+): /.exec(task ?? '')?.[1], linear_issue].flatMap((id) => (id ? [[id, text]] : []));
  } catch (error) {
    if (error instanceof ForgeError) return [];
    throw error;
  }
}

/** Another branch may have it, where somebody works on it. */
export function unknownTask(context: Context, id: string, hint: string): Error {
  const holder = describeOthersClaims(context).get(id);
  const elsewhere = holder === undefined ? '' : ` on this branch; it is held by ${holder}`;
  const name = JSON.stringify(oneLine(id, 60));
  return usage('task.unknown', `There is no feature and no active issue ${name}${elsewhere}.`, { hint });
}

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
  // Only a claim of this machine has the time of its renewal.
  const how = `${'at' in claim ? 'merge it' : 'git pull'}, or: forge claim ${oneLine(claim.task, 64)}`;
  return state === 'done' ? `${holder}, which finished it (${how})` : holder;
}

/** A lost task that passes here has arrived, and a finished one that fails here again is free. */
export function settleClaims(
  context: Context,
  passing: readonly string[],
  regressed: readonly string[],
): void {
  const isSettled = ({ task, state }: Claim): boolean =>
    state === 'lost' ? passing.includes(task) : state === 'done' && regressed.includes(task);
  if (!context.disk.exists(claimsFile(context.layout)) || !readClaims(context).local.some(isSettled)) return;
  changeClaims(context, ({ local, ...rest }) => ({
    ...rest,
    local: local.filter((claim) => !isSettled(claim)),
  }));
}

/** Forgets tasks finished in other worktrees once HEAD contains later commits of their branch, or the branch is gone. */
export async function forgetArrived(context: Context): Promise<void> {
  const { git, disk, layout } = context;
  if (!git || !disk.exists(claimsFile(layout))) return;
  const isDone = ({ state, place }: LocalClaim): boolean => state === 'done' && place !== placeOf(context);
  const arrived = new Set<string>();
  for (const { task, branch, head } of readClaims(context).local.filter(isDone)) {
    if (branch === null) continue;
    const tip = await commitAt(git, `refs/heads/${branch}`);
    if (tip === null || (tip !== head && (await isAncestor(git, tip, 'HEAD')))) arrived.add(task);
  }
  if (arrived.size === 0) return;
  changeClaims(context, ({ local, ...rest }) => ({
    ...rest,
    local: local.filter((claim) => !isDone(claim) || !arrived.has(claim.task)),
  }));
}

/** False while there is no server and nobody here has claimed anything. */
export const usesClaims = (context: Context): boolean =>
  eventUrl(context) !== null || context.disk.exists(claimsFile(context.layout));

/** True if this worktree holds or held a task, so that its results may be stale. */
export const hasClaimed = (context: Context, task: string): boolean =>
  context.disk.exists(claimsFile(context.layout)) && ownClaims(context).some((claim) => claim.task === task);

/** Exit 3 for a task that another holder has. */
export const heldBy = (claim: Claim): ForgeError =>
  refused('claim.held', `${oneLine(claim.task, 64)} is held by ${describeHolder(claim)}.`, {
    hint: 'forge next   # skips what others hold\nforge fleet',
    data: { task: claim.task, holder: { host: claim.host, session: claim.session, since: claim.since } },
  });

/** `again`: a person asks, so a finished task may be taken. */
export const isInWay = (claim: Claim, place: string, again: boolean): boolean =>
  claim.place !== place && (claim.state === 'held' || (claim.state === 'done' && !again));
