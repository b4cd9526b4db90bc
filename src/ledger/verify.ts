import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { keptFiles } from '../core/disk.js';
import { readPlain, removeQuietly, replaceFiles } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { sessionsFolder, shown, shownFrom } from '../core/paths.js';
import { firstPaths, plural, sha256 } from '../core/text.js';
import { operationInProgress } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { append, keepLedgerId } from './append.js';
import { putBack } from './chains.js';
import { type Comparison, compare, describeRecords, type Finding, makeFinding, ofLevel } from './compare.js';
import { openCache } from './files.js';
import { type Refs, readGone, withObjects } from './git.js';
import { type AbsentRecord, type OpenReview, openDamage, openHalts } from './graph.js';
import {
  appendToJournal,
  type JournalLine,
  ownJournalFile,
  readJournalText,
  rewriteJournal,
} from './journal.js';
import {
  anchorName,
  anchorsFile,
  digestOfPlace,
  ifWritable,
  type Observation,
  observe,
  type Place,
  readAnchors,
  readPlace,
} from './observe.js';
import { digestOf, isSettled, listContainers, readSnapshot, type Snapshot } from './read.js';

export interface Verdict {
  findings: Finding[];
  snapshot: Snapshot;
  /** Audit records that stop all writing until a human has acknowledged them. */
  halts: OpenReview[];
  /** Damage that is gone but that no human has reviewed. */
  waiting: OpenReview[];
}

/**
 * Snapshot, read, compare, report. Puts back own records and files that are nowhere (docs/verify.md, "What forge knows"). Only
 * reports while another process holds the lock. `isReadOnly`: nothing is put back, journaled or cached.
 */
export async function verify(
  context: Context,
  { isReadOnly = context.disk.dryRun }: { isReadOnly?: boolean } = {},
): Promise<Verdict> {
  return withObjects(context, async (objects) => {
    const place = await readPlace(context, objects);
    const lost = await settleLostFiles(context, place.refs, isReadOnly);
    const known = readIntact(context, place);
    if (known) return { ...known, findings: lost };
    const observation = await observe(context, objects, place);
    const comparison = compare(observation);
    const findings = isReadOnly ? reportOnly(comparison) : settle(context, observation, comparison);
    const isGrown = findings.some(({ code }) => code === 'put_back');
    const snapshot = isGrown ? readSnapshot(context, listContainers(context)) : observation.snapshot;
    const found = verdictOf(snapshot, findings);
    if (!isReadOnly) keepIntact(context, place, found);
    return { ...found, findings: [...findings, ...lost] };
  });
}

const reportOnly = ({ findings, putBack: wanted }: Comparison): Finding[] =>
  findings.concat(describeLost(wanted));

function verdictOf(snapshot: Snapshot, findings: Finding[]): Verdict {
  const { graph } = snapshot;
  return { findings, snapshot, halts: openHalts(graph), waiting: openDamage(graph) };
}

/** The last verification that found nothing at all. It holds until one of its inputs changes. */
const openIntact = (context: Context) => openCache<{ of: string }>(context, 'verified.json');

function readIntact(context: Context, place: Place): Verdict | null {
  if (openIntact(context).read()?.of !== digestOfPlace(context, place)) return null;
  const { listed } = place;
  const snapshot = {
    listed,
    // Most callers do not need it.
    get graph() {
      return readSnapshot(context, listed).graph;
    },
  };
  return { findings: [], snapshot, halts: [], waiting: [] };
}

function keepIntact(context: Context, place: Place, verdict: Verdict): void {
  const { findings, halts, waiting } = verdict;
  if (findings.length + halts.length + waiting.length > 0 || !isSettled(place.listed, place.at)) return;
  openIntact(context).write({ of: digestOfPlace(context, place) });
}

/** Writes what follows from a comparison. Only reports if another process has changed the ledger meanwhile. */
function settle(context: Context, observation: Observation, comparison: Comparison): Finding[] {
  const { snapshot, own } = observation;
  const { findings, putBack: wanted } = comparison;
  const work = (): Finding[] => {
    const isSame =
      digestOf(listContainers(context)) === digestOf(snapshot.listed) &&
      readJournalText(ownJournalFile(context)) === own.text;
    if (!isSame) return reportOnly(comparison);
    updateJournal(context, observation, comparison);
    keepLedgerId(context, snapshot.graph.ledger());
    if (ofLevel(findings, 'damage').length > 0) return reportOnly(comparison);
    moveAnchor(context, observation);
    const ids = putBack(context, observation, wanted);
    const isDone = ({ id }: AbsentRecord): boolean => ids.includes(id);
    const lost = wanted.filter((record) => !isDone(record));
    const letGo = `forge memory repair${lost.map(({ id }) => ` --discard ${id.slice(0, 12)}`).join('')}`;
    return [...findings, ...recordPutBack(context, wanted.filter(isDone)), ...describeLost(lost, letGo)];
  };
  return ifWritable(context, work, () => reportOnly(comparison));
}

