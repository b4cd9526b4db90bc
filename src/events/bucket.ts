import { elapsed } from '../core/clock.js';
import type { Context } from '../project/project.js';
import { Claim, heldBy, isInWay } from './held.js';
import type { KV, KvEntry } from './nats.js';
import { projectOf } from './outbox.js';
import { type Server, within } from './server.js';

/** The KV bucket that holds the claims of a project. */
export interface Bucket {
  kv: KV;
  entries: number;
  /** Seconds after which the server deletes an entry by itself; null for never. */
  ttl: number | null;
  /** The server's time when it was asked, and this process's. */
  clock?: { server: number; here: number };
}

/** A claim on the server. `left`: how many ms it holds on, by the server's clock. */
export interface ServerClaim {
  claim: Claim;
  revision: number;
  created: number;
}

const NOT_FOUND = 10059;
const WRONG_SEQUENCE = [10071, 10164];
const codeOf = (error: unknown): number => (error as { code?: number }).code ?? 0;

/** Milliseconds for one request: what a leader that went away got is lost, and has to be asked again. */
const REQUEST = 1000;

/** True when another client changed the entry first. */
export const isOvertaken = (error: unknown): boolean => WRONG_SEQUENCE.includes(codeOf(error));

export const bucketName = (context: Context): string => `forge-claims-${projectOf(context).slice(0, 32)}`;

/** Throws where there is no JetStream, or it may not be used. */
export async function openBucket(
  context: Context,
  { nats, connection }: Server,
  ms: number,
): Promise<Bucket> {
  const name = bucketName(context);
  const limit = Math.min(ms, REQUEST);
  const manager = await nats.jetstreamManager(connection, { checkAPI: false, timeout: limit });
  const kvm = new nats.Kvm(nats.jetstream(connection, { timeout: limit }));
  const find = () => within(limit, manager.streams.info(`KV_${name}`));
  const info = await find().catch(async (error) => {
    if (codeOf(error) !== NOT_FOUND) throw error;
    const make = (replicas: number) => kvm.create(name, { history: 1, replicas });
    // Another client may make it at the same time.
    const made = connection.info?.cluster ? make(3).catch(() => make(1)) : make(1);
    await within(
      ms,
      made.catch(() => undefined),
    );
    return find();
  });
  // A request to a bucket that has no leader yet gets no answer.
  if (info.cluster && !info.cluster.leader) throw new Error('timeout');
  const { max_age } = info.config;
  return {
    kv: await kvm.open(name, { bindOnly: true, timeout: limit } as object),
    entries: info.state.messages,
    ttl: max_age > 0 ? max_age / 1e9 : null,
  };
}

/** A task's id as a key. Ids have letters, digits, ".", "_" and "-". */
export const keyOf = (task: string): string => `task.${task.replaceAll('.', '=')}`;

/** The clock of the server that stores entries: a key that is written and read back. */
const CLOCK = 'clock';

/** Now, in ms since 1970, by the server's clock. Leases are judged by no other, so a wrong clock frees no task. */
export async function serverNow(bucket: Bucket): Promise<number> {
  if (!bucket.clock) {
    await bucket.kv.put(CLOCK, '');
    const server = (await bucket.kv.get(CLOCK))?.created.getTime() ?? 0;
    bucket.clock = { server, here: elapsed() };
  }
  return bucket.clock.server + elapsed() - bucket.clock.here;
}

/** Null for no claim: a missing or deleted entry, or something else that somebody put there. */
export function toClaim(entry: KvEntry | null): ServerClaim | null {
  if (entry?.operation !== 'PUT' || entry.length > 4096) return null;
  try {
    const claim = Claim.parse(JSON.parse(entry.string()));
    if (keyOf(claim.task) !== entry.key) return null;
    return { claim, revision: entry.revision, created: entry.created.getTime() };
  } catch {
    return null;
  }
}

/** How many ms a claim holds on. */
export const msLeft = ({ claim, created }: ServerClaim, now: number): number =>
  created + claim.seconds * 1000 - now;

/** Most claims that are read. */
const MAX_CLAIMS = 20_000;

/** Every claim of the project. */
export async function listClaims(bucket: Bucket, ms: number): Promise<ServerClaim[]> {
  if (bucket.entries === 0) return [];
  const watch = await within(ms, bucket.kv.watch());
  const claims: ServerClaim[] = [];
  const read = async (): Promise<void> => {
    for await (const entry of watch) {
      const claim = toClaim(entry);
      if (claim) claims.push(claim);
      if (entry.delta === 0 || claims.length >= MAX_CLAIMS) break;
    }
  };
  try {
    await within(ms, read());
  } finally {
    watch.stop();
  }
  return claims;
}

/** The revision of the new entry. Compare-and-set: of two clients one gets it, and the other finds it held. */
export async function takeOnServer(bucket: Bucket, claim: Claim, again: boolean): Promise<number> {
  const { kv } = bucket;
  const value = JSON.stringify(claim);
  // Most tasks are free: one request. create() would make another one where the key exists.
  try {
    return await kv.put(keyOf(claim.task), value, { previousSeq: 0 });
  } catch (error) {
    if (!isOvertaken(error)) throw error;
  }
  for (let attempt = 0; ; attempt++) {
    const entry = await kv.get(keyOf(claim.task));
    const other = toClaim(entry);
    if (other && isInWay(other.claim, claim.place, again) && msLeft(other, await serverNow(bucket)) > 0)
      throw Object.assign(heldBy(other.claim), { found: other });
    try {
      return await (entry === null
        ? kv.create(keyOf(claim.task), value)
        : kv.update(keyOf(claim.task), value, entry.revision));
    } catch (error) {
      if (!isOvertaken(error) || attempt === 5) throw error;
    }
  }
}
