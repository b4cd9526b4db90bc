import { keptPassphrase, openKey } from '../adapters/key.js';
import { refused, usage } from '../domain/error.js';
import type { Reserved } from '../domain/role.js';
import { checkText } from '../domain/text.js';
import { type Context, requireSupervisor } from './context.js';
import { repositoryRoots, requireKnown, supervisorKeys } from './supervisor-keys.js';

/** Who decided, and why: kept for good in the audit ledger. */
export interface Decision {
  by: string;
  reason: string;
}

/** LTM-14: only a human decides, at a terminal or with a key that is not in the repository, and says why. */
export function requireDecision(
  context: Context,
  what: string,
  reason: string | undefined,
  reserved: Reserved = 'memory',
): Decision {
  const by = requireHuman(context, what, reserved);
  if (reason === undefined)
    throw usage('reason.missing', `${what} needs a reason; it is kept in the audit ledger.`, {
      hint: 'add: --reason "…"',
    });
  return { by, reason: checkText(reason, { what: 'The reason', maxBytes: 4096 }) };
}

/** Who the human is: `terminal`, or `key` and its fingerprint. */
export function requireHuman(context: Context, what: string, reserved: Reserved): string {
  requireSupervisor(context, reserved);
  const { world } = context;
  const file = world.env.FORGE_SUPERVISOR_KEY;
  if (file) {
    const key = openKey(file, repositoryRoots(context), keptPassphrase(world.env));
    requireKnown(supervisorKeys(context), key);
    return `key ${key.fingerprint}`;
  }
  if (world.terminal) return 'terminal';
  throw refused('human.required', `${what} is for a human to decide; this is no terminal.`, {
    hint: 'ask a human, who runs it at a terminal, or with a key that no agent can read (README, "Trust")',
  });
}
