import type { Sides } from '../core/conflict-marks.js';
import { compareText } from '../core/text.js';

export type Fields = Record<string, unknown>;

/** What was chosen where the sides differ. */
export interface Choice {
  /** Of the record; null for a field of the file itself. */
  id: string | null;
  /** `name`, `estimate.points`; null: the record as a whole. */
  field: string | null;
  ours: unknown;
  theirs: unknown;
  /** The value now; undefined if there is none. */
  value: unknown;
  why: string;
}

export interface Merged<T> {
  value: T;
  choices: Choice[];
}

/** The same content, whatever the order of keys. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || keyText(one) === keyText(other);

export const keyText = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value, (_, part) => (isFields(part) ? sorted(part) : part));

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).sort(([a], [b]) => compareText(a, b)));

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNothing = (value: unknown): boolean => value === undefined || value === null;

/** The record around a field: its id, the path to the field, which side is newer, whether the base is known. */
interface Around {
  id: string | null;
  path: string;
  newer: 'ours' | 'theirs' | null;
  hasBase: boolean;
}

/** Three-way, field by field (LAY-09). Ours' order of fields, then what theirs adds. */
export const mergeDocument = (sides: Sides<Fields>): Merged<Fields> =>
  mergeFields(sides, { id: null, path: '', newer: null, hasBase: sides.base !== null });

function mergeFields({ ours, theirs, base }: Sides<Fields>, around: Around): Merged<Fields> {
  const newer = newerOf(ours.updated_at, theirs.updated_at) ?? around.newer;
  const value: Fields = {};
  const choices: Choice[] = [];
  for (const field of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const merged = mergeField(
      { ours: ours[field], theirs: theirs[field], base: base?.[field] ?? null },
      { ...around, newer, hasBase: base !== null },
      field,
    );
    choices.push(...merged.choices);
    if (merged.value !== undefined) value[field] = merged.value;
  }
  return { value, choices };
}

function mergeField(sides: Sides<unknown>, around: Around, name: string): Merged<unknown> {
  const { ours, theirs, base } = sides;
  if (isSame(ours, theirs)) return { value: ours, choices: [] };
  if (isRecords(ours) && isRecords(theirs))
    return mergeRecords({ ours, theirs, base: isRecords(base) ? base : null });
  const field = `${around.path}${name}`;
  const choose = (value: unknown, why: string): Merged<unknown> => ({
    value,
    choices: [{ id: around.id, field, ours, theirs, value, why }],
  });
  // Absent and null are the same where neither side has set it before.
  if (around.hasBase && isSame(theirs ?? undefined, base ?? undefined))
    return choose(ours, 'ours: only it changed');
  if (around.hasBase && isSame(ours ?? undefined, base ?? undefined))
    return choose(theirs, 'theirs: only it changed');
  if (isNothing(ours)) return choose(theirs, 'theirs: ours has none');
  if (isNothing(theirs)) return choose(ours, 'ours: theirs has none');
  if (isFields(ours) && isFields(theirs))
    return mergeFields(
      { ours, theirs, base: isFields(base) ? base : null },
      { ...around, path: `${field}.` },
    );
  if (Array.isArray(ours) && Array.isArray(theirs))
    return choose(uniteLists(ours, theirs, Array.isArray(base) ? base : []), 'both lists');
  const rule = ORDERED[name];
  if (rule) return choose(rule.takesTheirs(ours, theirs) ? theirs : ours, rule.why);
  return choose(
    around.newer === 'theirs' ? theirs : ours,
    around.newer === null ? 'ours: neither side is known to be newer' : `${around.newer}: updated later`,
  );
}

const time = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN);

/** What decides about fields with an order. */
const ORDERED: Record<string, { takesTheirs(ours: unknown, theirs: unknown): boolean; why: string }> = {
  created_at: { takesTheirs: (ours, theirs) => time(theirs) < time(ours), why: 'the earlier one' },
  ended_at: { takesTheirs: (ours, theirs) => time(theirs) > time(ours), why: 'the later one' },
  priority: { takesTheirs: (ours, theirs) => Number(theirs) < Number(ours), why: 'the more urgent one' },
  schema_version: { takesTheirs: (ours, theirs) => Number(theirs) > Number(ours), why: 'the higher one' },
};

function newerOf(ours: unknown, theirs: unknown): 'ours' | 'theirs' | null {
  if (time(ours) > time(theirs)) return 'ours';
  return time(theirs) > time(ours) ? 'theirs' : null;
}

/** One after the other. What a side removed is gone where the base is known. */
function uniteLists(ours: unknown[], theirs: unknown[], base: unknown[]): unknown[] {
  const keys = (list: unknown[]): Set<string> => new Set(list.map(keyText));
  const [inOurs, inTheirs, inBase] = [keys(ours), keys(theirs), keys(base)];
  const isKept = (item: unknown): boolean =>
    (inOurs.has(keyText(item)) && inTheirs.has(keyText(item))) || !inBase.has(keyText(item));
  // Begin with the longer one: where it has all of the other, its order stays.
  const [first, second, inFirst] =
    theirs.length > ours.length ? [theirs, ours, inTheirs] : [ours, theirs, inOurs];
  return [...first, ...second.filter((item) => !inFirst.has(keyText(item)))].filter(isKept);
}

const idOf = (record: Fields): unknown => record.linear_id ?? record.id;
const isRecords = (value: unknown): value is Fields[] =>
  Array.isArray(value) &&
  value.every((item) => isFields(item) && typeof idOf(item) === 'string') &&
  new Set(value.map(idOf)).size === value.length;

/** By id. What one side removed is gone only where the other left it as it was. Ours' order, then what theirs added. */
function mergeRecords(sides: Sides<Fields[]>): Merged<Fields[]> {
  const keyed = (list: Fields[] | null) =>
    new Map((list ?? []).map((record) => [String(idOf(record)), record]));
  const [ours, theirs, base] = [keyed(sides.ours), keyed(sides.theirs), keyed(sides.base)];
  const choices: Choice[] = [];
  const value: Fields[] = [];
  for (const id of new Set([...ours.keys(), ...theirs.keys()])) {
    const one = { ours: ours.get(id), theirs: theirs.get(id), base: base.get(id) ?? null };
    const merged = mergeRecord(one, id, sides.base !== null);
    choices.push(...merged.choices);
    if (merged.value) value.push(merged.value);
  }
  return { value, choices };
}

function mergeRecord(
  { ours, theirs, base }: { ours: Fields | undefined; theirs: Fields | undefined; base: Fields | null },
  id: string,
  hasBase: boolean,
): Merged<Fields | undefined> {
  if (ours && theirs)
    return mergeFields({ ours, theirs, base }, { id, path: '', newer: null, hasBase: base !== null });
  const [side, other] = ours ? ['ours', 'theirs'] : ['theirs', 'ours'];
  const record = ours ?? theirs;
  const isRemoved = base !== null && isSame(base, record);
  const value = isRemoved ? undefined : record;
  const why = isRemoved
    ? `removed by ${other}, unchanged by ${side}`
    : base !== null
      ? `kept: removed by ${other}, changed by ${side}`
      : hasBase
        ? `added by ${side}`
        : `kept: ${other} never had it or removed it`;
  return { value, choices: [{ id, field: null, ours, theirs, value, why }] };
}
