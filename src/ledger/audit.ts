import { type ForgeError, refused, usage } from '../core/error.js';
import { checkText, oneLine, oneOf } from '../core/text.js';
import { type GuardFinding, halts } from '../guard/guard.js';
import {
  type Context,
  humanRequired,
  refuseAgent,
  requireSupervisor,
  timestamp,
  writeHalt,
} from '../project/project.js';
import { type OpenReview, openDamage } from './graph.js';
import { ACCEPT, readMemory, storeAudit } from './memory.js';
import { TIERS, type Tier } from './record.js';

/** Who decided, and why. Kept permanently in the audit tier. */
export interface Decision {
  by: 'terminal';
  reason: string;
}

/** LTM-14: a human decides, at a terminal. Exit 3 `human.required`. */
export function requireHuman(context: Context, what: string): void {
  requireSupervisor(context, 'memory');
  refuseAgent(context, what);
  if (!context.world.terminal) throw humanRequired(what, 'there is no terminal');
}

/** LTM-14: a human decides, and gives a reason. Exit 2 `reason.missing`. */
export function requireDecision(context: Context, what: string, reason: string | undefined): Decision {
  requireHuman(context, what);
  if (reason === undefined)
    throw usage('reason.missing', `${what} needs a reason; it is kept in the audit ledger.`, {
      hint: 'add: --reason "TEXT"',
    });
  return { by: 'terminal', reason: checkText(reason, { what: 'The reason', maxBytes: 4096 }) };
}

/** Damage that is gone but that no human has reviewed. */
export const readUnreviewed = (context: Context): OpenReview[] => openDamage(readMemory(context).graph);

export const describeUnreviewed = ({ reasons }: OpenReview): string =>
  `Memory was damaged and is intact again (${oneLine(reasons[0] ?? '', 200)}); cycle, loop and promotion wait for a human's review`;

/** A warning for work that does not wait. */
export function warnUnreviewed(context: Context, [first]: readonly OpenReview[]): void {
  if (first) context.warnings.push(`${describeUnreviewed(first)}: ${ACCEPT}`);
}

/** Exit 3 `paused` until a human has reviewed the damage. */
export function requireReviewed(context: Context): void {
  const [first] = readUnreviewed(context);
  if (!first) return;
  const hint = `a human continues with: ${ACCEPT}`;
  throw refused('paused', `${describeUnreviewed(first)}; nothing was run.`, { hint });
}

/** LTM-13: records what was refused, without its value, and halts if it is critical. */
export function recordBreach(context: Context, error: ForgeError): void {
  const findings = (error.details.data?.findings ?? []) as GuardFinding[];
  const critical = findings.some((finding) => halts(context, finding));
  const reason = describeBreach(error);
  const named = { findings: findings.slice(0, MAX_NAMED), count: findings.length };
  storeBreach(context, { critical, ...(critical ? { halts: true } : {}), reason, ...named });
  if (!critical || context.disk.dryRun) return;
  try {
    writeHalt(context.disk, { at: timestamp(context), reasons: [reason], isDamage: false });
  } catch {
    // A place that cannot be written needs no halt.
  }
}

/** LTM-12: records what a builder attempted. Critical for its cycle, but memory is unchanged, so nothing halts. */
export function recordDenied(context: Context, error: ForgeError, operation: string): void {
  const { what } = error.details.data as { what: string };
  storeBreach(context, { critical: true, code: error.code, what, operation, reason: describeBreach(error) });
}

const MAX_NAMED = 20;

/** The refusal holds even if it cannot be recorded. */
function storeBreach(context: Context, facts: object): void {
  if (context.disk.dryRun) return;
  try {
    storeAudit(context, { kind: 'breach', ...facts });
  } catch (cause) {
    context.warnings.push(`The refusal could not be recorded: ${(cause as Error).message}`);
  }
}

const describeBreach = ({ message }: ForgeError): string =>
  `refused: ${message.replace(/; nothing was written\.$/, '')}`;

export type Reset = Awaited<ReturnType<typeof resetTier>>;

/** LTM-14: a human resets a tier. Its records stay in the ledger but are no longer read. */
export async function resetTier(
  context: Context,
  { tier: name, reason }: { tier: string | undefined; reason?: string },
) {
  const decision = requireDecision(context, 'Resetting a tier', reason);
  const tier = checkTier(name);
  return context.disk.withLock(() => {
    const memory = readMemory(context);
    const count = memory.records(tier).length;
    const subjects = memory.graph.heads();
    const audit = storeAudit(context, { kind: 'reset', reset: tier, count, subjects, ...decision });
    return { tier, count, audit };
  });
}

function checkTier(name = ''): Tier {
  if (name === 'audit')
    throw refused('reset.audit', 'Audit records cannot be reset: they keep who did what to memory.', {
      hint: 'forge memory log --tier audit',
    });
  const allowed = TIERS.filter((tier) => tier !== 'audit');
  const hint = 'forge memory override reset note --reason "TEXT"';
  return oneOf(allowed, name, 'Tier', 'tier.unknown', { hint });
}
