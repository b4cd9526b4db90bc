import { describe, expect, it } from 'vitest';
import { scanText } from '../../src/guard/scan.js';
import { guardRules } from '../../src/guard/document.js';

const RULES = guardRules();

describe('keywords', () => {
  it('LTM-13 are lower case, unique in a rule, and at least two characters long', () => {
    for (const { id, keywords } of RULES) {
      expect(keywords, id).toEqual(keywords.map((keyword) => keyword.toLowerCase()));
      expect(
        keywords.filter((keyword) => keyword.length < 2),
        id,
      ).toEqual([]);
      expect(new Set(keywords).size, id).toBe(keywords.length);
    }
  });
});

describe('the table', () => {
  it('LTM-13 copyright lines of the owners are not foreign', () => {
    const line =
      'Copyright (c) 2024 Acme Corp. All rights reserved\nlet a = f(1);\nlet b = f(2);\nlet c = f(3);';
    expect(scanText(line, RULES).map(({ rule }) => rule)).toEqual(['proprietary-copyright']);
    expect(scanText(line, guardRules(['Acme Corp']))).toEqual([]);
  });
});
