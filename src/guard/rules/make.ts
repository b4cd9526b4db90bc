import { lazyRule } from '../lazy-rule.js';
import { looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';

export const HEX = '[0-9a-f]';
export const ALNUM = '[A-Za-z0-9]';
/** Base64's URL-safe alphabet. */
export const URL64 = '[\\w-]';
export const STD64 = '[A-Za-z0-9+/]';
export const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

const literally = (literal: string): string => literal.replace(/[.$+*?|()[\]{}\\/]/g, '\\$&');

type Accept = (body: string, match: RegExpExecArray) => boolean;

/** A token that is known by how it begins: one of the literal prefixes, then a body that looks random. */
export function token(
  id: string,
  what: string,
  source: string,
  prefixes: string | readonly string[],
  body: string,
  accept: Accept = looksRandom,
): Rule {
  const literals = [prefixes].flat();
  const start = literals.map(literally).join('|');
  const keywords = literals.map((literal) => literal.toLowerCase());
  return lazyRule(
    {
      id,
      class: 'secret',
      what,
      source,
      keywords,
      accept: (_secret, match) => accept(match.groups?.['body'] ?? '', match),
    },
    () => new RegExp(`(?<![A-Za-z0-9])(?:${start})(?<body>${body})(?![A-Za-z0-9])`, 'g'),
  );
}

/**
 * A token with its mark, a word or a form, in the middle or at the end: the whole match must look random.
 */
export function marked(
  id: string,
  what: string,
  source: string,
  marks: string | readonly string[] | RegExp,
  body: string,
  accept: Accept = looksRandom,
): Rule {
  const keywords = marks instanceof RegExp ? [] : [marks].flat().map((mark) => mark.toLowerCase());
  const requires = marks instanceof RegExp ? { requires: marks } : {};
  return lazyRule(
    { id, class: 'secret', what, source, keywords, ...requires, accept },
    () => new RegExp(`(?<![A-Za-z0-9])${body}(?![A-Za-z0-9])`, 'g'),
  );
}

const CREDENTIAL =
  /key|token|secret|pass|auth|api|bearer|cred|(?:\b|_)pat(?:\b|_)|license|pw|login|webhook|dsn/i;
const DIGEST = /sha-?\d|sha\b|commit|hash|digest|md5|checksum|integrity|etag|revision|\bid\b/i;

/** Between the name and the value stands a word for a credential, or next to nothing. */
function isAssigned(match: RegExpExecArray): boolean {
  const before = match[0].slice(0, match[0].lastIndexOf(match.groups?.['secret'] ?? ''));
  if (DIGEST.test(match.groups?.['gap'] ?? '')) return false;
  return (
    CREDENTIAL.test(before) ||
    /^["'`)\]]{0,2}\s{0,4}(?:[:=]|=>|is|)\s{0,4}["'`]?$/.test(match.groups?.['gap'] ?? '')
  );
}

/** A token without a mark of its own: the vendor's name must stand at most 48 characters before it. */
export function near(
  id: string,
  what: string,
  source: string,
  names: string | readonly string[],
  body: string,
  accept: Accept = looksRandom,
): Rule {
  const keywords = [names].flat();
  const start = keywords.map(literally).join('|');
  return lazyRule(
    {
      id,
      class: 'secret',
      what,
      source,
      keywords,
      accept: (secret, match) => isAssigned(match) && accept(secret, match),
      isLoose: true,
    },
    () =>
      new RegExp(
        `(?:${start})(?<gap>[\\s\\S]{0,48}?)(?<![\\w.+/-])(?<secret>${body})(?![\\w+/-]|=[\\w=])`,
        'gi',
      ),
  );
}

/** A URL that is a credential by itself. */
export const webhook = (
  id: string,
  what: string,
  source: string,
  keyword: string,
  pattern: RegExp,
): Rule => ({
  id,
  class: 'secret',
  what,
  source,
  keywords: [keyword],
  pattern,
  accept: looksRandom,
});
