import type { Rule } from './rule.js';

/** Six digits, as numbers of any kind are grouped. */
export const DIGITS = /\d(?:[ .()\-/\u00a0\u2009\u202f\u2010-\u2013]{0,3}\d){5}/;

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
