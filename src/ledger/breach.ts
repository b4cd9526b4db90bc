import type { ForgeError } from '../core/error.js';
import { type GuardFinding, halts } from '../guard/guard.js';
import { writeHalt } from '../project/halt.js';
import { type Context, timestamp } from '../project/project.js';
import { storeAudit, surroundings } from './append.js';
import { forgetTier } from './store/state.js';

/**
 * LTM-13: what was refused is recorded, without its value, and halts where a human has to look. Failing that changes
 * nothing about the refusal.
 */
export async function recordBreach(context: Context, error: ForgeError): Promise<void> {
  if (context.disk.dryRun) return;
  const findings = (error.details.data?.findings ?? []) as GuardFinding[];
  const critical = findings.some((finding) => halts(context, finding));
  try {
    const named = { findings: findings.slice(0, MAX_NAMED), count: findings.length };
    const record = { kind: 'breach', critical, reason: describeBreach(error.message), ...named };
    storeAudit(context, await surroundings(context), record, { despite: true });
  } catch (cause) {
    context.warnings.push(`The refusal could not be recorded: ${(cause as Error).message}`);
  }
  if (critical) halt(context, error);
}

/** LTM-12: what a builder tried. Critical for its cycle; memory is not damaged, so nothing halts (docs/decisions/0014). */
export async function recordDenied(context: Context, error: ForgeError, operation: string): Promise<void> {
  if (context.disk.dryRun) return;
  try {
    const { what } = error.details.data as { what: string };
    const reason = describeBreach(error.message);
    const record = {
      kind: 'breach',
      critical: true,
      halts: false,
      code: error.code,
      what,
      operation,
      reason,
    };
    storeAudit(context, await surroundings(context), record, { despite: true });
  } catch (cause) {
    context.warnings.push(`The refusal could not be recorded: ${(cause as Error).message}`);
  }
}

const MAX_NAMED = 20;

function halt(context: Context, error: ForgeError): void {
  try {
    // The next look is a whole one, and finds the breach, whoever takes the halt away.
    context.disk.withLock(() => forgetTier(context.disk, 'audit'));
    writeHalt(context.disk, { at: timestamp(context), reasons: [describeBreach(error.message)] });
  } catch {
    // Where nothing can be written, nothing needs to be halted.
  }
}

const describeBreach = (message: string): string =>
  message.replace(/; nothing was written\.$/, ' was refused');
