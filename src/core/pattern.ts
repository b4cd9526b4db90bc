import type * as Re2 from 're2js';
import { oneLine } from './text.js';

/** A pattern from a repository, in RE2 syntax. It matches a whole text in time linear in its length. */
export type Matcher = (text: string) => boolean;

const MAX_PATTERN = 200;
/** Compiled instructions: repeats of `(?:a?){1000}` would take seconds. */
const MAX_PROGRAM = 2000;
const MAX_SEARCH = 8000;

/** The patterns that `forge init` proposes and words before `.*`: RegExp is safe for them, and hooks load no re2js. */
const NATIVE = /^(?:\[A-Z\]\[A-Z0-9\]\*|[\w #-]*(?:\([\w|-]+\))?)[\w #-]*(?:\\d\+|\.\*)?$/;

/** Throws an Error that explains what is wrong with the pattern. */
export function compilePattern(source: string): Matcher {
  if (source.length > MAX_PATTERN) throw new Error(`more than ${MAX_PATTERN} characters`);
  if (NATIVE.test(source)) {
    const pattern = new RegExp(`^(?:${source})$`, 's');
    return (text) => pattern.test(text);
  }
  const pattern = compileRe2(source);
  if (pattern.programSize() > MAX_PROGRAM) throw new Error('its counts add up to too much: use "*" or "+"');
  return (text) => pattern.testExact(text);
}

/** Null for a valid pattern, else what is wrong with it. */
export function patternProblem(source: string): string | null {
  try {
    compilePattern(source);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The part of RegExp that a search needs. Each match has a group named `secret`. */
export type Search = Pick<RegExp, 'exec' | 'lastIndex' | 'sticky'>;

/** Searches a text. As in gitleaks, the secret is `group`, or the first group that is not empty. */
export function compileSearch(source: string, group = 0): Search {
  if (source.length > MAX_SEARCH) throw new Error(`more than ${MAX_SEARCH} characters`);
  const pattern = compileRe2(source);
  return {
    sticky: false,
    lastIndex: 0,
    exec(text) {
      const matcher = pattern.matcher(text);
      const isFound = this.lastIndex <= text.length && matcher.find(this.lastIndex);
      this.lastIndex = isFound ? matcher.end() : 0;
      if (!isFound) return null;
      const parts = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? '');
      const secret = (group > 0 ? parts[group] : parts.slice(1).find((part) => part !== '')) || parts[0];
      const match = { index: matcher.start(), input: text, groups: { secret } };
      return Object.assign(parts, match) as unknown as RegExpExecArray;
    },
  };
}

function compileRe2(source: string): Re2.RE2JS {
  const { RE2JS, RE2JSSyntaxException } = require('re2js') as typeof Re2;
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const part = error.getPattern() ?? '';
    throw new Error(`RE2 syntax: ${error.getDescription()}${part === '' ? '' : `: "${oneLine(part, 40)}"`}`);
  }
}
