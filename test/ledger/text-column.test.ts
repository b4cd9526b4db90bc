import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextColumn } from '../../src/ledger/rules/text-column.js';

describe('a column of texts', () => {
  it('gives back what was put in, however long it is and whatever it says', () => {
    const text = fc.oneof(
      fc.constantFrom('abcd', '', 'abcde', 'äbcd'),
      fc.string({ minLength: 4, maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(text), fc.nat(3000), (texts, before) => {
        const column = new TextColumn(4);
        for (let row = 0; row < before; row++) column.pushPlain(String(row).padStart(4));
        for (const one of texts) column.push(one);
        expect(column.length).toBe(before + texts.length);
        for (let row = 0; row < before; row += 97) expect(column.get(row)).toBe(String(row).padStart(4));
        expect(texts.map((_, i) => column.get(before + i))).toEqual(texts);
        expect([column.get(-1), column.get(column.length)]).toEqual(['', '']);
      }),
    );
  });
});
