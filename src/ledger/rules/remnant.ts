import { LATE_WRITE } from '../../learning/evaluation.js';
import { normalisePattern } from '../../learning/pattern.js';
import { isRecordId, type LedgerRecord } from './record.js';

/** What forge fills itself: links, times, ids, and words of its own. No text of these is looked for. */
const OWN: ReadonlySet<string> = new Set([
  ...['v', 'tier', 'n', 'prev', 'seen', 'salt', 'ledger', 'at', 'session', 'actor', 'kind', 'cycle'],
  ...['execution', 'started_at', 'finished_at', 'created_at', 'classification', 'confidence', 'scope'],
  ...['stages', 'knowledge_id', 'audit', 'settles', 'contradicts'],
]);
/** The same of what a log, a pattern and a piece of evidence are made of. */
const OWN_INSIDE: ReadonlySet<string> = new Set(['sha256', 'output_sha256', 'tree', 'scope']);

/** Shorter text stands everywhere. */
const LEAST = 8;

/** Text that must not be left, as a whole or a line of it. */
export interface Sought {
  texts: string[];
  lines: Set<string>;
}

/** LTM-19: what records said, in the form in which patterns are compared. */
export function gatherTexts(records: readonly LedgerRecord[]): Sought {
  const found = records.flatMap((record) => Object.entries(record).flatMap(textsIn));
  const isLong = (text: string): boolean => text.length >= LEAST;
  const lines = found.flatMap((text) => text.split('\n')).map(normalisePattern);
  return {
    texts: [...new Set(found.map(normalisePattern))].filter(isLong),
    lines: new Set(lines.filter(isLong)),
  };
}

function textsIn([name, value]: [string, unknown]): string[] {
  if (OWN.has(name)) return [];
  // A key that forge made; ids of evaluations.
  const isMade = (text: string): boolean =>
    (name === 'key' && /^[0-9a-f]{16}$/.test(text)) || (name === 'evidence' && isRecordId(text));
  return [...eachText(value, OWN_INSIDE)].filter((text) => !isMade(text) && text !== LATE_WRITE);
}

const NOTHING: ReadonlySet<string> = new Set();

function* eachText(value: unknown, without: ReadonlySet<string> = NOTHING): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) if (!without.has(name)) yield* eachText(inner, without);
}

/** The fields in which it stands, and what of it. */
export function matchTexts(value: object, sought: Sought): { fields: string[]; texts: Set<string> } {
  const texts = new Set<string>();
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    const hits = [...eachText(inner)].flatMap((text) => hitsIn(text, sought));
    for (const hit of hits) texts.add(hit);
    return hits.length > 0 ? [name] : [];
  });
  return { fields, texts };
}

/** Lines are sought inside of short texts alone: among the logs of many thousand cycles that would take minutes. */
function hitsIn(text: string, { texts, lines }: Sought): string[] {
  if (text.length < LEAST) return [];
  const whole = normalisePattern(text);
  const isInside = (wanted: string): boolean => whole.includes(wanted);
  const parts = text.includes('\n')
    ? text.split('\n').filter((part) => lines.has(normalisePattern(part)))
    : [...lines].filter(isInside);
  return [...texts.filter(isInside), ...parts.map(normalisePattern)];
}
