import { setTimeout } from 'node:timers/promises';
import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import type { Context } from '../project/project.js';
import {
  asClaim,
  Claim,
  changeClaims,
  isInWay,
  type KnownClaim,
  listTasks,
  readClaims,
  type ServerClaim,
} from './local-claims.js';
import type { KV, KvEntry } from './nats.js';
import { eventUrl, placeOf, projectOf, warnUnapproved } from './outbox.js';
import {
  BUDGET,
  codeOf,
  isSilent,
  NOT_FOUND,
  replicated,
  type Server,
  warnAway,
  within,
  withServer,
} from './server.js';

export interface Bucket {
  kv: KV;
  entries: number;
  /** The server's time when it was asked, and this process's. */
  clock?: { server: number; here: number };
}

/** ms for one request. A request to a leader that goes away is lost and must be sent again. */
const REQUEST = 1000;

/** Null while events are off or the server cannot be used, with one warning that gives the reason. */
export async function withBucket<T>(
  context: Context,
  ms: number,
  work: (bucket: Bucket, server: Server) => Promise<T>,
): Promise<T | null> {
  if (context.disk.dryRun) return null;
  if (eventUrl(context) === null) {
    warnUnapproved(context);
    return null;
  }
  // Retry at once when a person asks.
  if (ms <= BUDGET && isSilent(context)) return null;
  const deadline = elapsed() + ms;
  const left = (): number => Math.max(1, deadline - elapsed());
  const open = async (server: Server): Promise<T> => work(await openBucket(context, server, left()), server);
  const persisting = (server: Server): Promise<T> => {
    const result = persist(left, () => open(server));
    return within(left(), result);
  };
  try {
    return await withServer(context, '', persisting, { ms });
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'outside') throw error;
    warnAway(context, error);
    return null;
  }
}

/** Tries again while a bucket has no leader, or is so new that the library reports that JetStream is off. */
async function persist<T>(left: () => number, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      const { name, message } = error as Error;
      const isBusy = /timeout|no responders|temporarily unavailable|no leader|JetStreamNotEnabled/i;
      if (!isBusy.test(`${name} ${message}`) || left() < 100) throw error;
      await setTimeout(50);
    }
}

/** Throws where there is no JetStream, or it may not be used. */
export async function openBucket(context: Context, server: Server, ms: number): Promise<Bucket> {
  const { nats, connection } = server;
  const name = `forge-claims-${projectOf(context).slice(0, 32)}`;
  const limit = Math.min(ms, REQUEST);
  const manager = await nats.jetstreamManager(connection, { checkAPI: false, timeout: limit });
  const kvm = new nats.Kvm(nats.jetstream(connection, { timeout: limit }));
  const find = () => within(limit, manager.streams.info(`KV_${name}`));
  const info = await find().catch(async (error) => {
    if (codeOf(error) !== NOT_FOUND) throw error;
    // Another client may make it at the same time.
    const make = replicated(server, (replicas) => kvm.create(name, { history: 1, replicas }));
    const made = make.catch(() => undefined);
    await within(ms, made);
    return find();
  });
  // A request to a bucket that has no leader yet gets no answer.
  if (info.cluster && !info.cluster.leader) throw new Error('timeout');
  return {
    kv: await kvm.open(name, { bindOnly: true, timeout: limit } as object),
    entries: info.state.messages,
  };
}

/** A task's id as a key. Ids have letters, digits, ".", "_" and "-". */
const keyOf = (task: string): string => `task.${task.replaceAll('.', '=')}`;

/** A key that is written and read back to get the server's time. */
const CLOCK = 'clock';

/** Now, in ms since 1970, by the server's clock. Leases use this clock only, so a wrong local clock frees no task. */
export async function serverNow(bucket: Bucket): Promise<number> {
  if (!bucket.clock) {
    await bucket.kv.put(CLOCK, '');
    const server = (await bucket.kv.get(CLOCK))?.created.getTime() ?? 0;
    bucket.clock = { server, here: elapsed() };
  }
  return bucket.clock.server + elapsed() - bucket.clock.here;
}

/** Null for a missing or deleted entry, and for an entry that is not a claim. */
function toClaim(entry: KvEntry | null): ServerClaim | null {
  if (entry?.operation !== 'PUT' || entry.length > 4096) return null;
  try {
    const claim = Claim.parse(JSON.parse(entry.string()));
    if (keyOf(claim.task) !== entry.key) return null;
    return { claim, revision: entry.revision, created: entry.created.getTime() };
  } catch {
    return null;
  }
}

export const msLeft = ({ claim, created }: ServerClaim, now: number): number =>
  created + claim.seconds * 1000 - now;

