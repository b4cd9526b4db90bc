import * as z from 'zod/mini';
import { refused } from '../core/error.js';
import { objectsIn } from '../core/json.js';
import type { Format } from '../core/schema.js';
import { countTokens, escapeControls, oneLine, plural } from '../core/text.js';

/** AGN-025 §4: fixed and exhaustive. */
export const KINDS = ['Goal', 'Plan', 'ActiveContract', 'Constraint', 'OpenQuestion'] as const;
export type Kind = (typeof KINDS)[number];

/** There is at most one of each of these. */
export const isSingle = (kind: Kind): boolean => kind === 'Goal' || kind === 'Plan';

/** The headings of AGN-024 §3. */
const HEADINGS: Record<Kind, string> = {
  Goal: 'Goal',
  Plan: 'Plan',
  ActiveContract: 'Active Contracts',
  Constraint: 'Constraints & Invariants',
  OpenQuestion: 'Open Questions',
};

const bare = (spelling: string): string => spelling.toLowerCase().replace(/[\s_&-]/g, '');
const CONSTRAINTS = ['invariant', 'invariants', 'constraintsandinvariants'];

/** A kind in either document's spelling, in any case. Null if unknown. */
export function readKind(spelling: string): Kind | null {
  const word = bare(spelling);
  if (CONSTRAINTS.includes(word)) return 'Constraint';
  return KINDS.find((kind) => [kind, HEADINGS[kind], `${kind}s`].map(bare).includes(word)) ?? null;
}

