import { setTimeout } from 'node:timers/promises';
import { elapsed } from '../core/clock.js';
import { type Context, readConfig } from '../project/project.js';
import { cloudHeaders, type EventType, type ForgeEvent, subjectOf } from './event.js';
import { listWaiting, readWaiting, removeWaiting, takeUnsent } from './outbox.js';
import { fetchPromotions } from './promotions.js';
import { BUDGET, isSilent, requireOn, type Server, SILENCE, warnAway, within, withServer } from './server.js';
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

/** Events in flight. The connection and the server keep their order. */
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
    if (!isSilent(context)) await deliver(context, elapsed() + BUDGET);
  } catch (error) {
    warnAway(context, error);
  }
  const left = new Set(listWaiting(context));
  return own.map(({ name, event: { id, type } }) => ({ id, type, sent: !left.has(name) }));
}

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
    const publish = stream ? toStream(server, stream, left) : toListeners(server, left);
    const { prefix } = readConfig(context).events;
    const names = listWaiting(context);
    // The first one alone: a stream that another process has just made takes it a moment later.
    for (let first = 0, count = 1; first < names.length; first += count, count = AT_ONCE) {
      const batch = names.slice(first, first + count).map(async (name) => {
        const waiting = readWaiting(context, name);
        if (waiting) await publish(waiting.event, waiting.bytes, prefix);
        // A damaged file, too, would wait forever.
        removeWaiting(context, name);
      });
      await Promise.all(batch);
    }
    // Ignored if it fails, because the next pull brings others' promotions.
    if (stream) await within(left(), fetchPromotions(context, stream)).catch(() => undefined);
    return { kept_by: stream ? 'stream' : 'none' };
  };
  return withServer(context, 'forge events flush', send, { ms: left() });
}

/** Publishes an event. Resolves when the server has it. */
type Publish = (event: ForgeEvent, bytes: Buffer, prefix: string) => Promise<void>;

function toStream(server: Server, { client, name: streamName }: EventStream, left: () => number): Publish {
  return async (event, bytes, prefix) => {
    const send = () =>
      client.publish(subjectOf(prefix, event.type), bytes, {
        headers: headersOf(server, event, prefix),
        ...{ expect: { streamName }, timeout: left() },
      });
    await send().catch(async (error: Error) => {
      if (error.name !== 'JetStreamNotEnabled') throw error;
      await setTimeout(100);
      return send();
    });
  };
}

/** Without JetStream, the server has an event once it answers a ping, and only listeners get it. */
function toListeners(server: Server, left: () => number): Publish {
  const { connection } = server;
  let refused: unknown;
  void (async () => {
    for await (const status of connection.status()) if (status.type === 'error') refused ??= status.error;
  })();
  return async (event, bytes, prefix) => {
    connection.publish(subjectOf(prefix, event.type), bytes, { headers: headersOf(server, event, prefix) });
    await within(left(), connection.flush());
    if (refused !== undefined) throw refused;
  };
}

function headersOf({ nats }: Server, event: ForgeEvent, prefix: string) {
  const headers = nats.headers();
  for (const [name, value] of cloudHeaders(event, prefix)) headers.set(name, value);
  return headers;
}
