import { describe, expect, it } from 'vitest';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { LOOK_ALIKES } from '../support/look-alikes.js';
import { fill, seeded } from '../support/secrets.js';

const SECRET_RULES = secretRules();

const ROUNDS = 40;

describe.each(Object.entries(LOOK_ALIKES))('%s', (_kind, templates) => {
  it.each(templates.map((template) => [template]))('are not secrets: %s', (template) => {
    const random = seeded(9);
    for (let round = 0; round < (template.includes('{') ? ROUNDS : 1); round += 1) {
      const text = fill(template, random);
      for (const placed of [text, `It said: ${text}\nand went on.`, JSON.stringify({ note: text })]) {
        expect(scanText(placed, SECRET_RULES), placed).toEqual([]);
      }
    }
  });
});
