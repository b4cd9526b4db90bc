import { replaceFiles } from '../core/files.js';
import type { Context } from '../project/project.js';
import { append, keepLedgerId, writeChain } from './append.js';
import {
  type AbsentRecord,
  type Comparison,
  compare,
  describeRecords,
  type Finding,
  type Level,
  wasOrWere,
} from './compare.js';
import { linesById } from './container.js';
import { anchorsFile, currentBranch, readJson, verifiedFile, withLedgerLock, writeCache } from './context.js';
import { openLedgerObjects } from './git.js';
import { type AuditMark, groupBy, openDamage, openHalts } from './graph.js';
import {
  appendToJournal,
  type JournalLine,
  ownJournalFile,
  readJournalText,
  rewriteJournal,
} from './journal.js';
import {
  digestOfPlace,
  isUnwritable,
  lookAround,
  type Observation,
  observe,
  type Place,
  READER_WAIT_MS,
  readAnchors,
} from './observe.js';
import {
  CLOCK_TICK_MS,
  containerBytes,
  digestOf,
  listContainers,
  readSnapshot,
  type Snapshot,
} from './read.js';
import type { Links } from './record.js';

export type State = 'intact' | 'findings' | 'returned' | 'corrupted';

export interface Verdict {
  state: State;
  findings: Finding[];
  records: number;
  heads: string[];
  snapshot: Snapshot;
  /** Audit records that stop all writing until a human has looked. */
  halts: AuditMark[];
  /** Damage that is gone and that no human has looked at. */
  waiting: AuditMark[];
  /** The commit that is checked out. */
  head: string | null;
}

/**
 * Snapshot, read, compare, report. Puts back own records that are nowhere (docs/format.md, "What is missing"). Beside a
 * lock that another process holds it only reports. `isReadOnly`: nothing is put back, journaled or remembered.
 */
export async function verify(
  context: Context,
  { isReadOnly = context.disk.dryRun }: { isReadOnly?: boolean } = {},
): Promise<Verdict> {
  for (let attempt = 0; ; attempt++) {
    const objects = openLedgerObjects(context);
    try {
      const place = await lookAround(context, objects);
      const known = readIntact(context, place);
      if (known) return known;
      const observation = await observe(context, objects, place);
      const comparison = compare(observation.evidence);
      const findings = isReadOnly
        ? reportOnly(comparison)
        : settle(context, observation, comparison, attempt > 3);
      if (!findings) continue;
      const isGrown = findings.some(({ code }) => code === 'put_back');
      const snapshot = isGrown ? readSnapshot(context, listContainers(context)) : observation.snapshot;
      const verdict = verdictOf({ ...observation, snapshot }, findings);
      if (!isReadOnly) keepIntact(context, place, verdict);
      return verdict;
    } finally {
      await objects.close();
    }
  }
}

const reportOnly = ({ findings, putBack: wanted }: Comparison): Finding[] => [
  ...findings,
  ...describeLost(wanted),
];

const STATES: [Level, State][] = [
  ['damage', 'corrupted'],
  ['returned', 'returned'],
  ['finding', 'findings'],
];

function verdictOf({ snapshot, head }: Observation, findings: Finding[]): Verdict {
  const { graph } = snapshot;
  const [, state = 'intact'] =
    STATES.find(([level]) => findings.some((found) => found.level === level)) ?? [];
  const open = { halts: openHalts(graph), waiting: openDamage(graph) };
  return { state, findings, records: graph.count(), heads: graph.heads(), snapshot, ...open, head };
}

/** The last verification that found nothing at all. It holds until something that it read changes. */
type Intact = Pick<Verdict, 'records' | 'heads'> & { of: string };

function readIntact(context: Context, place: Place): Verdict | null {
  const known = readJson<Intact>(verifiedFile(context.layout));
  if (known?.of !== digestOfPlace(context, place)) return null;
  const { records, heads } = known;
  const { listed, head } = place;
  const snapshot = {
    ...{ listed, others: [] },
    get graph() {
      return readSnapshot(context, listed).graph;
    },
  };
  return { state: 'intact', findings: [], records, heads, snapshot, halts: [], waiting: [], head };
}

function keepIntact(context: Context, place: Place, verdict: Verdict): void {
  const { findings, halts, waiting, records, heads } = verdict;
  const isSettled = place.listed.every(({ changedAt }) => changedAt < place.at - CLOCK_TICK_MS);
  if (findings.length + halts.length + waiting.length > 0 || !isSettled) return;
  const intact: Intact = { of: digestOfPlace(context, place), records, heads };
  writeCache(verifiedFile(context.layout), JSON.stringify(intact));
}

