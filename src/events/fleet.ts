import { ForgeError } from '../core/error.js';
import { compareText } from '../core/text.js';
import { type Context, readConfig } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { listClaims, msLeft, openBucket, serverNow } from './bucket.js';
import { type EventType, type ForgeEvent, parseEvent, subjectsOf } from './event.js';
import { type Claim, readClaims } from './held.js';
import { eventUrl, placeOf, projectOf } from './outbox.js';
import { type Server, SILENCE, within, withServer } from './server.js';
import { eachMessage, openStream } from './stream.js';

/** One worktree with a session or a claim. */
export interface FleetRow {
  host: string;
  /** A digest that tells the worktrees of a host apart. */
  place: string;
  session: string | null;
  branch: string | null;
  /** The claimed task, else the one in focus. */
  task: string | null;
  /** When the task was claimed, else when the session started. */
  since: string | null;
  last: { type: EventType; at: string } | null;
  /** `working`: holds a task, or reported something in the last 15 minutes. `lost`: its lease ran out. */
  health: 'working' | 'idle' | 'lost' | 'ended';
  /** Seconds until the task is free unless the claim is renewed; null without one. */
  lease_seconds: number | null;
}

export interface Fleet {
  rows: FleetRow[];
  /** `machine`: only what this clone knows. */
  source: 'server' | 'machine';
}

/** Messages that are looked at for the last event of each worktree. */
const LAST_MESSAGES = 5000;
const IDLE_MS = 15 * 60_000;
/** A session that reported nothing for so long is left out. */
const GONE_MS = 24 * 3_600_000;

/** A claim with the ms that it holds on. */
interface HeldTask {
  claim: Claim;
  left: number;
}

/** EVT-03: who works on what. Without events, or when the server is away, what this machine knows. */
export async function readFleet(context: Context, { all = false }: { all?: boolean } = {}): Promise<Fleet> {
  if (eventUrl(context) === null) return readHere(context);
  try {
    return await withServer(context, (server) => readThere(context, server, all));
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'outside') throw error;
    context.warnings.push(`${error.message} This is what this machine knows.`);
    return readHere(context);
  }
}

async function readThere(context: Context, server: Server, all: boolean): Promise<Fleet> {
  const { now, claims } = await readClaimsThere(context, server);
  const places = await readPlaces(context, server);
  const held = claims.filter(({ claim }) => claim.state === 'held');
  const rows = new Map<string, FleetRow>();
  for (const [place, seen] of places) rows.set(place, rowOf(seen, now));
  for (const { claim, left } of held) {
    const row = rows.get(claim.place);
    // A second task of the same worktree has a row of its own.
    const key = row?.lease_seconds === null || !row ? claim.place : `${claim.place} ${claim.task}`;
    rows.set(key, withClaim(row ?? emptyRow(claim), claim, left));
  }
  const isShown = ({ health }: FleetRow): boolean => all || health !== 'ended';
  return { rows: [...rows.values()].filter(isShown).sort(compareRows), source: 'server' };
}

async function readClaimsThere(
  context: Context,
  server: Server,
): Promise<{ now: number; claims: HeldTask[] }> {
  const bucket = await openBucket(context, server, SILENCE);
  const found = await listClaims(bucket, SILENCE);
  const now = await serverNow(bucket);
  return { now, claims: found.map((each) => ({ claim: each.claim, left: msLeft(each, now) })) };
}

/** The last that was heard of a worktree. */
interface Place {
  host: string;
  place: string;
  session: string | null;
  branch: string | null;
  task: string | null;
  since: string | null;
  last: ForgeEvent;
  /** By the server's clock. */
  at: number;
}

async function readPlaces(context: Context, server: Server): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  const stream = await within(SILENCE, openStream(context, server, SILENCE, false));
  if (!stream) return places;
  const project = projectOf(context);
  const subjects = subjectsOf(readConfig(context).events.prefix);
  await eachMessage(stream, { subjects, since: null, last: LAST_MESSAGES }, (bytes, _, at) => {
    const event = parseEvent(bytes);
    if (event?.project === project) places.set(event.place, heardOf(event, at, places.get(event.place)));
  });
  return places;
}

function heardOf(event: ForgeEvent, at: number, before: Place | undefined): Place {
  const { host, place, session } = event;
  const isNew = before === undefined || before.session !== session;
  const known = isNew ? { branch: null, task: null, since: null } : before;
  const seen = { ...known, host, place, session, last: event, at };
  if (event.type === 'session_start')
    return { ...seen, branch: event.data.branch, task: event.data.task, since: event.at };
  return event.type === 'focus' ? { ...seen, task: event.data.task } : seen;
}

function rowOf({ last, at, ...seen }: Place, now: number): FleetRow {
  const age = now - at;
  const health = last.type === 'session_end' || age > GONE_MS ? 'ended' : age > IDLE_MS ? 'idle' : 'working';
  return { ...seen, last: { type: last.type, at: last.at }, health, lease_seconds: null };
}

const emptyRow = ({ host, place, session, branch }: Claim): FleetRow => ({
  ...{ host, place, session, branch, task: null, since: null, last: null },
  ...{ health: 'working', lease_seconds: null },
});

const withClaim = (row: FleetRow, claim: Claim, left: number): FleetRow => ({
  ...row,
  session: claim.session ?? row.session,
  branch: claim.branch ?? row.branch,
  task: claim.task,
  since: claim.since,
  health: left > 0 ? 'working' : 'lost',
  lease_seconds: Math.max(0, Math.round(left / 1000)),
});

const compareRows = (a: FleetRow, b: FleetRow): number =>
  compareText(a.host, b.host) || compareText(a.since ?? '', b.since ?? '');

/** Claims of this repository's worktrees, what the server said last, and the session of this worktree. */
function readHere(context: Context): Fleet {
  const now = context.world.now().getTime();
  const { local, remote } = readClaims(context);
  const held: HeldTask[] = [
    ...local.map((claim) => ({ claim, left: new Date(claim.at).getTime() + claim.seconds * 1000 - now })),
    ...remote.map((claim) => ({ claim, left: new Date(claim.until).getTime() - now })),
  ].filter(({ claim }) => claim.state === 'held');
  const rows = held.map(({ claim, left }) => withClaim(emptyRow(claim), claim, left));
  const running = readRunning(context);
  const place = placeOf(context);
  if (running && !rows.some((row) => row.place === place))
    rows.push({
      ...{ host: context.world.self().host, place, session: running.id, branch: running.branch },
      ...{ task: running.goal ?? null, since: running.started_at, last: null },
      ...{ health: 'working', lease_seconds: null },
    });
  return { rows: rows.sort(compareRows), source: 'machine' };
}
