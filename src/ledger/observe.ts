import { ForgeError } from '../core/error.js';
import { leaveCopiedFile } from './append.js';
import type { AbsentRecord, Evidence, UnknownRecord } from './compare.js';
import { linesById, segmentOf } from './container.js';
import {
  anchorsFile,
  currentBranch,
  homeOf,
  type LedgerContext,
  readJson,
  stampOf,
  withLedgerLock,
} from './context.js';
import {
  type LedgerObjects,
  type LedgerTree,
  type Located,
  locate,
  type Refs,
  readRefs,
  sparseFiles,
} from './git.js';
import { type Graph, groupBy } from './graph.js';
import { isShallow, onlyReachable, readRemovals } from './history.js';
import {
  adoptJournals,
  type Journal,
  type JournalLine,
  journalFiles,
  ownJournalFile,
  parseJournal,
  readJournal,
  readJournalText,
  stampsOfJournals,
} from './journal.js';
import {
  containerBytes,
  digestOf,
  type Listed,
  listContainers,
  readSnapshot,
  type Snapshot,
} from './read.js';
import { genesisLine, type Links, recordId } from './record.js';

/** Everything that a verification read. */
export interface Observation {
  snapshot: Snapshot;
  own: OwnJournal;
  /** Of the other worktrees' journals. */
  others: readonly JournalLine[];
  head: string | null;
  located: Located;
  evidence: Evidence;
  /** Records that stand here uncommitted and are known elsewhere, for the journal. */
  standing: JournalLine[];
}

export interface OwnJournal extends Journal {
  /** The file, as it was read. */
  text: string;
  /** It has to be written anew. */
  isStale: boolean;
}

/** A journal keeps so many lines that the default branch has too. */
const KEPT_LINES = 5000;
/** Readers do not wait longer for a writer. */
export const READER_WAIT_MS = 200;

/** What a verification begins with: the files here and the commits that git names. */
export interface Place {
  listed: Listed[];
  /** When it was listed. */
  at: number;
  /** The journal before the listing. A record is written to its file first, then journaled. */
  journal: string;
  refs: Refs;
  head: string | null;
}

export async function lookAround(context: LedgerContext, objects: LedgerObjects): Promise<Place> {
  const here = listForReading(context);
  const [refs, head] = await Promise.all([readRefs(context), context.git ? objects.commit('HEAD') : null]);
  return { ...here, refs, head };
}

/** Covers everything that a verification reads, except for the backups, which forge made of this working tree. */
export function digestOfPlace(context: LedgerContext, { listed, refs, head }: Place): string {
  const others = refs.all.filter(({ name }) => !name.startsWith('refs/forge/backup/'));
  const here = [digestOf(listed), head, currentBranch(context), homeOf(context)];
  const known = [stampOf(anchorsFile(context.layout)), stampsOfJournals(context)];
  return recordId(JSON.stringify([here, { ...refs, all: others }, known]));
}

