import { compareText, plural } from '../core/text.js';
import type { Context } from '../project/project.js';
import type { Look } from './facts.js';
import type { LooseRecord } from './rules/edit.js';
import {
  describeGone,
  describeSetBack,
  type Finding,
  hintFor,
  type MissingRecord,
  toFinding,
} from './rules/finding.js';
import { type Place, withoutConsequences } from './rules/problem.js';
import { ledgerId, TIERS, type Tier } from './rules/record.js';
import { scanTier } from './store/scan.js';
import { editedFiles, findCut } from './survey.js';

export interface Judgement {
  findings: Finding[];
  /** Missing records that forge may put back by itself: git took them, nobody edited anything. */
  restorable: MissingRecord[];
  /** Records standing where others should: a repair or restore declares them void. */
  strangers: (LooseRecord & { tier: Tier })[];
  notes: string[];
}

/** What the look means (docs/format.md, "What verify finds"). */
export function judgeMemory(context: Context, look: Look, root: string | null): Judgement {
  const judgement: Judgement = { findings: [], restorable: [], strangers: [], notes: [...look.notes] };
  for (const tier of TIERS) judgeTier(context, look, tier, root, judgement);
  judgeAnchors(look, judgement);
  return judgement;
}

function judgeTier(
  context: Context,
  look: Look,
  tier: Tier,
  root: string | null,
  judgement: Judgement,
): void {
  const { result } = look.scans[tier];
  const differs = (file: string): boolean => editedFiles(context, look).has(file);
  const gone = [...look.missing.values()].filter((record) => record.tier === tier);
  const cut = gone.length > 0 ? findCut(context, look, tier, gone) : { edits: [], whole: [], strangers: [] };
  const atHand = new Set(gone.map(({ id }) => id));
  const sparse = (look.git?.leftOut.size ?? 0) > 0;
  // A line whose parent is at hand is settled when that comes back; one whose parent was left out is none.
  const orphans = withoutConsequences(result).filter(({ parent }) => !atHand.has(parent) && !sparse);
  // What a record that was edited says of others is no finding of its own: the record as a whole is one.
  const strange = new Set(cut.strangers.map(({ file, line }) => `${file}:${line}`));
  const isOwn = ({ file, line, child = line }: Place & { child?: number }): boolean =>
    !strange.has(`${file}:${child}`);
  const lines = [...result.unreadable, ...[...orphans, ...result.problems].filter(isOwn)];
  const ledgers = new Map([...result.ledgers].filter(([, place]) => isOwn(place)));
  judgement.findings.push(
    ...lines.map((problem) => toFinding(tier, problem, differs(problem.file))),
    ...foreignLedgers(ledgers, look.cut.state.tiers[tier]?.ledger, tier, root),
    ...returned(context, look, tier),
    ...cut.edits,
  );
  judgement.strangers.push(...cut.strangers.map((stranger) => ({ ...stranger, tier })));
  judgeWhole(look, tier, cut.whole, judgement, lines.length + cut.edits.length > 0);
}

/**
 * Whole files that git took away are put back, unless something here was edited: then a human looks first. Those of
 * HEAD are left as they are: whoever asked git for that state can have another.
 */
function judgeWhole(
  look: Look,
  tier: Tier,
  whole: MissingRecord[],
  judgement: Judgement,
  edited: boolean,
): void {
  if (whole.length === 0) return;
  const { findings, notes, restorable } = judgement;
  if (look.git?.operation) {
    notes.push(
      `${look.git.operation} is in progress: ${plural(whole.length, `${tier} record`)} not here now, and safe`,
    );
    return;
  }
  findings.push(...judgeSetBack(look, tier, whole));
  const taken = whole.filter(({ source }) => source !== 'head');
  const mayRestore = !edited && look.git !== null;
  for (const group of groupBySource(taken)) {
    const found = describeGone(tier, group, look.scans[tier].result.maxN);
    const { restorable: _free, ...forHumans } = { ...found, hint: hintFor('lost', '', false) };
    findings.push(mayRestore ? found : forHumans);
  }
  if (mayRestore) restorable.push(...taken);
}

/** One finding for the files of each commit that git went back to, and one for those that are gone. */
function judgeSetBack({ git }: Look, tier: Tier, whole: readonly MissingRecord[]): Finding[] {
  const groups = new Map<string, Set<string>>();
  for (const { source, file } of whole) {
    if (source !== 'head') continue;
    const commit = git?.setBack.get(file)?.commit ?? '';
    groups.set(commit, (groups.get(commit) ?? new Set()).add(file));
  }
  return [...groups].map(([commit, files]) => describeSetBack(tier, commit, [...files].sort(compareText)));
}

function groupBySource(records: readonly MissingRecord[]): MissingRecord[][] {
  const groups = new Map<string, MissingRecord[]>();
  for (const record of records) {
    const key = `${record.source} ${record.commit}`;
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups.values()];
}

/** Ours is the ledger that the repository's root makes, or that was ours at the last look, or that the fixed file begins. */
function foreignLedgers(
  ledgers: ReadonlyMap<string, Place>,
  known: string | undefined,
  tier: Tier,
  root: string | null,
): Finding[] {
  if (ledgers.size < 2) return [];
  const ids = [...ledgers.keys()];
  const derived = root === null ? undefined : ledgerId(tier, root);
  const own = ids.find((id) => id === derived) ?? ids.find((id) => id === known) ?? ids[0];
  return ids
    .filter((id) => id !== own)
    .map((id) => {
      const place = ledgers.get(id) as Place;
      const message = `it begins another ${tier} ledger (${id}): another repository's, or one from before the histories met`;
      const hint = `forge memory adopt ${id.slice(0, 12)} --reason "…"  (its records belong here)  or  forge memory drop ${id.slice(0, 12)} --reason "…"`;
      return {
        code: 'foreign_ledger',
        tier,
        ...place,
        message,
        last_good: null,
        hint,
        ledger: id,
      } as Finding;
    });
}

/** Content that a tombstone, or the git dir, says is not to be here; where the first of it stands. */
function returned({ layout }: Context, { scans, cut }: Look, tier: Tier): Finding[] {
  const ids = new Set(scans[tier].result.returned);
  const places = new Map<string, Place>();
  if (ids.size > 0)
    scanTier(layout, tier, cut.tiers[tier], cut.archives, {
      onRecord: (_record, id, place) => ids.has(id) && places.set(id, place),
    });
  return [...places].map(([id, place]) => ({
    code: 'redacted_back',
    tier,
    ...place,
    message: `redacted content is back: record ${id.slice(0, 12)}… (another branch, an older commit or a copy brought it)`,
    last_good: null,
    hint: `forge memory redact ${id.slice(0, 12)} --reason "…"`,
  }));
}

function judgeAnchors({ brokenAnchors }: Look, { findings }: Judgement): void {
  for (const { tier, commit, head, n, checkpoint } of brokenAnchors) {
    const saw = checkpoint ? `${checkpoint} saw a record` : `commit ${commit.slice(0, 12)} saw record ${n}`;
    const message = `${saw} (${head.slice(0, 12)}…) of the ${tier} ledger, which is nowhere: the ledger was rewritten`;
    findings.push({
      code: 'anchor',
      tier,
      file: '',
      line: 0,
      offset: 0,
      message,
      last_good: null,
      hint: hintFor('anchor', '', false),
    });
  }
}
