import { operationInProgress } from '../adapters/git-read.js';
import { describeEdits, type LooseRecord } from '../domain/edit.js';
import {
  describeGone,
  type Finding,
  hintFor,
  type MissingRecord,
  markOf,
  toFinding,
} from '../domain/finding.js';
import { type LedgerRecord, ledgerId, TIERS, type Tier } from '../domain/ledger.js';
import { type Place, withoutConsequences } from '../domain/ledger-graph.js';
import { shown } from '../store/layout.js';
import { scanTier } from '../store/ledger-scan.js';
import type { Context } from './context.js';
import type { Look } from './memory-look.js';

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
    ...result.returned.map((id) => returned(tier, id)),
    ...cut.edits,
  );
  judgement.strangers.push(...cut.strangers.map((stranger) => ({ ...stranger, tier })));
  judgeWhole(context, look, tier, cut.whole, judgement, lines.length + cut.edits.length > 0);
}

/** Whole files that git took away are put back, unless something here was edited: then a human looks first. */
function judgeWhole(
  context: Context,
  look: Look,
  tier: Tier,
  whole: MissingRecord[],
  judgement: Judgement,
  damaged: boolean,
): void {
  if (whole.length === 0) return;
  const operation = context.repository && operationInProgress(context.repository);
  if (operation) {
    judgement.notes.push(
      `${operation} is in progress: ${whole.length} records of the ${tier} ledger are not here now; they are safe`,
    );
    return;
  }
  const mayRestore = !damaged && isUnedited(context, look);
  for (const group of groupBySource(whole)) {
    const found = describeGone(tier, group, look.scans[tier].result.maxN);
    const { restorable: _free, ...forHumans } = { ...found, hint: hintFor('lost', '', false) };
    judgement.findings.push(mayRestore ? found : forHumans);
  }
  if (mayRestore) judgement.restorable.push(...whole);
}

/** Every tracked memory file is HEAD's. Before the first commit there is none that could have been edited. */
const isUnedited = ({ repository }: Context, { git }: Look): boolean =>
  repository !== null && (git === null || git.changed.length === 0);

function groupBySource(records: readonly MissingRecord[]): MissingRecord[][] {
  const groups = new Map<string, MissingRecord[]>();
  for (const record of records) {
    const key = `${record.source} ${record.commit}`;
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups.values()];
}

/** Files that HEAD has otherwise: git has what they were. Damage that was committed is in none of them. */
const editedFiles = ({ layout, repository }: Context, { git }: Look): Set<string> =>
  new Set((git?.changed ?? []).map(({ path }) => shown(layout, `${repository?.root}/${path}`)));

interface CutOut {
  edits: Finding[];
  whole: MissingRecord[];
  strangers: LooseRecord[];
}

/**
 * Tells records that somebody cut out of a file or edited there from those whose whole file git took. Git moves whole
 * files: a file that still has the record before a missing one, or that differs from HEAD, was edited.
 */
function findCut(context: Context, look: Look, tier: Tier, gone: readonly MissingRecord[]): CutOut {
  const edited = editedFiles(context, look);
  const here = surveyLoose(context, look, tier);
  here.strangers.push(...committedCopies(context, look, tier, gone));
  const fileOf = placeMissing(gone, here, edited);
  const groups = new Map<string, MissingRecord[]>();
  const whole: MissingRecord[] = [];
  for (const record of gone) {
    const file = fileOf.get(record.id);
    if (file === undefined) whole.push(record);
    else groups.set(file, [...(groups.get(file) ?? []), record]);
  }
  const edits: Finding[] = [];
  const strangers: LooseRecord[] = [];
  for (const [file, records] of groups) {
    const found = here.strangers.filter((stranger) => stranger.file === file);
    edits.push(
      ...describeEdits({
        tier,
        file,
        differs: edited.has(file),
        missing: records,
        strangers: found,
        unreadable: look.scans[tier].result.unreadable.filter((line) => line.file === file),
        here: here.records,
      }),
    );
    strangers.push(...found);
  }
  return { edits, whole, strangers };
}