/** Reads the working tree, then asks git only what the working tree leaves open. */
export async function observe(
  context: LedgerContext,
  objects: LedgerObjects,
  { listed, journal: before, refs, head }: Place,
): Promise<Observation> {
  const snapshot = readSnapshot(context, listed);
  const { graph } = snapshot;
  const own = readOwnJournal(context, snapshot);
  const paths = journalFiles(context).filter((path) => path !== ownJournalFile(context));
  const others = paths.flatMap((path) => readJournal(path).lines);
  const headTree = head === null ? new Map<string, string>() : await objects.tree(head);
  const incomplete: string[] = isShallow(context)
    ? ['this clone is shallow: history ends at its boundary']
    : [];
  const absent = new Map<string, AbsentRecord>();
  const add = (records: readonly AbsentRecord[]): void => {
    for (const record of records) if (!absent.has(record.id)) absent.set(record.id, record);
  };
  // Records that were appended after the listing are not missing from it.
  const known = before === own.text ? own : parseJournal(before);
  const ids = new Set([...idsOf(known.lines), ...known.damaged.flatMap((line) => line.ids)]);
  const lines = own.lines.filter(({ id }) => ids.has(id));
  const journaled = absentInJournal(lines, graph);
  const byId = new Map(journaled.map((record) => [record.id, record]));
  const mark = (record: AbsentRecord): AbsentRecord => ({ ...byId.get(record.id), ...record });
  add((await absentFromTree(objects, headTree, snapshot, 'head', incomplete)).map(mark));
  add((await absentByHistory(context, objects, head, snapshot, incomplete)).map(mark));
  add(journaled);
  add(await absentFromAnchor(context, objects, snapshot, head));
  const uncommitted = await findUncommitted(objects, snapshot, headTree, own, others);
  const away = [...absent.values()].filter(({ source }) => source === 'journal' || source === 'anchor');
  const located = await locate(context, objects, refs.all, [...away, ...uncommitted]);
  const { unknown, standing } = await judgeUncommitted(context, objects, snapshot, uncommitted, located);
  const needsSparse = [...absent.values()].some(({ source }) => source === 'head');
  const evidence: Evidence = {
    ...{ graph, others: snapshot.others, absent: [...absent.values()], places: located.places, unknown },
    settled: await readSettled(objects, {
      graph,
      refs,
      own,
      others,
      isNeeded: absent.size > 0 || graph.tombstones().size > 0,
    }),
    sparse: needsSparse ? await sparseFiles(context) : new Set(),
    ...{ damagedJournalLines: own.damaged.length, incomplete },
  };
  await markPublished(objects, refs, own, snapshot);
  await dropStored(objects, refs, own, snapshot);
  return { snapshot, own, others, head, located, evidence, standing };
}

/** Lists under the lock, so that no append is in the middle. A dead lock does not hold a reader up. */
function listForReading(context: LedgerContext): Pick<Place, 'listed' | 'at' | 'journal'> {
  const look = (): Pick<Place, 'listed' | 'at' | 'journal'> => {
    const journal = readJournalText(ownJournalFile(context));
    return { journal, listed: listContainers(context), at: Date.now() };
  };
  try {
    return withLedgerLock(
      context,
      () => {
        adoptJournals(context);
        leaveCopiedFile(context);
        return look();
      },
      READER_WAIT_MS,
    );
  } catch (error) {
    if (isUnwritable(error)) return look();
    throw error;
  }
}

export const isUnwritable = (error: unknown): boolean =>
  error instanceof ForgeError && /^(lock\.held|disk\.(erofs|eacces|eperm))$/.test(error.code);

const idsOf = (lines: readonly JournalLine[]): Set<string> => new Set(lines.map(({ id }) => id));

/** A line with a flipped byte is read from the record itself, where it stands. */
function readOwnJournal(context: LedgerContext, { graph }: Snapshot): OwnJournal {
  const text = readJournalText(ownJournalFile(context));
  const { lines, damaged } = parseJournal(text);
  const left = damaged.filter(({ ids, raw }) => {
    const here = graph.containers.find((container) => container.ids.some((id) => ids.includes(id)));
    const found = here && [...linesById(containerBytes(context, here.name))].find(([id]) => ids.includes(id));
    if (!found) return true;
    const how = /"how":"s"/.test(raw) ? ('s' as const) : ('w' as const);
    lines.push({ id: found[0], seg: here.seg, how, branch: '', published: false, record: found[1] });
    return false;
  });
  return { lines, damaged: left, text, isStale: left.length < damaged.length };
}

function absentInJournal(lines: readonly JournalLine[], graph: Graph): AbsentRecord[] {
  return lines
    .filter(({ id, seg }) => !graph.has(id, seg))
    .map(({ id, seg, how, published, record }) => {
      const { prev } = JSON.parse(record) as Links;
      return { id, seg, prev, source: 'journal', isOwn: how === 'w', isPublished: published };
    });
}

