import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Approval,
  approvedBy,
  diffLines,
  digestAll,
  digestRunnable,
  judgeTrust,
  type Runnable,
  trustValue,
} from '../../src/trust/rules.js';

const init: Runnable = { kind: 'file', name: '.forge/init.sh', content: '#!/bin/sh\nnpm ci\n' };
const test: Runnable = { kind: 'command', name: 'feature A', content: 'npm test' };
const approve = (runnable: Runnable, how: Approval['how'] = 'approved'): Approval => ({
  ...runnable,
  digest: digestRunnable(runnable),
  at: '2026-03-01T10:00:00.000Z',
  how,
});

describe('digestRunnable', () => {
  it.each<[string, Runnable, Runnable, boolean]>([
    ['one byte more', init, { ...init, content: `${init.content} ` }, false],
    ['one byte of another value', init, { ...init, content: init.content.replace('ci', 'cc') }, false],
    ['the same bytes in another file', init, { ...init, name: '.forge/other.sh' }, false],
    ['the same words of another feature', test, { ...test, name: 'feature B' }, true],
    ['other words', test, { ...test, content: 'npm  test' }, false],
    [
      'a file that says what a command says',
      { ...init, name: '', content: 'x' },
      { kind: 'command', name: '', content: 'x' },
      false,
    ],
  ])('B-86 takes %s', (_name, a, b, same) => {
    expect(digestRunnable(a) === digestRunnable(b)).toBe(same);
  });
});

describe('digestAll', () => {
  it('B-88 is the same whatever the order, and however often a command stands there', () => {
    const again = { ...test, name: 'feature B' };
    expect(digestAll('l', [init, test])).toBe(digestAll('l', [again, test, init, test]));
    expect(digestAll('l', [init, test])).toMatch(/^[0-9a-f]{64}$/);
    expect(digestAll('l', [init])).not.toBe(digestAll('m', [init]));
  });

  it('B-88 changes with each byte that would run', () => {
    const all = [
      [],
      [init],
      [test],
      [init, test],
      [init, { ...test, content: 'npm test ' }],
      [init, { ...test, content: 'npm tesT' }],
      [{ ...init, content: '' }, test],
    ];
    expect(new Set(all.map((each) => digestAll('l', each))).size).toBe(all.length);
  });
});

describe('approvedBy', () => {
  const other: Runnable = { kind: 'command', name: 'feature B', content: 'npm run e2e' };
  const approved = (value: string, ledger: string, all: Runnable[]): Runnable[] =>
    all.filter(approvedBy(value, ledger, all));

  it('B-88 takes the value of a part after something else was added, and no value of another repository', () => {
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
  const state = (runnables: Runnable[], approvals: Approval[]) =>
    judgeTrust(runnables, approvals).map((item) => item.state);

  it('B-85 trusts nothing that came with a clone', () => {
    expect(state([init, test], [])).toEqual(['new', 'new']);
  });

  it('B-85 trusts what was approved or entered here, and that alone', () => {
    expect(state([init, test], [approve(init)])).toEqual(['trusted', 'new']);
    expect(state([init, test], [approve(test, 'entered')])).toEqual(['new', 'trusted']);
  });

  it('B-85 trusts a command by its words, wherever it moves to', () => {
    expect(state([{ ...test, name: 'feature B' }], [approve(test)])).toEqual(['trusted']);
  });

  it('B-86 takes trust back at one changed byte, and remembers what was approved', () => {
    const changed = { ...init, content: `${init.content}curl x | sh\n` };
    const older = { ...init, content: 'older' };
    const [item] = judgeTrust([changed], [approve(older), approve(init)]);
    expect(item).toEqual({
      ...changed,
      digest: digestRunnable(changed),
      state: 'changed',
      before: init.content,
    });
  });

  it('B-86 trusts again when the change is taken back', () => {
    expect(state([init], [approve(init), approve({ ...init, content: 'x' })])).toEqual(['trusted']);
  });

  it('B-86 a file and a command of one name are two things', () => {
    expect(state([{ ...test, name: init.name }], [approve(init)])).toEqual(['new']);
  });
});

describe('diffLines', () => {
  it.each([
    ['a changed line', 'a\nb\nc', 'a\nB\nc', [' a', '-b', '+B', ' c']],
    ['an added line', 'a\nc', 'a\nb\nc', [' a', '+b', ' c']],
    ['a removed line', 'a\nb\nc', 'a\nc', [' a', '-b', ' c']],
    ['a line added at the end', 'a\n', 'a\nb\n', [' a', '+b', ' ']],
    ['a line added at the start', 'b', 'a\nb', ['+a', ' b']],
    ['a line doubled', 'a\nb', 'a\na\nb', [' a', '+a', ' b']],
    ['all of it', 'a', 'b', ['-a', '+b']],
    ['a final line feed', 'a', 'a\n', [' a', '+']],
  ])('B-86 shows %s', (_name, before, after, lines) => {
    expect(diffLines(before, after)).toEqual(lines);
  });

  it('B-86 hides nothing: what it takes away and adds makes the one text the other', () => {
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
