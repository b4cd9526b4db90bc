import { outside } from '../core/error.js';
import { type Context, readConfig } from '../project/project.js';
import { MAX_EVENT_BYTES, subjectsOf } from './event.js';
import type { JetStreamClient, JetStreamManager } from './nats.js';
import { codeOf, NOT_FOUND, replicated, type Server, SILENCE, within } from './server.js';

/** The stream that keeps events. */
export interface EventStream {
  name: string;
  client: JetStreamClient;
  manager: JetStreamManager;
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
export async function openStream(
  context: Context,
  server: Server,
  ms: number,
  makes = true,
): Promise<EventStream | null> {
  const { nats, connection } = server;
  const { stream: name, prefix } = readConfig(context).events;
  const manager = await nats.jetstreamManager(connection, { checkAPI: false, timeout: ms });
  const subjects = subjectsOf(prefix);
  const info = await manager.streams.info(name).catch((error: Error) => {
    const isOff = error.name === 'NoRespondersError' && !connection.info?.jetstream;
    if (isOff || error.name === 'JetStreamNotEnabled' || OFF.includes(codeOf(error))) return null;
    if (codeOf(error) !== NOT_FOUND) throw error;
    return makes ? makeStream(server, manager, name, subjects) : null;
  });
  if (info === null) return null;
  const missing = subjects.find((subject) => !info.config.subjects?.some((each) => covers(each, subject)));
  if (missing !== undefined)
    throw outside('events.stream', `The stream ${name} on ${server.name} does not hold ${missing}.`, {
      hint: `nats stream edit ${name} --subjects '${prefix}.>'\nforge config set events.stream OTHER_NAME`,
    });
  const { first_seq: first, last_seq: last } = info.state;
  return { name, manager, client: nats.jetstream(connection, { timeout: ms }), first, last };
}

const makeStream = (server: Server, manager: JetStreamManager, name: string, subjects: string[]) =>
  replicated(server, (num_replicas) =>
    manager.streams.add({
      name,
      subjects,
      num_replicas,
      max_age: server.nats.nanos(MAX_AGE_DAYS * 86_400_000),
      duplicate_window: server.nats.nanos(DUPLICATES_MINUTES * 60_000),
      max_msg_size: MAX_EVENT_BYTES,
    }),
  );

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
  subjects: string[];
  since: Date | null;
  last?: number | undefined;
  /** The first message that is looked at. */
  from?: number;
}

/** Reads the stream from a place to its present end. */
export async function eachMessage(
  { name, client, first, last }: EventStream,
  range: Range,
  take: (bytes: Uint8Array, seq: number, at: number) => void,
): Promise<void> {
  if (last === 0 || last < first) return;
  const start = range.last === undefined ? first : Math.max(first, range.from ?? 0, last - range.last + 1);
  const { subjects } = range;
  const consumer = await within(
    SILENCE,
    client.consumers.get(name, {
      // A server before 2.10 takes one filter.
      ...(subjects.length === 1 ? { filter_subjects: subjects[0] as string } : {}),
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
      take(message.data, message.seq, Math.round(message.info.timestampNanos / 1e6));
      if (message.info.pending === 0 || message.seq >= last) break;
    }
  } finally {
    messages.stop();
  }
}
