import { elapsed } from '../core/clock.js';
import { refused, usage } from '../core/error.js';
import { memoryFolder, shown, shownFrom } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import { streamGit } from '../git/client.js';
import { findHeld, type Held, type HeldFiles } from '../git/memory.js';
import type { Context } from '../project/project.js';
import { type RecordRef, storeAudit, storeRecords, surroundings } from './append.js';
import { type Decision, requireDecision } from './human.js';
import { settleMemory } from './integrity.js';
import { purgeWaiting } from './purge.js';
import { checkRecordStart, untilSettled } from './read.js';
import { findRemnants, type Remnant } from './remnants.js';
import { type LedgerRecord, parseLine, type Tier } from './rules/record.js';
import { replacementFor, tombstoneOf, whyNotRedact } from './rules/tombstone.js';
import { listArchives, listContainers } from './store/files.js';
import type { Around } from './store/ledger.js';
import {
  archivesIn,
  buryAll,
  type Content,
  dropDrafts,
  findContent,
  findGlued,
  listTombstones,
  planBurial,
} from './store/redact.js';
import { keepRedacted, lineOf } from './store/redacted.js';
import { manifestOf, scanTier, tierOfArchive } from './store/scan.js';

/** One record whose content is gone. */
export interface RedactedRecord {
  id: string;
  tier: Tier;
  n: number;
  /** Null when there was nothing to take out (any more). */
  audit: RecordRef | null;
}

export interface Redaction {
  audit: RecordRef | null;
  redacted: RedactedRecord[];
  /** The files that had the content. */
  files: string[];
  /** What else here still has text of it. */
  remnants: Remnant[];
  /** What git still has of it; null without git. */
  history: { held: Held[]; complete: boolean } | null;
  /** Lines for `git filter-repo --replace-text`, which put the tombstones into history as well. */
  replacements: string[];
}

interface Target extends Omit<RedactedRecord, 'audit'> {
  /** Null where only the tombstone is left. */
  content: Content | null;
}

/**
 * LTM-19: a human takes the content of records out, wherever it stands here. What stands for it keeps its id and its
 * links. The audit record comes first, then the git dir remembers it, then the content goes: whoever is interrupted runs
 * it again, and verify says that it is due.
 */
export async function redactRecords(
  context: Context,
  { ids, reason }: { ids: readonly string[]; reason?: string },
): Promise<Redaction> {
  const decision = requireDecision(context, 'Redacting a record', reason);
  const targets = [...new Map(ids.map((id) => findTarget(context, id)).map((one) => [one.id, one])).values()];
  const around = await surroundings(context);
  const done = context.disk.withLock(() => takeOut(context, around, targets, decision));
  const said = new Map(
    targets.flatMap(({ id, content }) => (content ? [[id, content.record] as const] : [])),
  );
  // Without the lock: reading all there is takes long where there is much.
  const remnants = untilSettled(() => findRemnants(context, said));
  // What was verified before does not hold any more; a halt for something else stays.
  if (!context.disk.dryRun && done.files.length > 0) await settleMemory(context, 'none', true);
  const known = await askGit(context, new Set(targets.map(({ id }) => id)));
  const replacements = targets.flatMap(({ id, content }) => {
    const record = content?.record ?? recordIn(known?.lines.get(id));
    return record ? [replacementFor(id, record)] : [];
  });
  const history = known && { held: known.held, complete: known.complete };
  return { ...done, remnants, history, replacements };
}

/** Of what was redacted before only git still has the line. */
function recordIn(line: Buffer | undefined): LedgerRecord | null {
  const parsed = parseLine(line?.toString('utf8') ?? '');
  return parsed.kind === 'record' ? parsed.record : null;
}

function findTarget({ layout }: Context, start: string): Target {
  checkRecordStart(start);
  const targets = new Map<string, Target>();
  for (const { redacted: id, tier, n } of listTombstones(layout))
    if (id.startsWith(start)) targets.set(id, { id, tier, n, content: null });
  for (const content of findContent(layout, start))
    targets.set(content.id, { id: content.id, tier: content.tier, n: content.record.n, content });
  const [first, ...more] = targets.values();
  if (!first)
    throw usage('record.unknown', `There is no record ${start} here.`, {
      hint: 'forge memory log  (or switch to the branch that has it)',
    });
  if (more.length > 0)
    throw usage('record.ambiguous', `${start} means ${more.length + 1} records; give more digits.`, {
      hint: 'forge memory log',
    });
  refuseStructure(first);
  return first;
}

