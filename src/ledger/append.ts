import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { corrupted, ForgeError, outside, usage } from '../core/error.js';
import { createFile, diskError, makeFolder, readPlain, removePath, syncFolder } from '../core/files.js';
import { makeToken } from '../core/text.js';
import type { Context } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { type Container, formatContainer, linesOf, parseContainer } from './container.js';
import {
  appendStateFile,
  currentBranch,
  gitStamp,
  homeOf,
  ledgerFolder,
  ledgerIdFile,
  readJson,
  sizeOf,
  stampOf,
  withLedgerLock,
} from './context.js';
import { type Graph, openHalts } from './graph.js';
import { appendToJournal, type JournalLine, ownJournalFile, readJournal } from './journal.js';
import { digestOf, type Listed, listContainers, readSnapshot } from './read.js';
import { byNumber, formatRecord, genesisLine, type Links, MAX_SEEN, recordId, type Tier } from './record.js';
import { appendToViews } from './view.js';

export interface Body {
  tier: Tier;
  kind: string;
  [field: string]: unknown;
}

/** For records that name their number, their cycle, or records before them in the same write. */
export type Draft = Body | ((known: { n: number; cycle: number; ids: readonly string[] }) => Body);

export interface StoredRecord {
  id: string;
  n: number;
}

export interface AppendOptions {
  /** Repair writes while there is damage. */
  evenDamaged?: boolean;
}

/** What an append must know of the ledger, as long as the folder is as it was. */
interface AppendState {
  folder: string;
  /** Of all containers. */
  bytes: number;
  ledger: string;
  heads: string[];
  maxN: number;
  maxCycle: number;
  /** Or an audit record halts writing. */
  isDamaged: boolean;
  open: OpenFile | null;
}

interface OpenFile {
  name: string;
  /** Of the file after forge's last write. */
  stamp: string;
  git: string;
  session: string | null;
  last: string;
}

/** Writes the first record. Returns the ledger id. Two inits of one repository write the same line. */
export function initLedger(context: Context, ledger: string): string {
  return withLedgerLock(context, () => {
    const { name, line } = genesisLine(ledger);
    const path = join(ledgerFolder(context.layout), name);
    context.disk.note(path);
    if (context.disk.dryRun) return ledger;
    context.disk.makeFolder(ledgerFolder(context.layout));
    if (!fs.existsSync(path)) writeLines(path, formatContainer(name, [line]), true);
    return ledger;
  });
}

/**
 * Stores records, all or none. On return they are on the disk. Starts no git process. Throws exit 4 while the ledger is
 * damaged, exit 6 when the disk fails: after a failed fsync the outcome is unknown, and `verify` tells.
 */
export function append(
  context: Context,
  drafts: readonly Draft[],
  { evenDamaged = false }: AppendOptions = {},
): StoredRecord[] {
  return withLedgerLock(context, () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      const stored = tryAppend(context, drafts, evenDamaged);
      if (stored) return stored;
    }
    throw outside('ledger.moving', 'The ledger folder keeps disappearing while forge writes to it.');
  });
}

