import { plural } from '../core/text.js';
import { streamGit } from '../git/client.js';
import { findRecords, findSetBack, readBlobs, readRemovedLines } from '../git/memory.js';
import { EarnedPromotions } from '../learning/earned.js';
import type { Identified } from '../learning/evidence.js';
import { addTo, judgeEarned, LOOKED_INTO, SCAN_ORDER } from '../learning/read-earned.js';
import type { Context } from '../project/project.js';
import { addFromAnchors, dropHeadsElsewhere } from './anchors.js';
import { addFromCheckpoints } from './checkpoint-anchors.js';
import type { Cut } from './cut.js';
import { fromTop, type GitFacts, gitFacts, type Look } from './facts.js';
import { OpenBreaches } from './rules/breach.js';
import { type MissingRecord, markOf, toFinding } from './rules/finding.js';
import type { OnRecord } from './rules/graph.js';
import { isRecordId, parseLine, TIERS, type Tier } from './rules/record.js';
import { identify, redactedIn } from './rules/tombstone.js';
import { readAnchors } from './store/anchors.js';
import { readJournal } from './store/journal.js';
import { scanTier } from './store/scan.js';

/** Audit records that say something of other records; those that are void do not. */
const TELLING: ReadonlySet<string> = new Set(['breach', 'acknowledged', 'redacted']);

export interface LookOptions {
  /** Bytes read so far, of all. */
  onProgress?: (read: number, total: number) => void;
  signal?: AbortSignal;
}

/** Reads all ledgers, the journal, and what git remembers. No lock is held. */
export async function lookAtMemory(context: Context, cut: Cut, options: LookOptions = {}): Promise<Look> {
  const git = await gitFacts(context);
  const breaches = new OpenBreaches();
  /** The executions that evaluations are of. */
  const judged: string[] = [];
  const earned = new EarnedPromotions();
  /** The records that the audit ledger says were redacted. */
  const redacted = new Set<unknown>();
  const audit: Identified[] = [];
  const scans = scanAll(context, cut, git, options, (record, id, place) => {
    addTo(earned, record, id, place);
    if (record.tier === 'audit' && TELLING.has(record.kind)) audit.push({ record, id });
    else if (record.tier === 'evaluation' && isRecordId(record.execution)) judged.push(record.execution);
  });
  for (const { record, id } of audit)
    if (!scans.audit.graph.isVoid(id)) {
      if (record.kind === 'redacted') redacted.add(record.subject);
      breaches.add(record, id);
    }
  const { unproven, doubtful } = addUnearned(context, cut, scans, earned);
  const look: Look = {
    cut,
    git,
    scans,
    breaches: breaches.list(),
    unproven,
    doubtful,
    missing: new Map(),
    knownIds: new Set(),
    brokenAnchors: [],
    notes: [],
    settled: [],
  };
  if (git) await addFromGit(context, git, look);
  if (git) await addSetBack(context, git, look);
  await addFromJournal(context, look);
  await dropHeadsElsewhere(context, look);
  addNotes(look, judged.filter((id) => !scans.execution.graph.has(id)).length);
  noteUnsaid(look, redacted);
  addUnfinished(look, redacted);
  return look;
}

/** A repair can declare void what was not earned, as it can what a builder wrote. */
function addUnearned(
  { layout }: Context,
  { tiers, archives }: Cut,
  scans: Look['scans'],
  earned: EarnedPromotions,
): Pick<Look, 'unproven' | 'doubtful'> {
  const { unearned, unproven, doubtful } = judgeEarned(layout, tiers.knowledge, archives, scans, earned);
  const { result } = scans.knowledge;
  for (const { id, ...problem } of unearned) {
    result.problems.push(problem);
    result.improper.push(id);
  }
  return { unproven: unproven.map((problem) => toFinding('knowledge', problem, false)), doubtful };
}

