import { corrupted, usage } from '../core/error.js';
import { shown } from '../core/paths.js';
import { isBuilder } from '../core/role.js';
import type { GuardFinding } from '../guard/guard.js';
import { clearHalt, readHalt, refuseHalted, writeHalt } from '../project/halt.js';
import { type Context, timestamp } from '../project/project.js';
import { type Finding, type Level, meaningOf } from './compare.js';
import { ledgerFolder } from './context.js';
import type { Graph } from './graph.js';
import { requireDecision } from './human.js';
import { acceptedGrowth, growthOf, openDamage, openHalts } from './marks.js';
import { ledgerOf, type RecordRef, readMemory, storeAudit } from './memory.js';
import { TIERS, type Tier } from './record.js';
import { type Verdict, verify } from './verify.js';

/** A finding as commands show it. */
export interface Problem {
  code: Finding['kind'] | 'secret' | 'signature_bad' | 'signed_missing' | 'halted';
  file: string;
  /** 1-based; 0 where it is not one line. */
  line: number;
  /** In bytes. */
  offset: number;
  message: string;
  last_good: { line: number; n: number; id: string } | null;
  hint: string;
  /** The records concerned. */
  ids: string[];
  commit?: string;
  /** What the guard found in a stored record. */
  guard?: GuardFinding[];
}

/** `removed`: records are missing, and how is known. `secret`: something stored must be redacted. */
export type Status = 'intact' | 'removed' | 'corrupted' | 'halted' | 'secret';

/** `problems`: those of the verdict and others. */
export function statusOf(
  context: Context,
  verdict: Verdict,
  problems: readonly Problem[] = problemsOf(context, verdict),
): Status {
  if (verdict.state === 'corrupted') return 'corrupted';
  if (readHalt(context.disk)) return 'halted';
  if (verdict.state === 'returned' || problems.some(({ code }) => code === 'secret')) return 'secret';
  return problems.length > 0 ? 'removed' : 'intact';
}

export interface TierReport {
  tier: Tier;
  records: number;
  bytes: number;
  heads: string[];
  containers: string[];
}

export const messagesOf = ({ findings }: Verdict, level: Level): string[] =>
  findings.filter((finding) => finding.level === level).map(({ message }) => message);

/** All but the notes. */
export const problemsOf = (context: Context, { findings }: Verdict): Problem[] =>
  findings.filter(({ level }) => level !== 'note').map((finding) => toProblem(context, finding));

/** In one line, with its place. */
export const describeProblem = ({ file, line, message }: Problem): string =>
  file === '' ? message : line > 0 ? `${file}:${line}: ${message}` : `${file}: ${message}`;

function toProblem({ layout }: Context, finding: Finding): Problem {
  const { kind, file, line = 0, offset = 0, ids, commit, last_good = null, hint } = finding;
  const place = [`${file}:${line}: `, `${file}: `].find((start) => finding.message.startsWith(start)) ?? '';
  const message = finding.message.slice(place.length);
  return {
    ...{ code: kind, file: file ? `${shown(layout, ledgerFolder(layout))}/${file}` : '', line, offset },
    ...{ message, last_good, hint: hint ?? 'forge memory repair', ids },
    ...(commit === undefined ? {} : { commit }),
  };
}

export function reportTiers({ layout }: Context, { snapshot: { graph } }: Verdict): TierReport[] {
  const heads = new Set(graph.heads());
  return TIERS.map((tier) => {
    const own = graph.containers.filter(({ tiers }) => tiers[tier]);
    const last = own.filter(({ lastTier, last: id }) => lastTier === tier && heads.has(id ?? ''));
    return {
      tier,
      ...sumOf(graph, tier),
      heads: [...new Set(last.map(({ last: id }) => id as string))].sort(),
      containers: own.map(({ name }) => shown(layout, `${ledgerFolder(layout)}/${name}`)),
    };
  });
}

/** A chain that stands in several files counts once. */
function sumOf({ bySegment }: Graph, tier: Tier): { records: number; bytes: number } {
  const sum = { records: 0, bytes: 0 };
  for (const containers of bySegment.values()) {
    const most = Math.max(...containers.map(({ tiers }) => tiers[tier]?.records ?? 0));
    sum.records += most;
    sum.bytes += containers.find(({ tiers }) => tiers[tier]?.records === most)?.tiers[tier]?.bytes ?? 0;
  }
  return sum;
}

/**
 * LTM-05: before a session and every governed cycle. What was put back becomes a warning; damage halts writing, and a
 * halt whose cause is gone ends, with an audit record that says what it was.
 */
