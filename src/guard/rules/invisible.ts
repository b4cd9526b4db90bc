import { lazyRule, type Rule } from '../rule.js';

// Characters that can hide text or change how it looks: all that src/core/text.ts refuses, and more. Allowed, because
// people write with them:
//   - tab, line feed, and a carriage return before a line feed;
//   - U+2028 and U+2029, which are visible line breaks;
//   - joiners within an emoji, and next to a letter or mark of a script that uses them;
//   - U+200E, U+200F, U+061C next to a letter of a right-to-left script, where they position punctuation;
//   - one variation selector after a character with variants: an emoji, a digit, a symbol, a non-Latin letter;
//   - the complete tags of the three flags that Unicode recommends (England, Scotland, Wales);
//   - a single soft hyphen; Braille blanks next to Braille dots; Hangul fillers next to conjoining jamo.
// A byte order mark counts at the start too: forge writes none.

const JOINED_SCRIPTS = [
  'Arabic Syriac Mandaic Nko Mongolian Phags_Pa Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu',
  'Kannada Malayalam Sinhala Tibetan Myanmar Khmer Balinese Javanese Sundanese Newa Tirhuta',
];
const scripts = (names: string): string =>
  names
    .split(' ')
    .map((name) => `\\p{Script=${name}}`)
    .join('');
const JOINED = `[${scripts(JOINED_SCRIPTS.join(' '))}]`;
const RIGHT_TO_LEFT = `[${scripts('Hebrew Arabic Syriac Thaana Nko')}]`;
const EMOJI_END = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\u{fe0f}]';

/** The tags of a flag: U+E0067 is "g", U+E007F is the end. */
const tags = (name: string): string =>
  String.fromCodePoint(...[...name].map((char) => 0xe0000 + char.charCodeAt(0)), 0xe007f);
const FLAG = `\u{1f3f4}(?:${['gbeng', 'gbsct', 'gbwls'].map(tags).join('|')})`;

/** Every character that a rule below can find, or its first half. A run of them counts as one. */
const SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is searched separately
  /(?:[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud82f\ud834\udb40-\udb43]|\u034f){1,64}/g;

const invisible = (id: string, what: string, pattern: () => RegExp, accept?: Rule['accept']): Rule =>
  lazyRule(
    {
      id: `invisible-${id}`,
      class: 'invisible',
      what,
      source: 'https://www.unicode.org/reports/tr36/',
      keywords: [],
      anchor: SUSPECT,
      reach: [16, 1200],
      ...(accept ? { accept } : {}),
    },
    pattern,
  );

export const invisibleRules = (): readonly Rule[] => [
  invisible(
    'control',
    'control character',
    () =>
      // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]{1,1000}|\r(?!\n)/g,
  ),
  invisible('zero-width', 'character without width', () => /[\u200b\u2060-\u2065\ufeff\u180e]{1,1000}/g),
  invisible(
    'joiner',
    'joiner that joins nothing',
    () =>
      new RegExp(
        `(?<!${JOINED}\\p{M}{0,3})\u200c|\u200c(?!${JOINED})|(?<!${JOINED}\\p{M}{0,3}|${EMOJI_END})\u200d|(?<=${EMOJI_END})\u200d(?!\\p{Extended_Pictographic})|(?<=[\u200c\u200d])[\u200c\u200d]`,
        'gu',
      ),
  ),
  invisible(
    'bidi',
    'character that changes the direction of text',
    () => /[\u202a-\u202e\u2066-\u2069]{1,1000}/g,
  ),
  invisible(
    'bidi-mark',
    'direction mark in a text of one direction',
    () => new RegExp(`(?<!${RIGHT_TO_LEFT}.?)[\u200e\u200f\u061c](?!.?${RIGHT_TO_LEFT})`, 'gu'),
  ),
  // Matches a whole flag and rejects it, so that its tags are skipped.
  invisible(
    'tag',
    'tag character',
    () => new RegExp(`${FLAG}|[\u{e0000}-\u{e0080}]`, 'gu'),
    (text) => text.length <= 2,
  ),
  invisible(
    'variation',
    'variation selector that selects nothing',
    () =>
      /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}](?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}].)|[\u{e0100}-\u{e01ef}](?<!\p{Script=Han}.)|[\ufe00-\ufe0f](?<=(?:^|[\p{Script=Latin}\p{Cc}\p{Z}]).)|[\u180b-\u180d\u180f](?<!\p{Script=Mongolian}.)/gu,
  ),
  invisible('annotation', 'interlinear annotation', () => /[\ufff0-\ufffb]/g),
  invisible('deprecated', 'deprecated format character', () => /[\u206a-\u206f]/g),
  invisible('soft-hyphen', 'run of soft hyphens', () => /\u00ad(?:\u00ad|(?<=\u00ad[^\n]\u00ad))/g),
  invisible(
    'filler',
    'letter or sign that shows nothing',
    () =>
      /[\u3164\uffa0\u17b4\u17b5]|(?<![\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb])[\u115f\u1160](?![\u1100-\u11ff])|(?<![\u2800-\u28ff])\u2800(?![\u2800-\u28ff])|(?<=\u2800{2})\u2800(?![\u2801-\u28ff])|\u034f(?=\u034f)/g,
  ),
  invisible(
    'format',
    'format character of notation or of no use yet',
    () => /[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0081}-\u{e00ff}\u{e01f0}-\u{e0fff}]/gu,
  ),
];
