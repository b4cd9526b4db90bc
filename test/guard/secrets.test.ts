import { describe, expect, it } from 'vitest';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { samples, seeded } from '../support/secrets.js';

const SECRET_RULES = secretRules();

const ROUNDS = 25;

/** Where a sample may stand: alone, and in what a session writes. */
const CONTEXTS: Record<string, (sample: string) => string> = {
  alone: (sample) => sample,
  'a sentence': (sample) => `It failed until I set ${sample}, then it went through.`,
  'the end of a line': (sample) => `I used ${sample}\nand it worked.`,
  JSON: (sample) => JSON.stringify({ note: sample, next: 'none' }),
  'a JSON record': (sample) => JSON.stringify({ log: `one\n${sample}\ntwo` }),
};

const found = (text: string): string[] => scanText(text, SECRET_RULES).map((hit) => hit.rule);

describe('the table of secret rules', () => {
  it('has at least 120 rules with unique ids and documented formats', () => {
    expect(SECRET_RULES.length).toBeGreaterThanOrEqual(120);
    expect(new Set(SECRET_RULES.map((rule) => rule.id)).size).toBe(SECRET_RULES.length);
    for (const { id, source, keywords } of SECRET_RULES) {
      expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(source, id).toMatch(/^https:\/\//);
      expect(keywords, id).toEqual(keywords.map((keyword) => keyword.toLowerCase()));
    }
  });

  it('has only bounded patterns', () => {
    for (const { id, pattern: any } of SECRET_RULES) {
      const pattern = any as RegExp;
      expect(pattern.flags, id).toMatch(/[gy]/);
      const bare = pattern.source
        .replace(/\\./g, '_')
        .replace(/\[[^\]]*\]/g, '_')
        .replace(/\(\?[:=!<]+/g, '(');
      expect(bare, id).not.toMatch(/[*+]|\{\d+,\}/);
    }
  });

  it('has samples for exactly these rules', () => {
    expect([...samples.keys()].sort()).toEqual(SECRET_RULES.map((rule) => rule.id).sort());
  });
});

describe('a secret', () => {
  it.each([...samples])('is found alone and in what a session writes: %s', (id, makers) => {
    for (const wrap of Object.values(CONTEXTS)) {
      const random = seeded(7);
      for (const make of makers)
        for (let round = 0; round < ROUNDS; round += 1) {
          const text = wrap(make(random));
          if (!found(text).includes(id)) expect.fail(`${id} is not found in ${text}`);
        }
    }
  });
});
