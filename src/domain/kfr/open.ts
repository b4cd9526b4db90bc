import * as z from 'zod/mini';
import type { Format } from '../document.js';
import { openEntries } from './gate.js';
import { closeEntries, Entry, isSingle, type Kfr } from './kfr.js';

/** What requires resolution, noted a second time: `kfr.json` stands where whoever is held up by it can reach it. */
const NotedOpen = z.looseObject({ schema_version: z.string(), session: z.string(), entries: z.array(Entry) });
export type NotedOpen = z.infer<typeof NotedOpen>;
export const NOTED_OPEN: Format<NotedOpen> = { name: 'kfr-open', version: '1.0', schema: NotedOpen };

/** Null where nothing is open. */
export function noteOpen(kfr: Kfr): NotedOpen | null {
  const entries = openEntries(kfr);
  if (kfr.session === null || entries.length === 0) return null;
  return { schema_version: NOTED_OPEN.version, session: kfr.session, entries };
}

/** The KFR with what was noted as open and is neither open in it nor closed: taken out, or changed, by something else. */
export function withOpen(kfr: Kfr, noted: NotedOpen | null): Kfr {
  if (noted?.session !== kfr.session || kfr.session === null) return kfr;
  const settled = new Set([...openEntries(kfr), ...kfr.closed].map(({ id }) => id));
  const lost = noted.entries.filter(({ id }) => !settled.has(id));
  if (lost.length === 0) return kfr;
  const ids = new Set(lost.map(({ id }) => id));
  const rest = { ...kfr, entries: kfr.entries.filter(({ id }) => !ids.has(id)) };
  const made = makeRoom(rest, lost);
  return { ...made, entries: [...made.entries, ...lost] };
}

/** Of a Goal or Plan there is one: what something else put in its place goes, or the file could not be read any more. */
function makeRoom(kfr: Kfr, lost: readonly Entry[]): Kfr {
  const singles = new Set(lost.map(({ kind }) => kind).filter(isSingle));
  return kfr.entries
    .filter(({ kind }) => singles.has(kind))
    .reduce((left, { id, created_at }) => closeEntries(left, new Set([id]), 'replaced', created_at), kfr);
}
