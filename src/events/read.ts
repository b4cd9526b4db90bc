import * as z from 'zod/mini';
import { outside, usage } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { compareText } from '../core/text.js';
import { type Context, readConfig } from '../project/project.js';
import { EVENT_TYPES, type EventType, type ForgeEvent, parseEvent, subjectOf, subjectsOf } from './event.js';
import { projectOf } from './outbox.js';
import { closeServer, type Server, SILENCE, within, withServer } from './server.js';
import { eachMessage, openStream } from './stream.js';

const Filter = {
  type: z.optional(z.enum(EVENT_TYPES)),
  /** A session id, or the start of one. */
  session: z.optional(z.string()),
  /** Events of other projects too. */
  all: z.optional(z.boolean()),
};
const ListInput = z.strictObject({
  ...Filter,
  limit: z.optional(z.int().check(z.gte(1), z.lte(100_000))),
  /** An ISO time. */
  since: z.optional(z.string()),
});
type EventListInput = z.infer<typeof ListInput>;
const TailInput = z.strictObject(Filter);
export type EventFilter = z.infer<typeof TailInput>;

export interface EventList {
  events: ForgeEvent[];
  /** Messages on these subjects that are not events of forge. */
  foreign: number;
}

/** The last events that the stream keeps, oldest first, each once. Exit 6 where nothing keeps them. */
export async function listEvents(context: Context, raw: EventListInput = {}): Promise<EventList> {
  const { limit = 50, ...wanted } = checkInput(ListInput, raw);
  const events: ForgeEvent[] = [];
  const keep = (event: ForgeEvent): void => {
    events.push(event);
    if (events.length > limit) events.shift();
  };
  const { foreign } = await readStream(context, wanted, keep, wanted.since ? undefined : limit * 4);
  // The stream has an outbox that was sent later in another order.
  return { events: events.sort((a, b) => compareText(a.at, b.at)), foreign };
}

/** Every event since a time, oldest first, handed over as it is read. */
export const replayEvents = (
  context: Context,
  raw: EventListInput,
  onEvent: (event: ForgeEvent) => void,
): Promise<{ foreign: number }> => readStream(context, checkInput(ListInput, raw), onEvent);

/** `last`: only so many of the last messages are looked at. */
async function readStream(
  context: Context,
  wanted: EventListInput,
  onEvent: (event: ForgeEvent) => void,
  last?: number,
): Promise<{ foreign: number }> {
  const since = wanted.since === undefined ? null : new Date(wanted.since);
  // The server counts nanoseconds in 64 bits.
  if (since && !(since.getUTCFullYear() > 1970 && since.getUTCFullYear() < 2200))
    throw usage('events.since', 'since: an ISO time between 1971 and 2199 is needed.', { field: 'since' });
  return withServer(context, 'forge events list', async (server) => {
    const stream = await within(SILENCE, openStream(context, server, SILENCE, false));
    const none = `${server.name} keeps no events: it has no JetStream or no stream yet.`;
    if (!stream)
      throw outside('events.no_stream', none, {
        hint: 'forge events tail   # shows what comes from now on',
      });
    const keep = reader(context, wanted, onEvent);
    await eachMessage(stream, { subjects: wantedSubjects(context, wanted.type), since, last }, keep.take);
    return { foreign: keep.foreign() };
  });
}

const wantedSubjects = (context: Context, type?: EventType): string[] => {
  const { prefix } = readConfig(context).events;
  return type ? [subjectOf(prefix, type)] : subjectsOf(prefix);
};

/** Passes on the wanted events, each once (B-76), and counts messages that are not events. */
function reader(context: Context, { type, session, all }: EventFilter, onEvent: (event: ForgeEvent) => void) {
  const project = projectOf(context);
  const seen = new Set<string>();
  let foreign = 0;
  const take = (bytes: Uint8Array): void => {
    const event = parseEvent(bytes);
    if (!event) {
      foreign++;
      return;
    }
    const isWanted =
      (all || event.project === project) &&
      (type === undefined || event.type === type) &&
      (session === undefined || event.session?.startsWith(session) === true);
    if (!isWanted || seen.has(event.id)) return;
    seen.add(event.id);
    if (seen.size > 200_000) seen.delete(seen.values().next().value as string);
    onEvent(event);
  };
  return { take, foreign: () => foreign };
}

/** Live: hands over each event until `signal` aborts. Reconnects when the server goes away. */
export async function tailEvents(
  context: Context,
  raw: EventFilter,
  watch: { signal: AbortSignal; onEvent(event: ForgeEvent): void; onStatus?(line: string): void },
): Promise<{ foreign: number }> {
  const filter = checkInput(TailInput, raw);
  const keep = reader(context, filter, watch.onEvent);
  const listen = async (server: Server): Promise<{ foreign: number }> => {
    const { connection, name } = server;
    let fail: (error: Error) => void = () => {};
    const refusal = new Promise<never>((_, reject) => {
      fail = reject;
    });
    refusal.catch(() => undefined);
    watch.signal.addEventListener('abort', () => closeServer(server), { once: true });
    void reportStatus(server, watch.onStatus);
    const subscriptions = wantedSubjects(context, filter.type).map((subject) =>
      connection.subscribe(subject, {
        callback: (error, message) => (error ? fail(error) : keep.take(message.data)),
      }),
    );
    await within(SILENCE, Promise.race([refusal, connection.flush()]));
    watch.onStatus?.(`Listening to ${name}. Ctrl-C ends it.`);
    if (watch.signal.aborted) closeServer(server);
    await Promise.race([refusal, connection.closed(), ...subscriptions.map(({ closed }) => closed)]);
    if (watch.signal.aborted) return { foreign: keep.foreign() };
    throw outside('events.closed', `${name} ended the subscription.`, { hint: 'forge events tail' });
  };
  return withServer(context, 'forge events tail', listen, { stays: true });
}

async function reportStatus(
  { connection, name }: Server,
  say: (line: string) => void = () => {},
): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') say(`${name} went away; waiting for it.`);
    if (type === 'reconnect') say(`${name} is back.`);
  }
}