/** Records of a commit's containers that the working tree does not have. Equal files are not read. */
async function absentFromTree(
  objects: LedgerObjects,
  tree: LedgerTree,
  { graph }: Snapshot,
  source: 'head' | 'anchor',
  incomplete: string[],
): Promise<AbsentRecord[]> {
  const here = new Map(graph.containers.map(({ name, blob }) => [name, blob]));
  const different = [...tree].filter(([name, blob]) => here.get(name) !== blob);
  const found = await Promise.all(
    different.map(async ([name, blob]) => {
      const facts = (await objects.blob(blob, name))?.facts;
      if (!facts) incomplete.push(`git does not have ${name} here (a partial clone)`);
      return (facts?.ids ?? []).flatMap((id, i): AbsentRecord[] => {
        if (!facts || graph.has(id, facts.seg)) return [];
        const prev = facts.ids[i - 1] ?? null;
        return [{ id, seg: facts.seg, prev, source, isOwn: false, isPublished: false, file: name, blob }];
      });
    }),
  );
  return found.flat();
}

async function absentByHistory(
  context: LedgerContext,
  objects: LedgerObjects,
  head: string | null,
  { graph }: Snapshot,
  incomplete: string[],
): Promise<AbsentRecord[]> {
  const removals = await readRemovals(context, objects, head, incomplete);
  const absent = removals.filter(({ id, seg }) => !graph.has(id, seg));
  const reachable = await onlyReachable(context, objects, head, absent);
  return reachable.map(({ id, seg, prev, commit, subject, name, blob }) => ({
    ...{ id, seg, prev, commit, subject, file: name, blob },
    ...{ source: 'history', isOwn: false, isPublished: false },
  }));
}

export type Anchors = Record<string, string>;

export const readAnchors = ({ layout }: LedgerContext): Anchors => readJson(anchorsFile(layout)) ?? {};

/** Records that this branch had when it was last verified. A rewound branch shows here. */
async function absentFromAnchor(
  context: LedgerContext,
  objects: LedgerObjects,
  snapshot: Snapshot,
  head: string | null,
): Promise<AbsentRecord[]> {
  const anchor = readAnchors(context)[currentBranch(context)];
  if (anchor === undefined || anchor === head) return [];
  return absentFromTree(objects, await objects.tree(anchor), snapshot, 'anchor', []);
}

interface Uncommitted extends UnknownRecord {
  seg: string;
  blob: string;
  isKnown: boolean;
  isJournaled: boolean;
}

/** Records that stand in the working tree and not in HEAD. */
async function findUncommitted(
  objects: LedgerObjects,
  { graph }: Snapshot,
  headTree: LedgerTree,
  own: Journal,
  others: readonly JournalLine[],
): Promise<Uncommitted[]> {
  const ownIds = idsOf(own.lines);
  const otherIds = idsOf(others);
  const changed = graph.containers.filter(({ name, blob }) => headTree.get(name) !== blob);
  const found = await Promise.all(
    changed.map(async ({ name, blob, seg, ids, ledger }) => {
      const before = headTree.get(name);
      const committed = new Set(before ? (await objects.blob(before, name))?.facts.ids : []);
      const genesis = ledger === null ? null : recordId(genesisLine(ledger).line);
      return ids
        .filter((id) => !committed.has(id) && id !== genesis)
        .map((id) => ({
          ...{ id, file: name, seg, blob, isJournaled: ownIds.has(id) },
          isKnown: ownIds.has(id) || otherIds.has(id),
        }));
    }),
  );
  return found.flat().filter(({ isJournaled }) => !isJournaled);
}

/** What neither a journal nor git knows was not written by forge here. The rest is journaled as standing here. */
async function judgeUncommitted(
  context: LedgerContext,
  objects: LedgerObjects,
  { graph }: Snapshot,
  uncommitted: readonly Uncommitted[],
  located: Located,
): Promise<{ unknown: UnknownRecord[]; standing: JournalLine[] }> {
  const tombstones = graph.tombstones();
  const stored = new Map<string, boolean>();
  for (const { blob } of uncommitted) if (!stored.has(blob)) stored.set(blob, await objects.hasObject(blob));
  const unknown: UnknownRecord[] = [];
  const standing: JournalLine[] = [];
  const lines = new Map<string, Map<string, string>>();
  for (const { id, file, seg, blob, isKnown } of uncommitted) {
    if (tombstones.has(id)) continue;
    if (!isKnown && !located.places.has(id) && !stored.get(blob)) {
      unknown.push({ id, file });
      continue;
    }
    const known = lines.get(file) ?? linesById(containerBytes(context, file));
    lines.set(file, known);
    const branch = currentBranch(context);
    standing.push({ id, seg, how: 's', branch, published: false, record: known.get(id) ?? '' });
  }
  return { unknown, standing: standing.filter(({ record }) => record !== '') };
}