export async function settleMemory(context: Context): Promise<Verdict> {
  // A builder writes no memory (LTM-12), also none that is put back.
  const isReadOnly = context.disk.dryRun || isBuilder(context.world.env);
  const verdict = await verify(ledgerOf(context), { isReadOnly });
  const isNew = !context.disk.dryRun && updateHalt(context, verdict);
  return isNew ? { ...verdict, waiting: openDamage(readMemory(context).graph) } : verdict;
}

/** The same, and exit 4 unless memory is intact. */
export async function requireVerified(context: Context): Promise<Verdict> {
  const verdict = await settleMemory(context);
  refuseDamage(context, verdict);
  for (const { level, kind, message, hint } of verdict.findings)
    if (level !== 'note' || meaningOf(kind).isNews)
      context.warnings.push(hint ? `${message}: ${hint}` : message);
  const halt = readHalt(context.disk);
  if (halt) throw halted(halt.reasons);
  return verdict;
}

const halted = ([reason]: readonly string[]): Error =>
  corrupted('memory.corrupted', `Memory is halted: ${reason}.`, { hint: ACKNOWLEDGE });

const ACKNOWLEDGE = 'forge memory override acknowledge --reason "…"  (a human, at a terminal)';

/** Exit 4 with the first damage. */
export function refuseDamage(context: Context, verdict: Verdict): void {
  const [first] = damageOf(context, verdict);
  if (!first) return;
  const { file, line, offset, hint } = first;
  throw corrupted('memory.corrupted', `${describeProblem(first)}.`, {
    ...(file ? { file, offset } : {}),
    ...(line > 0 ? { line } : {}),
    hint,
    data: { problems: problemsOf(context, verdict) },
  });
}

/** For readers: nothing is put back, halted or remembered. */
export const glanceAtMemory = (context: Context): Promise<Verdict> =>
  verify({ ...ledgerOf(context), isReadOnly: true }, { isReadOnly: true });

/** Exit 4 when memory is damaged, for a caller that must not write. */
export async function requireUndamaged(context: Context): Promise<void> {
  refuseHalted(context.disk);
  const verdict = await glanceAtMemory(context);
  refuseDamage(context, verdict);
  const [open] = verdict.halts;
  if (open) throw halted(open.reasons);
}

/** What halts writing. */
export const damageOf = (context: Context, { findings }: Verdict): Problem[] =>
  findings.filter(({ level }) => level === 'damage').map((finding) => toProblem(context, finding));

/** True if it recorded that damage is gone. */
function updateHalt(context: Context, verdict: Verdict): boolean {
  const { disk } = context;
  const damage = damageOf(context, verdict).map(describeProblem);
  const open = verdict.halts.flatMap(({ reasons }) => reasons);
  const halt = readHalt(disk);
  const reasons = [...damage, ...open].slice(0, MAX_REASONS);
  try {
    if (reasons.length > 0 && !halt) writeHalt(disk, { at: timestamp(context), reasons });
    if (reasons.length > 0 || !halt) return false;
    disk.withLock(() => clearHalt(disk));
    if (halt.isDamage === false) return false;
    const times = { found_at: halt.at, gone_at: timestamp(context) };
    storeAudit(context, { kind: 'damage', ...times, reasons: halt.reasons });
    return true;
  } catch {
    // Where nothing can be written, nothing needs to be halted.
    return false;
  }
}

const MAX_REASONS = 20;

/** A human has looked at what halted memory, at damage that is gone, or at how large memory is. Only where memory is intact. */
export async function acknowledge(
  context: Context,
  input: { reason?: string },
): Promise<{ audit: RecordRef; reasons: string[] }> {
  const decision = requireDecision(context, 'Acknowledging a halt', input.reason);
  const verdict = await settleMemory(context);
  refuseDamage(context, verdict);
  // What settling has written counts as well.
  const { graph } = readMemory(context);
  const open = [...openHalts(graph), ...openDamage(graph)];
  const bytes = verdict.snapshot.listed.reduce((sum, { size }) => sum + size, 0);
  const isLarge = growthOf(bytes, acceptedGrowth(graph)) === 'paused';
  const halt = context.disk.dryRun ? readHalt(context.disk) : null;
  if (open.length === 0 && !isLarge && !halt)
    throw usage('halt.none', 'Memory is not halted, and nothing waits for a human.', {
      hint: 'forge memory verify',
    });
  const size = isLarge ? [`memory has ${Math.floor(bytes / 1_000_000)} MB`] : [];
  const reasons = [...open.flatMap((mark) => mark.reasons), ...(halt?.reasons ?? []), ...size];
  const growth = isLarge ? { growth: bytes } : {};
  const subjects = open.map(({ id }) => id);
  const audit = storeAudit(context, { kind: 'acknowledged', subjects, ...decision, reasons, ...growth });
  await settleMemory(context);
  return { audit, reasons };
}
