import { corrupted, usage } from '../core/error.js';
import { ledgerArchives, shown } from '../core/paths.js';
import { clearHalt, isHalted, readHalt } from '../project/halt.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { type RecordRef, storeAudit, storeRecords } from './append.js';
import { type Decision, requireDecision } from './human.js';
import { type Inspection, inspectMemory } from './inspect.js';
import { describeFinding, settleMemory } from './integrity.js';
import { readPauses } from './pause.js';
import { type Restored, restoreRecords } from './restore.js';
import { type Finding, isDamage } from './rules/finding.js';
import { parseLine, TIERS, type Tier } from './rules/record.js';
import { missingSignedHeads } from './signatures.js';
import { appendVerbatim } from './store/ledger.js';
import { endTornLine, readSlice } from './store/torn-line.js';

export interface Mended {
  audit: RecordRef | null;
  restored: Restored[];
  /** Repair records, one a tier. */
  repairs: { tier: Tier; record: RecordRef; bytes: number; lost: number; voided: number }[];
  /** True while a halt stands that a human has yet to acknowledge. */
  halted: boolean;
}

/**
 * `forge memory restore`: what is missing but at hand comes back. Without a human only what git took; with one and a
 * reason also what was edited or removed by hand.
 */
export async function restoreMemory(context: Context, input: { reason?: string } = {}): Promise<Mended> {
  requireSupervisor(context, 'memory');
  const before = await inspectMemory(context, true);
  const free = before.findings.filter(isDamage).every(({ restorable }) => restorable);
  if (free && input.reason === undefined) {
    const { restored, inspection } = await settleMemory(context, 'all', true);
    refuseFindings(inspection);
    return { audit: null, restored, repairs: [], halted: isHalted(context.disk) };
  }
  const decision = requireDecision(context, 'Restoring what was edited or removed', input.reason);
  const { audit, restored, repairs, ids } = await bringBack(context, before, decision);
  const rest = 'Some of it is nowhere; settle it with: forge memory repair --reason "…"';
  if (context.disk.dryRun) refuseFindings({ findings: notRestored(before, ids) }, rest);
  const halted = await finish(context, audit !== null, rest);
  return { audit, restored, repairs, halted };
}

/** Findings that restoring leaves: bytes that are no record, parents that are nowhere, and all that is not about missing records. */
function notRestored({ look, findings }: Inspection, back: ReadonlySet<string>): Finding[] {
  const results = TIERS.flatMap((tier) => (look ? [look.scans[tier].result] : []));
  const left = results.flatMap(({ unreadable, missing }) => [
    ...unreadable,
    ...missing.filter(({ parent }) => !back.has(parent)),
  ]);
  const places = new Set(left.map(({ file, line }) => `${file}:${line}`));
  return findings.filter(({ code, file, line }) => !RESTORED.has(code) || places.has(`${file}:${line}`));
}

const RESTORED: ReadonlySet<string> = new Set([
  'edited',
  'removed',
  'rewritten',
  'lost',
  'rolled_back',
  'dropped',
]);

interface BroughtBack extends Omit<Mended, 'halted'> {
  /** What is not missing any more, or in a dry run would not be. */
  ids: ReadonlySet<string>;
}

/** What is at hand, wherever it is; the records that stand in its place are declared void. */
async function bringBack(
  context: Context,
  { look, cut, around, strangers }: Inspection,
  decision: Decision,
): Promise<BroughtBack> {
  if (!look) return { audit: null, restored: [], repairs: [], ids: new Set() };
  const orphans = TIERS.flatMap((tier) =>
    look.scans[tier].result.missing.map(({ parent }) => ({
      id: parent,
      tier,
      n: 0,
      source: 'history' as const,
    })),
  );
  const missing = [...look.missing.values(), ...orphans.filter(({ id }) => !look.missing.has(id))];
  const back = await restoreRecords(context, around, cut.journal.size, missing, { ...decision });
  const { restored, audit } = back;
  const ids = new Set(back.ids);
  const repairs = TIERS.flatMap((tier) => {
    const mine = strangers.filter((stranger) => stranger.tier === tier);
    const voided = [...new Set(mine.map(({ id }) => id))];
    if (voided.length === 0) return [];
    const [record] = storeRecords(
      context,
      around,
      tier,
      [{ kind: 'repair', ...decision, bytes: [], lost: [], voided }],
      { despite: true },
    );
    return record ? [{ tier, record, bytes: 0, lost: 0, voided: voided.length }] : [];
  });
  if (audit !== null || repairs.length === 0) return { audit, restored, repairs, ids };
  const voided = storeAudit(context, around, { kind: 'repaired', ...decision, repairs }, { despite: true });
  return { audit: voided, restored, repairs, ids };
}

/**
 * `forge memory repair`: the way out of every damage, which only appends. Unreadable bytes are vouched for, whole
 * records inside them are appended again, what is nowhere is named as lost, what must not count is declared void.
 */
