import { cardRules } from './card.js';
import { emailRules } from './email.js';
import { ibanRules } from './iban.js';
import { NATIONAL_ID_GROUPS } from './national-id.js';
import { networkRules } from './network.js';
import { phoneRules } from './phone.js';
import type { RuleGroup } from './rule.js';

/** What tells of a person: cards, accounts, ids, addresses and numbers. */
export const PERSONAL_GROUPS: readonly RuleGroup[] = [
  () => cardRules(),
  () => ibanRules(),
  ...NATIONAL_ID_GROUPS,
  () => emailRules(),
  () => phoneRules(),
  () => networkRules(),
];
