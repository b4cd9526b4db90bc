import { shown } from '../core/paths.js';
import type { Context } from '../project/project.js';
import { fromTop, type Look } from './facts.js';
import { describeEdits, type LooseRecord } from './rules/edit.js';
import { type Finding, type MissingRecord, markOf } from './rules/finding.js';
import type { Place } from './rules/problem.js';
import type { LedgerRecord, Tier } from './rules/record.js';
import { scanTier } from './store/scan.js';

/** Files that HEAD has otherwise: git has what they were. Damage that was committed is in none of them. */
export const editedFiles = ({ layout, repository }: Context, { git }: Look): Set<string> =>
  new Set((git?.changed ?? []).map(({ path }) => shown(layout, `${repository?.root}/${path}`)));

export interface CutOut {
  edits: Finding[];
  whole: MissingRecord[];
  strangers: LooseRecord[];
}

/**
 * Tells records that somebody cut out of a file or edited there from those whose whole file git took. Git moves whole
 * files: a file that still has the record before a missing one, or that differs from HEAD, was edited.
 */
export function findCut(context: Context, look: Look, tier: Tier, gone: readonly MissingRecord[]): CutOut {
  const edited = editedFiles(context, look);
  const here = surveyLoose(context, look, tier);
  here.strangers.push(...committedCopies(context, look, tier, gone));
  const setBack = look.git?.setBack;
  const taken = gone.filter(({ source, file }) => source === 'head' && setBack?.has(file));
  const others = gone.filter((record) => !taken.includes(record));
  const fileOf = placeMissing(others, here, edited);
  const groups = new Map<string, MissingRecord[]>();
  const whole = [...taken];
  for (const record of others) {
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
  const after = new Map(
    [...here.records.values()]
      .filter(({ file }) => !isRestored(file))
      .map((record) => [record.prev ?? '', record.file]),
  );
  const inOrder = [...gone].sort((a, b) => a.n - b.n);
  for (const { id, mark, prev, source, file } of inOrder) {
    const own = source === 'head' && edited.has(file) ? file : undefined;
    const before = prev === null ? here.emptied : (here.records.get(prev)?.file ?? fileOf.get(prev));
    const beside = before !== undefined && isRestored(before) ? undefined : before;
    const found = own ?? beside ?? twins.get(mark) ?? after.get(id);
    if (found !== undefined) fileOf.set(id, found);
  }
  // The start of a file was cut: its records are known by the first one that still stands.
  for (const { id, prev } of inOrder.reverse()) {
    const file = fileOf.get(id);
    if (file !== undefined && !isRestored(file) && prev !== null && !fileOf.has(prev)) fileOf.set(prev, file);
  }
  return fileOf;
}

/** What came back stands there without what it follows, if that was committed: its neighbours say nothing of it. */
const isRestored = (file: string): boolean => /\/restored-[0-9a-f]+\.jsonl$/.test(file);

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
  for (const { path } of git?.changed ?? [])
    if (!git?.setBack.has(fromTop(context, path))) clean.delete(path);
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
