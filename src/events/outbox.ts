import { basename, join } from 'node:path';
import { ForgeError, unlessFailed } from '../core/error.js';
import { listFolder, readPlain, removePath, replaceFiles } from '../core/files.js';
import { outboxFolder } from '../core/paths.js';
import { makeToken, oneLine, sha256 } from '../core/text.js';
import { currentState, ledgerTrailer } from '../ledger/memory.js';
import { actorOf, type Context, readConfig, timestamp } from '../project/project.js';
import { sessionHere } from '../session/running.js';
import { isUrlApproved } from '../trust/approvals.js';
import {
  cutData,
  type EventData,
  type EventType,
  eventId,
  type ForgeEvent,
  MAX_EVENT_BYTES,
  parseEvent,
  VERSION,
} from './event.js';

/** The server's addresses; null while events are off. An address of the repository counts once a person approved it. */
export function eventUrl(context: Context): string | null {
  const { NATS_URL, NATS_CONTEXT } = context.world.env;
  if (NATS_URL) return NATS_URL;
  if (NATS_CONTEXT) return '';
  const url = readUrl(context);
  return url !== '' && isUrlApproved(context, url) ? url : null;
}

/** Why the repository's server is not used; null for one that is, and while none is set. */
export function whyUnapproved(context: Context): string | null {
  const url = eventUrl(context) === null ? readUrl(context) : '';
  return url === ''
    ? null
    : `The server in [events] url was not approved on this machine, so forge does not connect to it: ${oneLine(url)}`;
}

export function warnUnapproved(context: Context): void {
  const why = whyUnapproved(context);
  if (why !== null) context.warnings.push(`${why} (forge trust)`);
}

/** '' for a damaged config.toml, so that commands that do not need it still work. */
const readUrl = (context: Context): string => unlessFailed('', () => readConfig(context).events.url);

/** Identifies a worktree among those of all machines. */
export const placeOf = ({ layout, world }: Context): string =>
  sha256(`${world.self().host}\u0000${layout.state}`).slice(0, 16);

/** The id of the ledger, which all clones share; '' without one. */
export const projectOf = (context: Context): string => currentState(context).ledger;

/**
 * EVT-01: writes an event to the outbox. `about` identifies the change that it reports. Nothing is written while events are
 * off. A failure is only a warning, because the change is already made.
 */
export function queueEvent<T extends EventType>(
  context: Context,
  type: T,
  about: string,
  data: EventData[T],
  session = sessionHere(context),
): void {
  if (context.disk.dryRun || eventUrl(context) === null) return;
  try {
    const project = projectOf(context);
    const event = {
      schema_version: VERSION,
      id: eventId(project, type, about),
      type,
      at: timestamp(context),
      project,
      session,
      actor: actorOf(context),
      host: context.world.self().host,
      place: placeOf(context),
      folder: oneLine(basename(context.layout.root)),
      ledger: positionOf(context),
      data: cutData(data),
    };
    const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
    const name = nextName(context);
    replaceFiles([{ path: join(outboxFolder(context.layout), name), bytes }]);
    context.unsent.push(name);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(`An event was not written: ${error.message}`);
  }
}

function positionOf(context: Context): ForgeEvent['ledger'] {
  const [n, ...heads] = ledgerTrailer(context)?.split(' ') ?? [];
  return n === undefined ? null : { n: Number(n), heads };
}

const NAME = /^(\d{15})-[\w-]+\.json$/;

const numberOf = (name: string): number => Number(NAME.exec(name)?.[1] ?? 0);

/** Names sort in the order of writing, also when the clock was set back. */
function nextName(context: Context): string {
  const number = Math.max(context.world.now().getTime(), numberOf(listWaiting(context).at(-1) ?? '') + 1);
  return `${String(number).padStart(15, '0')}-${makeToken(4)}.json`;
}

/** Names of the events that wait, oldest first. */
export const listWaiting = ({ layout }: Context): string[] =>
  listFolder(outboxFolder(layout)).filter((name) => NAME.test(name));

/** Null for a file that is gone, or that holds no event. */
export function readWaiting({ layout }: Context, name: string): { event: ForgeEvent; bytes: Buffer } | null {
  const bytes = readPlain(join(outboxFolder(layout), name), MAX_EVENT_BYTES);
  const event = bytes && parseEvent(bytes);
  return bytes && event ? { event, bytes } : null;
}

export const removeWaiting = ({ layout }: Context, name: string): void =>
  removePath(join(outboxFolder(layout), name));

export const hasUnsent = ({ unsent }: Context): boolean => unsent.length > 0;

export const takeUnsent = ({ unsent }: Context): string[] => unsent.splice(0);
