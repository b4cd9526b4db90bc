import { basename } from 'node:path';
import { compareText } from '../core/text.js';
import { readBranch } from '../git/repository.js';
import { type Context, otherWorktrees } from '../project/project.js';
import { judgeRunning, readRunning, showFocus } from '../session/running.js';
import { type Bucket, msLeft, readHeld, serverNow, withBucket } from './bucket.js';
import { renewClaims } from './claim.js';
import type { EventType, ForgeEvent } from './event.js';
import { type Claim, isLive, readClaims } from './local-claims.js';
import { eventUrl, placeOf } from './outbox.js';
import { BUDGET, type Server, SILENCE, within } from './server.js';
import { eachEvent, openStream } from './stream.js';

/** One worktree with a session or a claim. */
export interface FleetRow {
  host: string;
  /** A digest that tells the worktrees of a host apart. */
  place: string;
  /** The worktree's top folder, without its path. */
  folder: string | null;
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
export async function readFleet(context: Context): Promise<Fleet> {
  if (eventUrl(context) !== null) await renewClaims(context, BUDGET, true);
  const rows = await withBucket(context, SILENCE, (bucket, server) => readThere(context, bucket, server));
  return {
    rows: await finishRows(context, rows ?? readHere(context)),
    source: rows ? 'server' : 'machine',
  };
}

async function readThere(context: Context, bucket: Bucket, server: Server): Promise<FleetRow[]> {
  const claims = await readHeld(context, bucket, SILENCE);
  const now = await serverNow(bucket);
  const worktrees = await readEvents(context, server, now);
  const held = claims.filter(({ claim }) => claim.state === 'held');
  const busy = new Set(held.map(({ claim }) => claim.place));
  return [
    ...held.map((each) => withClaim(worktrees.get(each.claim.place), each.claim, msLeft(each, now))),
    ...[...worktrees.values()].filter(
      ({ place, session, health }) => !busy.has(place) && session !== null && health !== 'ended',
    ),
  ];
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
  const stream = await within(SILENCE, openStream(context, server));
  if (!stream) return rows;
  await eachEvent(context, stream, { last: LAST_MESSAGES }, (event, at) =>
    rows.set(event.place, withEvent(rows.get(event.place), event, now - at)),
  );
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
function readHere(context: Context): FleetRow[] {
  const now = context.world.now().getTime();
  const worktrees = new Map([context, ...otherWorktrees(context)].map((each) => [placeOf(each), each]));
  const held = readClaims(context)
    .filter(({ state }) => state === 'held')
    .map((claim) => {
      const row = withClaim(undefined, claim, isLive(context, claim) ? Date.parse(claim.until) - now : 0);
      const worktree = worktrees.get(claim.place);
      const isOver = worktree && claim.session !== null && readRunning(worktree)?.id !== claim.session;
      return isOver && row.health === 'working' ? { ...row, health: 'idle' as const } : row;
    });
  const others = [...worktrees].flatMap(([place, each]): FleetRow[] => {
    const session = readRunning(each);
    if (!session) return [];
    const { id, branch, started_at: since, goal = null } = session;
    const task = showFocus(each).task ?? goal;
    // A claim made by hand leaves the focus where it is.
    const isClaimed = (claimed: string | null): boolean => !task || `${task}: `.startsWith(`${claimed}: `);
    if (held.some((row) => row.place === place && isClaimed(row.task))) return [];
    const { host } = context.world.self();
    const row = emptyRow({ host, place, session: id, folder: basename(each.layout.root) });
    const isOver = judgeRunning(each, session).state === 'interrupted';
    return [{ ...row, branch, task, since, health: isOver ? ('idle' as const) : row.health }];
  });
  return [...held, ...others];
}
