import type { Rule } from './rule.js';

/** A prefilter: so many digits, as numbers of any kind are grouped. */
const digits = (count: number): RegExp =>
  new RegExp(`\\d(?:[ .()\\-/\u00a0\u2009\u202f\u2010-\u2013]{0,3}\\d){${count - 1}}`);

/** More than a date has, which nearly every text bears. */
export const NINE_DIGITS = digits(9);
export const TWELVE_DIGITS = digits(12);

/** A rule whose pattern is made when first asked for: most texts have none of its keywords, and a start must be quick. */
export function lazyRule(rule: Omit<Rule, 'pattern'>, make: () => RegExp): Rule {
  let pattern: RegExp | undefined;
  return {
    ...rule,
    get pattern() {
      pattern ??= make();
      return pattern;
    },
  };
}
