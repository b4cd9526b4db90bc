import type { Rule } from './rule.js';
import { AI_RULES } from './rules/ai.js';
import { AZURE_RULES } from './rules/azure.js';
import { CHAT_RULES } from './rules/chat.js';
import { CLOUD_RULES } from './rules/cloud.js';
import { DATA_RULES } from './rules/data.js';
import { DEVTOOL_RULES } from './rules/devtools.js';
import { GENERIC_RULES } from './rules/generic.js';
import { HOST_RULES } from './rules/hosts.js';
import { JWT_RULE, KEY_RULES } from './rules/keys.js';
import { MAIL_RULES } from './rules/mail.js';
import { OBSERVABILITY_RULES } from './rules/observability.js';
import { PAYMENT_RULES } from './rules/payment.js';
import { PLACE_RULES } from './rules/places.js';
import { REGISTRY_RULES } from './rules/registries.js';
import { WORK_RULES } from './rules/work.js';

const VENDORS: readonly Rule[] = [
  ...KEY_RULES,
  ...HOST_RULES,
  ...CLOUD_RULES,
  ...AZURE_RULES,
  ...REGISTRY_RULES,
  ...CHAT_RULES,
  ...PAYMENT_RULES,
  ...AI_RULES,
  ...MAIL_RULES,
  ...OBSERVABILITY_RULES,
  ...DATA_RULES,
  ...DEVTOOL_RULES,
  ...WORK_RULES,
];

/**
 * What no record may hold. Where several match, the first gives its name: what is known by its own form, then what is
 * known by the vendor's name beside it, then by its place, then by any name.
 */
export const SECRET_RULES: readonly Rule[] = [
  ...VENDORS.filter((rule) => !rule.isLoose),
  ...VENDORS.filter((rule) => rule.isLoose),
  JWT_RULE,
  ...PLACE_RULES,
  ...GENERIC_RULES,
];