function tryAppend(context: Context, drafts: readonly Draft[], evenDamaged: boolean): StoredRecord[] | null {
  leaveCopiedFile(context);
  const { state, listed } = loadState(context);
  if (state.isDamaged && !evenDamaged)
    throw corrupted('memory.corrupted', 'Memory is damaged; nothing was written.', {
      hint: 'forge memory repair',
    });
  const session = readRunning(context)?.id ?? null;
  const open = state.open && isStillOpen(context, state.open, session) ? state.open : null;
  const seg = open ? segmentOfOpen(open) : makeToken(8);
  const name = open?.name ?? `${session ?? 'solo'}-${seg}.jsonl`;
  const chain = { seg, last: open?.last ?? null, session };
  const { lines, stored, next } = planLines(context, state, chain, drafts);
  const { disk, layout } = context;
  const path = join(ledgerFolder(layout), name);
  const bytes = formatContainer(name, lines);
  disk.checkContent(path, bytes);
  disk.note(path);
  if (disk.dryRun) return stored;
  if (!open) disk.makeFolder(ledgerFolder(layout));
  disk.checkHeld();
  // A writer that is killed or stopped here leaves no state, so that nobody goes on in its file.
  fs.rmSync(appendStateFile(layout), { force: true });
  // `git clean` may remove the folder or the file under this write: then the records stand nowhere.
  if (!writeLines(path, bytes, !open)) return null;
  journalStored(context, seg, lines);
  const stamp = stampOf(path);
  // The folder as it should be now. If somebody else changed it meanwhile, the next append reads it again.
  const files = [...listed.filter((file) => file.name !== name), { name, stamp }];
  const folder = digestOf(files.sort((a, b) => (a.name < b.name ? -1 : 1)));
  saveState(context, {
    ...next,
    bytes: state.bytes + bytes.length,
    // This record may settle the damage, so the next append looks again.
    folder: state.isDamaged ? '' : folder,
    open: { name, stamp, session, last: stored.at(-1)?.id ?? '', git: open?.git ?? gitStamp(context) },
  });
  appendToViews(context, lines, { before: digestOf(listed), after: folder });
  return stored;
}

/** A file is closed for good when git may know it, or anything around it changed. */
function isStillOpen(context: Context, open: OpenFile, session: string | null): boolean {
  const path = join(ledgerFolder(context.layout), open.name);
  if (open.session !== session || sizeOf(path) >= MAX_OPEN_BYTES) return false;
  return open.stamp === stampOf(path) && open.git === gitStamp(context);
}

/** A file that changed is read whole. */
const MAX_OPEN_BYTES = 1024 * 1024;

const segmentOfOpen = ({ name }: OpenFile): string => name.slice(-14, -6);

/** The lines that continue a chain. The first names the other heads, the rest of a batch only follows. */
function planLines(
  context: Context,
  state: AppendState,
  { seg, last, session }: { seg: string; last: string | null; session: string | null },
  drafts: readonly Draft[],
): { lines: string[]; stored: StoredRecord[]; next: AppendState } {
  const stamp = { at: context.world.now().toISOString(), session, actor: 'supervisor' };
  const next = { ...state };
  const lines: string[] = [];
  const stored: StoredRecord[] = [];
  let prev = last;
  for (const draft of drafts) {
    const n = next.maxN + 1;
    const cycle = next.maxCycle + 1;
    const ids = stored.map(({ id }) => id);
    const { tier, ...fields } = typeof draft === 'function' ? draft({ n, cycle, ids }) : draft;
    const seen = next.heads.filter((head) => head !== prev).slice(0, MAX_SEEN);
    const links: Links = { v: 1, tier, n, seg, prev, seen };
    if (prev === null) links.ledger = state.ledger;
    const line = formatRecord(links, { ...stamp, ...fields });
    const id = recordId(line);
    const named = new Set([prev, ...seen]);
    next.heads = [...next.heads.filter((head) => !named.has(head)), id].sort();
    next.maxN = n;
    if (fields['halts'] === true) next.isDamaged = true;
    if (tier === 'execution' && fields['cycle'] === cycle) next.maxCycle = cycle;
    lines.push(line);
    stored.push({ id, n });
    prev = id;
  }
  return { lines, stored, next };
}

/**
 * One write, its count checked, synced. False when the path does not lead to that file afterwards. The holder of the
 * lock cuts back its own short write. Nothing else is ever cut.
 */
function writeLines(path: string, bytes: Buffer, isNew: boolean): boolean {
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = fs.constants;
  let fd: number;
  try {
    fd = fs.openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0), 0o666);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw diskError(error, path);
  }
  try {
    const { size, ino } = fs.fstatSync(fd);
    writeWhole(fd, bytes, size);
    syncOnce(fd, path, isNew);
    return fs.lstatSync(path, { throwIfNoEntry: false })?.ino === ino;
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    // Nothing is in it: its first write was cut back.
    if (isNew && sizeOf(path) === 0) fs.rmSync(path, { force: true });
    throw diskError(error, path);
  } finally {
    fs.closeSync(fd);
  }
}

