/** How far before a number a word may stand that says what the number is. */
const REACH = 48;

/**
 * Where a number begins: not within a longer word (Markdown's underscores are none), a decimal, the path of a URL or a
 * uuid. A comma before it is a CSV's, the dot of "No." is none of a decimal, the n of `\n` in JSON none of a word.
 */
export const BEGIN = String.raw`(?<!(?<!\\)[A-Za-z0-9$]|\w_|(?<![A-Za-z])\.|[\w][+/]|\d-|[0-9A-Fa-f]{4}-)`;

/** Where it ends: a full stop may follow, a fraction or the rest of a uuid not. */
export const END = String.raw`(?![A-Za-z0-9$]|_\w|\.\d|-[0-9A-Fa-f]{4})`;

/** So many digits, grouped as numbers of any kind are. */
const digits = (count: number): RegExp =>
  new RegExp(`\\d(?:[ .()\\-/\u00a0\u2009\u202f\u2010-\u2013]{0,3}\\d){${count - 1}}`, 'g');

/** More than a date has. */
export const NUMBER = digits(9);
export const LONG_NUMBER = digits(12);

/** What stands before a match, at most `length` characters. */
export function before(match: RegExpExecArray, length = REACH): string {
  return match.input.slice(Math.max(0, match.index - length), match.index);
}

/** What follows it. */
export function after(match: RegExpExecArray, length = REACH): string {
  const end = match.index + match[0].length;
  return match.input.slice(end, end + length);
}

/**
 * A test for one of these words shortly before a match, or right behind it. Words stand alone or as part of a snake_case or dashed name
 * (`user_bsn`, `BSN-Nr`); a space in one stands for any such joint.
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

/** The engine's prefilter for such words: of each the longest part, so that "tax id", "tax_id" and "taxId" pass. */
export function keywordsOf(words: readonly string[]): string[] {
  const longest = words.map((word) => word.split(' ').reduce((a, b) => (b.length > a.length ? b : a)));
  return [...new Set(longest)];
}

/** Whether groups of four digits are part of a table: more such groups beside them, or code points in hex. */
export function inTable(match: RegExpExecArray): boolean {
  const [left, right] = [before(match, 16), after(match, 16)];
  const beside = `${/(?<!\d)(?:\d{4} ){1,3}$/.exec(left)?.[0] ?? ''}${/^(?: \d{4}){1,3}(?!\d)/.exec(right)?.[0] ?? ''}`;
  return (
    beside.length >= 10 ||
    /(?<!\S)[0-9A-F]{0,3}[A-F][0-9A-F]{0,3}(?!\S)/.test(`${left.slice(-12)}|${right.slice(0, 12)}`)
  );
}

/** The number itself: upper case, without what groups it. */
export const bare = (text: string): string => text.replace(/[\s.()/\u2010-\u2015-]/g, '').toUpperCase();

/** ISO/IEC 7812-1 annex B: cards, and the ids of a dozen countries. */
export function luhn(text: string): boolean {
  let sum = 0;
  for (let i = text.length - 1, twice = false; i >= 0; i--, twice = !twice) {
    const digit = Number(text[i]) * (twice ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** The remainder by 97 of a number too long for a double; letters count as 10 to 35 (ISO/IEC 7064). */
export function mod97(text: string): number {
  let rest = 0;
  for (const char of text) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
