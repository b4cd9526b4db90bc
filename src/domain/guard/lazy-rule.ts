import type { Rule } from './rule.js';

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
