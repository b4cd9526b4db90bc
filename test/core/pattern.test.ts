import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, patternProblem } from '../../src/core/pattern.js';

describe('patterns of a repository', () => {
  it.each([
    ['[A-Z][A-Z0-9]*-\\d+', ['SX9-123', 'A-1'], ['sx9-1', 'SX9', 'SX9-', '1A-2', 'SX9-1 ']],
    ['^(PROJ|OPS)-\\d{1,5}$', ['PROJ-1', 'OPS-12345'], ['PRO-1', 'OPS-123456']],
    ['#\\d+', ['#12'], ['12']],
    ['Bump .*', ['Bump x from 1 to 2', 'Bump '], ['A Bump x', 'bump x']],
    ['[\\]a-]\\$', [']$', 'a$', '-$'], ['b$']],
    ['', [''], ['a']],
  ])('GIT-01 %s takes and leaves whole texts', (source, taken, left) => {
    const matches = compilePattern(source);
    expect([taken.filter(matches), left.filter(matches)]).toEqual([taken, []]);
  });

  it.each([
    ['(?=a)', 'RE2 syntax: invalid or unsupported Perl syntax: "(?="'],
    ['(?<!a)b', 'RE2 syntax: invalid named capture'],
    ['a{1001}', 'invalid repeat count: "{1001}"'],
    ['(a?){1000}(a?){1000}', 'counts add up'],
    ['(a', 'missing closing ): "(a"'],
    ['a'.repeat(201), '200 characters'],
  ])('GIT-01 %s is refused in words', (source, words) => {
    expect(patternProblem(source)).toContain(words);
  });

  it('GIT-01 throw only messages, and never need exponential time', () => {
    const worst = [
      ...['(a+)+$', '(a|a)*b', '(([a-z])+.)+[A-Z]([a-z])+$', 'a*a*a*a*a*a*a*a*b', '.*'.repeat(100)],
      ...['a?'.repeat(60) + 'a'.repeat(60), '[^b]*'.repeat(40), '(?:a?){900}'],
    ];
    // One that tries all ways would never end.
    for (const source of worst) expect(typeof compilePattern(source)('a'.repeat(500))).toBe('boolean');
    fc.assert(
      fc.property(fc.string(), fc.string(), (source, text) => {
        if (patternProblem(source) === null) expect(typeof compilePattern(source)(text)).toBe('boolean');
      }),
    );
  });

  it('GIT-01 use a native RegExp only where it is always fast', () => {
    const words = fc.string({ unit: fc.constantFrom('A', 'b', '1', '-', '#', ' ', '_') });
    const native = fc
      .tuple(fc.constantFrom('', '[A-Z][A-Z0-9]*', '(A|Ab|1)'), words, fc.constantFrom('', '\\d+', '.*'))
      .map((parts) => parts.join(''));
    const texts = fc.string({ unit: fc.constantFrom('A', 'b', '1', '-', '\r', ' ') });
    fc.assert(
      fc.property(native, texts, (source, text) => {
        expect(compilePattern(source)(text)).toBe(compilePattern(`(?s:${source})`)(text));
      }),
    );
  });
});
