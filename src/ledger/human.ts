import { usage } from '../core/error.js';
import { agentMark, type Reserved } from '../core/role.js';
import { checkText } from '../core/text.js';
import { type Context, humanRequired, requireSupervisor } from '../project/project.js';

/** Who decided, and why: kept for good in the audit ledger. */
export interface Decision {
  by: 'terminal';
  reason: string;
}

/** LTM-14: a human decides, at a terminal, and gives a reason. Exit 3 `human.required`; exit 2 `reason.missing`. */
export function requireDecision(
  context: Context,
  what: string,
  reason: string | undefined,
  reserved: Reserved = 'memory',
): Decision {
  requireHuman(context, what, reserved);
  if (reason === undefined)
    throw usage('reason.missing', `${what} needs a reason; it is kept in the audit ledger.`, {
      hint: 'add: --reason "…"',
    });
  return { by: 'terminal', reason: checkText(reason, { what: 'The reason', maxBytes: 4096 }) };
}

function requireHuman(context: Context, what: string, reserved: Reserved): void {
  requireSupervisor(context, reserved);
  const { terminal, env } = context.world;
  if (terminal) return;
  const mark = agentMark(env);
  throw humanRequired(
    what,
    mark === null ? 'there is no terminal' : `${mark} is set, so an agent runs this command`,
  );
}