/** Audit records that explain why a record, or a line, is not what it was. */
const SETTLING = ['discarded', 'repaired', 'redacted'];

/** Discards count from the tree, the default branch and all journals of this clone, never from an unmerged ref. */
async function readSettled(
  objects: LedgerObjects,
  known: Pick<Observation, 'own' | 'others'> & { graph: Graph; refs: Refs; isNeeded: boolean },
): Promise<Set<string>> {
  const { graph, refs, own, others, isNeeded } = known;
  const settled = new Set(SETTLING.flatMap((kind) => [...graph.subjects(kind)]));
  for (const { record } of [...own.lines, ...others])
    if (/"kind":"(discarded|repaired|redacted)"/.test(record)) addSubjects(settled, record);
  if (!isNeeded) return settled;
  const here = new Set(graph.containers.map(({ name }) => name));
  for (const name of [refs.localDefault, refs.remoteDefault]) {
    if (name === null) continue;
    const files = [...(await objects.tree(name))].filter(([file]) => !here.has(file));
    const found = await Promise.all(files.map(([file, blob]) => objects.blob(blob, file)));
    for (const mark of found.flatMap((blob) => blob?.facts.marks ?? []))
      if (SETTLING.includes(mark.kind)) for (const id of mark.subjects) settled.add(id);
  }
  return settled;
}

function addSubjects(settled: Set<string>, record: string): void {
  const { subjects } = JSON.parse(record) as { subjects?: unknown };
  if (Array.isArray(subjects)) for (const id of subjects) settled.add(String(id));
}

/** A journal that is long forgets the oldest records that the default branch has: they cannot be lost any more. */
async function dropStored(
  objects: LedgerObjects,
  { remoteDefault, localDefault }: Refs,
  own: OwnJournal,
  snapshot: Snapshot,
): Promise<void> {
  const branch = remoteDefault ?? localDefault;
  if (own.lines.length <= KEPT_LINES || branch === null) return;
  const old = own.lines.slice(0, -KEPT_LINES);
  const stored = await journaledAt(objects, [branch], old, snapshot);
  own.lines = [...old.filter(({ id }) => !stored.has(id)), ...own.lines.slice(-KEPT_LINES)];
  if (stored.size > 0) own.isStale = true;
}

/** A record that somebody could fetch is not put back by itself when its branch goes. */
async function markPublished(
  objects: LedgerObjects,
  { all }: Refs,
  own: OwnJournal,
  snapshot: Snapshot,
): Promise<void> {
  const waiting = own.lines.filter(({ how, published }) => how === 'w' && !published);
  const remotes = all.filter(({ name }) => name.startsWith('refs/remotes/')).map(({ commit }) => commit);
  const seen = await journaledAt(objects, remotes, waiting, snapshot);
  for (const line of waiting) if (seen.has(line.id)) line.published = true;
  if (seen.size > 0) own.isStale = true;
}

/** Ids of the lines that one of these commits has. */
async function journaledAt(
  objects: LedgerObjects,
  commits: readonly string[],
  lines: readonly JournalLine[],
  { graph }: Snapshot,
): Promise<Set<string>> {
  const wanted = new Map([...groupBy(lines, ({ seg }) => seg)].map(([seg, group]) => [seg, idsOf(group)]));
  const here = new Map(graph.containers.map((container) => [container.blob, container]));
  const found = new Set<string>();
  for (const tree of await Promise.all(commits.map((commit) => objects.tree(commit))))
    for (const [name, blob] of tree) {
      const ids = wanted.get(segmentOf(name) ?? '');
      if (!ids) continue;
      const facts = here.get(blob) ?? (await objects.blob(blob, name))?.facts;
      for (const id of facts?.ids ?? []) if (ids.has(id)) found.add(id);
    }
  return found;
}
