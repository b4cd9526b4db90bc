import * as z from 'zod/mini';
import { outside } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { compareText } from '../core/text.js';
import { type Context, readConfig } from '../project/project.js';
import { EVENT_TYPES, type ForgeEvent, parseEvent } from './event.js';
import { projectOf } from './outbox.js';
import { closeServer, type Server, SILENCE, within, withServer } from './server.js';
import { type EventStream, eachEvent, openStream } from './stream.js';

const Filter = {
  type: z.optional(z.enum(EVENT_TYPES)),
  /** A session id, or the start of one. */
  session: z.optional(z.string()),
};
const ListInput = z.strictObject({
  ...Filter,
  limit: z.optional(z.int().check(z.gte(1), z.lte(100_000))),
  since: z.optional(z.iso.datetime()),
});
type EventListInput = z.infer<typeof ListInput>;
const TailInput = z.strictObject(Filter);
export type EventFilter = z.infer<typeof TailInput>;

export interface EventList {
  events: ForgeEvent[];
}

/** The last events that the stream keeps, oldest first, each once. Exit 6 where nothing keeps them. */
export async function listEvents(context: Context, raw: EventListInput = {}): Promise<EventList> {
  const { limit = 50, ...wanted } = checkInput(ListInput, raw);
  let events: ForgeEvent[] = [];
  const keep = (event: ForgeEvent): void => {
    events.push(event);
    if (events.length > limit) events.shift();
  };
  await withStream(context, async (stream) => {
    // The newest messages may be of other projects, types or sessions.
    for (let last = wanted.since ? Number.POSITIVE_INFINITY : limit * 4; ; last *= 8) {
      events = [];
      await readEvents(context, stream, wanted, keep, last);
      if (events.length === limit || last > stream.last - stream.first) break;
    }
  });
  // The stream has an outbox that was sent later in another order.
  return { events: events.sort((a, b) => compareText(a.at, b.at)) };
}

/** Every event since a time, oldest first, handed over as it is read. */
export const replayEvents = (
  context: Context,
  raw: EventListInput,
  onEvent: (event: ForgeEvent) => void,
): Promise<void> => {
  const wanted = checkInput(ListInput, raw);
  return withStream(context, (stream) => readEvents(context, stream, wanted, onEvent));
};

const withStream = (context: Context, work: (stream: EventStream) => Promise<void>): Promise<void> =>
  withServer(context, 'forge events list', async (server) => {
    const stream = await within(SILENCE, openStream(context, server));
    const none = `${server.name} keeps no events: it has no JetStream or no stream yet.`;
    const hint = 'forge events tail   # shows what comes from now on';
    if (!stream) throw outside('events.no_stream', none, { hint });
    await work(stream);
  });

function readEvents(
  context: Context,
  stream: EventStream,
  wanted: EventListInput,
  onEvent: (event: ForgeEvent) => void,
  last?: number,
): Promise<void> {
  const since = wanted.since === undefined ? null : new Date(wanted.since);
  return eachEvent(context, stream, { type: wanted.type, since, last }, selector(wanted, onEvent));
}

/** Passes on the wanted events, each once. */
function selector({ type, session }: EventFilter, onEvent: (event: ForgeEvent) => void) {
  const seen = new Set<string>();
  return (event: ForgeEvent): void => {
    const isWanted =
      (type === undefined || event.type === type) &&
      (session === undefined || event.session?.startsWith(session) === true);
    if (!isWanted || seen.has(event.id)) return;
    seen.add(event.id);
    onEvent(event);
  };
}

/** Live: hands over each event until `signal` aborts. Reconnects when the server goes away. */
export async function tailEvents(
  context: Context,
  raw: EventFilter,
  watch: { signal: AbortSignal; onEvent(event: ForgeEvent): void; onStatus?(line: string): void },
): Promise<void> {
  const take = selector(checkInput(TailInput, raw), watch.onEvent);
  const project = projectOf(context);
  const listen = async (server: Server): Promise<void> => {
    const { connection, name } = server;
    watch.signal.addEventListener('abort', () => closeServer(server), { once: true });
    if (watch.onStatus) void reportStatus(server, watch.onStatus);
    const messages = connection.subscribe(`${readConfig(context).events.prefix}.>`);
    await within(SILENCE, connection.flush());
    watch.onStatus?.(`Listening to ${name}. Ctrl-C ends it.`);
    if (watch.signal.aborted) closeServer(server);
    for await (const { data } of messages) {
      const event = parseEvent(data);
      if (event?.project === project) take(event);
    }
    if (!watch.signal.aborted)
      throw outside('events.closed', `${name} ended the subscription.`, { hint: 'forge events tail' });
  };
  await withServer(context, 'forge events tail', listen, { stays: true });
}

async function reportStatus({ connection, name }: Server, say: (line: string) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') say(`${name} went away; waiting for it.`);
    if (type === 'reconnect') say(`${name} is back.`);
  }
}
