import { join } from 'node:path';
import { refused, usage } from '../core/error.js';
import { removePath, replaceFiles } from '../core/files.js';
import { plural } from '../core/text.js';
import { clearHalt } from '../project/halt.js';
import type { Context } from '../project/project.js';
import { append, keepLedgerId, writeChain } from './append.js';
import { type Decision, requireDecision } from './audit.js';
import { type AbsentRecord, compare, describeFinding, meaningOf } from './compare.js';
import { type Container, linesById } from './container.js';
import { ledgerFolder, withLedgerLock } from './context.js';
import { type LedgerObjects, openLedgerObjects } from './git.js';
import { refuseDamage, settleMemory } from './integrity.js';
import { storeAudit } from './memory.js';
import { lookAround, type Observation, observe } from './observe.js';
import { digestOf, listContainers } from './read.js';
import type { Links } from './record.js';
import { collectLines, longestChain, putBack, verify } from './verify.js';

export interface RepairStep {
  /** In one line, with its place. */
  finding: string;
  /** What `repair` does, in one clause. */
  action: string;
}

/** What `forge memory repair` shows before it asks. Writes nothing. */
export const planRepair = (context: Context): Promise<RepairStep[]> =>
  withObservation(context, async ({ evidence }) =>
    compare(evidence).findings.flatMap((finding) => {
      const action = meaningOf(finding.code).repair;
      return action === undefined ? [] : [{ finding: describeFinding(finding), action }];
    }),
  );

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
  if (discard.length > 0) return discardRecords(context, discard, decision);
  const steps = await planRepair(context);
  if (steps.length === 0)
    throw usage('memory.intact', 'Memory is intact; there is nothing to repair.', {
      hint: 'forge memory verify',
    });
  if (context.disk.dryRun) return { done: steps.map(({ action }) => action), discarded: [] };
  const done = await repair(context, decision);
  refuseDamage(await verify(context));
  context.disk.withLock(() => clearHalt(context.disk));
  await settleMemory(context);
  return { done, discarded: [] };
}

