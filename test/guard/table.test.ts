import { describe, expect, it } from 'vitest';
import { findKeywords, lowerOf, makeIndex } from '../../src/guard/keywords.js';
import { scanText } from '../../src/guard/scan.js';
import { guardRules } from '../../src/guard/table.js';

const RULES = guardRules();
const INDEX = makeIndex(RULES);

/** The rules and places that the index finds, as text, sorted. */
function found(text: string): string[] {
  const all: string[] = [];
  findKeywords(lowerOf(text), INDEX, [0, text.length], (rules, at) => {
    for (const rank of rules) all.push(`${rank} ${at}`);
  });
  return all.sort();
}

/** The same by a search for each keyword. */
function searched(text: string): string[] {
  const lower = text.replaceAll('\u0130', 'I').toLowerCase();
  return RULES.flatMap(({ keywords }, rank) =>
    keywords.flatMap((keyword) => {
      const all: string[] = [];
      for (let at = lower.indexOf(keyword); at >= 0; at = lower.indexOf(keyword, at + 1))
        all.push(`${rank} ${at}`);
      return all;
    }),
  ).sort();
}

describe('the keyword index', () => {
  it('LTM-13 has keywords in lower case of two characters or more, none twice in a rule', () => {
    for (const { id, keywords } of RULES) {
      expect(keywords, id).toEqual(keywords.map((keyword) => keyword.toLowerCase()));
      expect(
        keywords.filter((keyword) => keyword.length < 2),
        id,
      ).toEqual([]);
      expect(new Set(keywords).size, id).toBe(keywords.length);
    }
  });

  it('LTM-13 finds just the keywords that a search for each finds, in any characters', () => {
    const words = [...new Set(RULES.flatMap(({ keywords }) => keywords))];
    const about = ['', ' ', 'x', '\n', 'ö', '\u0170', '\u4165\u0173', '\ud83d\ude00', '\udb40', '_', 'İ'];
    let seed = 7;
    const pick = <T>(list: readonly T[]): T => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return list[seed % list.length] as T;
    };
    for (let round = 0; round < 2000; round++) {
      const word = pick(words);
      const parts = [
        pick(about),
        pick([word, word.slice(1), word.slice(0, -1), word.toUpperCase()]),
        pick(about),
        pick(words),
      ];
      const text = parts.join(pick(about));
      expect(found(text), JSON.stringify(text)).toEqual(searched(text));
    }
  });
});

describe('the table', () => {
  it('LTM-13 knows the owners: their copyright lines are not foreign', () => {
    const line =
      'Copyright (c) 2024 Acme Corp. All rights reserved\nlet a = f(1);\nlet b = f(2);\nlet c = f(3);';
    expect(scanText(line, RULES).map(({ rule }) => rule)).toEqual(['proprietary-copyright']);
    expect(scanText(line, guardRules(['Acme Corp']))).toEqual([]);
  });
});
