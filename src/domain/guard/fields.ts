import type { Hit, Rule } from './rule.js';
import { scanText } from './scan.js';

export interface Field {
  path: string;
  text: string;
}

/** A hit in a field; offsets are those of that field's text. */
export interface FieldHit extends Hit {
  path: string;
}

/** As much of a field as one secret split over two could take up. */
const REACH = 2_048;

const stricts = new WeakMap<readonly Rule[], readonly Rule[]>();

/** Kept, for the index that goes with each table. */
function strictOf(rules: readonly Rule[]): readonly Rule[] {
  const strict = stricts.get(rules) ?? rules.filter((rule) => !rule.isLoose);
  stricts.set(rules, strict);
  return strict;
}

/** What stands over the border of two fields, given to the first: its part there is what the hit spans. */
function scanBorder(first: Field, second: Field, rules: readonly Rule[]): FieldHit[] {
  const head = first.text.slice(-REACH);
  const before = first.text.length - head.length;
  return scanText(head + second.text.slice(0, REACH), rules)
    .filter((hit) => hit.start < head.length && hit.end > head.length)
    .map((hit) => ({ ...hit, path: first.path, start: before + hit.start, end: first.text.length }));
}

/** The hits of each field, and of what was split over two neighbouring ones. */
export function scanFields(fields: readonly Field[], rules: readonly Rule[]): FieldHit[] {
  const strict = strictOf(rules);
  return fields.flatMap((field, i) => {
    const own = scanText(field.text, rules).map((hit) => ({ ...hit, path: field.path }));
    const next = fields[i + 1];
    if (next === undefined) return own;
    const border = scanBorder(field, next, strict);
    return [...own, ...border.filter((hit) => !own.some((other) => other.end > hit.start))];
  });
}
