import * as z from 'zod/mini';
import { readHint, writeHint } from '../core/files.js';
import { heardFile } from '../core/paths.js';
import { cleanForeign } from '../guard/guard.js';
import type { Context } from '../project/project.js';
import { placeOf } from './outbox.js';
import { type EventStream, eachEvent } from './stream.js';

const Heard = z.object({
  /** The last message of the stream that was looked at. */
  seq: z.number(),
  learned: z.array(z.object({ id: z.string(), title: z.string(), host: z.string(), at: z.string() })),
});
type Heard = z.infer<typeof Heard>;

/** How many promotions are kept, and how many messages are searched for them. */
const MAX_KEPT = 20;
const MAX_MESSAGES = 500;

function readHeard(context: Context): Heard {
  const found = Heard.safeParse(readHint(heardFile(context.layout)));
  return found.success ? found.data : { seq: 0, learned: [] };
}

/** Keeps what other clones promoted, for the next briefing. The records themselves come by git. */
export async function fetchPromotions(context: Context, stream: EventStream): Promise<void> {
  const before = readHeard(context);
  // A new stream counts from 1 again.
  const start = before.seq > stream.last ? 1 : before.seq + 1;
  if (start > stream.last) return;
  const place = placeOf(context);
  const learned = new Map(before.learned.map((each) => [each.id, each]));
  const range = { type: 'learning' as const, from: start, last: MAX_MESSAGES };
  await eachEvent(context, stream, range, (event) => {
    if (event.type !== 'learning' || event.data.kind !== 'promotion' || event.place === place) return;
    const { id, title } = event.data;
    learned.set(id, { id, title, host: event.host, at: event.at });
  });
  const kept = [...learned.values()].slice(-MAX_KEPT);
  // Anyone may publish there.
  for (const each of kept)
    if (!before.learned.includes(each)) [each.title = ''] = await cleanForeign(context, [each.title]);
  writeHint(heardFile(context.layout), { seq: stream.last, learned: kept } satisfies Heard);
}

/** What other clones promoted, as they announced it. */
export const readPromotions = (context: Context): readonly Heard['learned'][number][] =>
  readHeard(context).learned;
