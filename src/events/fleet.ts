import { basename } from 'node:path';
import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { compareText } from '../core/text.js';
import { readBranch } from '../git/repository.js';
import { type Context, orWarn, otherWorktrees, readConfig } from '../project/project.js';
import { readRunning, showFocus } from '../session/running.js';
import { listClaims, msLeft, openBucket, serverNow } from './bucket.js';
import { keepHeld, persist, sendClaims } from './claim.js';
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
  /** The worktree's top folder, without its path. */
  folder: string | null;
  /** The name that git has for the person. */
  person: string | null;
  /** True for this worktree. */
  own: boolean;
  session: string | null;
  /** Of another worktree: when the claim was made or renewed, else when the session started. */
  branch: string | null;
  /** The claimed task, else the one in focus. */
  task: string | null;
  /** When the task was claimed, else when the session started. */
  since: string | null;
  last: { type: EventType; at: string } | null;
  /**
   * `working`: holds a task, or reported something in the last 15 minutes. `idle`: also when the session that claimed it
   * ended. `lost`: its lease ran out.
   */
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
  await sendClaims(context);
  const deadline = elapsed() + SILENCE;
  try {
    return await withServer(context, 'forge events list', (server) =>
      persist(
        () => deadline - elapsed(),
        () => readThere(context, server, all),
      ),
    );
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
  await orWarn(context, 'What others hold was not kept', () => keepHeld(context, claims, now));
  const worktrees = await readEvents(context, server, now);
  const held = claims.filter(({ claim }) => claim.state === 'held');
  const busy = new Set(held.map(({ claim }) => claim.place));
  const rows = [
    ...held.map((each) => withClaim(worktrees.get(each.claim.place), each.claim, msLeft(each, now))),
    ...[...worktrees.values()].filter(({ place, health }) => !busy.has(place) && (all || health !== 'ended')),
  ];
  return { rows: await finishRows(context, rows), source: 'server' };
}

/** Marks the rows of this worktree, whose branch is known. */
async function finishRows(context: Context, rows: FleetRow[]): Promise<FleetRow[]> {
  const { repository, git } = context;
  const place = placeOf(context);
  const branch = repository && git && (await readBranch(repository, git));
  return rows
    .map((row) => (row.place === place ? { ...row, own: true, branch: branch ?? row.branch } : row))
    .sort(compareRows);
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
    ...(type === 'session_start'
      ? { branch: data.branch, person: data.person ?? row.person, since: at }
      : {}),
    ...(type === 'session_start' || type === 'focus' ? { task: data.task } : {}),
    last: { type, at },
    health: isOver ? 'ended' : age > IDLE_MS ? 'idle' : 'working',
  };
}

const emptyRow = ({
  host,
  place,
  session,
  folder = null,
}: Pick<Claim, 'host' | 'place' | 'session' | 'folder'>): FleetRow => ({
  ...{ host, place, folder, person: null, own: false, session, branch: null, task: null, since: null },
  last: null,
  ...{ health: 'working', lease_seconds: null },
});

/** `left`: ms that the claim holds on. */
function withClaim(row: FleetRow | undefined, claim: Claim, left: number): FleetRow {
  const { session, branch, person, folder, task, since } = claim;
  const known = row ?? emptyRow(claim);
  // The session that made the claim, or one after it.
  const isOver = known.health === 'ended' && known.last !== null && known.last.at >= since;
  return {
    ...{ ...known, session: session ?? (known.health === 'ended' ? null : known.session), task, since },
    branch: branch ?? known.branch,
    ...{ person: person ?? known.person, folder: folder ?? known.folder },
    health: left <= 0 ? 'lost' : isOver ? 'idle' : 'working',
    lease_seconds: Math.max(0, Math.round(left / 1000)),
  };
}

const compareRows = (a: FleetRow, b: FleetRow): number =>
  compareText(a.host, b.host) || compareText(a.since ?? '', b.since ?? '');

/** Claims and sessions of this repository's worktrees on this machine, and what the server said last. */
async function readHere(context: Context): Promise<Fleet> {
  const now = context.world.now().getTime();
  const { local, remote } = readClaims(context);
  const worktrees = [context, ...otherWorktrees(context)];
  const running = new Map(worktrees.map((each) => [placeOf(each), { each, session: readRunning(each) }]));
  const isOver = ({ place, session, health }: FleetRow): boolean =>
    running.has(place) &&
    session !== null &&
    session !== running.get(place)?.session?.id &&
    health === 'working';
  const rows = [
    ...local.map((claim) => ({
      claim,
      until: isLive(context, claim) ? Date.parse(claim.at) + claim.seconds * 1000 : now,
    })),
    ...remote.map((claim) => ({ claim, until: Date.parse(claim.until) })),
  ]
    .filter(({ claim }) => claim.state === 'held')
    .map(({ claim, until }) => withClaim(undefined, claim, until - now))
    .map((row): FleetRow => (isOver(row) ? { ...row, health: 'idle' } : row));
  for (const [place, { each, session }] of running)
    if (session && !rows.some((row) => row.place === place))
      rows.push({
        ...emptyRow({ ...{ host: context.world.self().host, place }, session: session.id }),
        folder: basename(each.layout.root),
        ...{ branch: session.branch, task: showFocus(each).task ?? session.goal ?? null },
        since: session.started_at,
      });
  return { rows: await finishRows(context, rows), source: 'machine' };
}
