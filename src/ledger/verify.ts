import { readFileSync } from 'node:fs';
import { removeDrafts, replaceFiles } from '../core/files.js';
import { appendLocked, keepLedgerId } from './append.js';
import {
  type AbsentRecord,
  type Comparison,
  compare,
  describeRecords,
  type Finding,
  type Level,
  wasOrWere,
} from './compare.js';
import {
  anchorsFile,
  currentBranch,
  gitFolder,
  type LedgerContext,
  verifiedFile,
  withLedgerLock,
  writeCache,
} from './context.js';
import { LedgerObjects } from './git.js';
import {
  appendToJournal,
  type DamagedLine,
  type JournalLine,
  readOwnJournal,
  rewriteJournal,
} from './journal.js';
import {
  digestOfPlace,
  isUnwritable,
  KEPT_LINES,
  lookAround,
  type Observation,
  observe,
  type Place,
  READER_WAIT_MS,
  readAnchors,
} from './observe.js';
import { type Open, openDamage, openHalts } from './open.js';
import { putBack } from './put-back.js';
import { CLOCK_TICK_MS, isSameList, listContainers, readSnapshot, type Snapshot } from './read.js';

export type State = 'intact' | 'findings' | 'returned' | 'corrupted';

export interface Verdict {
  state: State;
  findings: Finding[];
  records: number;
  heads: string[];
  snapshot: Snapshot;
  /** Audit records that stop all writing until a human has looked. */
  halts: Open[];
  /** Damage that is gone and that no human has looked at. */
  waiting: Open[];
  /** The commit that is checked out. */
  head: string | null;
}

export interface VerifyOptions {
  /** Only looks: nothing is put back, journaled or remembered. */
  isReadOnly?: boolean;
}

/**
 * Snapshot, read, compare, report. Puts back own records that are nowhere (docs/format.md, "What is missing"). Beside a
 * lock that another process holds it only reports.
 */
export async function verify(
  context: LedgerContext,
  { isReadOnly = context.disk.dryRun }: VerifyOptions = {},
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
      const isGrown = findings.some(({ kind }) => kind === 'put_back');
      const snapshot = isGrown ? readSnapshot(context, listContainers(context)) : observation.snapshot;
      const verdict = verdictOf({ ...observation, snapshot }, findings);
      if (!isReadOnly) keepIntact(context, place, verdict);
      return verdict;
    } finally {
      await objects.close();
    }
  }
}

export const openLedgerObjects = (context: LedgerContext): LedgerObjects =>
  new LedgerObjects(context.objects(), gitFolder(context));

const reportOnly = ({ findings, putBack: wanted }: Comparison): Finding[] => [
  ...findings,
  ...describeLost(wanted),
];

function verdictOf({ snapshot, head }: Observation, findings: Finding[]): Verdict {
  const { graph } = snapshot;
  const has = (level: Level): boolean => findings.some((finding) => finding.level === level);
  const state = has('damage')
    ? 'corrupted'
    : has('returned')
      ? 'returned'
      : has('finding')
        ? 'findings'
        : 'intact';
  const open = { halts: openHalts(graph), waiting: openDamage(graph) };
  return { state, findings, records: graph.count(), heads: graph.heads(), snapshot, ...open, head };
}

/** The last verification that found nothing at all. It holds until something that it read changes. */
interface Intact {
  of: string;
  records: number;
  heads: string[];
}

function readIntact(context: LedgerContext, place: Place): Verdict | null {
  try {
    const { of, records, heads } = JSON.parse(readFileSync(verifiedFile(context.layout), 'utf8')) as Intact;
    if (of !== digestOfPlace(context, place)) return null;
    const { listed, head } = place;
    const snapshot = {
      ...{ listed, others: [] },
      get graph() {
        return readSnapshot(context, listed).graph;
      },
    };
    return { state: 'intact', findings: [], records, heads, snapshot, halts: [], waiting: [], head };
  } catch {
    return null;
  }
}

