import { join } from 'node:path';
import { refused } from '../core/error.js';
import { removePath } from '../core/files.js';
import { replacementsFile, shown } from '../core/paths.js';
import { escapePattern } from '../core/text.js';
import { lines, must } from '../git/client.js';
import type { Context } from '../project/project.js';
import { append, type RecordRef } from './append.js';
import { type Decision, requireDecision } from './audit.js';
import { writeChain } from './chains.js';
import { type Container, eachRecord, linesById, segmentOf } from './container.js';
import { clearCaches, gitFolder, ledgerFolder, withLedgerLock } from './files.js';
import { verifyAndRepair } from './integrity.js';
import { journalFiles, readJournal, rewriteJournal } from './journal.js';
import { copiesOf, findId } from './log.js';
import { type Memory, readMemory } from './memory.js';
import { containerBytes, listContainers, readSnapshot } from './read.js';
import { formatTombstone, type LedgerRecord, type Links, recordId, type Tier } from './record.js';
import { rebuildViews, viewFile } from './view.js';

export interface Redaction {
  audit: RecordRef | null;
  /** `audit` is null if it was redacted before. `found`: its content was here, also if it had come back. */
  redacted: { id: string; tier: Tier | null; n: number; found: boolean; audit: RecordRef | null }[];
  /** The files that had the content before. */
  files: string[];
  /** Commits that still have the content, oldest first; null without git. */
  history: string[] | null;
  /** Has lines for `git filter-repo --replace-text`, also of earlier redactions. Null if no commit has the content. */
  replacements_file: string | null;
}

/**
 * LTM-19: removes the content of records from the working tree, the journals of this clone and the views. Ids and links
 * stay. Git's history keeps the content until a person rewrites it.
 */
export async function redactRecords(
  context: Context,
  { ids, reason }: { ids: readonly string[]; reason?: string },
): Promise<Redaction> {
  const decision = requireDecision(context, 'Redacting a record', reason);
  const memory = readMemory(context);
  const wanted = [...new Set(ids.map((id) => findId(memory, id)))];
  const targets = wanted.map((id) => readTarget(context, memory, id));
  const before = listContainers(context).map(({ name }) => name);
  const changed = new Set<string>();
  const redacted = targets.map((target) => {
    const { id, n, tier, line } = target;
    return { id, n, tier, found: line !== null, audit: redact(context, target, decision, changed) };
  });
  if (!context.disk.dryRun && changed.size > 0) await verifyAndRepair(context);
  // A file with several of the records has had a new one in between.
  const files = before.filter((name) => changed.has(name));
  const names = files.map((name) => shown(context.layout, join(ledgerFolder(context.layout), name)));
  const history = await findInHistory(context, files);
  return {
    audit: redacted.find(({ audit }) => audit)?.audit ?? null,
    redacted,
    files: names,
    history,
    replacements_file: history && history.length > 0 ? keepReplacements(context, targets) : null,
  };
}

/** A terminal would wrap the lines. Each history is rewritten once, so earlier ones stay. */
function keepReplacements({ disk, layout }: Context, targets: readonly Target[]): string {
  const replacements = targets.flatMap(({ id, line }) => (line === null ? [] : [replacementFor(id, line)]));
  const path = replacementsFile(layout);
  disk.withLock(() => {
    const before = disk.read(path)?.toString('utf8').split('\n').filter(Boolean) ?? [];
    const all = [...new Set([...before, ...replacements])];
    disk.replace(path, Buffer.from(`${all.join('\n')}\n`));
  });
  return shown(layout, path);
}

interface Target {
  id: string;
  n: number;
  tier: Tier | null;
  /** Null if only the tombstone is left. */
  line: string | null;
}

function readTarget(context: Context, memory: Memory, id: string): Target {
  const target: Target = { id, n: 0, tier: null, line: null };
  for (const { record, line } of copiesOf(context, memory, id)) {
    target.n = record.n;
    if (!('kind' in record)) continue;
    if (record.tier === 'audit')
      throw refused(
        'redact.kept',
        `Record ${id.slice(0, 12)} cannot be redacted: audit records keep who did what to memory.`,
        { hint: `forge memory show ${id.slice(0, 12)}` },
      );
    Object.assign(target, { tier: record.tier, line: line.bytes.toString('utf8') });
  }
  return target;
}

