import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { corrupted, ForgeError, outside, usage } from '../core/error.js';
import { diskError, readHint, readPlain, stampOf, syncFolder, writeHint } from '../core/files.js';
import { makeToken } from '../core/text.js';
import type { Context } from '../project/project.js';
import { sessionHere } from '../session/running.js';
import { isInIndex, moveChain } from './chains.js';
import { formatContainer, segmentOf } from './container.js';
import { gitDirIdentity, gitStamp, ledgerFolder, MAX_CACHE_BYTES, withLedgerLock } from './files.js';
import { type Graph, openHalts } from './graph.js';
import { appendToJournal, writtenHere } from './journal.js';
import { digestOf, type Listed, listContainers, readSnapshot, sizeOf } from './read.js';
import { formatRecord, genesisLine, type Links, MAX_SEEN, recordId, type Tier } from './record.js';
import { appendToViews } from './view.js';

export interface Body {
  tier: Tier;
  kind: string;
  [field: string]: unknown;
}

/** A function for a record that names its number, its cycle, or records before it in the same write. */
export type Draft = Body | ((known: { n: number; cycle: number; ids: readonly string[] }) => Body);

export interface RecordRef {
  id: string;
  n: number;
}

/** What an append must know about the ledger, valid while the folder is unchanged. */
interface AppendState {
  /** Digest of the folder. */
  folder: string;
  /** Size of all containers. */
  bytes: number;
  ledger: string;
  heads: string[];
  maxN: number;
  maxCycle: number;
  /** Cycles with a verdict since the last consolidation. Null if only the containers tell. */
  uncovered: number | null;
  /** The largest size of memory, in bytes, that a human accepted; 0 if none. */
  accepted: number;
  /** Also set while an audit record halts writing. */
  isDamaged: boolean;
  open: OpenFile | null;
}

interface OpenFile {
  name: string;
  /** The file after forge's last write. */
  stamp: string;
  git: string;
  session: string | null;
  last: string;
}

/** Deleted at any time: the next append then reads the containers. */
const stateFile = ({ layout }: Context): string => join(layout.state, 'append.json');

const readState = (context: Context): AppendState | null => readHint(stateFile(context), MAX_CACHE_BYTES);

/** A file that grew beyond this size is closed: a file that changed is read whole. */
const MAX_OPEN_BYTES = 1024 * 1024;

/** Writes the first record and returns the ledger's id. Two inits of one repository write the same line. */
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
 * Stores records, all or none. They are on the disk when it returns. Starts no git process. Throws exit 4 while the
 * ledger is damaged, exit 6 when the disk fails. After a failed fsync the outcome is unknown until `verify` runs.
 */
export function append(
  context: Context,
  drafts: readonly Draft[],
  { evenDamaged = false }: { evenDamaged?: boolean } = {},
): RecordRef[] {
  return withLedgerLock(context, () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      const stored = tryAppend(context, drafts, evenDamaged);
      if (stored) return stored;
    }
    throw outside('ledger.moving', 'The ledger folder keeps disappearing while forge writes to it.');
  });
}

function tryAppend(context: Context, drafts: readonly Draft[], evenDamaged: boolean): RecordRef[] | null {
  closeCopiedFile(context);
  const { state, listed } = loadState(context);
  if (state.isDamaged && !evenDamaged)
    throw corrupted('memory.corrupted', 'Memory is damaged; nothing was written.', {
      hint: 'forge memory repair',
    });
  const { disk, layout } = context;
  const session = sessionHere(context);
  const git = gitStamp(context);
  const open = state.open && isStillOpen(context, state.open, session, git) ? state.open : null;
  const seg = (open && segmentOf(open.name)) ?? makeToken(8);
  const name = open?.name ?? `${session ?? 'solo'}-${seg}.jsonl`;
  const chain = { seg, last: open?.last ?? null, session };
  const { lines, stored, next } = planLines(context, state, chain, drafts);
  const path = join(ledgerFolder(layout), name);
  const bytes = formatContainer(name, lines);
  disk.checkContent(path, bytes);
  disk.note(path);
  if (disk.dryRun) return stored;
  if (!open) disk.makeFolder(ledgerFolder(layout));
  disk.checkHeld();
  // A writer that is killed or stopped from here on leaves no state, so nobody continues its file.
  fs.rmSync(stateFile(context), { force: true });
  // `git clean` may have removed the folder or the file during the write. Then the records are written again.
  if (!writeLines(path, bytes, !open)) return null;
  journalStored(context, seg, lines);
  const stamp = stampOf(path);
  // The folder as it should be now. If somebody else changed it meanwhile, the next append reads it again.
  const files = [...listed.filter((file) => file.name !== name), { name, stamp }];
  const folder = digestOf(files.sort((a, b) => (a.name < b.name ? -1 : 1)));
  const left: AppendState = {
    ...next,
    bytes: state.bytes + bytes.length,
    // This record may settle the damage, so the next append checks again.
    folder: state.isDamaged ? '' : folder,
    open: { name, stamp, session, last: stored.at(-1)?.id ?? '', git: open?.git ?? git },
  };
  saveState(context, left);
  if (disk.hold) last = { hold: disk.hold, state: left };
  appendToViews(context, lines, { before: digestOf(listed), after: folder });
  return stored;
}

