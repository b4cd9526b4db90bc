import { type Finding, hintFor, type MissingRecord } from './finding.js';
import type { LastGood, Place, Unreadable } from './problem.js';
import type { Tier } from './record.js';

/** A record that stands in a file that git has not as it is. */
export interface LooseRecord extends Place {
  id: string;
  n: number;
  prev: string | null;
  /** See markOf. */
  mark: string;
  /** Where the next line begins, in bytes. */
  end: number;
}

/** A file out of which somebody cut records, or in which somebody edited them. */
export interface EditedFile {
  tier: Tier;
  file: string;
  /** HEAD has it otherwise. */
  differs: boolean;
  /** Records that were acknowledged and stood here. */
  missing: readonly MissingRecord[];
  /** Records here that nobody wrote through forge. */
  strangers: readonly LooseRecord[];
  /** Lines here that are no records. */
  unreadable: readonly Unreadable[];
  /** Every record of the tier that stands in a file like this one. */
  here: ReadonlyMap<string, LooseRecord>;
}

/** What was done by hand, as few findings as it was places. */
export function describeEdits(edited: EditedFile): Finding[] {
  const missing = [...edited.missing].sort((a, b) => a.n - b.n);
  if (missing.length > 1 && isChain(edited.strangers)) return [describeRewrite(edited, missing)];
  const twins = matchTwins(edited, missing);
  const rest = missing.filter(({ id }) => !twins.has(id));
  // What stood in a line that cannot be read is that line's finding. "3 records are glued together" held three.
  const unread = edited.unreadable.reduce(
    (sum, { code, message }) => sum + (code === 'glued' ? Number.parseInt(message, 10) : 1),
    0,
  );
  return [
    ...missing.flatMap((record) => {
      const twin = twins.get(record.id);
      const message = `record ${record.n} was edited: it is not the one that was written (${record.id.slice(0, 12)}…)`;
      return twin ? [finding(edited, 'edited', placeOf(edited, record, twin), message)] : [];
    }),
    ...(rest.length > unread ? [describeRemoved(edited, rest)] : []),
  ];
}

/** Somebody who links records to each other rewrites on purpose. */
function isChain(strangers: readonly LooseRecord[]): boolean {
  const ids = new Set(strangers.map(({ id }) => id));
  return strangers.some(({ prev }) => prev !== null && ids.has(prev));
}

/** The stranger in a missing record's place: with its number and parent, its number, or in its line. */
function matchTwins(edited: EditedFile, missing: readonly MissingRecord[]): Map<string, LooseRecord> {
  const twins = new Map<string, LooseRecord>();
  const free = new Set(edited.strangers);
  for (const like of [sameLinks, sameNumber, sameLine])
    for (const record of missing) {
      if (twins.has(record.id)) continue;
      const before =
        (record.prev === null ? undefined : twins.get(record.prev)) ?? lineBefore(edited, record);
      const twin = [...free].find((stranger) => like(stranger, record, before));
      if (!twin) continue;
      free.delete(twin);
      twins.set(record.id, twin);
    }
  return twins;
}

type Likeness = (stranger: LooseRecord, missing: MissingRecord, before: LooseRecord | undefined) => boolean;
const sameNumber: Likeness = (stranger, { n }) => stranger.n === n;
const sameLinks: Likeness = (stranger, { mark }) => stranger.mark === mark;
const sameLine: Likeness = ({ line }, _missing, before) => line === (before?.line ?? 0) + 1;

function describeRewrite(edited: EditedFile, missing: readonly MissingRecord[]): Finding {
  const first = missing[0] as MissingRecord;
  const twin = edited.strangers.find(({ mark }) => mark === first.mark);
  const { length } = edited.strangers;
  const message = `it was rewritten: forked at record ${first.n}, ${missing.length} records gone, ${length} others in their place`;
  return finding(edited, 'rewritten', placeOf(edited, first, twin), message);
}

function describeRemoved(edited: EditedFile, missing: readonly MissingRecord[]): Finding {
  const first = missing[0] as MissingRecord;
  const which =
    missing.length === 1 ? `record ${first.n} was` : `${missing.length} records (from ${first.n} on) were`;
  return finding(edited, 'removed', placeOf(edited, first), `${which} removed`);
}

type FoundPlace = Pick<Finding, 'line' | 'offset' | 'last_good'>;

function placeOf(edited: EditedFile, missing: MissingRecord, twin?: LooseRecord): FoundPlace {
  const before = lineBefore(edited, missing);
  const last_good: LastGood = before
    ? { id: before.id, line: before.line, offset: before.offset, n: before.n }
    : null;
  return {
    line: twin?.line ?? (before ? before.line + 1 : 1),
    offset: twin?.offset ?? before?.end ?? 0,
    last_good,
  };
}

/** The record that a missing one followed, or else the last good one of a lower number in the same file. */
function lineBefore(
  { file, here, strangers }: EditedFile,
  { n, prev }: MissingRecord,
): LooseRecord | undefined {
  const parent = prev === null ? undefined : here.get(prev);
  if (parent?.file === file) return parent;
  const bad = new Set(strangers);
  return [...here.values()]
    .filter((record) => record.file === file && record.n < n && !bad.has(record))
    .reduce<LooseRecord | undefined>(
      (best, record) => (best && best.line > record.line ? best : record),
      undefined,
    );
}

function finding(
  { tier, file, differs }: EditedFile,
  code: Finding['code'],
  place: FoundPlace,
  message: string,
): Finding {
  return { code, tier, file, ...place, message, hint: hintFor(code, file, differs, true) };
}
