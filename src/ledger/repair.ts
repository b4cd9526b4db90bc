import { join } from 'node:path';
import { refused, usage } from '../core/error.js';
import { makeFolder, removePath, replaceFiles } from '../core/files.js';
import { plural } from '../core/text.js';
import { clearHalt } from '../project/halt.js';
import type { Context } from '../project/project.js';
import { appendLocked, keepLedgerId, writeChain } from './append.js';
import { type AbsentRecord, compare, type Finding, meaningOf } from './compare.js';
import { type Container, linesById } from './container.js';
import { type LedgerContext, ledgerFolder, withLedgerLock } from './context.js';
import { type LedgerObjects, openLedgerObjects } from './git.js';
import { type Decision, requireDecision } from './human.js';
import { refuseDamage, settleMemory } from './integrity.js';
import { ownJournalFile, readJournal, rewriteJournal } from './journal.js';
import { ledgerOf, storeAudit } from './memory.js';
import { lookAround, type Observation, observe } from './observe.js';
import { isSameList, listContainers } from './read.js';
import type { Links } from './record.js';
import { collectLines, longestChain, putBack, verify } from './verify.js';

export interface RepairStep {
  finding: Finding;
  /** What `repair` does, in one clause. */
  action: string;
}

/** What `forge memory repair` shows before it asks. Writes nothing. */
export async function planRepair(context: Context): Promise<RepairStep[]> {
  return withObservation(ledgerOf(context), async (observation) =>
    compare(observation.evidence).findings.flatMap((finding) => {
      const action = meaningOf(finding.kind).repair;
      return action === undefined ? [] : [{ finding, action }];
    }),
  );
}

export interface Repaired {
  /** What was done, in clauses. */
  done: string[];
  /** Ids of records that nobody wants back. */
  discarded: string[];
}

/**
 * `forge memory repair`: the way out of every damage and every missing record (LTM-21). A human, with a reason.
 * `discard`: these records, those of a branch, or those that a commit removed, are gone on purpose.
 */
export async function repairMemory(
  context: Context,
  { reason, discard = [] }: { reason?: string; discard?: readonly string[] } = {},
): Promise<Repaired> {
  const decision = requireDecision(context, 'Repairing memory', reason);
  const ledger = ledgerOf(context);
  if (discard.length > 0) return discardRecords(context, discard, decision);
  const steps = await planRepair(context);
  if (steps.length === 0)
    throw usage('memory.intact', 'Memory is intact; there is nothing to repair.', {
      hint: 'forge memory verify',
    });
  if (context.disk.dryRun) return { done: steps.map(({ action }) => action), discarded: [] };
  const done = await repair(ledger, decision);
  const verdict = await verify(ledger);
  refuseDamage(context, verdict);
  context.disk.withLock(() => clearHalt(context.disk));
  await settleMemory(context);
  return { done, discarded: [] };
}

async function discardRecords(
  context: Context,
  names: readonly string[],
  decision: Decision,
): Promise<Repaired> {
  const ids = await withObservation(ledgerOf(context), async ({ own, others, snapshot, evidence }) => {
    const gone = [...own.lines, ...others].filter(({ id, seg }) => !snapshot.graph.has(id, seg));
    const known = [...gone.map(({ id }) => ({ id, commit: '' })), ...evidence.absent];
    return names.flatMap((name) => {
      const ofBranch = gone.filter(({ branch }) => branch === name).map(({ id }) => id);
      const isStart = /^[0-9a-f]{6,64}$/.test(name);
      const byId = known.filter(({ id, commit }) => id.startsWith(name) || commit?.startsWith(name));
      const found = new Set([...ofBranch, ...(isStart ? byId.map(({ id }) => id) : [])]);
      if (found.size > 0) return [...found];
      throw usage(
        'discard.unknown',
        `No missing record has the id ${JSON.stringify(name)}, and none was written on a branch of that name.`,
        { hint: 'forge memory verify' },
      );
    });
  });
  const discarded = [...new Set(ids)];
  storeAudit(context, { kind: 'discarded', subjects: discarded, ...decision });
  await settleMemory(context);
  return { done: [`discarded ${plural(discarded.length, 'record')}`], discarded };
}

/** Settles every finding, and writes one audit record with the reason. Returns what was done. */
async function repair(context: LedgerContext, decision: Decision): Promise<string[]> {
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
      return applyRepair(context, observation, absent, blobs, decision);
    });
  });
}

