import { outside } from '../core/error.js';
import { type Context, readConfig } from '../project/project.js';
import {
  type EventType,
  type ForgeEvent,
  MAX_EVENT_BYTES,
  parseEvent,
  subjectOf,
  subjectsOf,
} from './event.js';
import type { JetStreamClient } from './nats.js';
import { projectOf } from './outbox.js';
import { codeOf, NOT_FOUND, replicated, type Server, SILENCE, within } from './server.js';

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