/**
 * The audit record comes first: until an interrupted redaction is run again, verify reports `returned`. If only the
 * tombstone is left, the journals and views may still have the content.
 */
function redact(
  context: Context,
  { id, tier, line }: Target,
  decision: Decision,
  files: Set<string>,
): RecordRef | null {
  return withLedgerLock(context, () => {
    const { graph } = readSnapshot(context, listContainers(context));
    const isRecorded = graph.subjects('redacted').has(id);
    const { key } = JSON.parse(line ?? '{}') as Partial<LedgerRecord>;
    const keys = typeof key === 'string' ? { keys: [recordId(key)] } : {};
    const body = { tier: 'audit' as const, kind: 'redacted', subjects: [id], of: tier, ...keys, ...decision };
    const isDone = isRecorded || line === null;
    const [audit = null] = isDone ? [] : append(context, [body], { evenDamaged: true });
    const holders = graph.containers.filter(
      ({ ids, tombstones }) => ids.includes(id) && !tombstones.includes(ids.indexOf(id)),
    );
    for (const { name } of holders) files.add(name);
    if (context.disk.dryRun) {
      // A dry run only lists them.
      for (const { name } of holders) context.disk.remove(join(ledgerFolder(context.layout), name));
      if (tier) context.disk.remove(viewFile(context.layout, tier));
      return audit;
    }
    for (const container of holders) replaceByTombstone(context, container, id);
    scrubJournals(context, id);
    clearCaches(context);
    rebuildViews(context);
    return audit;
  });
}

/** Writes the chain to a new file, so that no commit changes a file that another branch has. */
function replaceByTombstone(context: Context, { name, seg }: Container, id: string): void {
  const bytes = containerBytes(context, name);
  const lines = linesById(bytes);
  eachRecord(bytes, (found, record) => {
    if (found === id) lines.set(id, formatTombstone(id, record as LedgerRecord));
  });
  if (!writeChain(context, 'red', seg, [...lines.values()]))
    throw refused('ledger.damaged', `${name} is damaged.`, { file: name, hint: 'forge memory repair' });
  removePath(join(ledgerFolder(context.layout), name));
}

/** The tombstone stays: without it, the records after it could not be put back. */
function scrubJournals(context: Context, id: string): void {
  for (const path of journalFiles(context)) {
    const { lines, damaged } = readJournal(path);
    const scrubbed = lines.map((line) =>
      line.id === id ? { ...line, record: formatTombstone(id, JSON.parse(line.record) as Links) } : line,
    );
    // A damaged line may have the content.
    if (damaged.length > 0 || lines.some((line) => line.id === id)) rewriteJournal(path, scrubbed);
  }
}

/** Commits that wrote a file of these chains: a repair or an earlier redaction has given a chain another file. */
async function findInHistory(context: Context, names: readonly string[]): Promise<string[] | null> {
  if (!context.git) return null;
  if (names.length === 0) return [];
  const paths = names.map((name) => `:(top,glob)${gitFolder(context)}/*${segmentOf(name) ?? name}*`);
  const args = ['log', '--all', '--reverse', '--full-history', '--diff-filter=AM', '--format=%H'];
  return lines(await must(context.git, ['--no-literal-pathspecs', ...args, '--', ...paths]));
}

/** Replaces the line by its tombstone. The pattern has only its links, so it reveals nothing of the content. */
function replacementFor(id: string, line: string): string {
  const record = JSON.parse(line) as LedgerRecord;
  const { v, tier, n, seg, prev, seen } = record;
  const start = JSON.stringify({ v, tier, n, seg, prev, seen }).slice(0, -1);
  const pattern = escapePattern(start);
  return `regex:(?m)^( *)${pattern},.*$==>\\1${formatTombstone(id, record)}`;
}
