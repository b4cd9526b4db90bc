import { describe, expect, it } from 'vitest';
import { openIndex, selectRules } from '../../src/guard/keywords.js';
import { scanText } from '../../src/guard/scan.js';
import { guardRules, guardTable, makeTableData } from '../../src/guard/table.js';

const RULES = guardRules();
const isCalled = (keyword: string): boolean => !/[\n\r]/.test(keyword) && keyword === keyword.toLowerCase();

describe('the table', () => {
  it('LTM-13 has each rule at its rank, whichever is asked for first', () => {
    const table = guardTable();
    const ranks = RULES.map((_, rank) => rank).reverse();
    expect(ranks.map((rank) => table.ruleAt(rank).id)).toEqual(ranks.map((rank) => RULES[rank]?.id));
    const kinds = RULES.map(({ class: name, isLoose }) => ({ class: name, ...(isLoose ? { isLoose } : {}) }));
    expect(RULES.map((_, rank) => table.kindAt(rank))).toEqual(kinds);
    expect(() => table.ruleAt(RULES.length)).toThrow('no rule');
  });

  it('LTM-13 can be written down by the build: the index calls for the same rules as before', () => {
    const index = openIndex(JSON.parse(JSON.stringify(makeTableData())).index);
    for (const [rank, { keywords }] of RULES.entries())
      for (const keyword of keywords) {
        expect(isCalled(keyword), keyword).toBe(true);
        expect(selectRules(`x ${keyword} y`, index), keyword).toContain(rank);
        expect(selectRules(keyword.toUpperCase(), index), keyword).toContain(rank);
      }
  });

  it('LTM-13 calls for no rule whose keyword is missing', () => {
    const { index } = guardTable();
    const text = 'The lock was not released: a holder is gone, and nobody looked.';
    const called = selectRules(text, index).filter((rank) => (RULES[rank]?.keywords.length ?? 0) > 0);
    for (const rank of called)
      expect(RULES[rank]?.keywords.some((word) => text.toLowerCase().includes(word))).toBe(true);
  });

  it('LTM-13 calls for just the rules that a look for each keyword finds, in whatever characters', () => {
    const { index } = guardTable();
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
      const lower = text.toLowerCase();
      const naive = RULES.flatMap(({ keywords, requires }, rank) =>
        (keywords.length === 0 ? (requires?.test(text) ?? true) : keywords.some((one) => lower.includes(one)))
          ? [rank]
          : [],
      );
      expect(selectRules(text, index), JSON.stringify(text)).toEqual(naive);
      const odd = (rank: number): boolean => rank % 2 === 1;
      expect(selectRules(text, index, odd)).toEqual(naive.filter(odd));
    }
  });

  it('LTM-13 knows the owners: their copyright lines are none of others', () => {
    const line = 'Copyright (c) 2024 Acme Corp. All rights reserved';
    expect(scanText(line, guardTable()).map(({ rule }) => rule)).toEqual(['proprietary-copyright']);
    expect(scanText(line, guardTable(['Acme Corp']))).toEqual([]);
    expect(scanText(line, guardRules(['Acme Corp']))).toEqual([]);
  });
});