function writeWhole(fd: number, bytes: Buffer, size: number): void {
  try {
    if (fs.writeSync(fd, bytes) === bytes.length) return;
    throw Object.assign(new Error('short write'), { code: 'ENOSPC' });
  } catch (error) {
    fs.ftruncateSync(fd, size);
    throw error;
  }
}

/** Never tried again: the system may have dropped what it could not write. */
function syncOnce(fd: number, path: string, isNew: boolean): void {
  try {
    fs.fsyncSync(fd);
    if (isNew && fs.existsSync(dirname(path))) syncFolder(dirname(path));
  } catch (error) {
    const { code, message } = error instanceof ForgeError ? error : diskError(error, path);
    throw outside(code, `${message.replace(/\.$/, '')}; whether it was written is unknown.`, {
      file: path,
      cause: error,
      hint: 'forge memory verify',
    });
  }
}

/** The records are stored, so a journal that cannot be written is only a warning. */
function journalStored(context: Context, seg: string, lines: readonly string[]): void {
  try {
    appendToJournal(context, writtenHere(context, seg, lines));
  } catch (error) {
    context.warnings.push(
      `Stored, but the journal in the git dir could not be written (${(error as Error).message.replace(/\.$/, '')}): until the next commit nothing guards this record against git clean.`,
    );
  }
}

function writtenHere(context: Context, seg: string, lines: readonly string[]): JournalLine[] {
  const common = { seg, branch: currentBranch(context), how: 'w' as const, published: false };
  return lines.map((record) => ({ ...common, id: recordId(record), record }));
}

/** Writes a chain under a new name with an indentation of its own, so that git never pairs or merges it. */
export function writeChain(
  context: Context,
  prefix: 'put' | 'red',
  seg: string,
  lines: readonly string[],
): boolean {
  const name = `${prefix}-${seg}-${makeToken(8)}.jsonl`;
  const bytes = formatContainer(name, lines);
  if (parseContainer(name, bytes).problems.length > 0) return false;
  makeFolder(ledgerFolder(context.layout));
  return createFile(join(ledgerFolder(context.layout), name), bytes);
}

/**
 * A copied repository must not grow or commit the file that the original goes on with: git would see two versions of it.
 * Unless git knows the file, its chain moves to a file of its own. The caller holds the lock.
 */
export function leaveCopiedFile(context: Context): void {
  const state = readState(context);
  if (!state?.open || state.open.git.startsWith(`${homeOf(context)} `)) return;
  const { name } = state.open;
  if (!indexNames(context, name)) moveChain(context, name, segmentOfOpen(state.open));
  saveState(context, { ...state, folder: '', open: null });
}

/** Writes the whole lines of a file to a new one and removes it. Returns the lines; none when that was not possible. */
function moveChain(context: Context, name: string, seg: string): string[] {
  const path = join(ledgerFolder(context.layout), name);
  const whole = [...linesOf(readPlain(path, Number.MAX_SAFE_INTEGER) ?? Buffer.alloc(0))];
  const lines = whole.filter(({ isTorn }) => !isTorn).map(({ bytes }) => bytes.toString('utf8'));
  if (lines.length === 0 || !writeChain(context, 'put', seg, lines)) return [];
  removePath(path);
  return lines;
}

/** By the bytes of its name: an index that does not store names whole only leaves a copy as it is. */
function indexNames({ repository }: Context, name: string): boolean {
  const index = repository && join(repository.gitDir, 'index');
  return index !== null && fs.existsSync(index) && fs.readFileSync(index).includes(name);
}

/** What the next append would go on from. */
export const currentState = (context: Context): Readonly<AppendState> => loadState(context).state;