/** A file is closed for good when git may have stored it, or anything around it changed. */
function isStillOpen(context: Context, open: OpenFile, session: string | null, git: string): boolean {
  const path = join(ledgerFolder(context.layout), open.name);
  const size = fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return (
    open.session === session && size < MAX_OPEN_BYTES && open.stamp === stampOf(path) && open.git === git
  );
}

/** The lines that continue a chain. The first one names the other heads. */
function planLines(
  context: Context,
  state: AppendState,
  { seg, last, session }: { seg: string; last: string | null; session: string | null },
  drafts: readonly Draft[],
): { lines: string[]; stored: RecordRef[]; next: AppendState } {
  const stamp = { at: context.world.now().toISOString(), session, actor: 'supervisor' };
  const next = { ...state };
  const lines: string[] = [];
  const stored: RecordRef[] = [];
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
    next.accepted = Math.max(next.accepted, Number(fields['growth'] ?? 0));
    if (tier === 'execution' && fields['cycle'] === cycle) next.maxCycle = cycle;
    next.uncovered = countUncovered(next.uncovered, tier, fields);
    lines.push(line);
    stored.push({ id, n });
    prev = id;
  }
  return { lines, stored, next };
}

function countUncovered(before: number | null, tier: Tier, body: Record<string, unknown>): number | null {
  if (body.kind === 'consolidation') return 0;
  if (body.kind === 'reset') return null;
  const isJudged = tier === 'evaluation' && body.kind === 'cycle' && body.classification !== null;
  return before === null ? null : before + (isJudged ? 1 : 0);
}

/**
 * One write, its count checked, synced. False if the path does not lead to that file afterwards. The holder of the lock
 * cuts back its own short write. Nothing else is ever cut.
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
    // A new file whose first write was cut back is empty.
    if (isNew && fs.fstatSync(fd).size === 0) fs.rmSync(path, { force: true });
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

/** Never retried: the system may have dropped the data that it could not write. */
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
      `Stored, but the journal in the git dir could not be written (${(error as Error).message.replace(/\.$/, '')}). Until the next commit, git clean can remove this record for good.`,
    );
  }
}

/**
 * A copied repository must not grow or commit the file that the original continues: git would get two versions of it.
 * Unless git has the file, its chain moves to a new one. The caller holds the lock.
 */
export function closeCopiedFile(context: Context): void {
  if (context.disk.dryRun) return;
  const state = readState(context);
  if (!state?.open || state.open.git.startsWith(`${gitDirIdentity(context)} `)) return;
  const { name } = state.open;
  if (!isInIndex(context, name)) moveChain(context, name);
  saveState(context, { ...state, folder: '', open: null });
}

let last: { hold: object; state: AppendState } | null = null;

/** What the next append would continue. `listed`: the ledger's files, if the caller has just listed them. */
export function currentState(context: Context, listed?: readonly Listed[]): Readonly<AppendState> {
  const { hold } = context.disk;
  // A caller that has held the lock since the last append need not list the files again.
  return hold !== null && last?.hold === hold ? last.state : loadState(context, listed).state;
}

/** The state of the last append while the folder is unchanged. Otherwise it is computed from the containers. */
function loadState(context: Context, listed = listContainers(context) as readonly Listed[]) {
  const known = readState(context);
  const folder = digestOf(listed);
  if (known?.folder === folder) return { state: known, listed };
  const { graph } = readSnapshot(context, listed);
  const ledger = graph.ledger() ?? readLedgerId(context);
  if (!ledger) throw usage('ledger.missing', 'There is no ledger here.', { hint: 'forge init' });
  const accepted = graph.audit('acknowledged').map(({ record }) => Number(record.growth ?? 0));
  const state: AppendState = {
    ...{ folder, bytes: sizeOf(listed), ledger, open: known?.open ?? null },
    ...{ heads: graph.heads(), maxN: graph.maxN(), maxCycle: graph.maxCycle(), uncovered: null },
    accepted: Math.max(0, ...accepted),
    isDamaged: hasDamage(graph) || openHalts(graph).length > 0,
  };
  return { state, listed };
}

/** Damage that no repair vouched for. */
function hasDamage(graph: Graph): boolean {
  const settled = graph.subjects('repaired');
  return (
    graph.containers.some(({ problems }) => problems.some(({ sha256 }) => !settled.has(sha256))) ||
    graph.checkLinks().some(({ id }) => !settled.has(id))
  );
}

const saveState = (context: Context, state: AppendState): void =>
  writeHint(stateFile(context), state, MAX_CACHE_BYTES);

/** The ledger's id, for a checkout without a container. */
const ledgerIdFile = ({ layout }: Context): string => join(layout.shared, 'ledger-id');

export function keepLedgerId(context: Context, ledger: string | null): void {
  if (ledger !== null && readLedgerId(context) === null) fs.writeFileSync(ledgerIdFile(context), ledger);
}

const readLedgerId = (context: Context): string | null =>
  readPlain(ledgerIdFile(context), 1024)?.toString('utf8') ?? null;
