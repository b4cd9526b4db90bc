import * as z from 'zod/mini';
import { linearQueueFile } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import type { Context } from '../project/project.js';

const Pending = z.looseObject({
  kind: z.enum(['comment', 'state']),
  /** `APP-7` and Linear's own id of the issue. */
  issue: z.string(),
  uuid: z.string(),
  /** The id of the comment: Linear refuses a second one. */
  id: z.optional(z.string()),
  body: z.optional(z.string()),
  /** Linear's type of the state. */
  type: z.optional(z.string()),
  /** The state is sent even if the issue has ended in Linear. */
  reopens: z.optional(z.boolean()),
});
/** A change to send to Linear. */
export type Pending = z.infer<typeof Pending>;

const Queue = z.looseObject({
  schema_version: z.optional(z.string()),
  pending: z.array(Pending),
  /** ISO time before which Linear asked not to be called. */
  not_before: z.optional(z.nullable(z.string())),
  /** Why the last attempt failed. */
  error: z.optional(z.nullable(z.string())),
});
type Queue = z.infer<typeof Queue>;

const QUEUE: Format<Queue> = { name: 'linear-queue', version: '1.0', schema: Queue };

/** The one failure of a sync that trying again does not settle. */

export const readQueue = ({ disk, layout }: Context): Queue =>
  disk.readDocument(QUEUE, linearQueueFile(layout), { pending: [] }).value;

/** Reads, changes and writes the queue under the lock. */
export function changeQueue(context: Context, change: (queue: Queue) => Queue): void {
  const { disk, layout } = context;
  disk.withLock(() => {
    const { value, bytes } = disk.readDocument(QUEUE, linearQueueFile(layout), {
      schema_version: QUEUE.version,
      pending: [],
    });
    const after = encodeDocument(change(value));
    if (!bytes?.equals(after)) disk.replace(linearQueueFile(layout), after, bytes);
  });
}

/** A later state of an issue is the same thing as an earlier one; a comment has an id. */
export const isSame = (one: Pending, other: Pending): boolean =>
  one.kind === other.kind && one.uuid === other.uuid && one.id === other.id;

/** The same thing is sent once. */
export const enqueue = (context: Context, entry: Pending): void =>
  changeQueue(context, (queue) => ({
    ...queue,
    pending: [...queue.pending.filter((other) => !isSame(other, entry)), entry],
  }));