async function withObservation<T>(
  context: LedgerContext,
  work: (observation: Observation, objects: LedgerObjects) => Promise<T>,
): Promise<T> {
  const objects = openLedgerObjects(context);
  try {
    return await work(await observe(context, objects, await lookAround(context, objects)), objects);
  } finally {
    await objects.close();
  }
}

function applyRepair(
  context: LedgerContext,
  observation: Observation,
  absent: readonly AbsentRecord[],
  blobs: ReadonlyMap<string, Buffer>,
  decision: Decision,
): string[] {
  const { graph } = observation.snapshot;
  const done: string[] = [];
  const more = [...blobs.values()];
  const { subjects, restored: replaced } = repairDamage(context, observation, absent, more, done);
  const handled = new Set([...subjects, ...replaced]);
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
  const back = putBack(context, observation, away, more);
  if (back.length > 0) done.push(`put back ${plural(back.length, 'record')}`);
  // A chain that cannot be completed stays a finding until a person discards it.
  subjects.push(...foreignLedgers(observation), ...unexplained(observation));
  dropDamagedLines(context, observation, done);
  keepLedgerId(context, graph.ledger());
  if (done.length === 0 && subjects.length === 0) return done;
  const draft = {
    tier: 'audit' as const,
    kind: 'repaired',
    ...decision,
    done,
    restored: [...replaced, ...back],
  };
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
): { subjects: string[]; restored: string[] } {
  const { graph } = observation.snapshot;
  const { settled } = observation.evidence;
  const links = graph.checkLinks().filter(({ id }) => !settled.has(id));
  const isEdited = ({ seg, prev }: AbsentRecord): boolean => graph.holderOf(seg, prev) !== null;
  const edited = absent.filter(isEdited);
  const isDamaged = (container: Container): boolean =>
    container.problems.some(({ sha256 }) => !settled.has(sha256)) ||
    edited.some(
      ({ seg, prev }) => container.seg === seg && container.ids.includes(graph.holderOf(seg, prev) ?? ''),
    );
  // Records whose place or number is wrong are whole; a person vouches for them.
  const subjects = links.map(({ id }) => id);
  for (const file of new Set(links.map((link) => link.file))) done.push(`vouched for ${file}`);
  const restored: string[] = [];
  for (const container of graph.containers.filter(isDamaged)) {
    const lost = edited.filter(({ seg }) => seg === container.seg);
    const gone = absent.filter(({ seg }) => seg === container.seg);
    const lines = collectLines(context, observation, container.seg, more);
    const wrong = wrongIn(container, lost, lines);
    const kept = container.ids.filter((id) => !wrong.has(id)).map((id) => ({ id }));
    const wanted = longestChain(lines, [...gone, ...kept]) ? gone : lost;
    const chain = longestChain(lines, [...wanted, ...kept]);
    if (chain && chain.length > 0 && writeChain(context, 'put', container.seg, chain)) {
      removePath(join(ledgerFolder(context.layout), container.name));
      done.push(`replaced ${container.name} by its chain`);
      restored.push(...wanted.map(({ id }) => id));
    } else {
      subjects.push(...lost.map(({ id }) => id));
      done.push(`vouched for ${container.name}`);
    }
    subjects.push(...wrong, ...container.problems.map(({ sha256 }) => sha256));
  }
  return { subjects: [...new Set(subjects)], restored: [...new Set(restored)] };
}

/** Records that stand in the place of a lost one, and those that were linked to them anew. */
function wrongIn(
  { ids }: Container,
  lost: readonly AbsentRecord[],
  lines: ReadonlyMap<string, string>,
): Set<string> {
  const prevOf = (id: string): string | null => (JSON.parse(lines.get(id) ?? '{}') as Links).prev ?? null;
  const places = new Set(lost.map(({ prev }) => prev));
  // A record that moved up when a line was removed is right: its own place is known.
  const isWrong = (id: string): boolean => places.has(prevOf(id)) || longestChain(lines, [{ id }]) === null;
  const wrong = new Set(lost.length > 0 ? ids.filter(isWrong) : []);
  for (const id of ids) if (wrong.has(prevOf(id) ?? '')) wrong.add(id);
  return wrong;
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

const unexplained = ({ snapshot: { graph }, evidence: { settled } }: Observation): string[] =>
  [...graph.tombstones()].filter((id) => !settled.has(id));

function dropDamagedLines(context: LedgerContext, { own }: Observation, done: string[]): void {
  if (own.damaged.length === 0) return;
  const path = ownJournalFile(context);
  rewriteJournal(path, { lines: readJournal(path).lines, damaged: [] });
  done.push(`dropped ${plural(own.damaged.length, 'unreadable line')} of the journal`);
}
