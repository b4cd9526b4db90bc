import type { Call, OptionSpec } from './spec.js';

/** Of what only a human decides (LTM-14). */
export const REASON: OptionSpec = {
  flags: '--reason <text>',
  help: 'why; it is kept in the audit ledger',
};

export const reasonOf = ({ options }: Call): { reason?: string } =>
  options.reason === undefined ? {} : { reason: options.reason as string };
