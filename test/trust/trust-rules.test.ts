import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Approval,
  approvedBy,
  diffLines,
  digestAll,
  judgeTrust,
  type Runnable,
  runnable,
  trustValue,
} from '../../src/trust/approvals.js';

const init = runnable('file', '.forge/init.sh', '#!/bin/sh\nnpm ci\n');
const test = runnable('command', 'feature A', 'npm test');
const change = ({ kind, name, content }: Runnable, fields: { name?: string; content?: string }): Runnable =>
  runnable(kind, fields.name ?? name, fields.content ?? content);
const approve = (one: Runnable): Approval => ({
  ...one,
  at: '2026-03-01T10:00:00.000Z',
});

describe('runnable', () => {
  it.each<[string, Runnable, Runnable, boolean]>([
    ['one byte more', init, change(init, { content: `${init.content} ` }), false],
    ['the same bytes in another file', init, change(init, { name: '.forge/other.sh' }), false],
    ['the same command of another feature', test, change(test, { name: 'feature B' }), true],
    ['another command', test, change(test, { content: 'npm  test' }), false],
    ['a file with the content of a command', runnable('file', '', 'x'), runnable('command', '', 'x'), false],
  ])('B-86 compares %s', (_name, a, b, same) => {
    expect(a.digest === b.digest).toBe(same);
  });
});

describe('digestAll', () => {
  it('B-88 ignores the order and repeated commands', () => {
    const again = change(test, { name: 'feature B' });
    expect(digestAll('l', [init, test])).toBe(digestAll('l', [again, test, init, test]));
    expect(digestAll('l', [init, test])).toMatch(/^[0-9a-f]{64}$/);
    expect(digestAll('l', [init])).not.toBe(digestAll('m', [init]));
  });
});

describe('approvedBy', () => {
  const other = runnable('command', 'feature B', 'npm run e2e');
  const approved = (value: string, ledger: string, all: Runnable[]): Runnable[] =>
    all.filter(approvedBy(value, ledger, all));

  it('B-88 stays valid after something else was added, but not in another repository', () => {
    const value = trustValue('l', [init, test]);
    expect(approved(value, 'l', [init, test])).toEqual([init, test]);
    expect(approved(value, 'l', [init, test, other])).toEqual([init, test]);
    expect(approved(`${value}, ${trustValue('l', [other])}`, 'l', [other, test])).toEqual([other, test]);
    expect(approved(value, 'm', [init, test])).toEqual([]);
    expect(approved(digestAll('l', [init, test]), 'l', [init, test])).toEqual([init, test]);
    expect(approved(digestAll('l', [init, test]), 'l', [init, test, other])).toEqual([]);
    expect(approved('', 'l', [])).toEqual([]);
  });
});

describe('judgeTrust', () => {
  it('B-86 distinguishes a file and a command with the same name', () => {
    expect(judgeTrust([change(test, { name: init.name })], [approve(init)])).toMatchObject([
      { state: 'new' },
    ]);
  });

  it('B-86 a second test of a feature is new: nothing is shown as removed while it is still there', () => {
    const second = change(test, { content: 'npm run more' });
    const items = judgeTrust([test, second], [approve(test)]);
    expect(items).toEqual([
      { ...test, state: 'trusted' },
      { ...second, state: 'new' },
    ]);
    expect(judgeTrust([second], [approve(test)])).toMatchObject([{ state: 'changed', before: 'npm test' }]);
  });
});

describe('diffLines', () => {
  it.each([
    ['a changed line', 'a\nb\nc', 'a\nB\nc', [' a', '-b', '+B', ' c']],
    ['a line added at the end', 'a\n', 'a\nb\n', [' a', '+b', ' ']],
    ['a line added at the start', 'b', 'a\nb', ['+a', ' b']],
    ['a duplicated line', 'a\nb', 'a\na\nb', [' a', '+a', ' b']],
    ['everything', 'a', 'b', ['-a', '+b']],
    ['a final line feed', 'a', 'a\n', [' a', '+']],
  ])('B-86 shows %s', (_name, before, after, lines) => {
    expect(diffLines(before, after)).toEqual(lines);
  });

  it('B-86 hides nothing: the diff turns one text into the other', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 8 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const lines = diffLines(before, after);
        const without = (sign: string): string[] =>
          lines.filter((line) => line[0] !== sign).map((line) => line.slice(1));
        const [all, old, fresh] = [before.split('\n'), without('+'), without('-')];
        const patched = all.map((_, i) => all.toSpliced(i, old.length, ...fresh).join('\n'));
        expect(patched).toContain(after);
        expect(old).not.toEqual(fresh);
      }),
    );
  });
});