async function discardRecords(
  context: Context,
  names: readonly string[],
  decision: Decision,
): Promise<Repaired> {
  const ids = await withObservation(context, async ({ own, others, snapshot, evidence }) => {
    const gone = [...own.lines, ...others].filter(({ id, seg }) => !snapshot.graph.has(id, seg));
    const known: { id: string; branch?: string; commit?: string }[] = [...gone, ...evidence.absent];
    return names.flatMap((name) => {
      const isStart = /^[0-9a-f]{6,64}$/.test(name);
      const isMeant = (text = ''): boolean => isStart && text.startsWith(name);
      const found = known.filter(
        ({ id, branch, commit }) => branch === name || isMeant(id) || isMeant(commit),
      );
      if (found.length > 0) return found.map(({ id }) => id);
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

async function withObservation<T>(
  context: Context,
  work: (observation: Observation, objects: LedgerObjects) => Promise<T>,
): Promise<T> {
  const objects = openLedgerObjects(context);
  try {
    return await work(await observe(context, objects, await lookAround(context, objects)), objects);
  } finally {
    await objects.close();
  }
}

/** The state of a repair. */
interface Repair {
  context: Context;
  observation: Observation;
  /** Records that are missing and that nobody discarded. */
  absent: readonly AbsentRecord[];
  /** Those that git has. */
  blobs: ReadonlyMap<string, Buffer>;
  done: string[];
  /** What the person vouches for: ids of records, ledgers, and SHA-256 of lines. */
  subjects: Set<string>;
  restored: Set<string>;
}

/** Settles every finding, and writes one audit record with the reason. Returns what was done. */
const repair = (context: Context, decision: Decision): Promise<string[]> =>
  withObservation(context, async (observation, objects) => {
    const { evidence, snapshot } = observation;
    const absent = evidence.absent.filter(({ id }) => !evidence.settled.has(id));
    const blobs = new Map<string, Buffer>();
    for (const { blob, file } of absent) {
      const found = blob && file ? await objects.blob(blob, file) : null;
      if (blob && found) blobs.set(blob, found.bytes);
    }
    const work = { context, observation, absent, blobs, done: [], subjects: new Set<string>() };
    return withLedgerLock(context, () => {
      if (digestOf(listContainers(context)) !== digestOf(snapshot.listed))
        throw refused('ledger.changed', 'The ledger changed meanwhile; nothing was repaired.', {
          hint: 'forge memory repair',
        });
      return applyRepair({ ...work, restored: new Set<string>() }, decision);
    });
  });

function applyRepair(repair: Repair, decision: Decision): string[] {
  const { context, observation, absent, blobs, done, subjects, restored } = repair;
  const { snapshot, located, evidence } = observation;
  const { graph } = snapshot;
  repairDamage(repair);
  const handled = new Set([...subjects, ...restored]);
  const files = restoreFiles(repair);
  const away = absent.filter(
    ({ id, seg, prev, source, file, isOwn }) =>
      !handled.has(id) &&
      graph.holderOf(seg, prev) === null &&
      !(source === 'head' && files.has(file ?? '')) &&
      (source === 'history' || isOwn) &&
      !located.places.has(id),
  );
  // A chain that cannot be completed stays a finding until a person discards it.
  const back = putBack(context, observation, away, [...blobs.values()]);
  if (back.length > 0) done.push(`put back ${plural(back.length, 'record')}`);
  for (const { ledger } of graph.containers)
    if (ledger !== null && ledger !== graph.ledger() && !evidence.settled.has(ledger)) subjects.add(ledger);
  for (const id of graph.tombstones()) if (!evidence.settled.has(id)) subjects.add(id);
  keepLedgerId(context, graph.ledger());
  if (done.length === 0 && subjects.size === 0) return done;
  const named = { done, restored: [...restored, ...back], subjects: [...subjects] };
  append(context, [{ tier: 'audit', kind: 'repaired', ...decision, ...named }], { evenDamaged: true });
  return done;
}

/** Replaces each damaged file by its true chain; vouches for the bytes where no copy is known. */
function repairDamage({ context, observation, absent, blobs, done, subjects, restored }: Repair): void {
  const { graph } = observation.snapshot;
  const { settled } = observation.evidence;
  // Records whose place or number is wrong are whole; a person vouches for them.
  const links = graph.checkLinks().filter(({ id }) => !settled.has(id));
  for (const { id } of links) subjects.add(id);
  for (const file of new Set(links.map((link) => link.file))) done.push(`vouched for ${file}`);
  const edited = absent.filter(({ seg, prev }) => graph.holderOf(seg, prev) !== null);
  for (const container of graph.containers) {
    const { name, seg, ids, problems } = container;
    const holds = (id: string | null): boolean => id !== null && ids.includes(id);
    const isEdited = edited.some((record) => record.seg === seg && holds(graph.holderOf(seg, record.prev)));
    if (!isEdited && problems.every(({ sha256 }) => settled.has(sha256))) continue;
    const lost = edited.filter((record) => record.seg === seg);
    const gone = absent.filter((record) => record.seg === seg);
    const lines = collectLines(context, observation, seg, [...blobs.values()]);
    const wrong = wrongIn(container, lost, lines);
    const kept = ids.filter((id) => !wrong.has(id)).map((id) => ({ id }));
    const wanted = longestChain(lines, [...gone, ...kept]) ? gone : lost;
    const chain = longestChain(lines, [...wanted, ...kept]) ?? [];
    const isReplaced = chain.length > 0 && writeChain(context, 'put', seg, chain);
    if (isReplaced) removePath(join(ledgerFolder(context.layout), name));
    done.push(isReplaced ? `replaced ${name} by its chain` : `vouched for ${name}`);
    for (const { id } of isReplaced ? wanted : lost) (isReplaced ? restored : subjects).add(id);
    for (const subject of [...wrong, ...problems.map(({ sha256 }) => sha256)]) subjects.add(subject);
  }
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
function restoreFiles({ context, observation, absent, blobs, done }: Repair): Set<string> {
  const { snapshot, evidence } = observation;
  const here = new Map(snapshot.graph.containers.map((container) => [container.name, container]));
  const restored = new Set<string>();
  for (const { source, file = '', blob = '' } of absent) {
    const bytes = blobs.get(blob);
    if (source !== 'head' || !bytes || restored.has(file) || evidence.sparse.has(file)) continue;
    const stands = here.get(file);
    const ids = new Set(linesById(bytes).keys());
    // A file that was cut off has nothing that HEAD does not have.
    if (stands && (stands.problems.length > 0 || !stands.ids.every((id) => ids.has(id)))) continue;
    replaceFiles([{ path: join(ledgerFolder(context.layout), file), bytes }]);
    restored.add(file);
  }
  if (restored.size > 0) done.push(`restored ${plural(restored.size, 'file')} from HEAD`);
  return restored;
}
