import { join } from 'node:path';
import { refused, usage } from '../core/error.js';
import { removePath, replaceFiles } from '../core/files.js';
import { appendLocked, forgetAppendState, writeChain } from './append.js';
import { type Container, eachRecord, linesById } from './container.js';
import { journalFolder, type LedgerContext, ledgerFolder, withLedgerLock } from './context.js';
import { formatJournalLine, readOtherJournals, readOwnJournal, rewriteJournal } from './journal.js';
import { containerBytes, listContainers, readSnapshot } from './read.js';
import { formatTombstone, type LedgerRecord, type Tombstone } from './record.js';
import { rebuildViews } from './view.js';

/** Later checks need these as they are. */
const KEPT_KINDS = new Set(['genesis', 'repaired', 'redacted', 'restored', 'discarded']);

export interface Redaction {
  by: string;
  reason: string;
}

/**
 * Removes the content of a record from the working tree, the journals of this clone and the views (LTM-19). Its id and
 * links stay. Removes it again where a merge brought it back. Git's history keeps it until it is rewritten.
 */
export function redact(context: LedgerContext, id: string, { by, reason }: Redaction): void {
  withLedgerLock(context, () => {
    const snapshot = readSnapshot(context, listContainers(context));
    const holders = snapshot.graph.containers.filter((container) => hasContent(container, id));
    if (holders.length === 0)
      throw usage('record.unknown', `No record here has the id ${id}, or it was redacted already.`);
    for (const container of holders) replaceByTombstone(context, container, id);
    scrubJournals(context, id);
    forgetAppendState(context, snapshot.graph.ledger());
    if (!snapshot.graph.subjects('redacted').has(id))
      appendLocked(context, [{ tier: 'audit', kind: 'redacted', subjects: [id], by, reason }], {
        evenDamaged: true,
      });
    rebuildViews(context, readSnapshot(context, listContainers(context)));
  });
}

function hasContent({ ids, tombstones }: Container, id: string): boolean {
  const index = ids.indexOf(id);
  return index >= 0 && !tombstones.includes(index);
}

/** The chain gets a new file, so that no commit changes a file that another branch has. */
function replaceByTombstone(context: LedgerContext, { name, seg }: Container, id: string): void {
  const bytes = containerBytes(context, name);
  const lines = linesById(bytes);
  eachRecord(bytes, (found, record) => {
    if (found === id) lines.set(id, formatTombstone(id, checkRedactable(record)));
  });
  if (!writeChain(context, 'red', seg, [...lines.values()]))
    throw refused('ledger.damaged', `${name} is damaged.`, { file: name, hint: 'forge memory repair' });
  removePath(join(ledgerFolder(context.layout), name));
}

function checkRedactable(record: LedgerRecord | Tombstone): LedgerRecord {
  if ('kind' in record && !KEPT_KINDS.has(record.kind)) return record;
  throw refused('record.kept', 'Records about the ledger itself cannot be redacted.');
}

/** A journal without the line cannot put the content back. */
function scrubJournals(context: LedgerContext, id: string): void {
  const own = readOwnJournal(context);
  if (own.lines.some((line) => line.id === id))
    rewriteJournal(context, { ...own, lines: own.lines.filter((line) => line.id !== id) });
  for (const [name, { lines, damaged }] of readOtherJournals(context)) {
    const kept = lines.filter((line) => line.id !== id);
    if (kept.length === lines.length) continue;
    const text = kept.map(formatJournalLine).join('') + damaged.map(({ raw }) => `${raw}\n`).join('');
    replaceFiles([{ path: join(journalFolder(context.layout), name), bytes: Buffer.from(text, 'utf8') }]);
  }
}
