import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForgeError } from '../../src/core/error.js';
import {
  checkText,
  compareText,
  countTokens,
  escapeControls,
  MAX_TEXT_BYTES,
  oneLine,
} from '../../src/core/text.js';
import { failure } from '../support/failure.js';

const what = 'The note';
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('a', ' ', '\n', '\t', '\r', '\u001b', '\u2028', '\u202e', '\ud83d', '\ude00'),
  }),
);

describe('countTokens', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['ééé', 2],
    ['😀', 1],
    ['😀a', 2],
  ])('SES-03 counts %j as %i: bytes of UTF-8 by four, rounded up', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens);
  });
});

describe('checkText', () => {
  it.each([
    ['spaces around', '  a  '],
    ['a tab', 'a\tb'],
    ['lines', 'a\n\nb\n'],
    ['the separators of U+2028 and U+2029', 'a\u2028b\u2029c'],
    ['joined emoji', '👩‍👩‍👧‍👦 👍🏽'],
    ['right-to-left scripts', 'שלום مرحبا'],
    ['marks on letters', 'Z̮̞a̦l͈g͔o'],
    ['markup and shell', '<script>alert(1)</script> $(rm -rf /) `x` {{ x }} %s'],
    ['as much as is allowed', 'é'.repeat(MAX_TEXT_BYTES / 2)],
  ])('B-11 keeps %s byte for byte', (_name, text) => {
    expect(checkText(text, { what })).toBe(text);
  });

  it('B-11 returns a text unchanged or refuses it with exit 2', () => {
    const outcome = (text: string): unknown => {
      try {
        return checkText(text, { what });
      } catch (error) {
        return error instanceof ForgeError && error.exit === 2 ? text : error;
      }
    };
    fc.assert(
      fc.property(anyText, (text) => {
        expect(outcome(text)).toBe(text);
      }),
    );
  });

  it.each([
    ['nothing', '', 'text.empty'],
    ['only spaces', ' \n\t ', 'text.empty'],
    ['a NUL', 'a\u0000b', 'text.hidden_character'],
    ['half a surrogate pair', 'a\ud800b', 'text.surrogate'],
    ['more than 64 KiB', 'x'.repeat(MAX_TEXT_BYTES + 1), 'text.too_long'],
    ['more than 64 KiB in fewer characters', 'é'.repeat(MAX_TEXT_BYTES / 2 + 1), 'text.too_long'],
  ])('B-05 refuses %s', (_name, text, code) => {
    expect(failure(() => checkText(text, { what }))).toMatchObject({ kind: 'usage', exit: 2, code });
  });

  it('B-06 names the character and its place', () => {
    const { message } = failure(() => checkText('safe\u001b[2J', { what }));
    expect(message).toBe('The note has the control or invisible character U+001B at position 4.');
  });

  it.each(['a\nb', 'a\u2028b', 'a\u2029b'])('refuses a line break where one line is due: %j', (text) => {
    expect(failure(() => checkText(text, { what, lines: false })).code).toBe('text.lines');
  });

  it('B-05 names both sizes and a solution', () => {
    const error = failure(() => checkText('ééé', { what, maxBytes: 5 }));
    expect(error.message).toBe('The note has 6 bytes; 5 are allowed.');
    expect(error.hint).toMatch(/file/);
  });
});

describe('escapeControls', () => {
  it.each([
    ['a\nb\tc', 'a\nb\tc'],
    ['\u001b[31mred', '<U+001B>[31mred'],
    ['safe\revil', 'safe<U+000D>evil'],
    ['a\u202eb\u2069', 'a<U+202E>b<U+2069>'],
    ['\u{e0041}\u{e0042}', '<U+E0041><U+E0042>'],
    ['👩‍👧', '👩‍👧'],
    ['a\ud800', 'a\ufffd'],
  ])('B-06 shows %j as %j', (text, shown) => {
    expect(escapeControls(text)).toBe(shown);
  });

  it('B-06 leaves no control character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = escapeControls(text);
        expect(shown).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\u200b]/u);
        expect(shown.isWellFormed()).toBe(true);
        expect(escapeControls(shown)).toBe(shown);
      }),
    );
  });
});

describe('oneLine', () => {
  it.each([
    ['  a \n\n b\tc ', 200, 'a b c'],
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['😀😀😀', 2, '😀…'],
    ['a\u2028b\u0085c', 200, 'a b<U+0085>c'],
    ['a\r\n\r\nb\rc', 200, 'a b<U+000D>c'],
  ])('shows %j in %i characters as %j', (text, max, shown) => {
    expect(oneLine(text, max)).toBe(shown);
  });
});

describe('compareText', () => {
  it('B-68 sorts by code unit in every locale', () => {
    const words = ['i', 'ı', 'I', 'İ', 'ä', 'z', 'Z', '10', '9', ''];
    expect(words.sort(compareText)).toEqual(['', '10', '9', 'I', 'Z', 'i', 'z', 'ä', 'İ', 'ı']);
  });
});
