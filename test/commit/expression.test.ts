import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileExpression, expressionProblem } from '../../src/commit/expression.js';

const PARTS = [
  ...['a', 'b', '-', '\\d', '\\w', '.', '[ab]', '[^a]', '[a-c1]', 'a*', 'b+', '\\d{2}', '[ab]{1,3}', 'b{0,}'],
  ...['a?', '(a|b)', '(ab|b)?', '(?:a+|\\d)', '\\.'],
];

describe('patterns of a repository', () => {
  it('GIT-01 mean what regular expressions mean', () => {
    const sources = fc.array(fc.constantFrom(...PARTS), { maxLength: 5 }).map((parts) => parts.join(''));
    const either = fc.array(sources, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|'));
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '.', '-'), maxLength: 8 });
    fc.assert(
      fc.property(either, texts, (source, text) => {
        expect(compileExpression(source)(text)).toBe(new RegExp(`^(?:${source})$`).test(text));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['[A-Z][A-Z0-9]*-\\d+', ['SX9-123', 'A-1'], ['sx9-1', 'SX9', 'SX9-', '1A-2', 'SX9-1 ']],
    ['^(PROJ|OPS)-\\d{1,5}$', ['PROJ-1', 'OPS-12345'], ['PRO-1', 'OPS-123456']],
    ['#\\d+', ['#12'], ['12']],
    ['Bump .*', ['Bump x from 1 to 2', 'Bump '], ['A Bump x', 'bump x']],
    ['[\\]a-]\\$', [']$', 'a$', '-$'], ['b$']],
    ['', [''], ['a']],
  ])('GIT-01 %s takes and leaves whole texts', (source, taken, left) => {
    const matches = compileExpression(source);
    expect([taken.filter(matches), left.filter(matches)]).toEqual([taken, []]);
  });

  it.each([
    ['(a+)+', 'behind a group'],
    ['(a|a)*', 'behind a group'],
    ['(?=a)', 'not supported'],
    ['(?<n>a)', 'not supported'],
    ['(a)\\1', '"\\1" is not supported'],
    ['\\bA', '"\\b" is not supported'],
    ['a{65}', 'up to 64'],
    ['a{2,1}', 'smaller one first'],
    ['a{,2}', 'without a count'],
    ['a**', 'write "\\*"'],
    ['(a', 'without ")"'],
    ['a)', 'without "("'],
    ['[a', 'too early'],
    ['[z-a]', 'no range'],
    ['\\', 'too early'],
    ['a'.repeat(201), '200 characters'],
  ])('GIT-01 %s is refused in words', (source, words) => {
    expect(expressionProblem(source)).toContain(words);
  });

  it('GIT-01 never throw anything but words, and need no exponential time whatever they are', () => {
    const worst = [
      'a*a*a*a*a*a*a*a*b',
      `${'.*'.repeat(100)}`,
      `${'a?'.repeat(60)}${'a'.repeat(60)}`,
      '[^b]*'.repeat(40),
    ];
    // One that tries all ways would never end.
    for (const source of worst) expect(typeof compileExpression(source)('a'.repeat(500))).toBe('boolean');
    fc.assert(
      fc.property(fc.string(), fc.string(), (source, text) => {
        if (expressionProblem(source) === null)
          expect(typeof compileExpression(source)(text)).toBe('boolean');
      }),
    );
  });
});
