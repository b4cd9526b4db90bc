import * as z from 'zod/mini';
import { outside } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { compareText } from '../core/text.js';
import { type Context, readConfig } from '../project/project.js';
import {
  EVENT_TYPES,
  type EventType,
  type ForgeEvent,
  MAX_EVENT_BYTES,
  parseEvent,
  subjectOf,
  subjectsOf,
} from './event.js';
import type { JetStreamClient } from './nats.js';
import { projectOf } from './outbox.js';
import {
  closeServer,
  codeOf,
  NOT_FOUND,
  replicated,
  type Server,
  SILENCE,
  within,
  withServer,
} from './server.js';

export interface EventStream {
  name: string;
  client: JetStreamClient;
  /** The sequence of its first and last message. */
  first: number;
  last: number;
}

const MAX_AGE_DAYS = 30;
/** For this many minutes the server drops a second copy of an event. After that, readers do. */
const DUPLICATES_MINUTES = 10;

/** JetStream is off for the account, or on the server. */
const OFF = [10039, 10076];

/** Opens the stream, and creates a missing one if `makes`. Null if the server has no JetStream. */
export async function openStream(context: Context, server: Server, ms = SILENCE, makes = false) {
  const { nats, connection } = server;
  const { stream: name, prefix } = readConfig(context).events;
  const manager = await nats.jetstreamManager(connection, { checkAPI: false, timeout: ms });
  const subjects = subjectsOf(prefix);
  const make = (num_replicas: number) =>
    manager.streams.add({
      ...{ name, subjects, num_replicas, max_msg_size: MAX_EVENT_BYTES },
      max_age: nats.nanos(MAX_AGE_DAYS * 86_400_000),
      duplicate_window: nats.nanos(DUPLICATES_MINUTES * 60_000),
    });
  const info = await manager.streams.info(name).catch((error: Error) => {
    const isOff = error.name === 'NoRespondersError' && !connection.info?.jetstream;
    if (isOff || error.name === 'JetStreamNotEnabled' || OFF.includes(codeOf(error))) return null;
    if (codeOf(error) !== NOT_FOUND) throw error;
    return makes ? replicated(server, make) : null;
  });
  if (info === null) return null;
  const missing = subjects.find((subject) => !info.config.subjects?.some((each) => covers(each, subject)));
  if (missing !== undefined)
    throw outside('events.stream', `The stream ${name} on ${server.name} does not hold ${missing}.`, {
      hint: `nats stream edit ${name} --subjects '${prefix}.>'\nforge config set events.stream OTHER_NAME`,
    });
  const { first_seq: first, last_seq: last } = info.state;
  return { name, client: nats.jetstream(connection, { timeout: ms }), first, last };
}

/** True when messages on `subject` match a pattern with `*` and `>`. */
function covers(pattern: string, subject: string): boolean {
  const [wanted, words] = [pattern.split('.'), subject.split('.')];
  for (const [i, token] of wanted.entries()) {
    if (token === '>') return words.length > i;
    if (token !== '*' && token !== words[i]) return false;
  }
  return wanted.length === words.length;
}

interface Range {
  type?: EventType | undefined;
  since?: Date | null;
  /** Only so many of the last messages are looked at, and none before `from`. */
  last?: number | undefined;
  from?: number;
}

/**
 * Reads this project's events from a place of the stream to its present end. Anyone may publish there, so other messages are
 * skipped (B-76). `at`: when the server got it.
 */
export async function eachEvent(
  context: Context,
  { name, client, first, last }: EventStream,
  range: Range,
  take: (event: ForgeEvent, at: number) => void,
): Promise<void> {
  if (last === 0 || last < first) return;
  const start = range.last === undefined ? first : Math.max(first, range.from ?? 0, last - range.last + 1);
  const { prefix } = readConfig(context).events;
  const project = projectOf(context);
  const consumer = await within(
    SILENCE,
    client.consumers.get(name, {
      // A server before 2.10 takes one filter.
      ...(range.type ? { filter_subjects: subjectOf(prefix, range.type) } : {}),
      ...(range.since
        ? { deliver_policy: 'by_start_time' as const, opt_start_time: range.since.toISOString() }
        : { deliver_policy: 'by_start_sequence' as const, opt_start_seq: start }),
    }),
  );
  const { num_pending } = await within(SILENCE, consumer.info());
  if (num_pending === 0) return;
  const messages = await consumer.consume({ max_messages: 500 });
  try {
    const iterator = messages[Symbol.asyncIterator]();
    for (;;) {
      const { value: message, done } = await within(SILENCE, iterator.next());
      if (done) break;
      const event = parseEvent(message.data);
      if (event?.project === project) take(event, Math.round(message.info.timestampNanos / 1e6));
      if (message.info.pending === 0 || message.seq >= last) break;
    }
  } finally {
    messages.stop();
  }
}

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
  const events: ForgeEvent[] = [];
  const keep = (event: ForgeEvent): void => {
    events.push(event);
    if (events.length > limit) events.shift();
  };
  await readStream(context, wanted, keep, wanted.since ? undefined : limit * 4);
  // The stream has an outbox that was sent later in another order.
  return { events: events.sort((a, b) => compareText(a.at, b.at)) };
}

/** Every event since a time, oldest first, handed over as it is read. */
export const replayEvents = (
  context: Context,
  raw: EventListInput,
  onEvent: (event: ForgeEvent) => void,
): Promise<void> => readStream(context, checkInput(ListInput, raw), onEvent);

async function readStream(
  context: Context,
  wanted: EventListInput,
  onEvent: (event: ForgeEvent) => void,
  last?: number,
): Promise<void> {
  const since = wanted.since === undefined ? null : new Date(wanted.since);
  await withServer(context, 'forge events list', async (server) => {
    const stream = await within(SILENCE, openStream(context, server));
    const none = `${server.name} keeps no events: it has no JetStream or no stream yet.`;
    const hint = 'forge events tail   # shows what comes from now on';
    if (!stream) throw outside('events.no_stream', none, { hint });
    const range = { type: wanted.type, since, last };
    await eachEvent(context, stream, range, selector(wanted, onEvent));
  });
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
