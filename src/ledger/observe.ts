import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import { readHint, stampOf } from '../core/files.js';
import type { Layout } from '../core/paths.js';
import { isShallow } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { closeCopiedFile } from './append.js';
import { linesById } from './container.js';
import { currentBranch, gitDirIdentity, MAX_CACHE_BYTES, withLedgerLock } from './files.js';
import {
  absentFrom,
  type LedgerObjects,
  type LedgerTree,
  locate,
  type Ref,
  readGone,
  readRefs,
  sparseFiles,
} from './git.js';
import { type AbsentRecord, Graph } from './graph.js';
import { findRemoved } from './history.js';
import {
  adoptRemoved,
  type Journal,
  type JournalLine,
  journalFiles,
  ownJournalFile,
  parseJournal,
  readJournal,
  readJournalText,
} from './journal.js';
import { containerBytes, digestOf, listContainers, readSnapshot } from './read.js';
import { genesisLine, type LedgerRecord, type Links, recordId, textsIn } from './record.js';

/** What a verification starts from: the files and the journal here at one moment, and the commits that git names. */
export type Place = Awaited<ReturnType<typeof readPlace>>;

/** Everything that a verification read. `settled`: ids, and SHA-256 of lines, that a person discarded or vouched for. */
export type Observation = Awaited<ReturnType<typeof observe>>;
type Sources = Awaited<ReturnType<typeof readSources>>;

/** Records that the default branch has too leave a journal that has more lines than this. */
const KEPT_LINES = 5000;
/** Readers do not wait longer for a writer. */
const READER_WAIT_MS = 200;

export const anchorsFile = ({ state }: Layout): string => join(state, 'anchors.json');
export const readAnchors = ({ layout }: Context): Record<string, string> =>
  readHint(anchorsFile(layout), MAX_CACHE_BYTES) ?? {};

/** The branch checked out, or the commit of a detached HEAD. */
export const anchorName = ({ refs, head }: Pick<Place, 'refs' | 'head'>): string => refs.branch ?? head ?? '';

export async function readPlace(context: Context, objects: LedgerObjects) {
  const here = listForReading(context);
  const refs = await readRefs(context);
  const head = refs.head ?? (context.git ? await objects.commit('HEAD') : null);
  return { ...here, refs, head };
}

/**
 * Lists under the lock, so that no append is in progress. Without it, the journal is read first: a record is in its file
 * before it is in the journal.
 */
function listForReading(context: Context) {
  const list = () => {
    const journal = readJournalText(ownJournalFile(context));
    return { journal, listed: listContainers(context), at: Date.now() };
  };
  const underLock = () => {
    adoptRemoved(context);
    closeCopiedFile(context);
    return list();
  };
  return ifWritable(context, underLock, list);
}

/** Works under the lock. `otherwise`: where nothing can be written, or another process holds the lock. */
export function ifWritable<T>(context: Context, work: () => T, otherwise: () => T): T {
  try {
    return withLedgerLock(context, work, READER_WAIT_MS);
  } catch (error) {
    const isUnwritable =
      error instanceof ForgeError &&
      /^(lock\.held|disk\.(erofs|eacces|eperm|enospc|edquot))$/.test(error.code);
    if (isUnwritable) return otherwise();
    throw error;
  }
}

/** Covers all inputs of a verification. Backup refs are left out: forge made them from this working tree. */
export function digestOfPlace(context: Context, { listed, refs, head }: Place): string {
  const all = refs.all.filter(({ name }) => !name.startsWith('refs/forge/backup/'));
  const here = [digestOf(listed), head, gitDirIdentity(context)];
  const known = [anchorsFile(context.layout), ...journalFiles(context)].map((path) => [path, stampOf(path)]);
  return recordId(JSON.stringify([here, { ...refs, all }, known]));
}

/** `others`: lines of the other worktrees' journals. `incomplete`: why git could not answer. */
async function readSources(context: Context, objects: LedgerObjects, { listed, journal, refs, head }: Place) {
  const snapshot = readSnapshot(context, listed);
  const { graph } = snapshot;
  const own = readOwnJournal(context, graph, journal);
  const paths = journalFiles(context).filter((path) => path !== ownJournalFile(context));
  const others = paths.flatMap((path) => readJournal(path).lines);
  const headTree: LedgerTree = head === null ? new Map() : await objects.tree(head);
  const incomplete = isShallow(context.repository)
    ? ['this clone is shallow: history ends at its boundary']
    : [];
  return { context, objects, snapshot, graph, own, others, refs, head, headTree, incomplete };
}

