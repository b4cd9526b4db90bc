import { isBuilder } from '../core/environment.js';
import { corrupted, usage } from '../core/error.js';
import { shown } from '../core/paths.js';
import { type Context, clearHalt, readHalt, refuseHalted, timestamp, writeHalt } from '../project/project.js';
import { requireDecision } from './audit.js';
import { describeFinding, type Finding, meaningOf, ofLevel, stateOf } from './compare.js';
import { ledgerFolder } from './files.js';
import { type Graph, openDamage, openHalts } from './graph.js';
import { ACCEPT, type RecordRef, readMemory, readSize, storeAudit } from './memory.js';
import { TIERS, type Tier } from './record.js';
import { type Verdict, verify } from './verify.js';

/** `removed`: records are missing, and the finding says how. `secret`: something stored must be redacted. */
export type Status = ReturnType<typeof stateOf> | 'halted';

export function statusOf({ disk }: Context, findings: readonly Finding[]): Status {
  const state = stateOf(findings);
  return state !== 'corrupted' && readHalt(disk) ? 'halted' : state;
}

export type TierReport = ReturnType<typeof reportTiers>[number];

/** The findings that need a person. */
export const problemsOf = ({ findings }: Verdict): Finding[] =>
  ofLevel(findings, 'damage', 'returned', 'finding');

export const notesOf = ({ findings }: Verdict): string[] => ofLevel(findings, 'note').map(describeNote);

/** With the command that settles it, if it needs one. */
export const describeNote = (note: Finding): string =>
  [describeFinding(note), note.hint].filter(Boolean).join(': ');

/** The findings that halt writing. */
export const damageOf = ({ findings }: Verdict): Finding[] => ofLevel(findings, 'damage');

export function reportTiers({ layout }: Context, { snapshot: { graph } }: Verdict) {
  const heads = new Set(graph.heads());
  return TIERS.map((tier) => {
    const own = graph.containers.filter(({ tiers }) => tiers[tier]);
    const last = own.flatMap(({ lastTier, ids }) => (lastTier === tier ? (ids.at(-1) ?? []) : []));
    return {
      tier,
      ...sumOf(graph, tier),
      heads: [...new Set(last.filter((id) => heads.has(id)))].sort(),
      containers: own.map(({ name }) => shown(layout, `${ledgerFolder(layout)}/${name}`)),
    };
  });
}

/** A chain in several files counts once. */
function sumOf({ bySegment }: Graph, tier: Tier): { records: number; bytes: number } {
  const sum = { records: 0, bytes: 0 };
  for (const containers of bySegment.values()) {
    const sums = containers.flatMap(({ tiers }) => tiers[tier] ?? []);
    const most = sums.sort((a, b) => b.records - a.records)[0];
    sum.records += most?.records ?? 0;
    sum.bytes += most?.bytes ?? 0;
  }
  return sum;
}

/**
 * LTM-05: verifies, puts back what is missing, and halts writing on damage. Ends a halt whose damage is gone and records
 * what it was.
 */
export async function verifyAndRepair(context: Context): Promise<Verdict> {
  // A builder writes no memory (LTM-12), so it puts nothing back.
  const isReadOnly = context.disk.dryRun || isBuilder(context.world.env);
  const verdict = await verify(context, { isReadOnly });
  const isEnded = !context.disk.dryRun && updateHalt(context, verdict);
  return isEnded ? { ...verdict, waiting: openDamage(readMemory(context).graph) } : verdict;
}

/** Before a session and every governed cycle: the same, and exit 4 unless memory is intact. */
export async function requireVerified(context: Context, { isEnd = false } = {}): Promise<Verdict> {
  const verdict = await verifyAndRepair(context);
  refuseDamage(verdict);
  // The commit of an end changes what to type about a problem.
  for (const finding of verdict.findings)
    if (meaningOf(finding.code).isNews || (!isEnd && meaningOf(finding.code).level !== 'note'))
      context.warnings.push(describeNote(finding));
  const halt = readHalt(context.disk);
  if (halt)
    throw corrupted('memory.corrupted', `Memory is halted: ${halt.reasons[0]}.`, {
      hint: `${ACCEPT}   # a person, at a terminal`,
    });
  return verdict;
}

/** Exit 4 with the first damage. */
export function refuseDamage(verdict: Verdict): void {
  const [first] = damageOf(verdict);
  if (!first) return;
  const { file, line, offset, hint } = first;
  const place = { ...(file && { file, offset }), ...(line > 0 && { line }) };
  const data = { problems: problemsOf(verdict) };
  throw corrupted('memory.corrupted', `${describeFinding(first)}.`, { ...place, hint, data });
}

/** For readers: nothing is put back, halted or journaled. */
export const verifyReadOnly = (context: Context): Promise<Verdict> => verify(context, { isReadOnly: true });

/** Exit 4 if memory is damaged, for a caller that must not write. */
export async function requireUndamaged(context: Context): Promise<void> {
  refuseHalted(context);
  refuseDamage(await verifyReadOnly(context));
}

const MAX_REASONS = 20;

/** True if it ended a halt for damage and recorded it. */
function updateHalt(context: Context, verdict: Verdict): boolean {
  const { disk } = context;
  const open = verdict.halts.flatMap((mark) => mark.reasons);
  const reasons = [...damageOf(verdict).map(describeFinding), ...open].slice(0, MAX_REASONS);
  const halt = readHalt(disk);
  try {
    if (reasons.length > 0 && !halt) writeHalt(disk, { at: timestamp(context), reasons });
    if (reasons.length > 0 || !halt) return false;
    disk.withLock(() => clearHalt(disk));
    if (halt.isDamage === false) return false;
    const times = { found_at: halt.at, gone_at: timestamp(context) };
    storeAudit(context, { kind: 'damage', ...times, reasons: halt.reasons });
    return true;
  } catch {
    // A place that cannot be written needs no halt.
    return false;
  }
}

/** LTM-14: a human has reviewed a halt, damage that is gone, or the size of memory. Refused while memory is damaged. */
export async function acknowledge(
  context: Context,
  input: { reason?: string },
): Promise<{ audit: RecordRef; reasons: string[] }> {
  const decision = requireDecision(context, 'Acknowledging a halt', input.reason);
  const verdict = await verifyAndRepair(context);
  refuseDamage(verdict);
  const { graph } = readMemory(context);
  const open = [...openHalts(graph), ...openDamage(graph)];
  const { bytes, growth } = readSize(context, verdict.snapshot.listed);
  const isLarge = growth === 'paused';
  const halt = context.disk.dryRun ? readHalt(context.disk) : null;
  if (open.length === 0 && !isLarge && !halt)
    throw usage('halt.none', 'Memory is not halted, and nothing needs a review.', {
      hint: 'forge memory verify',
    });
  const size = isLarge ? [`memory has ${Math.floor(bytes / 1_000_000)} MB`] : [];
  const reasons = [...open.flatMap((mark) => mark.reasons), ...(halt?.reasons ?? []), ...size];
  const subjects = open.map(({ id }) => id);
  const accepted = isLarge ? { growth: bytes } : {};
  const audit = storeAudit(context, { kind: 'acknowledged', subjects, ...decision, reasons, ...accepted });
  await verifyAndRepair(context);
  return { audit, reasons };
}
