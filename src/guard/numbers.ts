/** How far before a number a word for it may be, in characters. */
const REACH = 48;

/**
 * Where a number can begin: not inside a word, a decimal, the path of a URL or a UUID. Markdown's underscores, the dot of
 * "No." and the n of an escaped `\n` may precede it.
 */
export const BEGIN = String.raw`(?<!(?<!\\)[A-Za-z0-9$]|\w_|(?<![A-Za-z])\.|[\w][+/]|\d-|[0-9A-Fa-f]{4}-)`;

/** Where it can end: before a full stop, but not before a fraction or the rest of a UUID. */
export const END = String.raw`(?![A-Za-z0-9$]|_\w|\.\d|-[0-9A-Fa-f]{4})`;

/** Digits in any usual grouping. */
const digits = (count: number): RegExp =>
  new RegExp(`\\d(?:[ .()\\-/\u00a0\u2009\u202f\u2010-\u2013]{0,3}\\d){${count - 1}}`, 'g');

/** More digits than a date has. */
export const NUMBER = digits(9);
export const LONG_NUMBER = digits(12);

export function before(match: RegExpExecArray, length = REACH): string {
  return match.input.slice(Math.max(0, match.index - length), match.index);
}

export function after(match: RegExpExecArray, length = REACH): string {
  const end = match.index + match[0].length;
  return match.input.slice(end, end + length);
}

/**
 * A test for one of these words shortly before or right after a match. A word may be part of a name (`user_bsn`,
 * `BSN-Nr`), and a space in it matches a dash or an underscore too.
 */
export function mentions(words: readonly string[]): (match: RegExpExecArray) => boolean {
  let pattern: RegExp | undefined;
  return (match) => {
    pattern ??= wordsPattern(words);
    return pattern.test(before(match)) || pattern.test(after(match, 40));
  };
}

function wordsPattern(words: readonly string[]): RegExp {
  const any = words.map((word) => word.replaceAll(' ', '[ _-]?')).join('|');
  const suffix = 's|[ _-]?(?:id|no|nr|num|number|nummer|code|card)';
  return new RegExp(String.raw`(?<!(?<!\\)[a-z])(?:${any})(?:${suffix})?(?![a-z])`, 'i');
}

/** Keywords for these words: the longest part of each, which "tax id", "tax_id" and "taxId" share. */
export function keywordsOf(words: readonly string[]): string[] {
  const longest = words.map((word) => word.split(' ').reduce((a, b) => (b.length > a.length ? b : a)));
  return [...new Set(longest)];
}

/** Whether groups of four digits are part of a table: more groups or hex code points are next to them. */
export function inTable(match: RegExpExecArray): boolean {
  const [left, right] = [before(match, 16), after(match, 16)];
  const beside = `${/(?<!\d)(?:\d{4} ){1,3}$/.exec(left)?.[0] ?? ''}${/^(?: \d{4}){1,3}(?!\d)/.exec(right)?.[0] ?? ''}`;
  return (
    beside.length >= 10 ||
    /(?<!\S)[0-9A-F]{0,3}[A-F][0-9A-F]{0,3}(?!\S)/.test(`${left.slice(-12)}|${right.slice(0, 12)}`)
  );
}

/** The number in upper case, without grouping characters. */
export const bare = (text: string): string => text.replace(/[\s.()/\u2010-\u2015-]/g, '').toUpperCase();

/** ISO/IEC 7812-1 annex B, for cards and the ids of a dozen countries. */
export function luhn(text: string): boolean {
  let sum = 0;
  for (let i = text.length - 1, twice = false; i >= 0; i--, twice = !twice) {
    const digit = Number(text[i]) * (twice ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** The remainder modulo 97 of a number too long for a double. Letters count as 10 to 35 (ISO/IEC 7064). */
export function mod97(text: string): number {
  let rest = 0;
  for (const char of text) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
