import type { Sides } from '../core/conflict-marks.js';
import { decodeDocument, encodeDocument, type Format } from '../core/schema.js';
import { ACTIVE_ISSUES, UNIT } from '../feature/issue.js';
import { FEATURE, FEATURE_LIST, type Feature } from '../feature/rules.js';
import { ARCHIVED_SESSION } from '../session/rules.js';
import { mergeFeature } from './merge-features.js';
import {
  type Choice,
  EARLIEST,
  type Fields,
  HIGHEST,
  LATEST,
  type Merged,
  mergeFields,
} from './merge-fields.js';
import { mergeRecords, type RecordKind, recordsBy } from './merge-records.js';

/** A kind of state file that can be merged. */
interface StateKind {
  format: Format<unknown>;
  /** Lists of records in it, by their paths. */
  lists: Readonly<Record<string, RecordKind>>;
}

const kindOf = <T>(format: Format<T>, lists: StateKind['lists'] = {}): StateKind => ({
  format: format as Format<unknown>,
  lists,
});

/** Checkpoints are not here: what one of them proved is not what the other did. */
export const STATE_KINDS = {
  feature: kindOf(FEATURE),
  issues: kindOf(ACTIVE_ISSUES, { issues: recordsBy('linear_id', { created_at: EARLIEST }) }),
  issue: kindOf(UNIT),
  session: kindOf(ARCHIVED_SESSION),
} as const;
export type StateName = keyof typeof STATE_KINDS;

/** Of fields of a file itself. */
const RULES = { schema_version: HIGHEST, created_at: EARLIEST, ended_at: LATEST };

/** One more list would be a field like the others. */
const MARK = '\0records';

/**
 * The bytes that a state file gets, and what was chosen. Each side is read as the file would be, and so is the result: it
 * is valid or nothing. Exit 4 names the side that cannot be read. `isSure`: the base is the one that git merged from.
 */
export function mergeState(
  name: StateName,
  sides: Sides<Buffer>,
  file: string,
  isSure: boolean,
): { bytes: Buffer; choices: Choice[] } {
  const { format, lists } = STATE_KINDS[name];
  const read = (bytes: Buffer, side: string): Fields =>
    decodeDocument(format, bytes, `${file} (${side})`).value as Fields;
  const [ours, theirs] = [read(sides.ours, 'ours'), read(sides.theirs, 'theirs')];
  const decoded = { ours, theirs, base: tryRead(read, sides.base) };
  const merged =
    name === 'feature'
      ? mergeFeature(decoded as unknown as Sides<Feature>, isSure)
      : mergeDocument(decoded, lists);
  const bytes =
    name === 'feature' ? FEATURE_LIST.encode(merged.value as Feature) : encodeDocument(merged.value);
  decodeDocument(format, bytes, `${file} (merged)`);
  const id = name === 'feature' ? String(ours.id) : null;
  return { bytes, choices: merged.choices.map((choice) => ({ ...choice, id: choice.id ?? id })) };
}

/** A base that cannot be read is none: then nothing is taken for deleted. */
function tryRead(read: (bytes: Buffer, side: string) => Fields, bytes: Buffer | null): Fields | null {
  try {
    return bytes && read(bytes, 'base');
  } catch {
    return null;
  }
}

function mergeDocument(sides: Sides<Fields>, lists: Readonly<Record<string, RecordKind>>): Merged<Fields> {
  const { value, choices } = mergeFields(
    {
      ours: masked(sides.ours, lists),
      theirs: masked(sides.theirs, lists),
      base: sides.base && masked(sides.base, lists),
    },
    RULES,
  );
  for (const [path, kind] of Object.entries(lists)) {
    const at = (fields: Fields): unknown[] => listAt(fields, path);
    const records = mergeRecords(
      { ours: at(sides.ours), theirs: at(sides.theirs), base: sides.base && at(sides.base) },
      kind,
    );
    put(value, path, records.value);
    choices.push(...records.choices);
  }
  return { value, choices };
}

const listAt = (fields: Fields, path: string): unknown[] =>
  path.split('.').reduce<unknown>((value, name) => (value as Fields)[name], fields) as unknown[];

function put(fields: Fields, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() as string;
  const parent = names.reduce<Fields>((at, name) => at[name] as Fields, fields);
  parent[last] = value;
}

/** The same on all sides where the lists are, which are merged by themselves; the order of fields stays. */
function masked(fields: Fields, lists: Readonly<Record<string, RecordKind>>): Fields {
  const copy = structuredClone(fields);
  for (const path of Object.keys(lists)) put(copy, path, MARK);
  return copy;
}