function refuseStructure({ id, tier, content }: Target): void {
  const why = content && whyNotRedact(tier, content.record.kind);
  if (why)
    throw refused('redact.kept', `Record ${id.slice(0, 12)} cannot be redacted: ${oneLine(why)}.`, {
      hint: `forge memory show ${id.slice(0, 12)}`,
    });
}

/** The caller holds the lock. */
function takeOut(
  context: Context,
  around: Around,
  targets: readonly Target[],
  decision: Decision,
): Pick<Redaction, 'audit' | 'redacted' | 'files'> {
  const { disk, layout } = context;
  const contents = targets.flatMap(({ content }) => (content ? [content] : []));
  const stones = contents.map(({ id, record }) => tombstoneOf(id, record));
  const graves = new Map(stones.map((stone) => [stone.redacted, lineOf(stone)]));
  const plan = planBurial(disk, graves);
  sealAnew(
    context,
    around,
    archivesIn(
      layout,
      plan.map(({ file }) => file),
    ),
  );
  const redacted = targets.map(({ content, ...target }) => {
    const audit = content && storeRedacted(context, around, target, decision);
    return { ...target, audit };
  });
  keepRedacted(disk, stones);
  const waiting = purgeWaiting(context, contents);
  // The audit record has gone into a segment and the journal meanwhile.
  buryAll(disk, planBurial(disk, graves), around.gitMayKnow);
  if (contents.length > 0) dropDrafts(disk);
  for (const path of findGlued(
    disk,
    contents.map(({ line }) => line),
  ))
    context.warnings.push(
      `${shown(layout, path)} holds it once more, inside of bytes that are no record: take it out by hand, then: forge memory repair --reason "…"`,
    );
  const files = [...plan.map(({ file }) => file.path), ...waiting].map((path) => shown(layout, path));
  return { audit: redacted.find(({ audit }) => audit)?.audit ?? null, redacted, files };
}

const storeRedacted = (
  context: Context,
  around: Around,
  { id, tier }: Pick<Target, 'id' | 'tier'>,
  decision: Decision,
): RecordRef =>
  storeAudit(context, around, { kind: 'redacted', subject: id, of: tier, ...decision }, { despite: true });

/**
 * An archive that no record seals is what a killed compaction left. Once it has another name than its bytes were made
 * of, only a seal says that nothing else in it changed, so it gets one first.
 */
function sealAnew(context: Context, around: Around, archives: ReturnType<typeof archivesIn>): void {
  const { layout } = context;
  for (const file of archives) {
    const tier = tierOfArchive(file);
    const manifest = manifestOf([file]);
    const { manifests } = scanTier(layout, tier, listContainers(layout, tier), listArchives(layout)).graph;
    if (manifests.some(({ ids_sha256 }) => ids_sha256 === manifest.ids_sha256)) continue;
    const archive = shown(layout, file.path).replace(/^.*\/|\.jsonl$/g, '');
    storeRecords(context, around, tier, [{ kind: 'archive', archive, ...manifest }], { despite: true });
  }
}

/** How long history is searched. */
const SEARCH_MS = 10_000;

/** The content is gone from the files; git's objects still have what was committed or staged. */
async function askGit(
  { git, layout, repository, world }: Context,
  wanted: ReadonlySet<string>,
): Promise<HeldFiles | null> {
  if (!git || !repository) return null;
  const until = elapsed() + SEARCH_MS;
  const isOver = (): boolean => elapsed() > until;
  const folder = shownFrom(repository.root, memoryFolder(layout));
  const stream = streamGit(repository.root, world.env);
  // What was done is done, whatever git says.
  return findHeld(stream, { folder, wanted, isOver }).catch(() => ({
    held: [],
    complete: false,
    lines: new Map(),
  }));
}