async function listClaims(bucket: Bucket, ms: number): Promise<ServerClaim[]> {
  if (bucket.entries === 0) return [];
  const watch = await within(ms, bucket.kv.watch());
  const claims: ServerClaim[] = [];
  const read = async (): Promise<void> => {
    for await (const entry of watch) {
      const claim = toClaim(entry);
      if (claim) claims.push(claim);
      if (entry.delta === 0) break;
    }
  };
  try {
    await within(ms, read());
  } finally {
    watch.stop();
  }
  return claims;
}

/** The revision of the new entry, the claim of another holder, or null if the task was lost. */
export type Taken = number | ServerClaim | null;

/** Takes a task. With its last `revision`, renews it only if nobody else had it since. */
export async function takeOnServer(
  bucket: Bucket,
  claim: Claim,
  again: boolean,
  revision: number | null = null,
): Promise<Taken> {
  let holder: Taken = null;
  const own = asClaim(claim);
  const taken = await changeEntry(bucket, claim.task, revision ?? 0, async ({ claim: found, isDeleted }) => {
    const isHeld = found !== null && isInWay(found.claim, claim.place, again);
    holder = isHeld && msLeft(found, await serverNow(bucket)) > 0 ? found : null;
    return holder || (isDeleted && revision !== null) ? undefined : own;
  });
  return taken ?? holder;
}

/** Deletes the claim of a place. Returns the claim of another holder, which stays. */
export async function freeOnServer(
  bucket: Bucket,
  { task, place }: Pick<Claim, 'task' | 'place'>,
): Promise<ServerClaim | null> {
  let other: ServerClaim | null = null;
  await changeEntry(bucket, task, null, async ({ claim }) => {
    other = claim && claim.claim.place !== place ? claim : null;
    return claim && !other ? null : undefined;
  });
  return other;
}

const WRONG_SEQUENCE = [10071, 10164];
const MAX_ATTEMPTS = 6;

/** The entry on the server, and whether its last holder gave it up. */
interface Found {
  claim: ServerClaim | null;
  isDeleted: boolean;
}

/**
 * Compare-and-set: if two clients change an entry, one succeeds and the other reads it again. `next` returns the new claim,
 * null to delete the entry, or undefined to leave it. `guess` is the revision that the caller knows, 0 for no entry. It is
 * usually right and saves a request. Returns the new revision.
 */
async function changeEntry(
  { kv }: Bucket,
  task: string,
  guess: number | null,
  next: (found: Found) => Promise<Claim | null | undefined>,
): Promise<number | null> {
  const key = keyOf(task);
  for (let attempt = guess === null ? 1 : 0; ; attempt++) {
    const entry = attempt === 0 ? null : await kv.get(key);
    const isDeleted = entry !== null && entry.operation !== 'PUT';
    const claim = await next({ claim: toClaim(entry), isDeleted });
    if (claim === undefined) return null;
    const options = { previousSeq: attempt === 0 ? (guess ?? 0) : (entry?.revision ?? 0) };
    try {
      if (claim) return await kv.put(key, JSON.stringify(claim), options);
      await kv.delete(key, options);
      return null;
    } catch (error) {
      if (!WRONG_SEQUENCE.includes(codeOf(error)) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Every claim on the server. Keeps what others hold of this project's tasks, for the time without the server. */
export async function readHeld(context: Context, bucket: Bucket, ms: number): Promise<ServerClaim[]> {
  const claims = await listClaims(bucket, ms);
  const now = claims.length > 0 ? await serverNow(bucket) : 0;
  const tasks = new Set(listTasks(context));
  const known = readClaims(context).filter(({ here }) => here);
  const seen = claims.flatMap(({ claim, ...entry }): KnownClaim[] => {
    const left = msLeft({ claim, ...entry }, now);
    const isKnown = known.some(({ task, place }) => task === claim.task && place === claim.place);
    const isOwn = claim.place === placeOf(context);
    return tasks.has(claim.task) && left > 0 && !isKnown && !isOwn ? [asSeen(context, claim, left)] : [];
  });
  if (seen.length > 0 || known.length < readClaims(context).length)
    changeClaims(context, (stored) => [...stored.filter(({ here }) => here), ...seen]);
  return claims;
}

/** Another holder's claim, which holds for `ms` more. */
export const asSeen = (context: Context, claim: Claim, ms: number): KnownClaim => ({
  ...asClaim(claim),
  until: endOf(context, ms),
  ...{ here: false, process: null, revision: null, by_focus: false },
});

export const endOf = ({ world }: Context, ms: number): string =>
  new Date(world.now().getTime() + ms).toISOString();
