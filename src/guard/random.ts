import { EXAMPLES } from './rules/example-words.js';

/** Shannon's entropy of the characters, in bits per character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** How many of lower case, upper case, digits and signs occur. */
export function countKinds(text: string): number {
  return [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(text)).length;
}

const kindOf = (code: number): number => {
  if (code >= 48 && code <= 57) return 0;
  if (code >= 97 && code <= 122) return 1;
  return code >= 65 && code <= 90 ? 2 : 3;
};

/**
 * The part of neighbouring characters that differ in kind: about a half in random base 62, next to none in words and
 * identifiers. A capital before small letters is one word with them; a sign between words divides them, as in paths.
 */
export function mixtureOf(text: string): number {
  let changes = 0;
  for (let i = 1; i < text.length; i += 1) {
    const before = kindOf(text.charCodeAt(i - 1));
    const here = kindOf(text.charCodeAt(i));
    const isCapitalised = before === 2 && here === 1;
    if (before !== here && before !== 3 && here !== 3 && !isCapitalised) changes += 1;
  }
  return changes / Math.max(1, text.length - 1);
}

/** Longer ones first: "token" is not "to" and a rest. */
const makeWords = (): RegExp =>
  new RegExp(
    EXAMPLES.split(' ')
      .sort((a, b) => b.length - a.length)
      .join('|'),
    'gi',
  );
let words: RegExp | undefined;

const SEQUENCES = ['0123456789', '1234567890', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', '9876543210'];

/** Seven characters in the order of the alphabet, the digits or the keyboard, or six times the same. */
export function hasSequence(text: string): boolean {
  if (/(.)\1{5}/.test(text)) return true;
  const lower = text.toLowerCase();
  for (let i = 0; i + 7 <= lower.length; i += 1) {
    const piece = lower.slice(i, i + 7);
    if (SEQUENCES.some((sequence) => sequence.includes(piece))) return true;
  }
  return false;
}

const SAYS_SO = /example|placeholder|redacted|your[_-]|\*{3}|\.{3}|…|changeme|dummy|foobar/i;
/** A name in a program: each capital begins a word. */
const WORDS = /^[a-z]*(?:[A-Z][a-z]{2,}){2,}\d{0,2}$/;
const CROSSED_OUT = /x{4,}/gi;

/**
 * Whether a token's body could have come from a random generator: what documentation shows in its place could not.
 * Four x in a row also come by chance, once in some ten thousand tokens: then as much as a token needs stands beside.
 */
export function looksRandom(body: string): boolean {
  const rest = body.replace(CROSSED_OUT, '');
  if (body.length - rest.length > (rest.length >= 12 ? 4 : 0)) return false;
  if (SAYS_SO.test(body) || hasSequence(body) || WORDS.test(body)) return false;
  const least = body.length >= 32 ? 3 : body.length >= 16 ? 2.5 : 1.9;
  return entropyOf(body) >= Math.min(least, Math.log2(body.length) * 0.7);
}

/** What stands for a value that comes from elsewhere: `${VAR}`, `<password>`, `%(pw)s`, `{{ token }}`, `$PASSWORD`. */
const REFERENCE =
  /^[$%@&][A-Za-z_][\w.-]*[%;]?$|[$#]\{[^{}]{1,100}\}|\$\([^()]{1,100}\)|\{\{[^{}]{1,100}\}\}|%\(\w{1,60}\)|^[<[{(][^\s<>[\](){}]*[>\]})]|^<|^\*+$|<%|^-+$|^_+$/;

/** Whether a value written as a password or token is none: a reference, a name for one, or a word from a lesson. */
export function isPlaceholder(value: string): boolean {
  if (REFERENCE.test(value) || SAYS_SO.test(value) || /x{4}/i.test(value) || hasSequence(value)) return true;
  words ??= makeWords();
  const left = value.replace(words, '').replace(/[^A-Za-z]/g, '');
  return left.length < 3 && /[A-Za-z]{3}/.test(value) && !isMixed(value);
}

/** Letters, digits and signs all through each other, as in `s3cr3tP@ss`: chosen by someone, whatever it spells. */
const isMixed = (value: string): boolean =>
  (value.match(/[A-Za-z][^A-Za-z]{1,8}(?=[A-Za-z])/g) ?? []).filter((piece) => !/^.[_\-. ]+$/.test(piece))
    .length >= 2;
