import { readHalt } from '../project/halt.js';
import { type Context, warnFileSystem } from '../project/project.js';
import { reportTiers, type TierReport } from './inspect.js';
import { settleMemory } from './integrity.js';
import type { LookOptions } from './look.js';
import type { Restored } from './restore.js';
import { type Finding, isDamage } from './rules/finding.js';
import type { Tier } from './rules/record.js';
import { scanMemory } from './scan.js';
import { type SignatureReport, verifySignatures } from './signatures.js';

/** The answer of a verification. */
export interface Integrity {
  /**
   * `secret`: intact, but the guard would refuse some of it today, or it was redacted and is back. `unproven`: intact, but
   * some knowledge came without its evidence.
   */
  status: 'intact' | 'corrupted' | 'halted' | 'secret' | 'unproven';
  tiers: TierReport[];
  notes: string[];
  problems: Finding[];
  /** What was put back on the way. */
  restored: Restored[];
  /** With `signatures`: who vouched for what. */
  signatures?: SignatureReport[];
}

/** LTM-04: everything, read anew. Puts back what git took from this working tree; what a commit dropped is reported. */
export async function verifyMemory(
  context: Context,
  input: { tier?: Tier; scan?: boolean; signatures?: boolean } = {},
  options: LookOptions = {},
): Promise<Integrity> {
  warnFileSystem(context);
  const { inspection, restored } = await settleMemory(context, 'journal', true, options);
  const secrets = input.scan ? await scanMemory(context, inspection.cut, options) : [];
  const wanted = ({ tier }: Finding): boolean => input.tier === undefined || tier === input.tier;
  const signed = input.signatures ? await verifySignatures(context, inspection.look) : null;
  const problems = [
    ...inspection.findings,
    ...(signed?.findings ?? []),
    ...secrets,
    ...inspection.unproven,
  ].filter(wanted);
  return {
    status: statusOf(problems, readHalt(context.disk) !== null),
    tiers: reportTiers(context, inspection).filter(
      ({ tier }) => input.tier === undefined || tier === input.tier,
    ),
    notes: inspection.notes,
    problems,
    restored,
    ...(signed ? { signatures: signed.signatures } : {}),
  };
}

function statusOf(problems: readonly Finding[], isHalted: boolean): Integrity['status'] {
  if (problems.some(isDamage)) return 'corrupted';
  if (isHalted) return 'halted';
  if (problems.some(({ code }) => code !== 'unproven')) return 'secret';
  return problems.length > 0 ? 'unproven' : 'intact';
}
