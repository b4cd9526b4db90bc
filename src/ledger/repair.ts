import { basename, join } from 'node:path';
import { refused, usage } from '../core/error.js';
import { removePath, replaceFiles } from '../core/files.js';
import { shown, shownFrom } from '../core/paths.js';
import { firstPaths, plural } from '../core/text.js';
import { readUncommitted, restoreFiles } from '../git/status.js';
import { findForeignEdits } from '../project/edits.js';
import { type Context, clearHalt } from '../project/project.js';
import { append } from './append.js';
import { type Decision, requireDecision, requireHuman } from './audit.js';
import { collectLines, longestChain, putBack, writeChain } from './chains.js';
import { compare, describeFinding, meaningOf } from './compare.js';
import { type Container, linesById } from './container.js';
import { gitFolder, ledgerFolder, withLedgerLock } from './files.js';
import { type LedgerObjects, withObjects } from './git.js';
import type { AbsentRecord } from './graph.js';
import { refuseDamage, verifyAndRepair } from './integrity.js';
import { storeAudit } from './memory.js';
import { type Observation, observe, readPlace } from './observe.js';
import { digestOf, listContainers } from './read.js';
import type { Links } from './record.js';
import { verify } from './verify.js';

export interface RepairStep {
  /** In one line, with its place. */
  finding: string;
  /** What `repair` does, in one clause. */
  action: string;
}

/** What `forge memory repair` shows before it asks. Writes nothing. */
export const planRepair = (
  context: Context,
  { discard = [] }: { discard?: readonly string[] } = {},
): Promise<RepairStep[]> =>
  withObservation(context, async (observation) => {
    if (discard.length > 0)
      return discard.map((name) => {
        const ids = findMissing(observation, name);
        const finding = `${plural(ids.length, 'record')} missing: ${firstPaths(ids.map((id) => id.slice(0, 12)))}`;
        return { finding, action: 'accept that they are gone' };
      });
    return compare(observation).findings.flatMap((finding) => {
      const action = meaningOf(finding.code).repair;
      return action === undefined ? [] : [{ finding: describeFinding(finding), action }];
    });
  });

export interface Repaired {
  /** What was done, in clauses. */
  done: string[];
  /** Ids of records that were discarded. */
  discarded: string[];
}

/**
 * Settles all damage and all missing records (LTM-21). A human decides, with a reason. `discard`: ids, or the branch or
 * removing commit of records that are gone on purpose.
 */
export async function repairMemory(
  context: Context,
  { reason, discard = [] }: { reason?: string; discard?: readonly string[] } = {},
): Promise<Repaired> {
  const what = 'Repairing memory';
  requireHuman(context, what);
  const steps = discard.length > 0 ? [] : await planRepair(context);
  // Before the reason is asked for.
  if (discard.length + steps.length === 0)
    throw usage('memory.intact', 'There is nothing to repair.', { hint: 'forge memory verify' });
  const decision = requireDecision(context, what, reason);
  if (discard.length > 0) return discardRecords(context, discard, decision);
  if (context.disk.dryRun) return { done: steps.map(({ action }) => action), discarded: [] };
  const done = await repair(context, decision);
  refuseDamage(await verify(context));
  context.disk.withLock(() => clearHalt(context.disk));
  await verifyAndRepair(context);
  return { done, discarded: [] };
}

async function discardRecords(
  context: Context,
  names: readonly string[],
  decision: Decision,
): Promise<Repaired> {
  const ids = await withObservation(context, async (observation) =>
    names.flatMap((name) => findMissing(observation, name)),
  );
  const discarded = [...new Set(ids)];
  storeAudit(context, { kind: 'discarded', subjects: discarded, ...decision });
  await verifyAndRepair(context);
  return { done: [`discarded ${plural(discarded.length, 'record')}`], discarded };
}

/** Ids of the missing records that a name of `--discard` is about. Exit 2 without any. */
function findMissing({ own, others, graph, absent }: Observation, name: string): string[] {
  const gone = [...own.lines, ...others].filter(({ id }) => !graph.has(id));
  const known: { id: string; branch?: string; commit?: string }[] = [...gone, ...absent];
  const isId = /^[0-9a-f]{6,64}$/.test(name);
  const found = known.filter(
    ({ id, branch, commit }) =>
      branch === name || (isId && (id.startsWith(name) || commit?.startsWith(name))),
  );
  if (found.length > 0) return [...new Set(found.map(({ id }) => id))];
  const message = `No missing record has the id, the branch or the commit ${JSON.stringify(name)}.`;
  throw usage('discard.unknown', message, { hint: 'forge memory verify' });
}

