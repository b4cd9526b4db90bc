import { countCode } from './long-code.js';
import { lazyRule, type Rule } from './rule.js';
import { HEADERS, OPEN_LICENCE } from './rules/notices.js';

/** How far around a header its licence may stand: MIT's and BSD's whole text. */
const NEIGHBOURHOOD = 1500;

function around(match: RegExpExecArray): string {
  const { index, input } = match;
  return input.slice(Math.max(0, index - NEIGHBOURHOOD), index + match[0].length + NEIGHBOURHOOD);
}

type Accept = (text: string, match: RegExpExecArray) => boolean;

/**
 * None is foreign that names one of ours: in its own line, or in a copyright line beside it. An open licence beside it
 * speaks for a copyright line only: what calls itself confidential is not opened by it.
 */
function foreign(owners: readonly string[], id: string): Accept {
  const ours = owners.map((owner) => owner.trim().toLowerCase()).filter((owner) => owner !== '');
  const named = (text: string): boolean => ours.some((owner) => text.toLowerCase().includes(owner));
  return (text, match) => {
    const near = around(match);
    // A copyright line alone is a quotation. It needs code beside it, and no open licence.
    if (id === 'copyright' && (OPEN_LICENCE.test(near) || countCode(near) < 3)) return false;
    if (ours.length === 0) return true;
    const rest = match.input.slice(match.index, match.index + text.length + 200).split('\n', 1);
    return !named(
      [...rest, ...near.split('\n').filter((line) => /copyright|©|\(c\)|property of/i.test(line))].join('\n'),
    );
  };
}

/** Headers that say a text is someone's own. Not counted: a copyright line of one of the owners, or a header near an open license. */
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
        accept: (text, match) =>
          (!isHeading || /I[Nn][Tt][Ee][Rr]/.test(text) || match.index < 200) && isForeign(text, match),
      },
      () => new RegExp(pattern, flags),
    );
  });
}
