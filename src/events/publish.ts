import { setTimeout } from 'node:timers/promises';
import { elapsed } from '../core/clock.js';
import { type Context, readConfig } from '../project/project.js';
import { type EventType, type ForgeEvent, subjectOf } from './event.js';
import type { MsgHdrs } from './nats.js';
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
  waiting: number;
}

/** Events in flight. The connection and the server keep their order. */
const AT_ONCE = 64;

/**
 * EVT-02: sends waiting events after a command that wrote some. Takes at most BUDGET and never fails. Unsent events stay,
 * and one warning gives the reason.
 */
export async function sendUnsent(context: Context): Promise<ReportedEvent[]> {
  const own = takeUnsent(context).flatMap((name) => {
    const { id, type } = readWaiting(context, name)?.event ?? {};
    return id && type ? [{ name, id, type }] : [];
  });
  if (own.length === 0) return [];
  try {
    if (!isSilent(context)) await deliver(context, elapsed() + BUDGET);
  } catch (error) {
    warnAway(context, error);
  }
  const left = new Set(listWaiting(context));
  return own.map(({ name, ...event }) => ({ ...event, sent: !left.has(name) }));
}

/** `forge events flush`: sends everything that waits. Exit 6 when the server does not take it. */
export async function flushEvents(context: Context): Promise<Flushed> {
  requireOn(context);
  const before = listWaiting(context).length;
  if (context.disk.dryRun) return { sent: 0, waiting: before };
  takeUnsent(context);
  await deliver(context, Number.POSITIVE_INFINITY);
  const left = listWaiting(context).length;
  return { sent: Math.max(0, before - left), waiting: left };
}

/** Sends until `deadline`, in ms of this process. Throws the first failure. */
async function deliver(context: Context, deadline: number): Promise<void> {
  const left = (): number => Math.max(1, Math.min(SILENCE, deadline - elapsed()));
  const send = async (server: Server): Promise<void> => {
    const stream = await within(left(), openStream(context, server, left(), true));
    const publish = stream ? toStream(stream, left) : toListeners(server, left);
    const { prefix } = readConfig(context).events;
    const names = listWaiting(context);
    // The first one alone: a stream that another process has just made takes it a moment later.
    for (let first = 0, count = 1; first < names.length; first += count, count = AT_ONCE) {
      const batch = names.slice(first, first + count).map(async (name) => {
        const waiting = readWaiting(context, name);
        if (waiting) {
          const subject = subjectOf(prefix, waiting.event.type);
          await publish(subject, waiting.bytes, headersOf(server, waiting.event, subject));
        }
        // A damaged file, too, would wait forever.
        removeWaiting(context, name);
      });
      await Promise.all(batch);
    }
    // Ignored if it fails, because the next pull brings others' promotions.
    if (stream) await within(left(), fetchPromotions(context, stream)).catch(() => undefined);
  };
  await withServer(context, 'forge events flush', send, { ms: left() });
}

/** Resolves when the server has the event. */
type Publish = (subject: string, bytes: Buffer, headers: MsgHdrs) => Promise<void>;

function toStream({ client, name: streamName }: EventStream, left: () => number): Publish {
  return async (subject, bytes, headers) => {
    const send = () => client.publish(subject, bytes, { headers, expect: { streamName }, timeout: left() });
    await send().catch(async (error: Error) => {
      if (error.name !== 'JetStreamNotEnabled') throw error;
      await setTimeout(100);
      return send();
    });
  };
}

/** Without JetStream, the server has an event once it answers a ping, and only listeners get it. */
function toListeners({ connection }: Server, left: () => number): Publish {
  let refused: unknown;
  void (async () => {
    for await (const status of connection.status()) if (status.type === 'error') refused ??= status.error;
  })();
  return async (subject, bytes, headers) => {
    connection.publish(subject, bytes, { headers });
    await within(left(), connection.flush());
    if (refused !== undefined) throw refused;
  };
}

/** Headers of CloudEvents 1.0 in binary mode, and the id by which JetStream drops a second copy. */
function headersOf({ nats }: Server, { id, project, at }: ForgeEvent, subject: string): MsgHdrs {
  const headers = nats.headers();
  headers.set('ce-specversion', '1.0');
  headers.set('ce-id', id);
  headers.set('ce-type', subject);
  headers.set('ce-source', `/forge/${encodeURIComponent(project)}`);
  headers.set('ce-time', at);
  headers.set('content-type', 'application/json');
  headers.set('Nats-Msg-Id', id);
  return headers;
}