/** Reads the working tree, then asks git only what the working tree leaves open. */
export async function observe(context: Context, objects: LedgerObjects, place: Place) {
  const sources = await readSources(context, objects, place);
  const { graph, refs } = sources;
  await markPublished(sources, readGone(context, refs), ({ id, seg }) => !graph.has(id, seg));
  const absent = await findAbsent(sources);
  const away = absent.filter(({ source }) => source === 'journal' || source === 'anchor');
  const { own } = sources;
  const damaged = own.damaged.flatMap(({ ids, segs }) =>
    ids.flatMap((id) => segs.map((seg) => ({ id, seg }))),
  );
  const located = await locate(context, objects, refs.all, [...away, ...damaged]);
  const files = located.sources.map(({ facts, bytes }) => ({ ...facts, bytes: () => bytes }));
  recoverLines(own, files);
  const { unknown, standing } = await sortUncommitted(sources);
  const needsSettled = absent.length > 0 || graph.tombstones().size > 0;
  const settled = await readSettled(sources, needsSettled);
  const sparse = absent.some(({ source }) => source === 'head')
    ? await sparseFiles(context)
    : new Set<string>();
  await shortenJournal(sources);
  return { ...sources, absent, located, unknown, standing, settled, sparse };
}

/** `isStale`: the file must be rewritten. `damaged`: lines whose record was not found. */
function readOwnJournal(context: Context, graph: Graph, text: string) {
  const { lines, damaged } = parseJournal(text);
  const own = { lines, text, isStale: damaged.length > 0, damaged };
  const files = graph.containers.map((file) => ({
    ...file,
    bytes: () => containerBytes(context, file.name),
  }));
  recoverLines(own, files);
  return own;
}

/** Replaces damaged lines by their records, as far as these files have them. */
function recoverLines(
  own: Journal,
  files: readonly { seg: string; ids: readonly string[]; bytes: () => Buffer }[],
): void {
  own.damaged = own.damaged.filter(({ ids, how }) => {
    const file = files.find((one) => one.ids.some((id) => ids.includes(id)));
    const found = file && [...linesById(file.bytes())].find(([id]) => ids.includes(id));
    if (!found) return true;
    own.lines.push({ id: found[0], seg: file.seg, how, branch: '', record: found[1] });
    return false;
  });
}

const idsOf = (lines: readonly { id: string }[]): Set<string> => new Set(lines.map(({ id }) => id));

/** Each absent record once, as the strongest source knows it. The journal adds who wrote it. */
async function findAbsent(sources: Sources): Promise<AbsentRecord[]> {
  const { context, objects, graph, own, refs, head, headTree, incomplete } = sources;
  const journaled = new Map(absentInJournal(own.lines, graph).map((record) => [record.id, record]));
  const anchor = readAnchors(context)[anchorName({ refs, head })];
  const isRewound = anchor !== undefined && anchor !== head;
  const known = [
    ...(await absentFromTree(sources, headTree, 'head', incomplete)),
    ...(await findRemoved(sources)),
    ...journaled.values(),
    ...(isRewound ? await absentFromTree(sources, await objects.tree(anchor), 'anchor', []) : []),
  ];
  const absent = new Map<string, AbsentRecord>();
  for (const record of known)
    if (!absent.has(record.id)) absent.set(record.id, { ...journaled.get(record.id), ...record });
  return [...absent.values()];
}

const absentInJournal = (lines: readonly JournalLine[], graph: Graph): AbsentRecord[] =>
  lines
    .filter(({ id, seg }) => !graph.has(id, seg))
    .map(({ id, seg, how, published, record }) => {
      const { prev } = JSON.parse(record) as Links;
      return { id, seg, prev, source: 'journal', isOwn: how === 'w', isPublished: published === true };
    });

/** Records of a commit that the working tree does not have. Equal files are not read. */
function absentFromTree(
  { objects, graph }: Sources,
  tree: LedgerTree,
  source: 'head' | 'anchor',
  incomplete: string[],
): Promise<AbsentRecord[]> {
  const here = new Map(graph.containers.map(({ name, blob }) => [name, blob]));
  const different = [...tree].filter(([name, blob]) => here.get(name) !== blob);
  return absentFrom(graph, objects, different, source, incomplete);
}

