import { describe, expect, it } from 'vitest';
import { guardRules } from '../../src/guard/document.js';
import { scanText } from '../../src/guard/scan.js';

const RULES = guardRules();

describe('the anchors of a rule', () => {
  it('LTM-13 exist; keywords are lower case, unique in a rule, and at least two characters long', () => {
    for (const { id, keywords, anchor, pattern, reach } of RULES) {
      expect(keywords.length > 0 || anchor !== undefined, id).toBe(true);
      expect(pattern.sticky || reach !== undefined, id).toBe(true);
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
