import { operationInProgress } from '../adapters/git-read.js';
import {
  describeGone,
  type Finding,
  hintFor,
  type MissingRecord,
  markOf,
  toFinding,
} from '../domain/finding.js';
import { type LedgerRecord, ledgerId, TIERS, type Tier } from '../domain/ledger.js';
import { type LastGood, type Place, withoutConsequences } from '../domain/ledger-graph.js';
import { shown } from '../store/layout.js';
import { scanTier } from '../store/ledger-scan.js';
import type { Context } from './context.js';
import type { Look } from './memory-look.js';

/** A record that stands in a file somebody edited, and that nobody wrote through forge. */
interface Stranger extends Place {
  id: string;
  n: number;
  prev: string | null;
  mark: string;
}

export interface Judgement {
  findings: Finding[];
  /** Missing records that forge may put back by itself: git took them, nobody edited anything. */
  restorable: MissingRecord[];
  /** Records standing where others should: a repair or restore declares them void. */
  strangers: (Stranger & { tier: Tier })[];
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
  const lines = [...result.unreadable, ...orphans, ...result.problems];
  judgement.findings.push(
    ...lines.map((problem) => toFinding(tier, problem, differs(problem.file))),
    ...foreignLedgers(result.ledgers, tier, root),
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

/** Files that HEAD has otherwise, or that it has and that are gone. */
const editedFiles = ({ layout, repository }: Context, { git }: Look): Set<string> =>
  new Set((git?.changed ?? []).map(({ path }) => shown(layout, `${repository?.root}/${path}`)));

interface CutOut {
  edits: Finding[];
  whole: MissingRecord[];
  strangers: Stranger[];
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
  const strangers: Stranger[] = [];
  for (const [file, records] of groups) {
    const found = here.strangers.filter((stranger) => stranger.file === file);
    edits.push(describeEdit(tier, file, records, found, here.records, edited.has(file)));
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
  records: Map<string, Stranger>;
  /** Those that neither the journal nor HEAD knows. */
  strangers: Stranger[];
  /** A file without a line, which forge never leaves with one acknowledged. */
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
  const records = new Map<string, Stranger>();
  scanTier(context.layout, tier, loose, [], {
    onRecord: (record, id, place) => records.set(id, toStranger(record, id, place)),
  });
  const strangers = [...records.values()].filter(({ id }) => !look.knownIds.has(id));
  const emptied = loose.find(({ size }) => size === 0)?.path;
  return { records, strangers, emptied: emptied && shown(context.layout, emptied) };
}

const toStranger = (record: LedgerRecord, id: string, place: Place): Stranger => ({
  id,
  n: record.n,
  prev: record.prev,
  mark: markOf(record),
  ...place,
});

/** An edit that was committed: the commit dropped a record, and a copy of it with other content stands here. */
function committedCopies(
  context: Context,
  { cut, missing }: Look,
  tier: Tier,
  gone: readonly MissingRecord[],
): Stranger[] {
  const marks = new Set(gone.filter(({ source }) => source !== 'journal').map(({ mark }) => mark));
  const copies: Stranger[] = [];
  if (marks.size === 0) return copies;
  scanTier(context.layout, tier, cut.tiers[tier], cut.archives, {
    onRecord: (record, id, place) => {
      if (marks.has(markOf(record)) && !missing.has(id)) copies.push(toStranger(record, id, place));
    },
  });
  return copies;
}

function describeEdit(
  tier: Tier,
  file: string,
  records: readonly MissingRecord[],
  strangers: readonly Stranger[],
  here: ReadonlyMap<string, Stranger>,
  differs: boolean,
): Finding {
  const first = [...records].sort((a, b) => a.n - b.n)[0] as MissingRecord;
  const before = lineBefore(first, file, here);
  const last_good: LastGood = before ? { id: before.id, line: before.line, n: before.n } : null;
  const twin = strangers.find(({ mark }) => mark === first.mark);
  const at = {
    file,
    line: twin?.line ?? (before ? before.line + 1 : 1),
    offset: twin?.offset ?? before?.offset ?? 0,
    last_good,
  };
  const many = records.length > 1 && strangers.length > 1;
  if (twin && many)
    return finding(
      'rewritten',
      tier,
      at,
      differs,
      `it was rewritten: forked at record ${first.n}, ${records.length} records gone, ${strangers.length} others in their place`,
    );
  if (twin)
    return finding(
      'edited',
      tier,
      at,
      differs,
      `record ${first.n} was edited: it is not the one that was written (${first.id.slice(0, 12)}…)`,
    );
  if (strangers.length > 1 && records.length > 1)
    return finding(
      'rewritten',
      tier,
      at,
      differs,
      `it was rewritten: records ${first.n} on are gone, ${strangers.length} unknown ones stand here`,
    );
  const which =
    records.length === 1 ? `record ${first.n} was` : `${records.length} records (from ${first.n} on) were`;
  return finding('removed', tier, at, differs, `${which} removed`);
}

/** The record that the first missing one followed, or else the last of a lower number in the same file. */
function lineBefore(
  { n, prev }: MissingRecord,
  file: string,
  here: ReadonlyMap<string, Stranger>,
): Stranger | undefined {
  if (prev !== null && here.has(prev)) return here.get(prev);
  const lower = [...here.values()].filter((record) => record.file === file && record.n < n);
  return lower.reduce<Stranger | undefined>(
    (best, record) => (best && best.line > record.line ? best : record),
    undefined,
  );
}

function finding(
  code: Finding['code'],
  tier: Tier,
  at: Place & { last_good: LastGood },
  differs: boolean,
  message: string,
): Finding {
  return { code, tier, ...at, message, hint: hintFor(code, at.file, differs) };
}

function foreignLedgers(ledgers: ReadonlyMap<string, Place>, tier: Tier, root: string | null): Finding[] {
  if (ledgers.size < 2) return [];
  const ids = [...ledgers.keys()].sort();
  const derived = root === null ? undefined : ledgerId(tier, root);
  const own = ids.find((id) => id === derived) ?? ids[0];
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