function scanAll(
  context: Context,
  cut: Cut,
  git: GitFacts | null,
  { onProgress = context.onProgress, signal }: LookOptions,
  onRecord: OnRecord,
): Look['scans'] {
  const { layout } = context;
  const committed = new Set(git ? [...git.tree.keys()].map((path) => fromTop(context, path)) : []);
  for (const { path } of git?.changed ?? []) committed.delete(fromTop(context, path));
  const files = [...Object.values(cut.tiers).flat(), ...cut.archives];
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let read = 0;
  const onBytes =
    onProgress &&
    ((bytes: number): void => {
      read += bytes;
      onProgress(read, total);
    });
  return Object.fromEntries(
    SCAN_ORDER.map((tier) => {
      signal?.throwIfAborted();
      return [
        tier,
        scanTier(layout, tier, cut.tiers[tier], cut.archives, {
          committed,
          ...(onBytes ? { onProgress: onBytes } : {}),
          ...(LOOKED_INTO.has(tier) ? { onRecord } : {}),
        }),
      ];
    }),
  ) as Look['scans'];
}

async function addFromGit(context: Context, git: GitFacts, look: Look): Promise<void> {
  const stream = streamGit(context.repository?.root ?? context.layout.root, context.world.env);
  const anchors = readAnchors(context.disk);
  const paths = new Map(git.changed.map(({ path, oid }) => [oid, path]));
  await readBlobs(stream, [...paths.keys()], (oid, bytes) => {
    const path = paths.get(oid) ?? '';
    look.knownIds.add(identify(bytes));
    note(look, bytes, { source: 'head', file: fromTop(context, path), commit: git.head });
  });
  const onLine = (bytes: Buffer, path: string, commit: string): void =>
    note(look, bytes, { source: 'anchor', file: fromTop(context, path), commit });
  look.settled = await addFromAnchors(context, { git, look, branches: anchors.branches }, onLine);
  await addFromCheckpoints(context, git, look, onLine);
  const outcome = await readRemovedLines(
    stream,
    {
      folder: git.folder,
      from: anchors.history,
      to: git.head,
      skipReadded: true,
      repository: context.repository,
    },
    ({ commit, path, bytes }) =>
      note(look, bytes, { source: 'history', file: fromTop(context, path), commit }),
    (commit, value) => noteAnchor(look, commit, value),
  );
  if (outcome.shallow)
    look.notes.push('this clone is shallow: history was checked back to its boundary only');
  if (outcome.incomplete !== null)
    look.notes.push(
      `history could not be read to its end (${outcome.incomplete}); what was dropped before is not seen`,
    );
}

/** Records of HEAD are missing: whether git took them, or a hand. */
async function addSetBack(context: Context, git: GitFacts, { missing }: Look): Promise<void> {
  if (!context.git || ![...missing.values()].some(({ source }) => source === 'head')) return;
  for (const found of await findSetBack(context.git, git.changed, git.operation !== null))
    git.setBack.set(fromTop(context, found.path), found);
}

/** Only a record, and only one that is not here. The first source that names it counts; of what was redacted, none. */
function note(look: Look, bytes: Buffer, from: Pick<MissingRecord, 'source' | 'file' | 'commit'>): void {
  const tier = tierOf(bytes);
  if (!tier) return;
  const id = identify(bytes);
  if (look.scans[tier].graph.has(id)) return;
  const known = look.missing.get(id);
  if (known && (known.tombstone || redactedIn(bytes) === null)) return;
  const parsed = parseLine(bytes.toString('utf8'));
  if (parsed.kind === 'tombstone') {
    const { n, prev } = parsed.tombstone;
    const mark = markOf({ n, prev: prev ?? id });
    look.missing.set(id, { id, tier, n, prev, mark, ...from, tombstone: Buffer.from(bytes) });
  }
  if (parsed.kind !== 'record') return;
  const { n, prev } = parsed.record;
  look.missing.set(id, { id, tier, n, prev, mark: markOf(parsed.record), ...from });
}

