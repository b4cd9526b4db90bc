import { nationalIdRules } from './national-id.js';
import { cardRules, contactRules, ibanRules } from './personal.js';
import { proprietaryRules } from './proprietary.js';
import type { Rule } from './rule.js';
import { invisibleRules } from './rules/invisible.js';
import { secretRules } from './secret-rules.js';

export const personalRules = (): readonly Rule[] => [
  ...cardRules(),
  ...ibanRules(),
  ...nationalIdRules(),
  ...contactRules(),
];

const tables = new Map<string, readonly Rule[]>();

/** All rules (docs/guard.md). Added rules come last, so they never replace or rename a finding of the built-in rules. */
export function guardRules(owners: readonly string[] = [], added: readonly Rule[] = []): readonly Rule[] {
  const key = owners.join('\n');
  const rules = tables.get(key) ?? [
    ...secretRules(),
    ...personalRules(),
    ...proprietaryRules(owners),
    ...invisibleRules(),
  ];
  tables.set(key, rules);
  return added.length === 0 ? rules : [...rules, ...added];
}
