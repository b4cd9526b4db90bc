import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';
import { oneLine, sha256 } from '../core/text.js';

/** The end of each subject of RFC-9060 §7, after the prefix. */
export const SUBJECTS = {
  session_start: 'session.start',
  session_end: 'session.end',
  checkpoint: 'checkpoint',
  learning: 'learning',
  focus: 'focus',
} as const;
export type EventType = keyof typeof SUBJECTS;
export const EVENT_TYPES = Object.keys(SUBJECTS) as EventType[];

export const VERSION = '1.0';
/** The largest event that is read, in bytes. forge writes less than 4 KiB. */
export const MAX_EVENT_BYTES = 64 * 1024;
/** Characters. */
const MAX_TEXT = 300;

const short = () => z.string().check(z.maxLength(MAX_TEXT));
const text = () => z.nullable(short());
const count = () => z.int().check(z.gte(0));

const DATA = {
  session_start: z.looseObject({
    branch: text(),
    head: text(),
    task: text(),
    person: z.optional(text()),
    resumed_from: z.optional(short()),
  }),
  session_end: z.looseObject({ task: text(), next: text(), learned: count() }),
  checkpoint: z.looseObject({ tag: short(), commit: short(), features_passing: count() }),
  learning: z.looseObject({
    /** `promotion`: knowledge that a consolidation promoted; the others were entered. */
    kind: z.enum(['success', 'failure', 'invariant', 'note', 'promotion']),
    /** The id of the knowledge, note or ledger record. */
    id: short(),
    title: short(),
    scope: z.optional(short()),
  }),
  focus: z.looseObject({ task: text(), issue: text(), phase: text(), skill: text() }),
};
export type EventData = { [K in EventType]: z.infer<(typeof DATA)[K]> };

const Common = z.object({
  schema_version: z.string(),
  /** The same change has the same id, so that servers and readers drop a second copy. */
  id: short(),
  at: short(),
  /** The id of the ledger, which all clones share. */
  project: short(),
  /** Null outside a session. */
  session: text(),
  actor: z.enum(['human', 'agent', 'builder']),
  host: short(),
  /** A digest that tells the worktrees of a host apart. */
  place: short(),
  folder: z.optional(short()),
  /** Where the ledger stood: its largest record number, and up to 8 heads. */
  ledger: z.nullable(z.looseObject({ n: count(), heads: z.array(short()).check(z.maxLength(8)) })),
});

const formatOf = (type: EventType): Format<unknown> => ({
  name: `event-${SUBJECTS[type].replace('.', '-')}`,
  version: VERSION,
  schema: z.looseObject({
    ...Common.shape,
    type: z.literal(type),
    data: DATA[type],
  }) as z.ZodMiniType<unknown>,
});

/** The payload of each subject, for `forge schema`. */
export const EVENT_FORMATS: readonly Format<unknown>[] = EVENT_TYPES.map(formatOf);

type EventOf<T extends EventType> = z.infer<typeof Common> & { type: T; data: EventData[T] };
export type ForgeEvent = { [T in EventType]: EventOf<T> }[EventType];

export const subjectOf = (prefix: string, type: EventType): string => `${prefix}.${SUBJECTS[type]}`;

export const subjectsOf = (prefix: string): string[] => EVENT_TYPES.map((type) => subjectOf(prefix, type));

/** An id that follows from what happened, not from when it was reported. */
export const eventId = (project: string, type: EventType, about: string): string =>
  sha256([project, type, about].join('\u0000')).slice(0, 32);

export function cutData<T extends object>(data: T): T {
  const cut = (value: unknown): unknown => (typeof value === 'string' ? oneLine(value, MAX_TEXT) : value);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, cut(value)])) as T;
}

/** An event from the network or the outbox. Null for everything else: anyone may write there (B-76). */
export function parseEvent(bytes: Uint8Array): ForgeEvent | null {
  if (bytes.length > MAX_EVENT_BYTES) return null;
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as ForgeEvent;
    const at = EVENT_TYPES.indexOf(value?.type);
    const isKnown = at >= 0 && Number.parseInt(value.schema_version, 10) === 1;
    return isKnown && EVENT_FORMATS[at]?.schema.safeParse(value).success ? value : null;
  } catch {
    return null;
  }
}

export function describeEvent({ type, data }: ForgeEvent): string {
  switch (type) {
    case 'session_start':
      return `session started${data.task === null ? '' : `: ${data.task}`}`;
    case 'session_end':
      return `session ended${data.next === null ? '' : `, next: ${data.next}`}`;
    case 'checkpoint':
      return `${data.tag} at ${data.commit.slice(0, 12)}`;
    case 'learning':
      return `${data.kind}: ${data.title}`;
    case 'focus':
      return data.task === null ? 'focus cleared' : `focus: ${data.task}`;
  }
}
