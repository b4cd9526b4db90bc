import { refused, usage } from '../core/error.js';
import type { Reserved } from '../core/role.js';
import { checkText } from '../core/text.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { keptPassphrase, type OpenKey, openKey } from './key.js';
import { repositoryRoots, requireKnown, supervisorKeys } from './supervisor-keys.js';

/** Who decided, and why: kept for good in the audit ledger. */
export interface Decision {
  by: string;
  reason: string;
}

export interface HumanOptions {
  /** Of the key that FORGE_SUPERVISOR_KEY names. */
  passphrase?: string | undefined;
  /** A key that decides although nobody has named it yet. */
  accepts?: (key: OpenKey) => boolean;
}

/** LTM-14: only a human decides, at a terminal or with a key that is not in the repository, and says why. */
export function requireDecision(
  context: Context,
  what: string,
  reason: string | undefined,
  reserved: Reserved = 'memory',
  options: HumanOptions = {},
): Decision {
  const by = requireHuman(context, what, reserved, options);
  if (reason === undefined)
    throw usage('reason.missing', `${what} needs a reason; it is kept in the audit ledger.`, {
      hint: 'add: --reason "…"',
    });
  return { by, reason: checkText(reason, { what: 'The reason', maxBytes: 4096 }) };
}

/** Who the human is: `terminal`, or `key` and its fingerprint. */
export function requireHuman(
  context: Context,
  what: string,
  reserved: Reserved,
  { passphrase, accepts }: HumanOptions = {},
): string {
  requireSupervisor(context, reserved);
  const { world } = context;
  const file = world.env.FORGE_SUPERVISOR_KEY;
  if (file) {
    const key = openKey(file, repositoryRoots(context), passphrase ?? keptPassphrase(world.env));
    const keys = supervisorKeys(context);
    // Where no key is named, one that somebody has says nothing: the terminal does.
    if (keys.length === 0 && world.terminal) return 'terminal';
    if (accepts?.(key) !== true) requireKnown(keys, key);
    return `key ${key.fingerprint}`;
  }
  if (world.terminal) return 'terminal';
  throw refused('human.required', `${what} is for a human to decide; this is no terminal.`, {
    hint: 'ask a human, who runs it at a terminal, or with a key that no agent can read (README, "Trust")',
  });
}
