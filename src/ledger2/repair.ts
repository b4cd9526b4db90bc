import { join } from 'node:path';
import { refused } from '../core/error.js';
import { makeFolder, removePath, replaceFiles } from '../core/files.js';
import { plural } from '../core/text.js';
import { appendLocked, forgetAppendState, writeChain } from './append.js';
import { type AbsentRecord, compare, type Finding } from './compare.js';
import { type Container, linesById } from './container.js';
import { gitFolder, type LedgerContext, ledgerFolder, withLedgerLock } from './context.js';
import { LedgerObjects } from './git.js';
import { groupBy } from './graph.js';
import { readOwnJournal, rewriteJournal } from './journal.js';
import { type Observation, observe } from './observe.js';
import { containerBytes, isSameList, listContainers } from './read.js';
import type { Links } from './record.js';

/** Writes each chain with a missing record to a file of its own; returns the ids put back. The caller holds the lock. */
export function putBack(
  context: LedgerContext,
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
function collectLines(
  context: LedgerContext,
  { snapshot, own, others, located }: Observation,
  seg: string,
  more: readonly Buffer[],
): Map<string, string> {
  const here = (snapshot.graph.bySegment.get(seg) ?? []).map(({ name }) => containerBytes(context, name));
  const there = located.sources.filter(({ facts }) => facts.seg === seg).map(({ bytes }) => bytes);
  const journals = [own, ...others.values()].flatMap((journal) => journal.lines);
  // The working tree comes last: a tombstone wins over its record.
  return new Map([
    ...[...there, ...more].flatMap((bytes) => [...linesById(bytes)]),
    ...journals.filter((line) => line.seg === seg).map(({ id, record }) => [id, record] as const),
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
function longestChain(
  lines: ReadonlyMap<string, string>,
  wanted: readonly { id: string }[],
): string[] | null {
  const chains = wanted.map(({ id }) => chainTo(lines, id) ?? []);
  const longest = chains.reduce((a, b) => (b.length > a.length ? b : a), []);
  const known = new Set(longest);
  return wanted.every(({ id }) => known.has(lines.get(id) ?? '')) ? longest : null;
}

export interface RepairAnswer {
  /** What happens to records that are missing and could come back. */
  missing: 'put_back' | 'discard';
  by: string;
  reason: string;
}

export interface RepairStep {
  finding: Finding;
  /** What `repair` does, in one clause. */
  action: string;
}

/** What `forge memory repair` shows before it asks. */
export async function planRepair(context: LedgerContext): Promise<RepairStep[]> {
  return withObservation(context, async (observation) =>
    compare(observation.evidence).findings.flatMap((finding) => {
      const action = ACTIONS[finding.kind];
      return action === undefined ? [] : [{ finding, action }];
    }),
  );
}

const ACTIONS: Partial<Record<Finding['kind'], string>> = {
  unreadable: 'restore the file, or vouch for its bytes by SHA-256 where no copy is known',
  link: 'restore the file, or vouch for its bytes by SHA-256 where no copy is known',
  edited: 'restore the record from the journal or from git',
  foreign: 'take the records in',
  set_back: 'restore the files from HEAD',
  removed_by_commit: 'put the records back, or discard them',
  published: 'put the records back, or discard them',
  missing: 'put the records back, or discard them',
  journal: 'drop the unreadable lines',
};

/** Settles every finding, and writes one audit record with the reason. Returns what was done. */
export async function repair(context: LedgerContext, answer: RepairAnswer): Promise<string[]> {
  return withObservation(context, async (observation, objects) => {
    const absent = observation.evidence.absent.filter(({ id }) => !observation.evidence.settled.has(id));
    const blobs = new Map<string, Buffer>();
    for (const { blob, file } of absent) {
      const found = blob && file ? await objects.blob(blob, file) : null;
      if (blob && found) blobs.set(blob, found.bytes);
    }
    return withLedgerLock(context, () => {
      if (!isSameList(listContainers(context), observation.snapshot.listed))
        throw refused('ledger.changed', 'The ledger changed meanwhile; nothing was repaired.', {
          hint: 'forge memory repair',
        });
      return applyRepair(context, observation, absent, blobs, answer);
    });
  });
}

async function withObservation<T>(
  context: LedgerContext,
  work: (observation: Observation, objects: LedgerObjects) => Promise<T>,
): Promise<T> {
  const objects = new LedgerObjects(context.objects(), gitFolder(context));
  try {
    return await work(await observe(context, objects), objects);
  } finally {
    await objects.close();
  }
}

function applyRepair(
  context: LedgerContext,
  observation: Observation,
  absent: readonly AbsentRecord[],
  blobs: ReadonlyMap<string, Buffer>,
  { missing, by, reason }: RepairAnswer,
): string[] {
  const { graph } = observation.snapshot;
  const done: string[] = [];
  const more = [...blobs.values()];
  const subjects = repairDamage(context, observation, absent, more, done);
  const handled = new Set(subjects);
  const restored = restoreFiles(context, observation, absent, blobs);
  if (restored.size > 0) done.push(`restored ${plural(restored.size, 'file')} from HEAD`);
  const isOpen = ({ id, seg, prev, source, file }: AbsentRecord): boolean =>
    !handled.has(id) &&
    graph.holderOf(seg, prev) === null &&
    !(source === 'head' && restored.has(file ?? ''));
  const away = absent.filter(
    (record) =>
      isOpen(record) &&
      (record.source === 'history' || record.isOwn) &&
      !observation.located.places.has(record.id),
  );
  const back = missing === 'put_back' ? putBack(context, observation, away, more) : [];
  if (back.length > 0) done.push(`put back ${plural(back.length, 'record')}`);
  // A chain that cannot be completed stays a finding until a person discards it.
  const given = missing === 'discard' ? away.map(({ id }) => id) : [];
  if (given.length > 0) done.push(`discarded ${plural(given.length, 'record')}`);
  subjects.push(...given, ...foreignLedgers(observation));
  dropDamagedLines(context, observation, done);
  forgetAppendState(context, graph.ledger());
  if (done.length === 0 && subjects.length === 0) return done;
  const draft = { tier: 'audit' as const, kind: 'repaired', by, reason, done, restored: back };
  appendLocked(context, [{ ...draft, subjects }], { evenDamaged: true });
  return done;
}

/** Replaces each damaged file by its true chain; vouches for the bytes where no copy is known. */
function repairDamage(
  context: LedgerContext,
  observation: Observation,
  absent: readonly AbsentRecord[],
  more: readonly Buffer[],
  done: string[],
): string[] {
  const { graph } = observation.snapshot;
  const { settled } = observation.evidence;
  const edited = absent.filter(({ seg, prev }) => graph.holderOf(seg, prev) !== null);
  const forked = new Set(graph.checkLinks().map(({ file }) => file));
  const isDamaged = (container: Container): boolean =>
    container.problems.some(({ sha256 }) => !settled.has(sha256)) ||
    forked.has(container.name) ||
    edited.some(
      ({ seg, prev }) => container.seg === seg && container.ids.includes(graph.holderOf(seg, prev) ?? ''),
    );
  const subjects: string[] = [];
  for (const container of graph.containers.filter(isDamaged)) {
    const lost = edited.filter(({ seg }) => seg === container.seg);
    const lines = collectLines(context, observation, container.seg, more);
    const wrong = new Set(lost.flatMap(({ seg, prev }) => graph.holderOf(seg, prev) ?? []));
    const kept = container.ids.filter((id) => !wrong.has(id));
    const chain = longestChain(lines, [...lost, ...kept.map((id) => ({ id }))]);
    if (chain && chain.length > 0 && writeChain(context, 'put', container.seg, chain)) {
      removePath(join(ledgerFolder(context.layout), container.name));
      done.push(`replaced ${container.name} by its chain`);
    } else {
      subjects.push(...lost.map(({ id }) => id));
      done.push(`vouched for ${container.name}`);
    }
    subjects.push(...wrong, ...container.problems.map(({ sha256 }) => sha256));
  }
  return [...new Set(subjects)];
}

/** Files of HEAD that are missing here get HEAD's bytes. A file that stands is not overwritten. */
function restoreFiles(
  context: LedgerContext,
  { snapshot, evidence }: Observation,
  absent: readonly AbsentRecord[],
  blobs: ReadonlyMap<string, Buffer>,
): Set<string> {
  const here = new Map(snapshot.graph.containers.map((container) => [container.name, container]));
  const restored = new Set<string>();
  for (const { source, file = '', blob = '' } of absent) {
    const bytes = blobs.get(blob);
    if (source !== 'head' || !bytes || restored.has(file) || evidence.sparse.has(file)) continue;
    const stands = here.get(file);
    const ids = new Set(linesById(bytes).keys());
    // A file that was cut off has nothing that HEAD does not have.
    if (stands && (stands.problems.length > 0 || !stands.ids.every((id) => ids.has(id)))) continue;
    makeFolder(ledgerFolder(context.layout));
    replaceFiles([{ path: join(ledgerFolder(context.layout), file), bytes }]);
    restored.add(file);
  }
  return restored;
}

function foreignLedgers({ snapshot: { graph }, evidence }: Observation): string[] {
  const ledgers = new Set(graph.containers.flatMap(({ ledger }) => ledger ?? []));
  return [...ledgers].filter((ledger) => ledger !== graph.ledger() && !evidence.settled.has(ledger));
}

function dropDamagedLines(context: LedgerContext, { own }: Observation, done: string[]): void {
  if (own.damaged.length === 0) return;
  rewriteJournal(context, { lines: readOwnJournal(context).lines, damaged: [] });
  done.push(`dropped ${plural(own.damaged.length, 'unreadable line')} of the journal`);
}