/**
 * Sorts records of the working tree that are neither in HEAD nor in the own journal. If no journal and no commit knows
 * one, forge did not write it here. The others are journaled as standing here.
 */
async function sortUncommitted(sources: Sources) {
  const { context, objects, graph, headTree, own, others, refs } = sources;
  const [journaled, known, tombstones] = [idsOf(own.lines), idsOf(others), graph.tombstones()];
  const branch = currentBranch(context);
  const unknown: { id: string; file: string }[] = [];
  const standing: JournalLine[] = [];
  for (const { name, blob, seg, ids, ledger } of graph.containers) {
    const before = headTree.get(name);
    if (before === blob) continue;
    const committed = new Set(before ? (await objects.blob(before, name))?.facts.ids : []);
    const genesis = ledger === null ? null : recordId(genesisLine(ledger).line);
    const open = ids
      .filter((id) => !committed.has(id) && !journaled.has(id) && !tombstones.has(id) && id !== genesis)
      .map((id) => ({ id, seg }));
    if (open.length === 0) continue;
    const isStored = await objects.has(blob);
    const { places } = await locate(context, objects, refs.all, isStored ? [] : open);
    const lines = linesById(containerBytes(context, name));
    for (const { id } of open) {
      const record = lines.get(id);
      if (!isStored && !known.has(id) && !places.has(id)) unknown.push({ id, file: name });
      else if (record !== undefined) standing.push({ id, seg, how: 's', branch, record });
    }
  }
  return { unknown, standing };
}

/** Audit records that explain why a record, or a line, is not what it was. */
const SETTLING = ['discarded', 'repaired', 'redacted'];

/** Reads them from the working tree, the default branch and all journals of this clone, never from an unmerged ref. */
async function readSettled(
  { objects, graph, refs, own, others }: Sources,
  isNeeded: boolean,
): Promise<Set<string>> {
  const settled = graph.subjects(...SETTLING);
  for (const { record } of [...own.lines, ...others]) {
    if (!/"kind":"(discarded|repaired|redacted)"/.test(record)) continue;
    for (const id of textsIn((JSON.parse(record) as LedgerRecord).subjects)) settled.add(id);
  }
  const here = new Set(graph.containers.map(({ name }) => name));
  for (const branch of isNeeded ? [refs.localDefault, refs.remoteDefault] : []) {
    const tree = branch === null ? [] : [...(await objects.tree(branch))];
    const files = tree.filter(([file]) => !here.has(file));
    const found = await Promise.all(files.map(([file, blob]) => objects.blob(blob, file)));
    const there = new Graph(found.flatMap((blob) => blob?.facts ?? []));
    for (const id of there.subjects(...SETTLING)) settled.add(id);
  }
  return settled;
}

/** Marks records that a remote has, or had: they are not put back by themselves when their branch goes. */
async function markPublished(
  { context, objects, own }: Sources,
  branches: readonly Ref[],
  isAsked = (_: JournalLine): boolean => true,
): Promise<void> {
  const waiting = own.lines.filter((line) => line.how === 'w' && !line.published && isAsked(line));
  if (waiting.length === 0) return;
  const { places } = await locate(context, objects, branches, waiting, { onlyRefs: true });
  for (const line of waiting) if (places.has(line.id)) line.published = true;
  if (places.size > 0) own.isStale = true;
}

/** A long journal drops its oldest records that the default branch has, because these cannot be lost any more. */
async function shortenJournal(sources: Sources): Promise<void> {
  const { context, objects, refs, own } = sources;
  await markPublished(
    sources,
    refs.all.filter(({ name }) => name.startsWith('refs/remotes/')),
  );
  const branch = refs.remoteDefault ?? refs.localDefault;
  const main = branch === null ? [] : [{ name: branch, commit: branch }];
  const old = own.lines.slice(0, -KEPT_LINES);
  const stored = await locate(context, objects, main, old, { onlyRefs: true });
  own.lines = own.lines.filter((line, i) => i >= old.length || !stored.places.has(line.id));
  if (stored.places.size > 0) own.isStale = true;
}
