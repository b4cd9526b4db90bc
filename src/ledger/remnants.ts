import { join } from 'node:path';
import { activeIssuesFile, doneIssuesFolder, shown } from '../core/paths.js';
import { compareText } from '../core/text.js';
import type { Context } from '../project/project.js';
import { type LedgerRecord, parseLine, recordId, type Tier } from './rules/record.js';
import { gatherTexts, matchTexts, type Sought } from './rules/remnant.js';
import { whyNotRedact } from './rules/tombstone.js';
import { eachLine } from './store/files.js';
import { everyContainer } from './store/redact.js';
import { readRedacted } from './store/redacted.js';

/** Another record, or a file beside the ledgers, that still has text of what was redacted. */
export interface Remnant {
  /** Of the record; null for a file. */
  id: string | null;
  tier: Tier | null;
  n: number | null;
  kind: string;
  /** The fields that have it. */
  fields: string[];
  file: string;
  /** Why nothing can take it out there; null where something can. */
  why: string | null;
  /** What takes it out. */
  hint: string;
}

interface Match extends Remnant {
  texts: ReadonlySet<string>;
}

/**
 * LTM-19: where the text of these records stands as well. Knowledge has the words of evaluations, and others may have
 * written them once more. The rarest text comes first: what many records share is hardly what had to go.
 */
export function findRemnants(context: Context, records: ReadonlyMap<string, LedgerRecord>): Remnant[] {
  const sought = gatherTexts([...records.values()]);
  if (sought.texts.length + sought.lines.size === 0) return [];
  const found = [...matchRecords(context, sought, records), ...matchIssues(context, sought)];
  const counts = new Map<string, number>();
  for (const { texts } of found) for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const rarity = ({ texts }: Match): number => Math.min(...[...texts].map((text) => counts.get(text) ?? 0));
  return found
    .map((match) => ({ match, rank: rarity(match) }))
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        compareText(a.match.tier ?? '~', b.match.tier ?? '~') ||
        (a.match.n ?? 0) - (b.match.n ?? 0),
    )
    .map(({ match: { texts: _texts, ...remnant } }) => remnant);
}

function matchRecords({ layout }: Context, sought: Sought, gone: ReadonlyMap<string, unknown>): Match[] {
  const found = new Map<string, Match>();
  const redacted = readRedacted(layout);
  for (const container of everyContainer(layout))
    eachLine([container], (bytes) => {
      const parsed = parseLine(bytes.toString('utf8'));
      if (parsed.kind !== 'record') return;
      const { fields, texts } = matchTexts(parsed.record, sought);
      const id = fields.length > 0 ? recordId(bytes) : '';
      if (id === '' || gone.has(id) || redacted.has(id) || found.has(id)) return;
      found.set(id, { ...describe(id, parsed.record), file: shown(layout, container.path), fields, texts });
    });
  return [...found.values()];
}

function describe(id: string, { tier, n, kind }: LedgerRecord): Omit<Match, 'file' | 'fields' | 'texts'> {
  const why = whyNotRedact(tier, kind);
  const start = id.slice(0, 12);
  const hint = why === null ? `forge memory redact ${start} --reason "…"` : `forge memory show ${start}`;
  return { id, tier, n, kind, why, hint };
}

/** An investigation quotes the knowledge that it is about. */
function matchIssues({ disk, layout }: Context, sought: Sought): Match[] {
  const folder = doneIssuesFolder(layout);
  const done = disk.list(folder).filter((name) => name.endsWith('.json'));
  return [activeIssuesFile(layout), ...done.map((name) => join(folder, name))].flatMap((path) => {
    const { fields, texts } = matchTexts({ text: readTexts(disk.read(path)) }, sought);
    if (fields.length === 0) return [];
    const file = shown(layout, path);
    return [
      {
        id: null,
        tier: null,
        n: null,
        kind: 'issue',
        fields: [],
        file,
        why: null,
        hint: `edit ${file}`,
        texts,
      },
    ];
  });
}

function readTexts(bytes: Buffer | null): unknown {
  try {
    return JSON.parse(bytes?.toString('utf8') ?? 'null');
  } catch {
    // Not readable as what it should be; as text it is looked at all the same.
    return bytes?.toString('utf8');
  }
}
