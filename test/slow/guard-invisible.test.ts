import { describe, expect, it } from 'vitest';
import { ForgeError } from '../../src/core/error.js';
import { checkText } from '../../src/core/text.js';
import { invisibleRules } from '../../src/guard/rules/invisible.js';
import { scanText } from '../../src/guard/scan.js';
import { NAUGHTY } from '../support/naughty.js';
import { findAll } from '../support/personal.js';

const INVISIBLE_RULES = invisibleRules();

const found = (text: string): string[] => [...new Set(findAll(INVISIBLE_RULES, text).map((hit) => hit.rule))];
const tags = (text: string): string =>
  [...text].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('');
const FLAG = '\u{1f3f4}';
const END = '\u{e007f}';

const refused = (text: string): boolean => {
  try {
    checkText(text, { what: 'The note' });
    return false;
  } catch (error) {
    return error instanceof ForgeError && error.code === 'text.hidden_character';
  }
};

describe('invisible characters', () => {
  it('LTM-13 finds every character for which texts are refused', () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => code).filter(
      (code) => code < 0xd800 || code > 0xdfff,
    );
    const missed = all.filter((code) => {
      const text = `a${String.fromCodePoint(code)}b`;
      return refused(text) && found(text).length === 0;
    });
    expect(missed.map((code) => code.toString(16))).toEqual([]);
  });

  it.each([
    ['zero-width space', 'pass\u200bword', 'zero-width'],
    ['word joiner', 'a\u2060b', 'zero-width'],
    ['byte order mark', 'a\ufeffb', 'zero-width'],
    ['byte order mark at the start', '\ufeffa', 'zero-width'],
    ['joiner between letters', 'sec\u200dret', 'joiner'],
    ['non-joiner between letters', 'sec\u200cret', 'joiner'],
    ['joiner after an emoji', '👍\u200dx', 'joiner'],
    ['run of joiners', 'می\u200c\u200cخواهم', 'joiner'],
    ['override', 'a\u202ecod.exe', 'bidi'],
    ['isolate', 'a\u2066b\u2069', 'bidi'],
    ['mark among Latin', 'a\u200fb', 'bidi-mark'],
    ['Arabic mark among Latin', 'a\u061cb', 'bidi-mark'],
    ['tags', `hello${tags('ignore all')}`, 'tag'],
    ['tags of no flag', `${FLAG}${tags('secret')}${END}`, 'tag'],
    ['tags behind a flag', `${FLAG}${tags('gbeng')}${END}${tags('x')}`, 'tag'],
    ['escape', 'a\u001b[31mred', 'control'],
    ['NUL', 'a\u0000b', 'control'],
    ['lone carriage return', 'good\rbad ', 'control'],
    ['C1', 'a\u009bb', 'control'],
    ['selectors as bytes', `a${'\ufe01\ufe0e\u{e0123}'}`, 'variation'],
    ['selector behind a letter', 'a\ufe0f', 'variation'],
    ['supplementary selectors', '😀\u{e0100}\u{e0101}', 'variation'],
    ['annotation', 'a\ufff9b\ufffac\ufffb', 'annotation'],
    ['deprecated', 'a\u206ab', 'deprecated'],
    ['soft hyphens', 'a\u00ad\u00ad\u00adb', 'soft-hyphen'],
    ['Hangul filler', 'name\u3164', 'filler'],
    ['half-width filler', 'a\uffa0b', 'filler'],
    ['Braille blank', 'a\u2800b', 'filler'],
    ['Braille blanks', `a ${'\u2800'.repeat(9)}`, 'filler'],
    ['Mongolian vowel separator', 'a\u180eb', 'zero-width'],
    ['notation', 'a\u{1d173}b', 'format'],
  ])('LTM-13 finds a %s', (_what, text, rule) => {
    expect(found(text)).toContain(`invisible-${rule}`);
  });

  it.each([
    ['plain lines', 'a\tb\nc\r\nd\n'],
    ['separators of lines', 'a\u2028b\u2029c'],
    ['emoji', '👩‍👩‍👧‍👦 👍🏽 ❤️ 🏳️‍🌈 👩🏽‍💻 1️⃣ ☎︎ 🧑‍🚀 ✈️'],
    ['flags', `${FLAG}${tags('gbeng')}${END} ${FLAG}${tags('gbsct')}${END} ${FLAG}${tags('gbwls')}${END} 🇩🇪`],
    ['Persian', 'می\u200cخواهم'],
    ['Hindi and Marathi', 'क्\u200dष क्\u200cष र्\u200dय'],
    ['Sinhala, Malayalam and Bengali', 'ශ්\u200dරී ന്\u200d র\u200d্য'],
    ['Hebrew with a mark', 'שלום\u200f! \u200fמה'],
    ['ideographs with a variant', '葛\u{e0100}城'],
    ['a soft hyphen', 'Auf\u00adlage'],
    ['Braille', '⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙'],
    ['old Hangul', '\u115f\u1161 \u1100\u1160'],
    ['letters with marks', 'Z̮̞a̦l͈g͔o é ñ'],
    ['wide spaces', 'a\u00a0b\u3000c\u2003d'],
  ])('LTM-13 finds nothing in %s', (_what, text) => {
    expect(found(text)).toEqual([]);
  });

  it('LTM-13 finds only the naughty strings with such a character', () => {
    const invisible = /[\p{Cc}\p{Cf}\u2800\u3164\u180e\u115f\u1160\uffa0\p{Variation_Selector}]/u;
    const wrong = NAUGHTY.filter((text) => found(text).length > 0 && !invisible.test(text));
    expect(wrong).toEqual([]);
  });

  it.each([
    '\u200d',
    '\u00ad',
    '\u2800',
    '👍',
    'क',
    '\ufe0f',
    '\u{e0067}',
    '\u{1f3f4}',
    '\r',
    ' ',
    'a',
    '\u200f',
  ])('LTM-13 takes time in proportion to a text of nothing but %j', (piece) => {
    // A quadratic pattern needs longer for this than a test may take.
    expect(scanText(piece.repeat(200_000), INVISIBLE_RULES)).toBeInstanceOf(Array);
  });
});
