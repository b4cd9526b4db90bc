import type { RuleGroup } from './rule.js';
import { aiRules } from './rules/ai.js';
import { azureRules } from './rules/azure.js';
import { chatRules } from './rules/chat.js';
import { cloudRules } from './rules/cloud.js';
import { dataRules } from './rules/data.js';
import { devtoolRules } from './rules/devtools.js';
import { genericRules } from './rules/generic.js';
import { hostRules } from './rules/hosts.js';
import { jwtRules, keyRules } from './rules/keys.js';
import { mailRules } from './rules/mail.js';
import { observabilityRules } from './rules/observability.js';
import { paymentRules } from './rules/payment.js';
import { placeRules } from './rules/places.js';
import { registryRules } from './rules/registries.js';
import { workRules } from './rules/work.js';

/** By functions of their own: what no text has needed a rule of is not even loaded. */
export const VENDOR_GROUPS: readonly RuleGroup[] = [
  () => keyRules(),
  () => hostRules(),
  () => cloudRules(),
  () => azureRules(),
  () => registryRules(),
  () => chatRules(),
  () => paymentRules(),
  () => aiRules(),
  () => mailRules(),
  () => observabilityRules(),
  () => dataRules(),
  () => devtoolRules(),
  () => workRules(),
];

/**
 * What no record may hold. Where several match, the first gives its name: what is known by its own form, then what is
 * known by the vendor's name beside it, then by its place, then by any name (`table.ts` puts them so).
 */
export const SECRET_GROUPS: readonly RuleGroup[] = [
  ...VENDOR_GROUPS,
  () => jwtRules(),
  () => placeRules(),
  () => genericRules(),
];