const OUTCOMES = ['replaced', 'removed', 'resolved', 'dismissed', 'promoted', 'expired'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const Fields = {
  id: z.string().check(z.regex(/^kfr-[1-9]\d{0,8}$/)),
  kind: z.enum(KINDS),
  text: z.string(),
  requires_resolution: z.boolean(),
  created_at: z.string(),
};

/** A fact that must stay correct for the next few turns. */
export const Entry = z.looseObject({
  ...Fields,
  /** Waiting for a human: an agent may stop, but nothing else is allowed. */
  parked: z.optional(z.looseObject({ at: z.string(), reason: z.string() })),
});
export type Entry = z.infer<typeof Entry>;

/** A closed entry, for the session's archive. */
const ClosedEntry = z.looseObject({
  ...Fields,
  closed_at: z.string(),
  outcome: z.enum(OUTCOMES),
  /** The resolution, or why it was dismissed. */
  words: z.optional(z.string()),
  /** An agent settled it. */
  by: z.optional(z.literal('agent')),
});

/** `local/kfr.json`: the entries of the running session. RFC-9060 §3.2 calls it `short-term/kfr.json`. */
export const Kfr = z.looseObject({
  schema_version: z.optional(z.string()),
  session: z.nullable(z.string()),
  /** The number of the last entry. Numbers are not reused in a session. */
  last: z.int().check(z.gte(0)),
  entries: z.array(Entry),
  /** Newest last; the oldest beyond KEPT_CLOSED are forgotten. */
  closed: z.array(ClosedEntry),
});
export type Kfr = z.infer<typeof Kfr>;

export const KFR: Format<Kfr> = { name: 'kfr', version: '1.0', schema: Kfr };

export const NO_KFR: Kfr = { schema_version: '1.0', session: null, last: 0, entries: [], closed: [] };

const KEPT_CLOSED = 20;

/** Removes entries and records their outcome. */
export function closeEntries(
  kfr: Kfr,
  ids: ReadonlySet<string>,
  outcome: Outcome,
  at: string,
  words?: string,
  by?: 'agent',
): Kfr {
  const closing = kfr.entries.filter(({ id }) => ids.has(id));
  const how = { closed_at: at, outcome, words, by };
  const closed = closing.map(({ parked: _, ...entry }) => ({ ...entry, ...how }));
  return {
    ...kfr,
    entries: kfr.entries.filter(({ id }) => !ids.has(id)),
    closed: [...kfr.closed, ...closed].slice(-KEPT_CLOSED),
  };
}

/** AGN-024 §4, byte for byte. */
export const KFR_HEADER = `Known Facts Registry (KFR) — Authoritative Working Memory

- The KFR is a concrete, system-injected artifact defining the agent’s current authoritative working state.
- Only content explicitly present in the injected KFR constitutes the KFR.
- The injected KFR is authoritative over all prior conversational content.
- The agent must not infer, reconstruct, or rely on KFR-like information outside the injected KFR.
- Any prior content that conflicts with the injected KFR must be treated as obsolete.
- The agent must not restate or echo the full KFR in normal responses.
- The KFR may be modified only via the Working Memory update tool.
- If no KFR is injected, no authoritative working memory exists.`;

/**
 * The entries by kind, in the order of AGN-024 §3. Each line has forge's prefix, so that no text can pose as
 * a heading, another entry, or the end.
 */
export function formatEntries(entries: readonly Entry[]): string {
  return KINDS.filter((kind) => entries.some((entry) => entry.kind === kind))
    .map((kind) => {
      const lines = entries.filter((entry) => entry.kind === kind).map(formatEntry);
      return [HEADINGS[kind], ...lines].join('\n');
    })
    .join('\n\n');
}

function formatEntry({ id, text, requires_resolution, parked }: Entry): string {
  const marks = `${id}${requires_resolution ? ', requires resolution' : ''}${parked ? `, parked for a human: ${oneLine(parked.reason, 120)}` : ''}`;
  return `- [${marks}] ${escapeControls(text).replace(/[\n\u2028\u2029]/g, '\n    | ')}`;
}

/** The size of the entries in a prompt, without the header. */
export const countKfr = (entries: readonly Entry[]): number => countTokens(formatEntries(entries));

/** By the header alone, a KFR that is not repeated would not count. */
const IN_FORCE = 'It is in force until forge sends another or reports that working memory is empty.';

/**
 * The text for a prompt: the header, the entries, and an unpredictable end marker. Null without entries:
 * then nothing is injected (KFR-04).
 */
export function injection(entries: readonly Entry[], boundary: string): string | null {
  if (entries.length === 0) return null;
  return `${KFR_HEADER}\n\n${formatEntries(entries)}\n\nEnd of the KFR ${boundary}. ${IN_FORCE}`;
}

/** Entries that must not be forgotten (AGN-025 §7). */
export const openEntries = ({ entries }: Kfr): Entry[] =>
  entries.filter(({ requires_resolution }) => requires_resolution);

/** The entries that an agent's stop hook blocks for. A parked entry waits for a human and does not block. */
export const unparked = (kfr: Kfr): Entry[] => openEntries(kfr).filter(({ parked }) => !parked);

/**
 * Each resolved question with its answer, oldest first, and whether an agent entered it. Reads a stored KFR without the time
 * that checking it takes.
 */
export const answersIn = (kfr: unknown): { id: string; text: string }[] =>
  objectsIn((kfr as Partial<Kfr> | null | undefined)?.closed).flatMap(
    ({ id, kind, outcome, text, words, by }) => {
      const answer = `${text} → ${words}${by === 'agent' ? ' (by an agent)' : ''}`;
      return kind === 'OpenQuestion' && outcome === 'resolved' ? [{ id: String(id), text: answer }] : [];
    },
  );

/**
 * The resolution gate (KFR-09): exit 3 `gate.closed` names each entry and how to settle it. `what` is the action that
 * it refuses: "The session cannot end".
 */
export function requireResolved(kfr: Kfr, what: string, hint?: string): void {
  const open = openEntries(kfr);
  const [first] = open;
  if (!first) return;
  const named = open.map(({ id, kind, text, parked }) => {
    const reason = parked ? ` (parked: ${oneLine(parked.reason, 120)})` : '';
    return `${id} (${kind}) ${oneLine(text, 120)}${reason}`;
  });
  const isParked = open.every(({ parked }) => parked !== undefined);
  const wait = plural(open.length, 'entry waits for a person', 'entries wait for a person');
  const require = plural(open.length, 'entry requires resolution', 'entries require resolution');
  const ways = isParked
    ? [
        `${settling('resolve', first.id)}   # once it is answered`,
        `forge note add "For a person: TEXT" && forge kfr patch --dismiss ${first.id}="noted"   # if it can wait`,
        'forge start --resume latest   # for the next agent: you may stop without an end',
      ]
    : [settling('resolve', first.id), settling('dismiss', first.id)];
  throw refused('gate.closed', `${what}: ${isParked ? wait : require}: ${named.join('; ')}`, {
    hint: hint ?? ways.join('\n'),
    data: {
      entries: open.map(({ id, kind, text, parked }) => ({ id, kind, text, parked: parked !== undefined })),
    },
  });
}

const WORDS = {
  resolve: 'the answer',
  dismiss: 'why it no longer matters',
  park: 'what a person has to decide',
} as const;

/** The command that settles an entry, as it is typed. */
export const settling = (op: keyof typeof WORDS, id = 'kfr-1'): string =>
  `forge kfr patch --${op} ${id}="${WORDS[op]}"`;

const BEFORE_YOU = 'forge: before you';

/** Recognizes the reason inside other text: some agents pass it to their own prompt hook as if a person had typed it. */
export const isStopReason = (text: string): boolean => text.includes(`${BEFORE_YOU} stop, `);

/** The text for an agent that the stop hook blocks: each entry, and each way to settle it. */
export function stopReason(open: readonly Entry[], what: string): string {
  const first = open[0]?.id;
  const named = open.map(({ id, kind, text }) => `- ${id} (${kind}) ${oneLine(text, 280)}`);
  return [
    `${BEFORE_YOU} ${what}, ${plural(open.length, 'entry', 'entries')} of working memory must be settled:`,
    ...named,
    'Ways to settle one (or the tool session_working_memory_update):',
    `  ${settling('resolve', first)}`,
    `  ${settling('dismiss', first)}`,
    ...(what === 'stop' ? [`  ${settling('park', first)}   # then you may stop and ask`] : []),
  ].join('\n');
}
