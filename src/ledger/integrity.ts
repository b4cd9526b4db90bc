import { corrupted } from '../core/error.js';
import { isBuilder } from '../core/role.js';
import { plural } from '../core/text.js';
import { refuseHalted, writeHalt } from '../project/halt.js';
import { type Context, isBuilding, timestamp } from '../project/project.js';
import { trustedVerdict } from './cut.js';
import { type Inspection, inspectMemory, reportTiers, type TierReport } from './inspect.js';
import type { Judgement } from './judge.js';
import type { LookOptions } from './look.js';
import { remember } from './remember.js';
import { type Restored, restoreRecords } from './restore.js';
import { type Finding, isDamage } from './rules/finding.js';
import type { Around } from './store/ledger.js';

/**
 * For who only asks: nothing is put back, and nothing halts. What was found intact is remembered, so that the next one need
 * not look. Findings are empty for what was verified and not touched since; HEAD does not matter.
 */
export async function glanceAtMemory(
  context: Context,
  options: LookOptions = {},
): Promise<{ findings: Finding[]; unproven: Finding[]; breaches: string[] }> {
  const verdict = trustedVerdict(context);
  if (verdict) return { findings: [], unproven: verdict.unproven ?? [], breaches: [] };
  const inspection = await inspectMemory(context, false, options);
  const { findings, unproven, look } = inspection;
  const breaches = (look?.breaches ?? []).map(({ reason }) => reason);
  if (findings.length + breaches.length === 0) remember(context, inspection);
  return { findings, unproven, breaches };
}

/** How much a caller may put back by itself. */
export type Remedy = 'none' | 'journal' | 'all';

/**
 * Verifies, puts back what git took, and remembers the result. What cannot be put back halts memory: this and every
 * writing command refuse from now on (LTM-05). Takes the lock for moments only.
 */
export async function settleMemory(
  context: Context,
  remedy: Remedy,
  fresh: boolean,
  options: LookOptions = {},
): Promise<{ inspection: Inspection; restored: Restored[] }> {
  let inspection = await inspectMemory(context, fresh, options);
  const restored: Restored[] = [];
  // Git may be at it still: what a clean-up takes once it can take again.
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const back = await putBack(context, inspection, remedy);
    if (back.length === 0) break;
    restored.push(...back);
    // Nothing was written: what would come back counts as back.
    if (context.disk.dryRun) return { inspection: withoutRestored(inspection, remedy), restored };
    inspection = await inspectMemory(context, true, options);
  }
  const breaches = inspection.look?.breaches ?? [];
  if (breaches.length > 0)
    haltFor(
      context,
      breaches.map(({ at, reason }) => ({ at, reason })),
    );
  if (inspection.findings.length > 0) haltUnlessRestorable(context, inspection);
  // With an open breach every look is a whole one: the halt comes back whoever takes it away.
  else if (breaches.length === 0) remember(context, inspection);
  return { inspection, restored };
}

const ATTEMPTS = 4;

async function putBack(context: Context, inspection: Inspection, remedy: Remedy): Promise<Restored[]> {
  const mine = mayRestore(context, inspection, remedy);
  if (mine.length === 0) return [];
  const why = 'git took them from the working tree, and nothing here was edited';
  const { around, cut } = inspection;
  const { restored } = await restoreRecords(context, around, cut.journal.size, mine, { by: 'forge', why });
  if (restored.length > 0) context.warnings.push(sayRestored(restored));
  return restored;
}

function sayRestored(restored: readonly Restored[]): string {
  const what = restored.map(
    ({ tier, records, from, to }) =>
      `${plural(records, `${tier} record`)} (${from === to ? `number ${from}` : `numbers ${from} to ${to}`})`,
  );
  const one = restored.length === 1 && restored[0]?.records === 1;
  return `${what.join(', ')} had left the working tree and ${one ? 'was' : 'were'} put back.`;
}

const withoutRestored = (inspection: Inspection, remedy: Remedy): Inspection => ({
  ...inspection,
  findings: inspection.findings.filter(
    ({ restorable, code }) => !restorable || (remedy === 'journal' && code === 'dropped'),
  ),
});

function mayRestore(context: Context, { restorable }: Inspection, remedy: Remedy): Judgement['restorable'] {
  // A role that is none is refused here already; the processes above are looked at only where it matters.
  if (remedy === 'none' || isBuilder(context.world.env)) return [];
  if (restorable.length === 0 || isBuilding(context)) return [];
  return restorable.filter(({ source }) => remedy === 'all' || source === 'journal' || source === 'anchor');
}

/** What passes when git or an editor has finished, or git is asked for HEAD's files again, is no reason to stop for good. */
const PASSING: ReadonlySet<string> = new Set(['conflict_marker', 'crlf', 'foreign_ledger', 'set_back']);

function haltUnlessRestorable(context: Context, { findings }: Inspection): void {
  const grave = findings.filter(
    (finding) => isDamage(finding) && !finding.restorable && !PASSING.has(finding.code),
  );
  const at = timestamp(context);
  haltFor(
    context,
    grave.map((finding) => ({ at, reason: describeFinding(finding) })),
  );
}

/** A halt that stands keeps its first reasons. */
function haltFor(context: Context, reasons: readonly { at: string; reason: string }[]): void {
  const [first] = reasons;
  if (!first || context.disk.dryRun) return;
  try {
    writeHalt(context.disk, { at: first.at, reasons: reasons.slice(0, 20).map(({ reason }) => reason) });
  } catch {
    // Where nothing can be written, nothing needs to be halted.
  }
}

export const describeFinding = ({ file, line, message, tier }: Finding): string =>
  `${file === '' ? `${tier} ledger` : line > 0 ? `${file}:${line}` : file}: ${message}`;

/** LTM-05: before anything is added to memory. Exit 4 `memory.corrupted` unless it is intact, or made so. */
export async function requireMemory(
  context: Context,
): Promise<{ around: Around; tiers: TierReport[]; notes: string[]; unproven: Finding[] }> {
  refuseHalted(context.disk);
  const { inspection } = await settleMemory(context, 'all', false);
  // A breach that a merge brought along halts here too.
  if (!inspection.findings.some(isDamage)) refuseHalted(context.disk);
  const first = inspection.findings.find(isDamage);
  for (const { message, hint } of inspection.findings)
    if (!first) context.warnings.push(`${message}; remove it: ${hint}`);
  if (!first)
    return {
      around: inspection.around,
      tiers: reportTiers(context, inspection),
      notes: inspection.notes,
      unproven: inspection.unproven,
    };
  throw damaged(first, inspection.findings);
}

/**
 * The same for a caller that must not write: nothing is put back, halted or remembered. Records that forge can put back by
 * itself are no damage.
 */
export async function requireUndamaged(context: Context): Promise<void> {
  refuseHalted(context.disk);
  const { findings, look } = await inspectMemory(context, false);
  const first = findings.find((finding) => isDamage(finding) && !finding.restorable);
  if (first) throw damaged(first, findings);
  const breach = look?.breaches[0];
  if (breach) throw corrupted('memory.corrupted', `Nobody has acknowledged: ${breach.reason}.`);
}

const damaged = (first: Finding, problems: readonly Finding[]): Error =>
  corrupted('memory.corrupted', `${describeFinding(first)}.`, {
    file: first.file || undefined,
    line: first.line || undefined,
    offset: first.offset,
    hint: PASSING.has(first.code)
      ? first.hint
      : 'forge memory verify  (says what it means and what a human can run)',
    data: { problems },
  });