/** Writes what follows from a comparison. Null when the folder changed meanwhile: then everything is read again. */
function settle(
  context: Context,
  observation: Observation,
  comparison: Comparison,
  isLastTry: boolean,
): Finding[] | null {
  const { snapshot } = observation;
  const report = (): Finding[] => reportOnly(comparison);
  try {
    return withLedgerLock(
      context,
      () => {
        const isSame =
          digestOf(listContainers(context)) === digestOf(snapshot.listed) &&
          readJournalText(ownJournalFile(context)) === observation.own.text;
        if (!isSame) return isLastTry ? report() : null;
        updateJournal(context, observation, comparison);
        const isClean = !comparison.findings.some(({ level }) => level === 'damage');
        if (isClean) moveAnchor(context, observation.head);
        const done = new Set(isClean ? putBack(context, observation, comparison.putBack) : []);
        const isDone = ({ id }: AbsentRecord): boolean => done.has(id);
        keepLedgerId(context, snapshot.graph.ledger());
        return [
          ...comparison.findings,
          ...describePutBack(context, comparison.putBack.filter(isDone)),
          ...describeLost(comparison.putBack.filter((record) => !isDone(record))),
        ];
      },
      READER_WAIT_MS,
    );
  } catch (error) {
    if (isUnwritable(error)) return report();
    throw error;
  }
}

function describePutBack(context: Context, records: readonly AbsentRecord[]): Finding[] {
  const ids = records.map(({ id }) => id);
  if (ids.length > 0)
    append(context, [{ tier: 'audit', kind: 'restored', records: ids }], { evenDamaged: true });
  return describeRecords(
    'put_back',
    records,
    `written here ${wasOrWere(ids)} missing and ${ids.length === 1 ? 'is' : 'are'} restored`,
  );
}

const describeLost = (records: readonly AbsentRecord[]): Finding[] =>
  describeRecords('missing', records, 'written here are nowhere and could not be put back', {
    level: 'finding',
  });

/** Rewrites the journal when a line changed: repaired, published, forgotten, or no longer needed. */
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

function moveAnchor(context: Context, head: string | null): void {
  const branch = currentBranch(context);
  const anchors = readAnchors(context);
  if (head === null || branch === '' || anchors[branch] === head) return;
  const bytes = Buffer.from(JSON.stringify({ ...anchors, [branch]: head }));
  replaceFiles([{ path: anchorsFile(context.layout), bytes }]);
}

/** Writes each chain with a missing record to a file of its own; returns the ids put back. The caller holds the lock. */
export function putBack(
  context: Context,
  observation: Observation,
  records: readonly AbsentRecord[],
  more: readonly Buffer[] = [],
): string[] {
  const done: string[] = [];
  for (const [seg, group] of groupBy(records, (record) => record.seg)) {
    const lines = collectLines(context, observation, seg, more);
    const chain = longestChain(lines, group);
    if (chain && writeChain(context, 'put', seg, chain)) done.push(...group.map(({ id }) => id));
  }
  return done;
}

/** All lines of a chain that are known anywhere: in the working tree, in a journal or in git. */
export function collectLines(
  context: Context,
  { snapshot, own, others, located }: Observation,
  seg: string,
  more: readonly Buffer[],
): Map<string, string> {
  const here = (snapshot.graph.bySegment.get(seg) ?? []).map(({ name }) => containerBytes(context, name));
  const there = located.sources.filter(({ facts }) => facts.seg === seg).map(({ bytes }) => bytes);
  // The working tree comes last: a tombstone wins over its record.
  return new Map([
    ...[...there, ...more].flatMap((bytes) => [...linesById(bytes)]),
    ...[...own.lines, ...others]
      .filter((line) => line.seg === seg)
      .map(({ id, record }) => [id, record] as const),
    ...here.flatMap((bytes) => [...linesById(bytes)]),
  ]);
}

/** The chain from its first record to one. Null when a part is unknown. */
function chainTo(lines: ReadonlyMap<string, string>, id: string): string[] | null {
  const chain: string[] = [];
  for (let at: string | null = id; at !== null; ) {
    const line = lines.get(at);
    if (line === undefined) return null;
    chain.unshift(line);
    at = (JSON.parse(line) as Links).prev;
  }
  return chain;
}

/** One chain that has all wanted records. Null when there is none. */
export function longestChain(
  lines: ReadonlyMap<string, string>,
  wanted: readonly { id: string }[],
): string[] | null {
  const chains = wanted.map(({ id }) => chainTo(lines, id) ?? []);
  const longest = chains.reduce((a, b) => (b.length > a.length ? b : a), []);
  const known = new Set(longest);
  return wanted.every(({ id }) => known.has(lines.get(id) ?? '')) ? longest : null;
}
