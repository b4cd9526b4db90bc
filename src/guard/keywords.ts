import type { Rule } from './rule.js';

/** The keywords by their first characters. Each place of a text is looked up once. */
export interface KeywordIndex {
  /** One more than the place in `buckets`, by a hash of the first three characters; 0 where no keyword begins. */
  triples: Uint16Array;
  /** The same for keywords of two characters. */
  pairs: Uint16Array;
  buckets: readonly (readonly Keyword[])[];
}

interface Keyword {
  text: string;
  /** Places of its rules in the table. */
  rules: number[];
}

const MASK = 0x3fff;
const pairOf = (a: number, b: number): number => (a * 31 + b) & MASK;
const tripleOf = (a: number, b: number, c: number): number => (a * 961 + b * 31 + c) & MASK;

export function makeIndex(rules: readonly Rule[]): KeywordIndex {
  const [triples, pairs] = [new Uint16Array(MASK + 1), new Uint16Array(MASK + 1)];
  const buckets: Keyword[][] = [];
  const known = new Map<string, Keyword>();
  for (const [rank, { keywords }] of rules.entries())
    for (const text of keywords) {
      const keyword = known.get(text) ?? { text, rules: [] };
      keyword.rules.push(rank);
      if (known.has(text)) continue;
      known.set(text, keyword);
      const [a = 0, b = 0, c = 0] = [...text.slice(0, 3)].map((char) => char.charCodeAt(0));
      const [slots, slot] = text.length > 2 ? [triples, tripleOf(a, b, c)] : [pairs, pairOf(a, b)];
      if (slots[slot] === 0) slots[slot] = buckets.push([]);
      buckets[(slots[slot] as number) - 1]?.push(keyword);
    }
  return { triples, pairs, buckets };
}

/** The text in lower case with the same offsets: `İ` is the only character that becomes two. */
export const lowerOf = (text: string): string => text.replaceAll('\u0130', 'I').toLowerCase();

/** Calls `found` for every keyword in `lower` that begins from `from` on and before `to`, in order. */
export function findKeywords(
  lower: string,
  { triples, pairs, buckets }: KeywordIndex,
  [from, to]: readonly [number, number],
  found: (rules: readonly number[], at: number) => void,
): void {
  const look = (bucket: number, at: number): void => {
    for (const { text, rules } of buckets[bucket - 1] as readonly Keyword[])
      if (lower.startsWith(text, at)) found(rules, at);
  };
  let a = lower.charCodeAt(from);
  let b = lower.charCodeAt(from + 1);
  for (let i = from; i < to; i += 1) {
    const c = lower.charCodeAt(i + 2);
    const triple = triples[tripleOf(a, b, c)] as number;
    if (triple > 0) look(triple, i);
    const pair = pairs[pairOf(a, b)] as number;
    if (pair > 0) look(pair, i);
    a = b;
    b = c;
  }
}
