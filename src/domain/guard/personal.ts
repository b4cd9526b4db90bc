import { CARD_RULES } from './card.js';
import { EMAIL_RULES } from './email.js';
import { IBAN_RULES } from './iban.js';
import { NATIONAL_ID_RULES } from './national-id.js';
import { NETWORK_RULES } from './network.js';
import { PHONE_RULES } from './phone.js';
import type { Rule } from './rule.js';

/** What tells of a person: cards, accounts, ids, addresses and numbers. */
export const PERSONAL_RULES: readonly Rule[] = [
  ...CARD_RULES,
  ...IBAN_RULES,
  ...NATIONAL_ID_RULES,
  ...EMAIL_RULES,
  ...PHONE_RULES,
  ...NETWORK_RULES,
];