export async function repairMemory(context: Context, input: { reason?: string } = {}): Promise<Mended> {
  const decision = requireDecision(context, 'Repairing memory', input.reason);
  const before = await inspectMemory(context, true);
  const isWhole =
    !before.findings.some(isDamage) && (await missingSignedHeads(context, before.look)).length === 0;
  if (isWhole && before.unproven.length === 0)
    throw usage('memory.intact', 'Memory is intact; there is nothing to repair.', {
      hint: isHalted(context.disk)
        ? 'forge memory override acknowledge --reason "…"  (ends the halt)'
        : 'forge memory verify',
    });
  const first = await bringBack(context, before, decision);
  const rest = await inspectMemory(context, true);
  rest.look?.brokenAnchors.push(...(await missingSignedHeads(context, rest.look)));
  // While there is damage, what lacks its evidence may yet get it.
  if (isWhole) rest.look?.scans.knowledge.result.improper.push(...rest.look.doubtful);
  const repairs = TIERS.flatMap((tier) => repairTier(context, rest, tier, decision, first.ids));
  const audit =
    repairs.length > 0
      ? storeAudit(context, rest.around, { kind: 'repaired', ...decision, repairs }, { despite: true })
      : first.audit;
  const halted = await finish(context, audit !== null, 'Settle the rest by hand, then: forge memory verify');
  return { audit, restored: first.restored, repairs: [...first.repairs, ...repairs], halted };
}

function repairTier(
  context: Context,
  { look, around, findings }: Inspection,
  tier: Tier,
  decision: Decision,
  back: ReadonlySet<string>,
): Mended['repairs'] {
  if (!look) return [];
  const { unreadable, missing, improper } = look.scans[tier].result;
  const anchors = look.brokenAnchors.filter((anchor) => anchor.tier === tier).map(({ head }) => head);
  const lost = [...new Set([...missing.map(({ parent }) => parent), ...anchors])].filter(
    (id) => !back.has(id),
  );
  if (unreadable.length + lost.length + improper.length === 0) return [];
  // An archive stays the bytes that it is: nothing is ever appended to it.
  const archives = shown(context.layout, ledgerArchives(context.layout));
  const live = unreadable.filter(({ file }) => !file.startsWith(archives));
  for (const { code, file } of findings)
    if (code === 'torn' && live.some((bad) => bad.file === file)) endTornLine(context.disk, file);
  const whole = live.flatMap(({ file, offset, length }) =>
    wholeRecords(readSlice(context.disk, file, offset, length)),
  );
  if (whole.length > 0) appendVerbatim(context.disk, tier, whole);
  const bytes = unreadable.map(({ file, line, offset, length, sha256 }) => ({
    file,
    line,
    offset,
    length,
    sha256,
  }));
  const [record] = storeRecords(
    context,
    around,
    tier,
    [{ kind: 'repair', ...decision, bytes, lost, voided: improper }],
    { despite: true },
  );
  return record ? [{ tier, record, bytes: bytes.length, lost: lost.length, voided: improper.length }] : [];
}

/** Records that stand whole inside bytes that are no line: two glued together, or one behind garbage. */
function wholeRecords(bytes: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = bytes.indexOf(START); at >= 0; at = bytes.indexOf(START, at + 1)) starts.push(at);
  return starts.flatMap((start, i) => {
    const part = bytes.subarray(start, starts[i + 1] ?? bytes.length);
    const end = part.lastIndexOf(0x7d) + 1;
    const line = part.subarray(0, end);
    const isWhole = end > 0 && parseLine(line.toString('utf8')).kind === 'record';
    return isWhole ? [Buffer.from(line)] : [];
  });
}

const START = Buffer.from('{"v":1,');

/** A halt ends only with a decision that the audit ledger keeps. True while it stands. */
async function finish(context: Context, isRecorded: boolean, hint: string): Promise<boolean> {
  let settled = isRecorded;
  // In a dry run nothing was settled, so nothing is to be checked.
  if (!context.disk.dryRun) {
    const { inspection } = await settleMemory(context, 'all', true);
    refuseFindings(inspection, hint);
    // A breach is acknowledged by name, not on the way.
    if (inspection.look?.breaches.length) settled = false;
  }
  const halted = isHalted(context.disk);
  if (settled) clearHalt(context.disk);
  return halted && !settled;
}

function refuseFindings({ findings }: Pick<Inspection, 'findings'>, hint = 'forge memory verify'): void {
  const first = findings.find(isDamage);
  if (first)
    throw corrupted('memory.corrupted', `${describeFinding(first)}.`, { hint, data: { problems: findings } });
}

/** A human has looked at what halted memory, or at why work is paused (GIT-06). Only where memory is intact again. */
export async function acknowledgeHalt(
  context: Context,
  input: { reason?: string },
): Promise<{ audit: RecordRef; reasons: string[] }> {
  const halt = readHalt(context.disk);
  const decision = requireDecision(context, 'Acknowledging a halt', input.reason);
  const pauses = readPauses(context);
  if (!halt && pauses.length === 0)
    throw usage('halt.none', 'Memory is not halted, and no work is paused.', { hint: 'forge memory verify' });
  const { inspection } = await settleMemory(context, 'all', true);
  refuseFindings(inspection, inspection.findings[0]?.hint);
  const reasons = [...(halt?.reasons ?? []), ...pauses.flatMap((pause) => pause.reasons)];
  const audit = storeAudit(context, inspection.around, {
    kind: 'acknowledged',
    ...decision,
    reasons,
    ...(halt ? { halted_at: halt.at } : {}),
    breaches: (inspection.look?.breaches ?? []).map(({ id }) => id),
    ...(pauses.length > 0 ? { pauses: pauses.map(({ id }) => id) } : {}),
  });
  clearHalt(context.disk);
  return { audit, reasons };
}
