import { basename, dirname, join } from 'node:path';
import type { Disk } from '../../core/disk.js';
import { fixedFile, journalFile, type Layout, pendingFile, segmentFolder } from '../../core/paths.js';
import { makeToken } from '../../core/text.js';
import {
  type LedgerRecord,
  paddingLines,
  parseLine,
  recordId,
  TIERS,
  type Tier,
  type Tombstone,
} from '../rules/record.js';
import { redactedIn } from '../rules/tombstone.js';
import { writeArchive } from './archive.js';
import { type Container, describeContainer, eachLine, listArchives, listContainers } from './files.js';
import { readPending } from './pending.js';
import { readRedacted } from './redacted.js';
import { tierOfArchive } from './scan.js';
import { forgetTier } from './state.js';

export type Grave = Tombstone & { tier: Tier };

/** A record that is to be redacted. */
export interface Content {
  id: string;
  tier: Tier;
  record: LedgerRecord;
  /** Its line, without the LF. */
  line: Buffer;
}

/** Everything that holds lines of ledgers: the containers of all tiers, the archives and the journal. */
export function everyContainer(layout: Layout): (Container & { tier: Tier })[] {
  const live = TIERS.flatMap((tier) => listContainers(layout, tier).map((file) => ({ ...file, tier })));
  const archives = listArchives(layout).map((file) => ({ ...file, tier: tierOfArchive(file) }));
  const journal = describeContainer(journalFile(layout));
  return [...live, ...archives, ...(journal ? [{ ...journal, tier: 'execution' as const }] : [])];
}

const withoutReturn = (bytes: Buffer): Buffer => (bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes);

/** The records whose ids begin so, wherever their content stands. */
export function findContent(layout: Layout, start: string): Content[] {
  const found = new Map<string, Content>();
  eachLine(everyContainer(layout), (bytes) => {
    const line = withoutReturn(bytes);
    const id = recordId(line);
    if (!id.startsWith(start) || found.has(id)) return;
    const parsed = parseLine(line.toString('utf8'));
    if (parsed.kind !== 'record') return;
    const { record } = parsed;
    found.set(id, { id, tier: record.tier, record, line: Buffer.from(line) });
  });
  return [...found.values()];
}

/** One tombstone of each redacted record, here or remembered. */
export function listTombstones(layout: Layout): Grave[] {
  const found = new Map<string, Grave>();
  const add = (line: Buffer, tier: Tier): void => {
    if (redactedIn(line) === null) return;
    const parsed = parseLine(line.toString('utf8'));
    if (parsed.kind !== 'tombstone') return;
    found.set(parsed.tombstone.redacted, { ...parsed.tombstone, tier: parsed.tombstone.tier ?? tier });
  };
  for (const container of everyContainer(layout))
    eachLine([container], (bytes) => add(bytes, container.tier));
  for (const line of readRedacted(layout).values()) add(line, 'execution');
  return [...found.values()];
}

/** Lines by the ids of the records that they stand for. */
export type Graves = ReadonlyMap<string, Buffer>;

/**
 * The same bytes with each of these records replaced by the line that stands for it; null where none is there. A last
 * line without LF counts as a line: its content goes too.
 */
function bury(bytes: Buffer, graves: Graves): Buffer | null {
  const parts: Buffer[] = [];
  const there = new Set<string>();
  let found = false;
  for (const line of splitLines(bytes)) {
    const whole = withoutLf(line);
    const stone = redactedIn(whole);
    if (stone !== null) there.add(stone);
  }
  for (const line of splitLines(bytes)) {
    const id = recordId(withoutReturn(withoutLf(line)));
    const grave = graves.get(id);
    if (!grave) parts.push(line);
    else if (!there.has(id)) parts.push(grave, LF);
    if (!grave) continue;
    found = true;
    there.add(id);
  }
  return found ? Buffer.concat(parts) : null;
}

const LF = Buffer.from('\n');
const withoutLf = (line: Buffer): Buffer => (line.at(-1) === 0x0a ? line.subarray(0, -1) : line);