const withObservation = <T>(
  context: Context,
  work: (observation: Observation, objects: LedgerObjects) => Promise<T>,
): Promise<T> =>
  withObjects(context, async (objects) =>
    work(await observe(context, objects, await readPlace(context, objects)), objects),
  );

/** Settles every finding and writes one audit record with the reason. Returns what was done. */
const repair = (context: Context, decision: Decision): Promise<string[]> =>
  withRepair(context, (state) => {
    if (digestOf(listContainers(context)) !== digestOf(state.observation.snapshot.listed))
      throw refused('ledger.changed', 'The ledger changed meanwhile; nothing was repaired.', {
        hint: 'forge memory repair',
      });
    return applyRepair(state, decision);
  });

/** Restores what the working tree lacks of HEAD (`set_back`), so that no commit removes it. Returns the files. */
export const restoreFromHead = (
  context: Context,
  isMeant: (file: string) => boolean = () => true,
): Promise<string[]> => withRepair(context, (state) => [...restoreLacking(state, isMeant)]);

/** Before forge's own commit: what another program deleted comes back, because nobody asked for a commit of it. */
export async function putBackDeleted(context: Context): Promise<void> {
  const { git, disk, layout, repository } = context;
  if (!git || !repository || disk.dryRun) return;
  const fromTop = (name: string): string => shownFrom(repository.root, join(layout.root, name));
  const foreign = await findForeignEdits(context);
  const files = foreign.filter((name) => !disk.exists(join(layout.root, name)));
  if (files.length > 0) await restoreFiles(git, files.map(fromTop));
  // Records may be in another file now, as after a redaction. A change in the index is the person's own (git rm).
  const ledger = await readUncommitted(git, [gitFolder(context)]);
  const changed = ledger.filter(({ worktree }) => worktree !== '.').map(({ path }) => basename(path));
  const records = changed.length > 0 ? await restoreFromHead(context, (file) => changed.includes(file)) : [];
  const back = [...files, ...records.map((name) => shown(layout, join(ledgerFolder(layout), name)))];
  if (back.length > 0)
    context.warnings.push(
      `Deleted outside forge, and put back: ${firstPaths(back)}. To remove a file: git rm FILE`,
    );
}

/** Runs `work` under the lock. */
const withRepair = (context: Context, work: (state: Repair) => string[]): Promise<string[]> =>
  withObservation(context, async (observation, objects) => {
    const state = await openRepair(context, observation, objects);
    return withLedgerLock(context, () => work(state));
  });

type Repair = Awaited<ReturnType<typeof openRepair>>;

/**
 * `absent`: records that are missing and that nobody discarded. `blobs`: the bytes of those that git has, by blob id.
 * `subjects`: what the person vouches for, by ids of records and ledgers, and SHA-256 of lines.
 */
async function openRepair(context: Context, observation: Observation, objects: LedgerObjects) {
  const absent = observation.absent.filter(({ id }) => !observation.settled.has(id));
  const blobs = new Map<string, Buffer>();
  for (const { blob, file } of absent) {
    const found = blob && file ? await objects.blob(blob, file) : null;
    if (blob && found) blobs.set(blob, found.bytes);
  }
  const done: string[] = [];
  const [subjects, restored] = [new Set<string>(), new Set<string>()];
  return { context, observation, absent, blobs, done, subjects, restored };
}

function applyRepair(repair: Repair, decision: Decision): string[] {
  const { context, observation, absent, blobs, done, subjects, restored } = repair;
  const { graph, located, settled } = observation;
  vouchForLinks(repair);
  replaceDamaged(repair);
  const files = restoreLacking(repair);
  if (files.size > 0) done.push(`restored ${plural(files.size, 'file')} from HEAD`);
  const away = absent.filter(
    ({ id, seg, prev, source, file, isOwn }) =>
      !subjects.has(id) &&
      !restored.has(id) &&
      graph.holderOf(seg, prev) === null &&
      !(source === 'head' && files.has(file ?? '')) &&
      (source === 'history' || isOwn) &&
      !located.places.has(id),
  );
  // A chain that cannot be completed stays a finding until a person discards it.
  const back = putBack(context, observation, away, [...blobs.values()]);
  if (back.length > 0) done.push(`put back ${plural(back.length, 'record')}`);
  for (const { ledger } of graph.containers)
    if (ledger !== null && ledger !== graph.ledger() && !settled.has(ledger)) subjects.add(ledger);
  for (const id of graph.tombstones()) if (!settled.has(id)) subjects.add(id);
  if (done.length === 0 && subjects.size === 0) return done;
  const named = { done, restored: [...restored, ...back], subjects: [...subjects] };
  append(context, [{ tier: 'audit', kind: 'repaired', ...decision, ...named }], { evenDamaged: true });
  return done;
}

