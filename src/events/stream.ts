import { outside } from '../core/error.js';
import { type Context, readConfig } from '../project/project.js';
import { MAX_EVENT_BYTES, subjectsOf } from './event.js';
import type { JetStreamClient, JetStreamManager } from './nats.js';
import type { Server } from './server.js';

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
/** Minutes in which the server drops a second copy of an event. Later, readers do. */
const DUPLICATES_MINUTES = 10;

/** JetStream reports failures as numbers: no such stream, JetStream is off for the account, or on the server. */
const NOT_FOUND = 10059;
const OFF = [10039, 10076];
const codeOf = (error: unknown): number => (error as { code?: number }).code ?? 0;

/** The stream, made where it is missing. Null where the server has no JetStream. */
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

/** Three copies in a cluster; one where the server is alone or has too little room for more. */
async function makeStream(
  { nats, connection }: Server,
  manager: JetStreamManager,
  name: string,
  subjects: string[],
) {
  const add = (num_replicas: number) =>
    manager.streams.add({
      name,
      subjects,
      num_replicas,
      max_age: nats.nanos(MAX_AGE_DAYS * 86_400_000),
      duplicate_window: nats.nanos(DUPLICATES_MINUTES * 60_000),
      max_msg_size: MAX_EVENT_BYTES,
    });
  if (!connection.info?.cluster) return add(1);
  return add(3).catch(() => add(1));
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
