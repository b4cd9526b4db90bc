import { type Hit, lazyRule, type Rule } from './rule.js';
import { CODE, HEADERS, NEUTRAL, NO_CODE, OPEN_LICENSE } from './rules/notices.js';

/** How far from a header its license may be, in characters: the whole text of MIT or BSD. */
const NEIGHBORHOOD = 1500;

/** How far around a keyword a header may be; its license follows. */
const REACH = [600, NEIGHBORHOOD + 700] as const;

function around(match: RegExpExecArray): string {
  const { index, input } = match;
  return input.slice(Math.max(0, index - NEIGHBORHOOD), index + match[0].length + NEIGHBORHOOD);
}

type Accept = (text: string, match: RegExpExecArray) => boolean;

/**
 * A header is not foreign if it or a copyright line near it names one of the owners. An open license excuses a copyright
 * line, but not a confidentiality notice.
 */
function foreign(owners: readonly string[], id: string): Accept {
  const ours = owners.map((owner) => owner.trim().toLowerCase()).filter((owner) => owner !== '');
  const named = (text: string): boolean => ours.some((owner) => text.toLowerCase().includes(owner));
  return (text, match) => {
    const near = around(match);
    // A copyright line alone is a quotation. It counts only near code and without an open license.
    if (id === 'copyright' && (OPEN_LICENSE.test(near) || countCode(near) < 3)) return false;
    if (ours.length === 0) return true;
    const rest = match.input.slice(match.index, match.index + text.length + 200).split('\n', 1);
    return !named(
      [...rest, ...near.split('\n').filter((line) => /copyright|©|\(c\)|property of/i.test(line))].join('\n'),
    );
  };
}

/** Headers of proprietary text, other than those of the owners. */
export function proprietaryRules(owners: readonly string[]): readonly Rule[] {
  return HEADERS.map(({ id, what, keywords, anchor, pattern, flags, isHeading }) => {
    const isForeign = foreign(owners, id);
    return lazyRule(
      {
        id: `proprietary-${id}`,
        class: 'proprietary',
        what,
        source: 'https://spdx.github.io/spdx-spec/v2.3/other-licensing-information-detected/',
        keywords,
        ...(anchor ? { anchor } : {}),
        reach: REACH,
        accept: (text, match) =>
          (!isHeading || /I[Nn][Tt][Ee][Rr]/.test(text) || match.index < 200) && isForeign(text, match),
      },
      () => new RegExp(pattern, flags),
    );
  });
}

/** A run of code this long in a note is a copy of a file, not a quotation. */
const MIN_LINES = 20;
const MIN_CODE = 12;
const MAX_LINE = 400;

export const LONG_CODE: Pick<Hit, 'rule' | 'class' | 'what'> = {
  rule: 'proprietary-long-code',
  class: 'proprietary',
  what: 'long run of source code',
};

/** One letter for a line: code, neutral, blank or other. */
function kindOf(line: string): 'c' | 'n' | 'b' | 'o' {
  const text = line.slice(0, MAX_LINE).trim();
  if (NEUTRAL.test(text)) return text === '' ? 'b' : 'n';
  if (NO_CODE.test(text)) return 'o';
  return CODE.some((pattern) => pattern.test(text)) ? 'c' : 'o';
}

/** How many lines of a text can only be code. */
const countCode = (text: string): number => text.split('\n').filter((line) => kindOf(line) === 'c').length;

/** The first run of 20 or more lines of source code in free text, or null. Three other lines end a run. */
export function findLongCode(text: string): { start: number; end: number } | null {
  const lines = text.split('\n');
  let at = 0;
  const kinds = lines.map(kindOf).join('');
  for (const part of kinds.split(/(o[nb]*o[nb]*o)/)) {
    // A closing brace continues code but does not start it.
    const found = /c(?:.*c)?(?:[nb]*n)?/.exec(part);
    const run = found?.[0] ?? '';
    const count = (kind: string): number => run.split(kind).length - 1;
    if (run.length >= MIN_LINES && count('c') >= MIN_CODE && count('c') >= 2 * count('o')) {
      const from = at + (found?.index ?? 0);
      const start = lines.slice(0, from).join('\n').length + Math.min(from, 1);
      return { start, end: start + lines.slice(from, from + run.length).join('\n').length };
    }
    at += part.length;
  }
  return null;
}