/** The file that each missing record was cut out of; none for those whose file is gone as a whole. */
function placeMissing(
  gone: readonly MissingRecord[],
  here: Survey,
  edited: ReadonlySet<string>,
): Map<string, string> {
  const fileOf = new Map<string, string>();
  const twins = new Map(here.strangers.map((stranger) => [stranger.mark, stranger.file]));
  const after = new Map([...here.records.values()].map((record) => [record.prev ?? '', record.file]));
  const inOrder = [...gone].sort((a, b) => a.n - b.n);
  for (const { id, mark, prev, source, file } of inOrder) {
    const own = source === 'head' && edited.has(file) ? file : undefined;
    const before = prev === null ? here.emptied : (here.records.get(prev)?.file ?? fileOf.get(prev));
    const found = own ?? before ?? twins.get(mark) ?? after.get(id);
    if (found !== undefined) fileOf.set(id, found);
  }
  // The start of a file was cut: its records are known by the first one that still stands.
  for (const { id, prev } of inOrder.reverse()) {
    const file = fileOf.get(id);
    if (file !== undefined && prev !== null && !fileOf.has(prev)) fileOf.set(prev, file);
  }
  return fileOf;
}

interface Survey {
  /** Every record in a file that neither HEAD nor the index has as it is. */
  records: Map<string, LooseRecord>;
  /** Those that neither the journal nor HEAD knows. */
  strangers: LooseRecord[];
  /** A file without a record, which forge never leaves; or the open segment, when none in it is one that was written. */
  emptied: string | undefined;
}

function surveyLoose(context: Context, look: Look, tier: Tier): Survey {
  const { git, cut } = look;
  const clean = new Set(git ? [...git.tree.keys()] : []);
  for (const path of git?.staged ?? []) clean.add(path);
  for (const { path } of git?.changed ?? []) clean.delete(path);
  const cleanFiles = new Set(
    [...clean].map((path) => shown(context.layout, `${context.repository?.root}/${path}`)),
  );
  const loose = cut.tiers[tier].filter(({ path }) => !cleanFiles.has(shown(context.layout, path)));
  const records = new Map<string, LooseRecord>();
  scanTier(context.layout, tier, loose, [], {
    onRecord: (record, id, place, end) => records.set(id, toLoose(record, id, place, end)),
  });
  const strangers = [...records.values()].filter(({ id }) => !look.knownIds.has(id));
  const open = cut.state.tiers[tier]?.open?.name;
  const filled = new Set([...records.values()].map(({ file }) => file));
  for (const { file } of strangers) if (open !== undefined && file.endsWith(`/${open}`)) filled.delete(file);
  for (const { id, file } of records.values()) if (look.knownIds.has(id)) filled.add(file);
  const emptied = loose.map(({ path }) => shown(context.layout, path)).find((file) => !filled.has(file));
  return { records, strangers, emptied };
}

const toLoose = (record: LedgerRecord, id: string, place: Place, end: number): LooseRecord => ({
  id,
  n: record.n,
  prev: record.prev,
  mark: markOf(record),
  ...place,
  end,
});

/** An edit that was committed: the commit dropped a record, and a copy of it with other content stands here. */
function committedCopies(
  context: Context,
  { cut, missing }: Look,
  tier: Tier,
  gone: readonly MissingRecord[],
): LooseRecord[] {
  const marks = new Set(gone.filter(({ source }) => source !== 'journal').map(({ mark }) => mark));
  const copies: LooseRecord[] = [];
  if (marks.size === 0) return copies;
  scanTier(context.layout, tier, cut.tiers[tier], cut.archives, {
    onRecord: (record, id, place, end) => {
      if (marks.has(markOf(record)) && !missing.has(id)) copies.push(toLoose(record, id, place, end));
    },
  });
  return copies;
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
      return { code: 'foreign_ledger', tier, ...place, message, last_good: null, hint } as Finding;
    });
}

function returned(tier: Tier, id: string): Finding {
  const message = `redacted content is back: record ${id.slice(0, 12)}…`;
  return {
    code: 'redacted_back',
    tier,
    file: '',
    line: 0,
    offset: 0,
    message,
    last_good: null,
    hint: hintFor('redacted_back', '', false),
  };
}

function judgeAnchors({ brokenAnchors }: Look, { findings }: Judgement): void {
  for (const { tier, commit, head, n } of brokenAnchors) {
    const message = `commit ${commit.slice(0, 12)} saw record ${n} (${head.slice(0, 12)}…) of the ${tier} ledger, which is nowhere: the ledger was rewritten`;
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
