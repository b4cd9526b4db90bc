import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdTable } from '../../src/ledger/rules/id-table.js';

const id = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a table of ids', () => {
  it('finds exactly what was added, also after it grew', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 300 }), fc.string(), (texts, other) => {
        const table = new IdTable(4);
        for (const text of texts) table.add(id(text));
        expect(table.size).toBe(texts.length);
        for (const text of texts) expect(table.hex(table.find(id(text)))).toBe(id(text));
        expect(table.find(id(other)) >= 0).toBe(texts.includes(other));
      }),
    );
  });

  it('keeps one entry for an id added twice, with its number and flags', () => {
    const table = new IdTable(1);
    const first = table.add(id('a'));
    table.setNumber(first, 7);
    table.mark(first, 2);
    for (let i = 0; i < 50; i++) table.add(id(`other ${i}`));
    expect(table.add(id('a'))).toBe(first);
    expect([table.number(first), table.has(first, 2), table.has(first, 1)]).toEqual([7, true, false]);
  });

  it('adds an id from the bytes in which it stands, and nothing else', () => {
    const table = new IdTable();
    const bytes = Buffer.from(`"${id('a')}"`);
    expect(table.addFrom(bytes, 1)).toBe(table.add(id('a')));
    for (const from of [0, 2]) expect(table.addFrom(bytes, from)).toBe(-1);
    expect(table.addFrom(Buffer.from(id('a').toUpperCase()), 0)).toBe(-1);
    expect(table.addFrom(Buffer.from(id('a')), 1)).toBe(-1);
    expect(table.size).toBe(1);
  });

  it('finds an id by its bytes as characters', () => {
    const table = new IdTable();
    const index = table.add(id('a'));
    expect(table.findDigest(Buffer.from(id('a'), 'hex').toString('latin1'))).toBe(index);
    expect(table.findDigest(Buffer.from(id('b'), 'hex').toString('latin1'))).toBe(-1);
  });

  it('tells ids apart that share their first bytes', () => {
    const table = new IdTable();
    const [a, b] = [`${'0'.repeat(63)}1`, `${'0'.repeat(63)}2`];
    expect(table.add(a)).not.toBe(table.add(b));
    expect(table.find(`${'0'.repeat(63)}3`)).toBe(-1);
  });
});
