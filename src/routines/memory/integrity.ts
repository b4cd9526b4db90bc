import { rootCommit } from '../../adapters/git/memory.js';
import { corrupted } from '../../domain/error.js';
import { type Finding, isDamage } from '../../domain/ledger/finding.js';
import { recordId, TIERS, type Tier } from '../../domain/ledger/ledger.js';
import { redactedIn } from '../../domain/ledger/tombstone.js';
import { isBuilder } from '../../domain/role.js';
import { plural } from '../../domain/text.js';
import { shown } from '../../store/layout.js';
import { readAnchors, writeAnchors } from '../../store/ledger/anchors.js';
import { MOVES, wasMoved } from '../../store/ledger/files.js';
import { refuseHalted, writeHalt } from '../../store/ledger/halt.js';
import { journalStamp, pruneJournal } from '../../store/ledger/journal.js';
import type { Around } from '../../store/ledger/ledger.js';
import { keepRedacted, redactedStamp } from '../../store/ledger/redacted.js';
import { digestContainers } from '../../store/ledger/scan.js';
import { saveState } from '../../store/ledger/state.js';
import { toState } from '../../store/ledger/tip.js';
import { type Context, isBuilding, timestamp } from '../context.js';
import { type Cut, isTrusted, isUnchanged, stillOpen, takeCut, trustedVerdict } from './cut.js';
import type { Look } from './facts.js';
import { type Judgement, judgeMemory } from './judge.js';
import { surroundings } from './ledger.js';
import { type LookOptions, lookAtMemory } from './look.js';
import { type Restored, restoreRecords } from './restore.js';

export interface TierReport {
  tier: Tier;
  records: number;
  bytes: number;
  heads: string[];
  containers: string[];
}

/** A look and what it means; `look` is null when the last verification still holds. */
export interface Inspection extends Judgement {
  around: Around;
  cut: Cut;
  look: Look | null;
  /** No damage, and nothing that a writing command has to wait for. */
  unproven: Finding[];
}

const NOTHING: Judgement = { findings: [], restorable: [], strangers: [], notes: [] };

/**
 * Looks at all of memory, or trusts the last verification when nothing was touched since and `fresh` is not asked
 * for. What somebody may have been in the middle of is looked at twice before it is reported.
 */
export async function inspectMemory(
  context: Context,
  fresh: boolean,
  options: LookOptions = {},
): Promise<Inspection> {
  const around = await surroundings(context);
  const cut = takeCut(context, around);
  if (!fresh && isTrusted(cut)) return { ...NOTHING, ...remembered(cut), around, cut, look: null };
  const first = await inspectMoving(context, cut, options);
  if (first.findings.length === 0) return first;
  return inspectMoving(context, takeCut(context, await surroundings(context)), options);
}

const remembered = ({ state: { verdict } }: Cut): Pick<Inspection, 'notes' | 'unproven'> => ({
  notes: verdict?.notes ?? [],
  unproven: verdict?.unproven ?? [],
});

/** Reading takes no lock: what another process folds meanwhile is looked for where it went. */
async function inspectMoving(context: Context, cut: Cut, options: LookOptions): Promise<Inspection> {
  for (let tries = 1, latest = cut; ; tries++)
    try {
      return await inspectOnce(context, latest, options);
    } catch (error) {
      if (!wasMoved(error) || tries === MOVES) throw error;
      latest = takeCut(context, await surroundings(context));
    }
}

async function inspectOnce(context: Context, cut: Cut, options: LookOptions): Promise<Inspection> {
  const look = await lookAtMemory(context, cut, options);
  const several = TIERS.some((tier) => look.scans[tier].result.ledgers.size > 1);
  const root = several && context.git ? await rootCommit(context.git) : null;
  return { ...judgeMemory(context, look, root), around: cut.around, cut, look, unproven: look.unproven };
}

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

const MAX_REMEMBERED = 20;

/** What was verified is not verified again until something changes; what HEAD has leaves the journal. */
function remember(context: Context, { around, cut, look, notes }: Inspection): void {
  const { disk } = context;
  if (!look || disk.dryRun) return;
  try {
    disk.withLock(() => {
      if (!isUnchanged(context, cut)) return;
      prune(context, look, cut);
      writeAnchors(disk, anchorsAfter(context, look));
      for (const tier of TIERS) {
        const known = cut.state.tiers[tier];
        const open = stillOpen(known, cut.tiers[tier]);
        cut.state.tiers[tier] = toState(
          disk,
          tier,
          look.scans[tier],
          known?.ledger ?? around.ledger(tier),
          open,
        );
      }
      // What somebody else redacted is known here from now on, whatever is checked out next.
      keepRedacted(
        disk,
        TIERS.flatMap((tier) => look.scans[tier].result.tombstones.map((stone) => ({ ...stone, tier }))),
      );
      const archives = digestContainers(cut.archives);
      const verdict = {
        head: around.head,
        archives,
        redacted: redactedStamp(context.layout),
        notes,
        unproven: look.unproven.slice(0, MAX_REMEMBERED),
        doubtful: look.doubtful,
      };
      saveState(disk, { ...cut.state, home: around.home, verdict });
    });
  } catch {
    // Read-only, or busy: the next one verifies again.
  }
}

function anchorsAfter({ disk }: Context, { git, settled }: Look) {
  const anchors = readAnchors(disk);
  if (!git) return anchors;
  for (const name of settled) delete anchors.branches[name];
  if (git.branch !== null) anchors.branches[git.branch] = git.head;
  return { ...anchors, history: git.head };
}

/** Not on a detached HEAD: whatever is committed there, no branch has it, and no anchor will miss it. */
function prune({ layout }: Context, { scans, git }: Look, cut: Cut): void {
  if (!git || git.branch === null || journalStamp(layout).stat !== cut.journal.stat) return;
  pruneJournal(layout, cut.journal.size, (bytes) => {
    const grave = redactedIn(bytes);
    const id = grave ?? recordId(bytes);
    return !TIERS.some((tier) => {
      const { graph } = scans[tier];
      return grave === null ? graph.isCommitted(id) : graph.isBuried(id);
    });
  });
}

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
  throw corrupted('memory.corrupted', `${describeFinding(first)}.`, {
    file: first.file || undefined,
    line: first.line || undefined,
    offset: first.offset,
    hint: PASSING.has(first.code)
      ? first.hint
      : 'forge memory verify  (says what it means and what a human can run)',
    data: { problems: inspection.findings },
  });
}

export function reportTiers({ layout }: Context, { cut, look }: Inspection): TierReport[] {
  return TIERS.map((tier) => {
    const containers = cut.tiers[tier];
    const known = look ? look.scans[tier].result : (cut.state.tiers[tier] ?? { records: 0, heads: [] });
    return {
      tier,
      records: known.records,
      bytes: containers.reduce((sum, { size }) => sum + size, 0),
      heads: known.heads,
      containers: containers.map(({ path }) => shown(layout, path)),
    };
  });
}
