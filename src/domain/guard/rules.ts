import { AI_RULES } from './rules/ai.js';
import { AZURE_RULES } from './rules/azure.js';
import { CHAT_RULES } from './rules/chat.js';
import { CLOUD_RULES } from './rules/cloud.js';
import { DATA_RULES } from './rules/data.js';
import { DEVTOOL_RULES } from './rules/devtools.js';
import { HOST_RULES } from './rules/hosts.js';
import { MAIL_RULES } from './rules/mail.js';
import { OBSERVABILITY_RULES } from './rules/observability.js';
import { PAYMENT_RULES } from './rules/payment.js';
import { REGISTRY_RULES } from './rules/registries.js';
import { WORK_RULES } from './rules/work.js';
export const SECRET_RULES = [
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
