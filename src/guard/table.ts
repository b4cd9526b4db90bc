import { nationalIdRules } from './national-id.js';
import { cardRules, contactRules, ibanRules } from './personal.js';
import { proprietaryRules } from './proprietary.js';
import type { Rule } from './rule.js';
import { invisibleRules } from './rules/invisible.js';
import { secretRules } from './secret-rules.js';

/** Personal data: cards, accounts, ids, addresses and numbers. */
export const personalRules = (): readonly Rule[] => [
  ...cardRules(),
  ...ibanRules(),
  ...nationalIdRules(),
  ...contactRules(),
];

const tables = new Map<string, readonly Rule[]>();

/**
 * All rules (docs/guard.md). Copyright lines that name one of the owners are not foreign. Added rules come last, so they
 * neither replace nor rename a finding of forge's own rules.
 */
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
