import { type ForgeError, refused, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type GuardFinding, halts } from '../guard/guard.js';
import { writeHalt } from '../project/halt.js';
import { type Context, timestamp } from '../project/project.js';
import { requireDecision } from './human.js';
import { type Open, openDamage } from './marks.js';
import { type RecordRef, readMemory, requireMemory, storeAudit } from './memory.js';
import { TIERS, type Tier } from './record.js';

/** Damage that is gone and that no human has looked at. */
export const readWaiting = (context: Context): Open[] => openDamage(readMemory(context).graph);

/** In one line. */
export const describeWaiting = ({ reasons }: Open): string =>
  `memory was damaged and is intact again (${oneLine(reasons[0] ?? '', 200)}); cycle, loop and promotion wait until a human has looked`;

const ACKNOWLEDGE = 'a human goes on with: forge memory override acknowledge --reason "…"';

/** What the person should know who begins to work all the same. */
export function warnWaiting(context: Context, [first]: readonly Open[]): void {
  if (first) context.warnings.push(`${capital(describeWaiting(first))}; ${ACKNOWLEDGE}`);
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Exit 3 `paused` while a human has to look. */
export function refuseWaiting(context: Context): void {
  const [first] = readWaiting(context);
  if (first)
    throw refused('paused', `${capital(describeWaiting(first))}; nothing was run.`, { hint: ACKNOWLEDGE });
}

/** LTM-13: what was refused is recorded, without its value, and halts where a human has to look. */
export async function recordBreach(context: Context, error: ForgeError): Promise<void> {
  if (context.disk.dryRun) return;
  const findings = (error.details.data?.findings ?? []) as GuardFinding[];
  const critical = findings.some((finding) => halts(context, finding));
  const reason = describeBreach(error.message);
  const named = { findings: findings.slice(0, MAX_NAMED), count: findings.length };
  tryStore(context, { kind: 'breach', critical, ...(critical ? { halts: true } : {}), reason, ...named });
  if (critical) halt(context, reason);
}

/** LTM-12: what a builder tried. Critical for its cycle; memory is as it was, so nothing halts. */
export async function recordDenied(context: Context, error: ForgeError, operation: string): Promise<void> {
  if (context.disk.dryRun) return;
  const { what } = error.details.data as { what: string };
  const reason = describeBreach(error.message);
  tryStore(context, { kind: 'breach', critical: true, code: error.code, what, operation, reason });
}

const MAX_NAMED = 20;

/** Failing to record it changes nothing about the refusal. */
function tryStore(context: Context, body: { kind: string; [field: string]: unknown }): void {
  try {
    storeAudit(context, body);
  } catch (cause) {
    context.warnings.push(`The refusal could not be recorded: ${(cause as Error).message}`);
  }
}

function halt(context: Context, reason: string): void {
  try {
    writeHalt(context.disk, { at: timestamp(context), reasons: [reason], isDamage: false });
  } catch {
    // Where nothing can be written, nothing needs to be halted.
  }
}

const describeBreach = (message: string): string =>
  message.replace(/; nothing was written\.$/, ' was refused');

export interface Reset {
  tier: Tier;
  /** Records that readers leave out from now on. They stay in the ledger. */
  count: number;
  audit: RecordRef;
}

/** LTM-14: a human begins a tier anew. What it had stays in the ledger and is read no more. */
export async function resetTier(
  context: Context,
  { tier: name, reason }: { tier: string | undefined; reason?: string },
): Promise<Reset> {
  const decision = requireDecision(context, 'Resetting a tier', reason);
  const tier = checkTier(name);
  requireMemory(context);
  return context.disk.withLock(() => {
    const memory = readMemory(context);
    const count = memory.records(tier).length;
    const subjects = memory.graph.heads();
    const audit = storeAudit(context, { kind: 'reset', reset: tier, count, subjects, ...decision });
    return { tier, count, audit };
  });
}

function checkTier(name: string | undefined): Tier {
  const tier = TIERS.find((known) => known === name);
  if (tier === 'audit')
    throw refused('reset.audit', 'The audit records cannot be reset: they say who did what to memory.', {
      hint: 'forge memory log --tier audit',
    });
  if (tier) return tier;
  const allowed = TIERS.filter((known) => known !== 'audit').join(' | ');
  throw usage(
    'tier.unknown',
    `Tier: found ${JSON.stringify(oneLine(name ?? '', 40))}, allowed: ${allowed}.`,
    { field: 'tier', hint: 'forge memory override reset note --reason "…"' },
  );
}
