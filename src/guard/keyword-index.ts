import { type IndexData, isAscii, KEY_LENGTH, keyAt } from './keywords.js';
import type { Rule } from './rule.js';

/** Ranks by keyword, and prefilters by the ranks of rules that have none. */
function collect(rules: readonly Rule[]) {
  const keywords = new Map<string, number[]>();
  const prefilters = new Map<RegExp | undefined, number[]>();
  const add = <K>(map: Map<K, number[]>, key: K, rank: number) => {
    const ranks = map.get(key);
    if (ranks) ranks.push(rank);
    else map.set(key, [rank]);
  };
  for (const [rank, rule] of rules.entries()) {
    if (rule.keywords.length === 0) add(prefilters, rule.requires, rank);
    for (const keyword of new Set(rule.keywords)) add(keywords, keyword, rank);
  }
  return { keywords, prefilters };
}

const isSought = (keyword: string): boolean => keyword.length < KEY_LENGTH || !isAscii(keyword);

/** What is looked up by its first characters, sorted by these. */
function sortKeywords(keywords: Iterable<string>): { sought: string[]; looked: string[] } {
  const all = [...keywords];
  const looked = all.filter((keyword) => !isSought(keyword)).sort((a, b) => keyAt(a, 0) - keyAt(b, 0));
  return { sought: all.filter(isSought), looked };
}

/** The index of a rule table as plain data, which a build can write down. Takes longer than reading a page. */
export function makeIndexData(rules: readonly Rule[]): IndexData {
  const { keywords, prefilters } = collect(rules);
  const { sought, looked } = sortKeywords(keywords.keys());
  const keys: number[] = [];
  const firsts: number[] = [];
  for (const [at, keyword] of looked.entries()) {
    const key = keyAt(keyword, 0);
    if (keys.at(-1) === key) continue;
    keys.push(key);
    firsts.push(sought.length + at);
  }
  const words = [...sought, ...looked];
  return {
    sought: sought.length,
    words: words.join('\n'),
    ranks: words
      .map((word) => keywords.get(word) ?? [])
      .map((ranks) => ranks.join(' '))
      .join('\n'),
    keys,
    firsts,
    always: [...prefilters].map(([{ source, flags } = /(?:)/, ranks]) => ({ source, flags, ranks })),
  };
}
