import { type ForgeError, refused } from './error.js';

/**
 * What LTM-12 keeps from a BUILDER (the role that forge gives to what it launches): it works, it does not decide what
 * is known, what may run, or how forge is set up.
 */
export type Reserved = 'knowledge' | 'memory' | 'trust' | 'config';

export const isBuilder = (env: Record<string, string | undefined>): boolean =>
  env.FORGE_ROLE?.trim().toLowerCase() === 'builder';

export const deniedToBuilder = (what: Reserved): ForgeError =>
  refused('role.denied', `A builder may not change ${what}; nothing was written.`, {
    hint: 'Whoever supervises this work does it, without FORGE_ROLE=builder.',
  });
