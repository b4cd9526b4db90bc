import { INVISIBLE_RULES } from './invisible.js';
import { PERSONAL_RULES } from './personal.js';
import { PROPRIETARY_RULES, proprietaryRules } from './proprietary.js';
import type { Rule } from './rule.js';
import { SECRET_RULES } from './rules.js';

const RULES = [...SECRET_RULES, ...PERSONAL_RULES, ...PROPRIETARY_RULES, ...INVISIBLE_RULES];

const tables = new Map<string, readonly Rule[]>();

/** All rules there are (docs/guard.md); copyright lines that name one of the owners are no foreign ones. */
export function guardRules(owners: readonly string[] = []): readonly Rule[] {
  if (owners.length === 0) return RULES;
  const key = owners.join('\n');
  const known = tables.get(key);
  if (known) return known;
  const table = [...SECRET_RULES, ...PERSONAL_RULES, ...proprietaryRules(owners), ...INVISIBLE_RULES];
  tables.set(key, table);
  return table;
}
