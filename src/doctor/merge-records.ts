import type { Sides } from '../core/conflict-marks.js';
import {
  type Choice,
  type Fields,
  inBothOrders,
  isFields,
  isSame,
  type Merged,
  mergeFields,
  type Rule,
} from './merge-fields.js';

/** How the records of a list are told apart and merged. */
export interface RecordKind {
  keyOf(record: unknown): string;
  /** How a record is called in a choice; by default its key. */
  nameOf?(record: unknown): string;
  merge(sides: Sides<Fields>): Merged<Fields>;
}

/** A kind whose fields have rules, and nothing more. */
export const recordsBy = (field: string, rules: Readonly<Record<string, Rule>>): RecordKind => ({
  keyOf: (record) => String((record as Fields)[field]),
  merge: (sides) => mergeFields(sides, rules),
});

/**
 * Merges lists of records by id. What one side took out is gone only where the other left it as it was; what both have is
 * merged field by field. Ours' order; what theirs added follows what it follows there.
 */
export function mergeRecords(sides: Sides<readonly unknown[]>, kind: RecordKind): Merged<unknown[]> {
  const [ours, theirs] = [keyed(sides.ours, kind), keyed(sides.theirs, kind)];
  const base = sides.base && keyed(sides.base, kind);
  const choices: Choice[] = [];
  const made = new Map<string, unknown>();
  for (const key of inBothOrders([...ours.keys()], [...theirs.keys()])) {
    const known = base?.get(key) ?? null;
    const merged = mergeOne(
      { ours: ours.get(key), theirs: theirs.get(key), base: known },
      base !== null,
      kind,
    );
    const record = ours.get(key) ?? theirs.get(key);
    const id = kind.nameOf?.(record) ?? kind.keyOf(record);
    choices.push(...merged.choices.map((choice) => ({ ...choice, id })));
    if (merged.value !== undefined) made.set(key, merged.value);
  }
  return { value: [...made.values()], choices };
}

/** An id that stands twice is two records. */
function keyed(records: readonly unknown[], { keyOf }: RecordKind): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const record of records) {
    const key = keyOf(record);
    let free = key;
    for (let n = 2; found.has(free); n++) free = `${key}\0${n}`;
    found.set(free, record);
  }
  return found;
}

function mergeOne(
  { ours, theirs, base }: Sides<unknown>,
  isKnown: boolean,
  kind: RecordKind,
): Merged<unknown> {
  if (ours === undefined || theirs === undefined) return mergeAbsent({ ours, theirs, base }, isKnown);
  if (isSame(ours, theirs)) return { value: ours, choices: [] };
  if (!isFields(ours) || !isFields(theirs))
    return whole({ ours, theirs, base }, ours, 'ours: the same in other words');
  const merged = kind.merge({ ours, theirs, base: isFields(base) ? base : null });
  if (base !== null) return merged;
  const note = whole({ ours, theirs, base }, merged.value, 'both have it: see whether both mean the same');
  return isKnown ? { ...merged, choices: [...note.choices, ...merged.choices] } : merged;
}

function mergeAbsent(sides: Sides<unknown>, isKnown: boolean): Merged<unknown> {
  const { ours, theirs, base } = sides;
  const [side, other] = ours === undefined ? ['theirs', 'ours'] : ['ours', 'theirs'];
  const record = ours ?? theirs;
  if (base === null)
    return whole(sides, record, isKnown ? `added by ${side}` : `kept: ${other} never had it or took it out`);
  if (isSame(base, record))
    return whole(sides, undefined, `taken out by ${other}, left as it was by ${side}`);
  return whole(sides, record, `kept: taken out by ${other}, changed by ${side}`);
}

const whole = ({ ours, theirs }: Sides<unknown>, value: unknown, why: string): Merged<unknown> => ({
  value,
  choices: [{ id: null, field: null, ours, theirs, value, why }],
});
