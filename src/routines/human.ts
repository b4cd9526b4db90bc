import { keyFingerprint } from '../adapters/key.js';
import { refused, usage } from '../domain/error.js';
import { checkText } from '../domain/text.js';
import { type Context, requireSupervisor } from './context.js';

/** Who decided, and why: kept for good in the audit ledger. */
export interface Decision {
  by: string;
  reason: string;
}

/** LTM-14: only a human decides, at a terminal or with a key that is not in the repository, and says why. */
export function requireDecision(context: Context, what: string, reason: string | undefined): Decision {
  requireSupervisor(context, 'memory');
  const by = humanAt(context, what);
  if (reason === undefined)
    throw usage('reason.missing', `${what} needs a reason; it is kept in the audit ledger.`, {
      hint: 'add: --reason "…"',
    });
  return { by, reason: checkText(reason, { what: 'The reason', maxBytes: 4096 }) };
}

function humanAt({ world, layout }: Context, what: string): string {
  const key = world.env.FORGE_SUPERVISOR_KEY;
  if (key) return `key ${keyFingerprint(key, layout.root)}`;
  if (world.terminal) return 'terminal';
  throw refused('human.required', `${what} is for a human to decide; this is no terminal.`, {
    hint: 'ask a human, who runs it at a terminal, or with a key that no agent can read (README, "Trust")',
  });
}
