import { ForgeError } from '../core/error.js';
import { compareText } from '../core/text.js';
import { type Context, readConfig } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { listClaims, msLeft, openBucket, serverNow } from './bucket.js';
import { type EventType, type ForgeEvent, parseEvent, subjectsOf } from './event.js';
import { type Claim, isLive, readClaims } from './local-claims.js';
import { eventUrl, listWaiting, placeOf, projectOf, warnUnapproved } from './outbox.js';
import { describeWaiting } from './publish.js';
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

/** How many messages are searched for the last event of each worktree. */
const LAST_MESSAGES = 5000;
const IDLE_MS = 15 * 60_000;
/** A session without an event for this long is left out. */
const GONE_MS = 24 * 3_600_000;

/** EVT-03: who works on what. Without events or the server, only what this machine knows. */
export async function readFleet(context: Context, { all = false }: { all?: boolean } = {}): Promise<Fleet> {
  if (eventUrl(context) === null) {
    warnUnapproved(context);
    return readHere(context);
  }
  if (listWaiting(context).length > 0) context.warnings.push(`${describeWaiting(context)}.`);
  try {
    return await withServer(context, 'forge events list', (server) => readThere(context, server, all));
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'outside') throw error;
    context.warnings.push(`${error.message} This is what this machine knows.`);
    return readHere(context);
  }
}

async function readThere(context: Context, server: Server, all: boolean): Promise<Fleet> {
  const bucket = await openBucket(context, server, SILENCE);
  const claims = await listClaims(bucket, SILENCE);
  const now = await serverNow(bucket);
  const rows = await readEvents(context, server, now);
  for (const each of claims) {
    const { claim } = each;
    if (claim.state !== 'held') continue;
    const row = rows.get(claim.place);
    // A second task of the same worktree gets another row.
    const isFirst = !row || row.lease_seconds === null;
    rows.set(
      isFirst ? claim.place : `${claim.place} ${claim.task}`,
      withClaim(row, claim, msLeft(each, now)),
    );
  }
  const shown = [...rows.values()].filter(({ health }) => all || health !== 'ended');
  return { rows: shown.sort(compareRows), source: 'server' };
}

/** The last events of each worktree, as rows. `now` is the server's time. */
async function readEvents(context: Context, server: Server, now: number): Promise<Map<string, FleetRow>> {
  const rows = new Map<string, FleetRow>();
  const stream = await within(SILENCE, openStream(context, server, SILENCE, false));
  if (!stream) return rows;
  const project = projectOf(context);
  const subjects = subjectsOf(readConfig(context).events.prefix);
  await eachMessage(stream, { subjects, since: null, last: LAST_MESSAGES }, (bytes, _, at) => {
    const event = parseEvent(bytes);
    if (event?.project === project) rows.set(event.place, withEvent(rows.get(event.place), event, now - at));
  });
  return rows;
}

function withEvent(before: FleetRow | undefined, event: ForgeEvent, age: number): FleetRow {
  const { type, at, data } = event;
  const row = before?.session === event.session ? before : emptyRow(event);
  const isOver = type === 'session_end' || age > GONE_MS;
  return {
    ...row,
    ...(type === 'session_start' ? { branch: data.branch, since: at } : {}),
    ...(type === 'session_start' || type === 'focus' ? { task: data.task } : {}),
    last: { type, at },
    health: isOver ? 'ended' : age > IDLE_MS ? 'idle' : 'working',
  };
}

const emptyRow = ({ host, place, session }: Pick<FleetRow, 'host' | 'place' | 'session'>): FleetRow => ({
  ...{ host, place, session, branch: null, task: null, since: null, last: null },
  ...{ health: 'working', lease_seconds: null },
});

/** `left`: ms that the claim holds on. */
function withClaim(row: FleetRow | undefined, claim: Claim, left: number): FleetRow {
  const { session, branch, task, since } = claim;
  const known = row ?? emptyRow(claim);
  return {
    ...{ ...known, session: session ?? known.session, branch: branch ?? known.branch, task, since },
    ...{ health: left > 0 ? 'working' : 'lost', lease_seconds: Math.max(0, Math.round(left / 1000)) },
  };
}

const compareRows = (a: FleetRow, b: FleetRow): number =>
  compareText(a.host, b.host) || compareText(a.since ?? '', b.since ?? '');

/** Claims of this repository's worktrees, what the server said last, and the session of this worktree. */
function readHere(context: Context): Fleet {
  const now = context.world.now().getTime();
  const { local, remote } = readClaims(context);
  const rows = [
    ...local.map((claim) => ({
      claim,
      until: isLive(context, claim) ? Date.parse(claim.at) + claim.seconds * 1000 : now,
    })),
    ...remote.map((claim) => ({ claim, until: Date.parse(claim.until) })),
  ]
    .filter(({ claim }) => claim.state === 'held')
    .map(({ claim, until }) => withClaim(undefined, claim, until - now));
  const running = readRunning(context);
  const place = placeOf(context);
  if (running && !rows.some((row) => row.place === place))
    rows.push({
      ...emptyRow({ host: context.world.self().host, place, session: running.id }),
      ...{ branch: running.branch, task: running.goal ?? null, since: running.started_at },
    });
  return { rows: rows.sort(compareRows), source: 'machine' };
}
