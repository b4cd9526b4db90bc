import type * as Re2 from 're2js';
import { oneLine } from './text.js';

/**
 * Regular expressions that come with a repository (RE2 syntax). One text is matched as a whole, in time that grows
 * with its length alone, so no pattern can make a check slow.
 */
export type Matcher = (text: string) => boolean;

const MAX_PATTERN = 200;
/** Instructions of a compiled pattern: `(?:a?){1000}` in a row would take seconds for one subject. */
const MAX_PROGRAM = 2000;

/**
 * The default, what `forge init` proposes, and words before `.*`: no text makes these slow for a native RegExp. Git
 * hooks save the time that re2js takes to load.
 */
const NATIVE = /^(?:\[A-Z\]\[A-Z0-9\]\*|[\w #-]*(?:\([\w|-]+\))?)[\w #-]*(?:\\d\+|\.\*)?$/;

/** Throws an Error whose message says what is wrong with the pattern. */
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

/** What of a RegExp a search through a text needs. Each match has its group `secret`. */
export type Search = Pick<RegExp, 'exec' | 'lastIndex' | 'sticky'>;

const MAX_SEARCH = 8000;

/** Searches instead of matching whole texts. The secret is `group`, or the first group that took part, as in gitleaks. */
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
      const secret = group > 0 ? parts[group] : parts.slice(1).find((part) => part !== '');
      const groups = { secret: secret || parts[0] };
      return Object.assign(parts, {
        index: matcher.start(),
        input: text,
        groups,
      }) as unknown as RegExpExecArray;
    },
  };
}

function compileRe2(source: string): Re2.RE2JS {
  const { RE2JS, RE2JSSyntaxException } = require('re2js') as typeof Re2;
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw error instanceof RE2JSSyntaxException ? new Error(describeProblem(error)) : error;
  }
}

/** Null when the pattern can be used, else what is wrong with it. */
export function patternProblem(source: string): string | null {
  try {
    compilePattern(source);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Syntax that other engines have and RE2 lacks, by its first characters. */
const MISSING: readonly [begin: RegExp, name: string][] = [
  [/^\(\?<?[=!]/, 'look-around'],
  [/^\\[1-9k]/, 'back-references'],
];

function describeProblem(error: Re2.RE2JSSyntaxException): string {
  const part = error.getPattern() ?? '';
  for (const [begin, name] of MISSING) {
    const found = begin.exec(part)?.[0];
    if (found)
      return `RE2 syntax has no ${name} ("${found}"): write how the whole text looks, as in "ABC-\\d+"`;
  }
  return part === '' ? error.getDescription() : `${error.getDescription()}: "${oneLine(part, 40)}"`;
}