/** Records with a wrong place or number are whole, so a person vouches for them. */
function vouchForLinks({ observation: { graph, settled }, done, subjects }: Repair): void {
  const links = graph.checkLinks().filter(({ id }) => !settled.has(id));
  for (const { id } of links) subjects.add(id);
  for (const file of new Set(links.map((link) => link.file))) done.push(`vouched for ${file}`);
}

/** Replaces each damaged file by its true chain. A person vouches for bytes that no copy is known of. */
function replaceDamaged({ context, observation, absent, blobs, done, subjects, restored }: Repair): void {
  const { graph, settled } = observation;
  const edits = graph.replaced(absent);
  for (const container of graph.containers) {
    const { name, seg, ids, problems } = container;
    const inChain = edits.filter(({ record }) => record.seg === seg);
    const isEdited = inChain.some(({ holder }) => ids.includes(holder.id));
    if (!isEdited && problems.every(({ sha256 }) => settled.has(sha256))) continue;
    const lost = inChain.map(({ record }) => record);
    const gone = absent.filter((record) => record.seg === seg);
    const lines = collectLines(context, observation, seg, [...blobs.values()]);
    const wrong = lost.length > 0 ? wrongIn(container, gone, lines) : new Set<string>();
    const kept = ids.filter((id) => !wrong.has(id)).map((id) => ({ id }));
    const wanted = longestChain(lines, [...gone, ...kept]) ? gone : lost;
    const chain = longestChain(lines, [...wanted, ...kept]) ?? [];
    const isReplaced = chain.length > 0 && writeChain(context, 'put', seg, chain);
    if (isReplaced) removePath(join(ledgerFolder(context.layout), name));
    done.push(isReplaced ? `replaced ${name} by a file with its original records` : `vouched for ${name}`);
    for (const { id } of isReplaced ? wanted : lost) (isReplaced ? restored : subjects).add(id);
    for (const subject of [...wrong, ...problems.map(({ sha256 }) => sha256)]) subjects.add(subject);
  }
}

/** Records in the place of one that is gone, and those that were linked to them. */
function wrongIn({ ids }: Container, gone: readonly AbsentRecord[], lines: ReadonlyMap<string, string>) {
  const prevOf = (id: string): string | null => (JSON.parse(lines.get(id) ?? '{}') as Links).prev ?? null;
  const places = new Set(gone.map(({ prev }) => prev));
  // A record that moved up when a line was removed is right: its own place is known.
  const isWrong = (id: string): boolean => places.has(prevOf(id)) || longestChain(lines, [{ id }]) === null;
  const wrong = new Set(ids.filter(isWrong));
  for (const id of ids) if (wrong.has(prevOf(id) ?? '')) wrong.add(id);
  return wrong;
}

/** Gives missing files of HEAD its bytes. Overwrites only a file that HEAD's bytes contain. */
function restoreLacking(
  { context, observation, absent, blobs }: Repair,
  isMeant: (file: string) => boolean = () => true,
): Set<string> {
  const { graph, sparse } = observation;
  const here = new Map(graph.containers.map((container) => [container.name, container]));
  const restored = new Set<string>();
  for (const { source, file = '', blob = '' } of absent) {
    const bytes = blobs.get(blob);
    if (source !== 'head' || !bytes || restored.has(file) || sparse.has(file) || !isMeant(file)) continue;
    const present = here.get(file);
    const ids = new Set(linesById(bytes).keys());
    if (present && (present.problems.length > 0 || !present.ids.every((id) => ids.has(id)))) continue;
    replaceFiles([{ path: join(ledgerFolder(context.layout), file), bytes }]);
    restored.add(file);
  }
  return restored;
}