function* splitLines(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    const next = end < 0 ? bytes.length : end + 1;
    yield bytes.subarray(start, next);
    start = next;
  }
}

/** The files that hold the content of these records, and what they will be. */
export function planBurial(
  disk: Disk,
  graves: Graves,
): { file: Container & { tier: Tier }; bytes: Buffer }[] {
  return everyContainer(disk.layout).flatMap((file) => {
    const bytes = bury(disk.read(file.path, Number.MAX_SAFE_INTEGER) ?? Buffer.alloc(0), graves);
    return bytes ? [{ file, bytes }] : [];
  });
}

/** Files that hold such a line inside of bytes that are no record: two glued together, which a repair may vouch for. */
export function findGlued({ layout }: Disk, lines: readonly Buffer[]): string[] {
  const files = new Set<string>();
  for (const file of everyContainer(layout))
    eachLine([file], (bytes) => {
      if (lines.some((line) => bytes.length > line.length + 1 && bytes.includes(line))) files.add(file.path);
    });
  return [...files];
}

/** Archives of which a record is to be taken out. */
export const archivesIn = (layout: Layout, files: readonly Container[]): Container[] => {
  const archives = new Set(listArchives(layout).map(({ path }) => path));
  return files.filter(({ path }) => archives.has(path));
};

/**
 * Takes content out of the files. An archive is named by its bytes, so it gets another name: the new one is there before
 * the old one goes. So does a segment that git knows: another branch may fold it, and a file that one side changes and
 * the other removes is a conflict. The caller holds the lock.
 */
export function buryAll(
  disk: Disk,
  plan: ReturnType<typeof planBurial>,
  gitMayKnow: (name: string) => boolean,
): void {
  const archives = new Set(
    archivesIn(
      disk.layout,
      plan.map(({ file }) => file),
    ).map(({ path }) => path),
  );
  for (const { file, bytes } of plan) {
    const isSegment = dirname(file.path) === segmentFolder(disk.layout, file.tier);
    const moves = archives.has(file.path) || (isSegment && gitMayKnow(basename(file.path)));
    if (archives.has(file.path)) writeArchive(disk, bytes);
    else if (moves) writeRestored(disk, file.tier, bytes);
    else disk.replaceMoved(file.path, bytes);
    if (moves) disk.remove(file.path);
    if (!disk.dryRun) forgetTier(disk, file.tier);
  }
}

/** Beside new padding, like records that were put back: else git takes it for the old one, renamed. */
function writeRestored(disk: Disk, tier: Tier, bytes: Buffer): void {
  const lines = [...splitLines(bytes)].filter((line) => !line.subarray(0, PAD.length).equals(PAD));
  const kept = Buffer.concat(lines);
  const name = `restored-${disk.dryRun ? '…' : makeToken(8)}.jsonl`;
  const padding = disk.dryRun ? [] : [paddingLines(kept.length, makeToken(32))];
  disk.replaceMoved(join(segmentFolder(disk.layout, tier), name), Buffer.concat([...padding, kept]));
}

const PAD = Buffer.from('{"v":1,"pad":');

/** What waits to be recorded under such a key has the same content. */
export function pendingOf(disk: Disk, isGone: (key: string) => boolean): string[] {
  return readPending(disk)
    .filter(({ key, input }) => {
      const chosen = (input as { idempotency_key?: unknown } | null)?.idempotency_key;
      return isGone(key) || (typeof chosen === 'string' && isGone(chosen));
    })
    .map(({ key }) => pendingFile(disk.layout, key));
}

/** Drafts that a killed fold left beside the files: nothing reads them, and they may hold what is to go. */
export function dropDrafts(disk: Disk): void {
  const folders = TIERS.flatMap((tier) => [
    join(fixedFile(disk.layout, tier), '..'),
    segmentFolder(disk.layout, tier),
  ]);
  for (const folder of new Set(folders))
    for (const name of disk.list(folder))
      if (/^\..+\.jsonl\.[0-9a-f]{12}\.tmp$/.test(name)) disk.remove(join(folder, name));
}
