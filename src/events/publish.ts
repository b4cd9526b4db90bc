import { setTimeout } from 'node:timers/promises';
import { elapsed } from '../core/clock.js';
import { plural } from '../core/text.js';
import { type Context, readConfig } from '../project/project.js';
import { cloudHeaders, type EventType, type ForgeEvent, subjectOf } from './event.js';
import { listWaiting, queueOf, readWaiting, removeWaiting, takeUnsent } from './outbox.js';
import { fetchPromotions } from './promotions.js';
import {
  BUDGET,
  requireOn,
  type Server,
  SILENCE,
  warnAway,
  whySilent,
  within,
  withServer,
} from './server.js';
import { type EventStream, openStream } from './stream.js';

/** An event that this command wrote, and whether the server has it. */
export interface ReportedEvent {
  id: string;
  type: EventType;
  sent: boolean;
}

export interface Flushed {
  sent: number;
  /** Events that still wait. */
  waiting: number;
  /** `stream`: JetStream keeps them; `none`: they went to those who listen. */
  kept_by: 'stream' | 'none';
}

/** Sessions sent at the same time. With more, the answers take too long. */
const AT_ONCE = 64;

/**
 * EVT-02: sends waiting events after a command that wrote some. Takes at most BUDGET and never fails. Unsent events stay,
 * and one warning gives the reason.
 */
export async function sendUnsent(context: Context): Promise<ReportedEvent[]> {
  const own = takeUnsent(context).flatMap((name) => {
    const event = readWaiting(context, name)?.event;
    return event ? [{ name, event }] : [];
  });
  if (own.length === 0) return [];
  try {
    const why = whySilent(context);
    if (why !== null) throw new Error(why);
    await within(BUDGET, deliver(context, elapsed() + BUDGET));
  } catch (error) {
    // With an empty outbox, only what others have learned could not be read. The next command reads it.
    if (listWaiting(context).length > 0) warnAway(context, describeWaiting(context), error);
  }
  const left = new Set(listWaiting(context));
  return own.map(({ name, event: { id, type } }) => ({ id, type, sent: !left.has(name) }));
}

export const describeWaiting = (context: Context): string => {
  const count = listWaiting(context).length;
  return `${plural(count, 'event')} ${count === 1 ? 'waits' : 'wait'} in the outbox (forge events flush)`;
};

/** `forge events flush`: sends everything that waits. Exit 6 when the server does not take it. */
export async function flushEvents(context: Context): Promise<Flushed> {
  requireOn(context);
  const before = listWaiting(context).length;
  if (context.disk.dryRun) return { sent: 0, waiting: before, kept_by: 'none' };
  takeUnsent(context);
  const { kept_by } = await deliver(context, Number.POSITIVE_INFINITY);
  const left = listWaiting(context).length;
  return { sent: Math.max(0, before - left), waiting: left, kept_by };
}

/** Sends until `deadline`, in ms of this process. Throws the first failure. */
async function deliver(context: Context, deadline: number): Promise<Pick<Flushed, 'kept_by'>> {
  const left = (): number => Math.max(1, Math.min(SILENCE, deadline - elapsed()));
  const send = async (server: Server): Promise<Pick<Flushed, 'kept_by'>> => {
    const stream = await within(left(), openStream(context, server, left()));
    if (stream) await sendToStream(context, server, stream, left);
    else await sendToListeners(context, server, left);
    // Ignored if it fails, because the next pull brings others' promotions.
    if (stream && left() > 1) await fetchPromotions(context, stream).catch(() => undefined);
    return { kept_by: stream ? 'stream' : 'none' };
  };
  return withServer(context, 'forge events flush', send, { ms: left() });
}

/** Sends each session's events in order, and removes an event after the stream has acknowledged it. */
async function sendToStream(
  context: Context,
  server: Server,
  { client, name: streamName }: EventStream,
  left: () => number,
): Promise<void> {
  const { prefix } = readConfig(context).events;
  const send = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const waiting = readOrDrop(context, name);
      if (!waiting) continue;
      const { event, bytes } = waiting;
      const { subject, headers } = addressOf(server, event, prefix);
      const publish = () =>
        client.publish(subject, bytes, {
          ...{ msgID: event.id, headers, expect: { streamName }, timeout: left() },
        });
      // A stream that another process has just made takes messages a moment later.
      await publish().catch(async (error: Error) => {
        if (error.name !== 'JetStreamNotEnabled') throw error;
        await setTimeout(100);
        return publish();
      });
      removeWaiting(context, name);
    }
  };
  const queues = bySession(listWaiting(context));
  for (let first = 0; first < queues.length; first += AT_ONCE)
    await Promise.all(queues.slice(first, first + AT_ONCE).map(send));
}

/** Without JetStream, the server has them once it answers a ping, and only listeners get them. */
async function sendToListeners(context: Context, server: Server, left: () => number): Promise<void> {
  const { connection } = server;
  let refused: unknown;
  void (async () => {
    for await (const status of connection.status()) if (status.type === 'error') refused ??= status.error;
  })();
  const { prefix } = readConfig(context).events;
  const names = listWaiting(context);
  for (let start = 0; start < names.length; start += 500) {
    const batch = names.slice(start, start + 500);
    for (const name of batch) {
      const waiting = readOrDrop(context, name);
      if (!waiting) continue;
      const { subject, headers } = addressOf(server, waiting.event, prefix);
      headers.set('Nats-Msg-Id', waiting.event.id);
      connection.publish(subject, waiting.bytes, { headers });
    }
    await within(left(), connection.flush());
    if (refused !== undefined) throw refused;
    for (const name of batch) removeWaiting(context, name);
  }
}

function addressOf({ nats }: Server, event: ForgeEvent, prefix: string) {
  const headers = nats.headers();
  for (const [name, value] of cloudHeaders(event, prefix)) headers.set(name, value);
  return { subject: subjectOf(prefix, event.type), headers };
}

function bySession(names: readonly string[]): string[][] {
  const queues = new Map<string, string[]>();
  for (const name of names) queues.set(queueOf(name), [...(queues.get(queueOf(name)) ?? []), name]);
  return [...queues.values()];
}

/** Removes a damaged file, which would block the queue forever. */
function readOrDrop(context: Context, name: string): ReturnType<typeof readWaiting> {
  const waiting = readWaiting(context, name);
  if (!waiting) removeWaiting(context, name);
  return waiting;
}