function keepIntact(context: LedgerContext, place: Place, verdict: Verdict): void {
  const { findings, halts, waiting, records, heads } = verdict;
  const isSettled = place.listed.every(({ changedAt }) => changedAt < place.at - CLOCK_TICK_MS);
  if (findings.length + halts.length + waiting.length > 0 || !isSettled) return;
  const intact: Intact = { of: digestOfPlace(context, place), records, heads };
  writeCache(verifiedFile(context.layout), JSON.stringify(intact));
}

/** Writes what follows from a comparison. Null when the folder changed meanwhile: then everything is read again. */
function settle(
  context: LedgerContext,
  observation: Observation,
  comparison: Comparison,
  isLastTry: boolean,
): Finding[] | null {
  const { snapshot, standing } = observation;
  const report = (): Finding[] => reportOnly(comparison);
  try {
    return withLedgerLock(
      context,
      () => {
        if (!isSameList(listContainers(context), snapshot.listed)) return isLastTry ? report() : null;
        appendToJournal(context, standing);
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

function describePutBack(context: LedgerContext, records: readonly AbsentRecord[]): Finding[] {
  const ids = records.map(({ id }) => id);
  if (ids.length > 0)
    appendLocked(context, [{ tier: 'audit', kind: 'restored', records: ids }], { evenDamaged: true });
  return describeRecords('put_back', records, `written here ${wasOrWere(ids)} nowhere and put back`);
}

const describeLost = (records: readonly AbsentRecord[]): Finding[] =>
  describeRecords('missing', records, 'written here are nowhere and could not be put back', {
    level: 'finding',
  });

/** Rewrites the journal when a line changed: repaired, published, forgotten, or no longer needed. */
function updateJournal(context: LedgerContext, observation: Observation, { forgotten }: Comparison): void {
  const current = readOwnJournal(context);
  const published = new Set(observation.own.lines.filter((line) => line.published).map(({ id }) => id));
  const gone = new Set(forgotten);
  const fixed = new Map(observation.own.lines.map((line) => [line.id, line]));
  const isOpen = (line: DamagedLine): boolean => !line.ids.some((id) => fixed.has(id));
  const missing = current.damaged.flatMap(
    ({ ids }) => fixed.get(ids.find((id) => fixed.has(id)) ?? '') ?? [],
  );
  const repaired = { lines: [...current.lines, ...missing], damaged: current.damaged.filter(isOpen) };
  const settledOn = observation.onDefault;
  const oldest = repaired.lines.length - KEPT_LINES;
  const kept = repaired.lines
    .filter(({ id }, i) => i >= oldest || !settledOn.has(id))
    .filter(({ id, how }) => how === 'w' || !gone.has(id))
    .map((line) => ({ ...line, published: line.published || published.has(line.id) }));
  const lines = dropDuplicates(kept);
  const isSame =
    repaired.damaged.length === current.damaged.length &&
    lines.length === current.lines.length &&
    lines.every((line, i) => line.published === current.lines[i]?.published);
  if (!isSame) rewriteJournal(context, { lines, damaged: repaired.damaged });
}

/** A record that was journaled as standing here may turn out to be written here. */
function dropDuplicates(lines: readonly JournalLine[]): JournalLine[] {
  const byId = new Map<string, JournalLine>();
  for (const line of lines) {
    const known = byId.get(line.id);
    if (!known || (known.how === 's' && line.how === 'w')) byId.set(line.id, line);
  }
  return [...byId.values()];
}

function moveAnchor(context: LedgerContext, head: string | null): void {
  const branch = currentBranch(context);
  const anchors = readAnchors(context);
  if (head === null || branch === '' || anchors[branch] === head) return;
  const bytes = Buffer.from(JSON.stringify({ ...anchors, [branch]: head }));
  removeDrafts(anchorsFile(context.layout));
  replaceFiles([{ path: anchorsFile(context.layout), bytes }]);
}
