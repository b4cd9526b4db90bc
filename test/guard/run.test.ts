import { expect, it } from 'vitest';
import { nextRun } from '../../src/guard/readings.js';

it('LTM-13 nextRun finds 16 characters of base64 or hex in a row, wherever they stand', () => {
  const run = (length: number): string => 'aZ0_+/-b9QxYkLm3'.repeat(2).slice(0, length);
  for (let before = 0; before < 40; before++)
    for (const length of [0, 1, 15, 16, 17, 31])
      for (const end of ['', ' ', '.', 'ö', '\u0161\u0161', ` ${run(15)}.${run(15)}`]) {
        const text = `${'. é\u0161'.repeat(10).slice(0, before)}${run(length)}${end}`;
        expect(nextRun(text, 0), JSON.stringify(text)).toBe(text.search(/[\w+/-]{16}/));
      }
});
