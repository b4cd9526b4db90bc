import { refused } from '../domain/error.js';
import { oneLine } from '../domain/text.js';
import type { Context } from './context.js';
import { readRecords } from './memory-read.js';

/** Work that waits for a human (RFC-9060 §5.3). */
export interface Pause {
  id: string;
  at: string;
  reasons: string[];
}

const KINDS: ReadonlySet<string> = new Set(['paused', 'acknowledged']);

/** Those that no human has ended. They travel with the repository, as every record does. */
export function readPauses(context: Context): Pause[] {
  const records = readRecords(context, 'audit', { wanted: ({ kind }) => KINDS.has(kind) });
  const ended = new Set(records.flatMap(({ record }) => (record.pauses as string[] | undefined) ?? []));
  return records
    .filter(({ id, record }) => record.kind === 'paused' && !ended.has(id))
    .map(({ id, record: { at = '', reasons } }) => ({
      id,
      at,
      reasons: (reasons as string[] | undefined) ?? [],
    }));
}

/** Exit 3 `paused` while a human has to look. */
export function refusePaused(context: Context): void {
  const [first] = readPauses(context);
  if (!first) return;
  const why = first.reasons.map((reason) => oneLine(reason, 200)).join('; ');
  throw refused(
    'paused',
    `Work is paused since ${first.at} until a human has looked (${why}); nothing was run.`,
    {
      hint: 'forge recover --plan  shows it; a human goes on with: forge memory override acknowledge --reason "…"',
    },
  );
}
