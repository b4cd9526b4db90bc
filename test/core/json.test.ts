import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFields } from '../../src/core/entries.js';
import { SyntaxProblem } from '../../src/core/error.js';
import { formatJson, locateJson, parseJson } from '../../src/core/json.js';
import { lineAt } from '../../src/core/text.js';

function problemOf(text: string): { message: string; offset: number } {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxProblem) return { message: error.message, offset: error.offset };
    throw error;
  }
  throw new Error('It was not refused.');
}

const keys = fc
  .string({ unit: 'binary' })
  .filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key));
const numbers = fc
  .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((value) => !Object.is(value, -0) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
const { anyJson } = fc.letrec<{ anyJson: unknown }>((tie) => ({
  anyJson: fc.oneof(
    { depthSize: 'medium' },
    fc.oneof(fc.string({ unit: 'binary' }), numbers, fc.boolean(), fc.constant(null)),
    fc.array(tie('anyJson')),
    fc.dictionary(keys, tie('anyJson'), { noNullPrototype: true }),
  ),
}));

describe('parseJson', () => {
  it('reads back the output of formatJson', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(parseJson(formatJson(value))).toEqual(value);
      }),
      { numRuns: 40 },
    );
  });

  it('reads back the fields of an entry', () => {
    fc.assert(
      fc.property(fc.dictionary(keys, anyJson, { noNullPrototype: true }), (fields) => {
        expect(parseJson(encodeFields('F-1', fields).toString())).toEqual(fields);
      }),
      { numRuns: 10 },
    );
  });

  it.each([
    ['values without a list', '1,2', 'unexpected ","', 1],
    ['an empty file', '', 'the file is empty', 0],
    ['a file cut off', '{"a": [1, 2', 'it breaks off in the middle', 11],
    ['a file cut off before its last line break', '{bad\n', 'it breaks off in the middle', 4],
    ['a file cut off in a string', '{"a": "b', 'it breaks off in the middle', 8],
    ['a stray comma in an object', '{"a": 1,}', 'unexpected "}"', 8],
    ['a comment', '{"a": 1 // one\n}', 'unexpected "/"', 8],
    ['a bare line break in a string', '{"a": "b\nc"}', 'invalid string', 6],
    ['a conflict', '{\n<<<<<<< HEAD\n"a": 1\n=======\n}', 'unexpected "<"', 2],
    ['NaN', '[1, NaN]', 'unexpected "N"', 4],
  ])('B-12 locates %s', (_name, text, message, offset) => {
    expect(problemOf(text)).toEqual({ message, offset });
  });

  it('B-12 finds the one wrong character in a large file', () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `F-${n}`, done: false }));
    const good = formatJson(rows);
    const at = good.indexOf('false', good.indexOf('F-15000'));
    expect(problemOf(`${good.slice(0, at)}nope${good.slice(at)}`)).toEqual({
      message: 'unexpected "n"',
      offset: at,
    });
  });

  it.each([
    ['twice the same key', '{"a": 1, "b": 2, "a": 3}', 'the key "a" is duplicated', 17],
    ['twice the same key, once escaped', '{"a": 1, "\\u0061": 3}', 'the key "a" is duplicated', 9],
    ['twice the same key deep inside', '[{"x": {"a": 1,\n"a": 1}}]', 'the key "a" is duplicated', 16],
    ['__proto__', '{"__proto__": {"x": 1}}', 'the key "__proto__" is not allowed', 1],
    ['__proto__ in escapes', '{"\\u005f_proto__": 1}', 'the key "__proto__" is not allowed', 1],
    ['constructor', '{"a": {"constructor": 1}}', 'the key "constructor" is not allowed', 7],
  ])('B-14 refuses %s', (_name, text, message, offset) => {
    expect(problemOf(text)).toEqual({ message, offset });
  });

  it('B-14 takes one key in several objects, and such words as values', () => {
    const text = '[{"a": "__proto__"}, {"a": ["constructor", "a"]}]';
    expect(parseJson(text)).toEqual([{ a: '__proto__' }, { a: ['constructor', 'a'] }]);
  });

  it('B-15 takes 64 levels and refuses 65', () => {
    const deepest = `${'['.repeat(64)}${']'.repeat(64)}`;
    expect(parseJson(deepest)).toBeInstanceOf(Array);
    expect(problemOf(`[${deepest}]`)).toEqual({ message: 'nested deeper than 64', offset: 64 });
  });

  it.each(
    '1e400 -1e400 9007199254740993 -9007199254740993 1e21 -0 -0.0 1e-400 12345678901234567890.5'.split(' '),
  )('B-16 refuses %s, which cannot be written back', (number) => {
    const message = `the number ${number} cannot be stored exactly`;
    expect(problemOf(`{"n": ${number}}`)).toEqual({ message, offset: 6 });
  });

  it.each([
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['5e-324', 5e-324],
    ['"1e400, -0 and 9007199254740993"', '1e400, -0 and 9007199254740993'],
  ])('B-16 takes %s', (text, value) => {
    expect(parseJson(`[${text}]`)).toEqual([value]);
  });
});

describe('locateJson', () => {
  const text = [
    '{',
    '  "a": { "status": 0 },',
    '  "features": [',
    '    { "id": "x{[,\\"" },',
    '    { "id": "y", "tags": ["p",',
    '      "q"], "status": "bad" }',
    '  ]',
    '}',
  ].join('\n');

  it.each([
    [['a', 'status'], 2],
    [['features'], 3],
    [['features', 0], 4],
    [['features', 0, 'id'], 4],
    [['features', 1, 'tags', 1], 6],
    [['features', 1, 'status'], 6],
    [['features', 1, 'missing'], 1],
    [['features', 7], 1],
    [[], 1],
  ])('LAY-06 finds the line of %j', (path, line) => {
    expect(lineAt(text, locateJson(text, path))).toBe(line);
  });
});
