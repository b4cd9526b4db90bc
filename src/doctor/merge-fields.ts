import type { Sides } from '../core/conflict-marks.js';
import { compareText } from '../core/text.js';

export type Fields = Record<string, unknown>;

/** What was made of something that the sides have differently. */
export interface Choice {
  /** Of the record; null for a field of the file itself. */
  id: string | null;
  /** `name`, `estimate.points`; null: the record as a whole. */
  field: string | null;
  ours: unknown;
  theirs: unknown;
  /** What stands there now; undefined: nothing. */
  value: unknown;
  why: string;
}

export interface Merged<T> {
  value: T;
  choices: Choice[];
}

/** Decides where both sides changed a field; `newer` is the side whose record was updated last. */
export type Rule = (sides: Sides<unknown>, newer: 'ours' | 'theirs' | null) => Pick<Choice, 'value' | 'why'>;

/** The same content, whatever the order of keys. Nothing (undefined) is like nothing else. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || keyText(one) === keyText(other);

export const keyText = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value, (_, part) => (isFields(part) ? sorted(part) : part));

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).sort(([a], [b]) => compareText(a, b)));

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const byTime: Rule = ({ ours, theirs }, newer) => ({
  value: newer === 'theirs' ? theirs : ours,
  why: newer === null ? 'ours: nothing says which is newer' : `${newer}: updated later`,
});

/** Of two texts that are times. */
const time = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN);

/** Lists are united: what a side added is there, what it took out is gone where the base is known. */
const unite: Rule = ({ ours, theirs, base }) => ({
  value: uniteLists(ours as unknown[], theirs as unknown[], Array.isArray(base) ? base : []),
  why: 'both lists',
});

function uniteLists(
  ours: readonly unknown[],
  theirs: readonly unknown[],
  base: readonly unknown[],
): unknown[] {
  const keyed = (list: readonly unknown[]): Map<string, unknown> =>
    new Map(list.map((item) => [keyText(item), item]));
  const [inOurs, inTheirs, inBase] = [keyed(ours), keyed(theirs), keyed(base)];
  return inBothOrders([...inOurs.keys()], [...inTheirs.keys()])
    .filter((key) => (inOurs.has(key) && inTheirs.has(key)) || !inBase.has(key))
    .map((key) => inOurs.get(key) ?? inTheirs.get(key));
}

/** All keys of two lists: ours' order; what theirs added follows what it follows there, behind what ours added. */
export function inBothOrders(ours: readonly string[], theirs: readonly string[]): string[] {
  const inTheirs = new Set(theirs);
  const common = new Set(ours.filter((key) => inTheirs.has(key)));
  const runs = (keys: readonly string[]): Map<string | undefined, string[]> => {
    const found = new Map<string | undefined, string[]>([[undefined, []]]);
    let last: string | undefined;
    for (const key of keys) {
      if (common.has(key)) found.set(key, []);
      else found.get(last)?.push(key);
      if (common.has(key)) last = key;
    }
    return found;
  };
  const added = runs(theirs);
  return [...runs(ours)].flatMap(([key, own]) => [
    ...(key === undefined ? [] : [key]),
    ...own,
    ...(added.get(key) ?? []),
  ]);
}

const ordered =
  (isFirst: (ours: unknown, theirs: unknown) => boolean, why: string): Rule =>
  ({ ours, theirs }) => ({ value: isFirst(ours, theirs) ? ours : theirs, why });

export const EARLIEST = ordered((ours, theirs) => !(time(theirs) < time(ours)), 'the earlier one');
export const LATEST = ordered((ours, theirs) => !(time(theirs) > time(ours)), 'the later one');
export const LEAST = ordered((ours, theirs) => !(Number(theirs) < Number(ours)), 'the more urgent one');
export const HIGHEST = ordered((ours, theirs) => !(Number(theirs) > Number(ours)), 'the higher one');

/**
 * Three-way, field by field; `rules` decide what both sides changed. Ours' order of fields, then what theirs adds. `path` and
 * `within` are of the record around it: what it is called, and which side of it is newer.
 */
export function mergeFields(
  { ours, theirs, base }: Sides<Fields>,
  rules: Readonly<Record<string, Rule>>,
  path = '',
  within: 'ours' | 'theirs' | null = null,
): Merged<Fields> {
  const newer = newerOf(ours.updated_at, theirs.updated_at) ?? within;
  const value: Fields = {};
  const choices: Choice[] = [];
  for (const field of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const sides = { ours: ours[field], theirs: theirs[field], base: base?.[field] ?? null };
    const name = `${path}${field}`;
    const merged = mergeField(sides, base !== null, newer, rules, name);
    choices.push(...merged.choices);
    if (merged.value !== undefined) value[field] = merged.value;
  }
  return { value, choices };
}

function mergeField(
  sides: Sides<unknown>,
  isKnown: boolean,
  newer: 'ours' | 'theirs' | null,
  rules: Readonly<Record<string, Rule>>,
  field: string,
): Merged<unknown> {
  const { ours, theirs, base } = sides;
  if (isSame(ours, theirs)) return { value: ours, choices: [] };
  const choice = ({ value, why }: Pick<Choice, 'value' | 'why'>): Merged<unknown> => ({
    value,
    choices: [{ id: null, field, ours, theirs, value, why }],
  });
  // Absent and null are the same where nobody said anything before.
  const before = isKnown ? (base ?? undefined) : undefined;
  if (isKnown && isSame(theirs ?? undefined, before))
    return choice({ value: ours, why: 'ours: only it changed' });
  if (isKnown && isSame(ours ?? undefined, before))
    return choice({ value: theirs, why: 'theirs: only it changed' });
  if (isNothing(ours)) return choice({ value: theirs, why: 'theirs: ours has none' });
  if (isNothing(theirs)) return choice({ value: ours, why: 'ours: theirs has none' });
  if (!(field in rules) && isFields(ours) && isFields(theirs))
    return mergeFields({ ours, theirs, base: isFields(base) ? base : null }, rules, `${field}.`, newer);
  return choice(ruleFor(sides, rules[field])(sides, newer));
}

const isNothing = (value: unknown): boolean => value === undefined || value === null;

const ruleFor = ({ ours, theirs }: Sides<unknown>, rule: Rule | undefined): Rule =>
  rule ?? (Array.isArray(ours) && Array.isArray(theirs) ? unite : byTime);

function newerOf(ours: unknown, theirs: unknown): 'ours' | 'theirs' | null {
  if (time(ours) > time(theirs)) return 'ours';
  return time(theirs) > time(ours) ? 'theirs' : null;
}