/** The tier that a line names, without parsing all of it. */
function tierOf(bytes: Buffer): Tier | undefined {
  const start = bytes.subarray(0, 64).toString('latin1');
  const name = /^\{"v":1,"tier":"([a-z]+)"/.exec(start)?.[1];
  return TIERS.find((tier) => tier === name);
}

/** `Forge-Ledger: execution 12 <head> …`: heads that the session's end saw. */
function noteAnchor(look: Look, commit: string, value: string): void {
  for (const match of value.matchAll(/([a-z]+) (\d+) ([0-9a-f]{64})/g)) {
    const [, name, n, head = ''] = match;
    const tier = TIERS.find((known) => known === name);
    if (tier && isRecordId(head) && !look.scans[tier].graph.has(head) && !look.missing.has(head))
      look.brokenAnchors.push({ tier, commit, head, n: Number(n) });
  }
}

/** What was written in this worktree and is in no branch, tag or stash either. */
async function addFromJournal(context: Context, look: Look): Promise<void> {
  const gone = new Map<string, Buffer>();
  readJournal(context.layout, look.cut.journal.size, (bytes) => {
    const tier = tierOf(bytes);
    if (!tier) return;
    const id = identify(bytes);
    look.knownIds.add(id);
    if (!look.scans[tier].graph.has(id) && !look.missing.has(id)) gone.set(id, Buffer.from(bytes));
  });
  if (gone.size === 0) return;
  if (look.git && context.git) look.git.staged = await stagedFiles(context.git, look.git);
  for (const [ref, count] of await countElsewhere(context, look, gone))
    look.notes.push(
      `${plural(count, 'record')} written here ${count === 1 ? 'is' : 'are'} in ${ref}, not in this tree`,
    );
  for (const bytes of gone.values()) note(look, bytes, { source: 'journal', file: '', commit: '' });
}

/** What `git add` took and nobody has touched since. */
async function stagedFiles(
  git: NonNullable<Context['git']>,
  { folder, tree }: GitFacts,
): Promise<Set<string>> {
  const list = async (args: string[]): Promise<string[]> =>
    (await git([...args, '-z', '--', folder])).stdout.split('\0').filter(Boolean);
  const touched = new Set(await list(['diff-files', '--name-only']));
  return new Set((await list(['ls-files'])).filter((path) => !tree.has(path) && !touched.has(path)));
}

/** Removes from `gone` what some ref has, and says which. */
async function countElsewhere(
  context: Context,
  look: Look,
  gone: Map<string, Buffer>,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (!look.git || !context.git) return counts;
  const stream = streamGit(context.repository?.root ?? '', context.world.env);
  const found = await findRecords(context.git, stream, {
    folder: look.git.folder,
    wanted: new Set(gone.keys()),
    where: 'refs',
  });
  // What a record here follows has to be here as well.
  const followed = new Set(
    TIERS.flatMap((tier) => look.scans[tier].result.missing.map(({ parent }) => parent)),
  );
  for (const [id, { ref }] of found) {
    if (followed.has(id)) continue;
    gone.delete(id);
    counts.set(ref, (counts.get(ref) ?? 0) + 1);
  }
  return counts;
}

function addNotes({ scans, git, notes }: Look, unmatched: number): void {
  const unseen = TIERS.reduce((sum, tier) => sum + scans[tier].result.unseen, 0);
  if (unseen > 0)
    notes.push(
      `${plural(unseen, 'earlier record')} ${unseen === 1 ? 'is' : 'are'} not in this tree (another branch has them, or had)`,
    );
  if (unmatched > 0)
    notes.push(
      `${plural(unmatched, 'evaluation')} ${unmatched === 1 ? 'names an execution' : 'name executions'} that no record here is`,
    );
  const sparse = git?.leftOut.size ?? 0;
  if (sparse > 0)
    notes.push(`this checkout leaves out ${plural(sparse, 'memory file')}; their records were not read`);
}

/** A tombstone that no audit record explains: cut by hand, or the audit ledger of another branch says it. */
function noteUnsaid({ scans, notes }: Look, redacted: ReadonlySet<unknown>): void {
  const unsaid = TIERS.flatMap((tier) => scans[tier].result.tombstones).filter(
    (tombstone) => !redacted.has(tombstone.redacted),
  ).length;
  if (unsaid > 0)
    notes.push(
      `${plural(unsaid, 'record')} ${unsaid === 1 ? 'was' : 'were'} redacted, and no audit record here says by whom`,
    );
}

/** Content that the audit ledger says is gone: who took it out was interrupted, or this clone has never seen the tombstone. */
function addUnfinished({ scans }: Look, redacted: ReadonlySet<unknown>): void {
  const ids = [...redacted].filter(isRecordId);
  for (const { graph, result } of Object.values(scans))
    for (const id of ids) if (graph.hasContent(id) && !result.returned.includes(id)) result.returned.push(id);
}