function recordPutBack(context: Context, records: readonly AbsentRecord[]): Finding[] {
  const ids = records.map(({ id }) => id);
  if (ids.length > 0)
    append(context, [{ tier: 'audit', kind: 'restored', records: ids }], { evenDamaged: true });
  return describeRecords('put_back', records, 'restored {count} that had gone missing');
}

const describeLost = (records: readonly AbsentRecord[], hint = 'forge memory verify'): Finding[] =>
  describeRecords('missing', records, 'missing: {count} written here', { hint });

/** Appends to the journal, or rewrites it if a line was repaired, published, dropped or forgotten. */
function updateJournal(context: Context, { own, standing }: Observation, { forgotten }: Comparison): void {
  const gone = new Set(forgotten);
  const lines = new Map<string, JournalLine>();
  // A record that was journaled as standing here may turn out to be written here.
  for (const line of [...own.lines, ...standing])
    if (line.how === 'w' || (!gone.has(line.id) && !lines.has(line.id))) lines.set(line.id, line);
  const isLonger = lines.size === own.lines.length + standing.length;
  if (!own.isStale && isLonger) appendToJournal(context, standing);
  else rewriteJournal(ownJournalFile(context), [...lines.values()]);
}

function moveAnchor(context: Context, place: Pick<Place, 'refs' | 'head'>): void {
  const { head } = place;
  const branch = anchorName(place);
  const anchors = readAnchors(context);
  if (head === null || branch === '' || anchors[branch] === head) return;
  const path = anchorsFile(context.layout);
  replaceFiles([{ path, bytes: Buffer.from(JSON.stringify({ ...anchors, [branch]: head })) }]);
}

type Kept = ReturnType<typeof keptFiles>[number];

/** Copies of older sessions are dropped. */
const MAX_SESSIONS = 100;

/** All files that a commit ever touched. */
const HISTORY = 'log --all --full-history -m -z --format= --name-only --ignore-missing'.split(' ');

/**
 * Features, lessons and session archives that forge wrote here and that are now nowhere: not in the working tree, and in no
 * commit of a ref or stash. Puts them back, as the ledger does with records (`git clean`, `reset --hard`, `branch -D`).
 */
async function settleLostFiles(context: Context, refs: Refs, isReadOnly: boolean): Promise<Finding[]> {
  const lost = await findLostFiles(context, refs);
  if (lost.length === 0) return [];
  const files = `${plural(lost.length, 'file')} of memory`;
  const names = firstPaths(lost.map(({ path }) => shown(context.layout, path)));
  if (!isReadOnly && putFilesBack(context, lost))
    return [makeFinding('put_back', `put back ${files} written here, which no branch has: ${names}`)];
  const message = `missing: ${files} written here, which no branch has: ${names}`;
  return [makeFinding('missing', message, { hint: 'forge memory verify   # puts back what is missing' })];
}

async function findLostFiles(context: Context, refs: Refs): Promise<Kept[]> {
  const { git, repository, layout } = context;
  const kept = keptFiles(layout);
  const sessions = kept.filter(({ path }) => dirname(path) === sessionsFolder(layout));
  for (const { copy } of sessions.slice(0, -MAX_SESSIONS)) removeQuietly(copy);
  const missing = kept.filter(({ path }) => !existsSync(path));
  // A rebase takes files away for a while.
  if (missing.length === 0 || !git || !repository || operationInProgress(repository)) return [];
  const cache = openCache<{ of: string }>(context, 'kept.json');
  const { all } = refs;
  const commits = all.map(({ commit }) => commit);
  const of = sha256([...missing.map(({ path }) => path), ...commits].join('\n'));
  if (cache.read()?.of === of) return [];
  const nameOf = ({ path }: Kept): string => shownFrom(repository.root, path);
  const stashes = all.filter(({ name, commit }) => name === 'stash' && !commit.includes('^'));
  const args = [
    ...HISTORY,
    ...[...stashes, ...readGone(context, refs)].map(({ commit }) => commit),
    '--',
    ...missing.map(nameOf),
  ];
  const { code, stdout } = await git(args);
  if (code !== 0) return [];
  // A file that some commit had is on another branch, or was removed on purpose.
  const committed = new Set(stdout.split(/[\0\n]/));
  const lost = missing.filter((file) => !committed.has(nameOf(file)));
  if (lost.length === 0) cache.write({ of });
  return lost;
}

/** A feature that passed is in progress again: the code that passed may be gone as well. */
function withoutPass(bytes: Buffer): Buffer {
  const text = bytes.toString('utf8');
  if (!text.includes('"status": "passing"')) return bytes;
  const lines = text.replace('"status": "passing"', '"status": "in_progress"');
  return Buffer.from(lines.replace(/^( *"(?:verified_\w+|override)": ).+?(,?)$/gm, '$1null$2'));
}

/** False where nothing can be written. */
function putFilesBack(context: Context, lost: readonly Kept[]): boolean {
  const { disk } = context;
  const work = (): boolean => {
    for (const { path, copy } of lost) {
      const bytes = readPlain(copy, MAX_STATE_BYTES);
      disk.makeFolder(dirname(path));
      if (bytes && !disk.exists(path)) disk.putBack(path, withoutPass(bytes));
    }
    return true;
  };
  return ifWritable(context, work, () => false);
}