/** The state of the last append while the folder is unchanged; else heads are computed from the containers. */
function loadState(context: Context): { state: AppendState; listed: readonly Listed[] } {
  const known = readState(context);
  const listed = listContainers(context);
  const folder = digestOf(listed);
  if (known?.folder === folder) return { state: known, listed };
  const { graph } = readSnapshot(context, listed);
  const ledger = graph.ledger() ?? readLedgerId(context);
  if (!ledger) throw usage('ledger.missing', 'There is no ledger here.', { hint: 'forge init' });
  const isDamaged = hasDamage(graph) || openHalts(graph).length > 0;
  const open = known?.open ?? null;
  const bytes = listed.reduce((sum, { size }) => sum + size, 0);
  const found = { heads: graph.heads(), maxN: graph.maxN(), maxCycle: graph.maxCycle(), bytes };
  return { state: { folder, ledger, isDamaged, open, ...found }, listed };
}

/** What a repair vouched for is none. */
function hasDamage(graph: Graph): boolean {
  const settled = graph.subjects('repaired');
  return (
    graph.containers.some(({ problems }) => problems.some(({ sha256 }) => !settled.has(sha256))) ||
    graph.checkLinks().some(({ id }) => !settled.has(id))
  );
}

const readState = ({ layout }: Context): AppendState | null => readJson(appendStateFile(layout));

/** Neither synced nor required: without it the next append reads the containers. */
function saveState(context: Context, state: AppendState): void {
  try {
    fs.writeFileSync(appendStateFile(context.layout), JSON.stringify(state));
  } catch {
    // See above.
  }
}

/** For a checkout without a container. */
export function keepLedgerId(context: Context, ledger: string | null): void {
  if (ledger !== null && readLedgerId(context) === null)
    fs.writeFileSync(ledgerIdFile(context.layout), ledger);
}

const readLedgerId = ({ layout }: Context): string | null =>
  readPlain(ledgerIdFile(layout), 1024)?.toString('utf8') ?? null;

export interface Keyed {
  records: StoredRecord[];
  /** Its content was taken out: it is not recorded again. */
  redacted: boolean;
}

/** Records of earlier tries by their idempotency key: in the tree, or on another branch as the journal knows. */
export function findKeyed(context: Context, wanted: ReadonlySet<string>): Map<string, Keyed> {
  if (wanted.size === 0) return new Map();
  const { graph } = readSnapshot(context, listContainers(context));
  const journal = readJournal(ownJournalFile(context)).lines;
  const journaled = new Set(journal.map(({ id }) => id));
  const found: (StoredRecord & { key: string })[] = [];
  for (const container of graph.containers) {
    const { ids, ns } = container;
    const held = container.keys.filter(([, key]) => wanted.has(key));
    const isSure = held.every(([index]) => journaled.has(ids[index] as string));
    if (!isSure && !indexNames(context, container.name)) storeAgain(context, container, journaled);
    for (const [index, key] of held) found.push({ key, id: ids[index] as string, n: ns[index] as number });
  }
  for (const { how, id, record } of journal)
    for (const [, text = ''] of how === 'w' ? record.matchAll(KEY) : [])
      if (wanted.has(JSON.parse(text))) {
        const { key = '', n } = JSON.parse(record) as Links & { key?: string };
        found.push({ key, id, n });
      }
  const gone = new Set(graph.marks('redacted').flatMap(({ keys }) => keys ?? []));
  const answer = new Map<string, Keyed>();
  for (const key of wanted) {
    const own = found.filter((stored) => stored.key === key).map(({ id, n }) => ({ id, n }));
    const records = [...new Map(own.map((stored) => [stored.id, stored])).values()].sort(byNumber);
    const redacted = gone.has(recordId(key));
    if (redacted || records.length > 0) answer.set(key, { records, redacted });
  }
  return answer;
}

const KEY = /"key":("(?:[^"\\]|\\.)*")/g;

/**
 * A writer that was interrupted, or whose fsync failed, acknowledged nothing, and the disk may not have its record. It is
 * written again before it counts.
 */
function storeAgain(context: Context, { name, seg }: Container, journaled: ReadonlySet<string>): void {
  if (context.disk.dryRun) return;
  withLedgerLock(context, () => {
    const moved = writtenHere(context, seg, moveChain(context, name, seg));
    appendToJournal(
      context,
      moved.filter(({ id }) => !journaled.has(id)),
    );
  });
}
