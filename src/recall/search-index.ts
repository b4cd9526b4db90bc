import { lstatSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type Database from 'libsql';
import { listFolder, makeFolder, readPlain, removeQuietly } from '../core/files.js';
import { recallFile, recallStampFile } from '../core/paths.js';
import { makeToken } from '../core/text.js';
import type { Identified } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import type { Change, StoredGroup } from './documents.js';
import {
  type Corpus,
  type Document,
  type Facts,
  factsOf,
  GROUP_SIZE,
  groupOf,
  type Posting,
  textOf,
} from './engine.js';
import { termsOf } from './terms.js';

/** The version of the tables, of the documents and of the term rules. */
const VERSION = 11;
/** The number of documents per call of the library. */
const BATCH = 500;
/** The share of removed documents at which the file is rebuilt, because the word index still has their words. */
const MAX_REMOVED = 0.3;
/** Milliseconds to wait for another writing process. */
const PATIENCE = 2000;

/** Ranking reads many narrow rows, and the texts of a few. The word index keeps removed documents, so no number is reused. */
const SCHEMA = `
  PRAGMA page_size = 8192;
  CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
  CREATE TABLE groups(number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, stamp TEXT, loose INTEGER, session TEXT,
    documents INTEGER, length INTEGER);
  CREATE TABLE documents(doc INTEGER PRIMARY KEY, length INTEGER, source TEXT, at INTEGER);
  CREATE TABLE texts(doc INTEGER PRIMARY KEY, id TEXT, text TEXT);
  CREATE TABLE records(id TEXT PRIMARY KEY, number INTEGER, text TEXT) WITHOUT ROWID;
  CREATE TABLE redacted(id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE VIRTUAL TABLE words USING fts5(terms, content='', columnsize=0, tokenize="ascii tokenchars '_$./:@-'");
  INSERT INTO words(words, rank) VALUES ('automerge', 0);
  CREATE VIRTUAL TABLE postings USING fts5vocab(words, instance);
  INSERT INTO facts VALUES ('version', ${VERSION}), ('removed', 0), ('reset', 0);
`;

interface GroupRow {
  number: number;
  name: string;
  stamp: string;
  loose: number;
  session: string | null;
  documents: number;
  length: number;
}

/**
 * The up-to-date index of the stored groups. Null if there can be none: libsql is not installed, the disk is
 * read-only, or a person reset a tier, so that the valid records depend on the whole ledger. The file can be deleted at
 * any time. A stamp in the git dir shows which file is forge's own and complete: it is missing during a write.
 */
export async function openIndex(
  context: Context,
  stored: readonly StoredGroup[],
): Promise<SearchIndex | null> {
  let library: typeof Database;
  try {
    library = (await import('libsql')).default;
  } catch {
    return null;
  }
  try {
    const index = (await openOwn(library, context, stored)) ?? (await build(library, context, stored));
    return index.fact('reset') > 0 ? null : index;
  } catch (error) {
    if (isDatabaseError(error)) return null;
    throw error;
  }
}

/** Null if there is no usable index. */
async function openOwn(
  library: typeof Database,
  context: Context,
  stored: readonly StoredGroup[],
): Promise<SearchIndex | null> {
  const { layout } = context;
  const path = recallFile(layout);
  for (let waited = 0; !isOwn(context); waited += 20) {
    // Another process may be about to finish. A file from a clone is never opened.
    if (identity(path) === null || waited >= PATIENCE) return null;
    await setTimeout(20);
  }
  try {
    const index = new SearchIndex(new library(path));
    if (index.fact('version') !== VERSION) return null;
    const hasChanged = await index.update(context, stored, () => removeQuietly(recallStampFile(layout)));
    if (hasChanged) writeStamp(context);
    return index.fact('removed') > MAX_REMOVED * index.size ? null : index;
  } catch (error) {
    if (isDatabaseError(error)) return null;
    throw error;
  }
}

/** Builds a new file, which then replaces any other. */
async function build(
  library: typeof Database,
  context: Context,
  stored: readonly StoredGroup[],
): Promise<SearchIndex> {
  const path = recallFile(context.layout);
  makeFolder(dirname(path));
  const draft = join(dirname(path), `.recall.db.${makeToken(12)}.tmp`);
  // A killed builder leaves its temporary file.
  for (const name of listFolder(dirname(path)))
    if (/^\.recall\.db\.\w+\.tmp$/.test(name)) removeQuietly(join(dirname(path), name));
  try {
    const index = new SearchIndex(new library(draft));
    index.create();
    await index.update(context, stored);
    renameSync(draft, path);
    writeStamp(context);
    return index;
  } catch (error) {
    removeQuietly(draft);
    throw error;
  }
}

const isOwn = ({ layout }: Context): boolean => {
  const stamp = readPlain(recallStampFile(layout), 1000)?.toString('utf8');
  return stamp !== undefined && stamp === identity(recallFile(layout));
};

function writeStamp({ layout }: Context): void {
  makeFolder(layout.state);
  writeFileSync(recallStampFile(layout), identity(recallFile(layout)) ?? '');
}

/** Device and inode of a regular file; null for anything else. */
function identity(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? `${stat.dev}:${stat.ino}` : null;
}

/** The next query rebuilds the index. */
export const forgetIndex = ({ layout }: Context): void => removeQuietly(recallFile(layout));

/** Damage, or a disk that refuses writes. */
export const isDatabaseError = (error: unknown): boolean => {
  const { code, kind, message } = (error ?? {}) as { code?: unknown; kind?: unknown; message?: unknown };
  // libsql has no code for a file that it cannot open.
  const isUnopened = /^ConnectionFailed\(/.test(String(message));
  return isUnopened || /^SQLITE_|^E[A-Z]+$/.test(String(code)) || kind === 'outside';
};

class SearchIndex implements Corpus {
  private readonly rows = new Map<string, GroupRow>();
  private readonly byNumber = new Map<number, GroupRow>();
  size = 0;
  length = 0;
  groups = 0;
  private nextNumber = 1;
  private waiting: [doc: number, document: Document][] = [];
  /** Reused, because libsql frees a statement only when its object is collected. */
  private readonly statements = new Map<string, Database.Statement>();

  constructor(private readonly db: Database.Database) {
    // Durability is not needed, because a damaged file is rebuilt.
    db.exec(`PRAGMA busy_timeout=${PATIENCE}; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;`);
  }

  create(): void {
    this.db.exec(SCHEMA);
  }

  close(): void {
    this.db.close();
  }

  fact(name: string): number {
    return (this.db.prepare('SELECT value FROM facts WHERE name = ?').get(name) as { value: number }).value;
  }

  /** Writes the changes. True if there were any. `beforeWrite` runs once, before the first change. */
  async update(
    context: Context,
    stored: readonly StoredGroup[],
    beforeWrite: () => void = () => {},
  ): Promise<boolean> {
    this.load();
    const names = new Set(stored.map(({ name }) => name));
    const removed = [...this.rows.values()].filter(({ name }) => !names.has(name));
    const changed = stored.filter(({ name, stamp }) => this.rows.get(name)?.stamp !== stamp);
    if (removed.length === 0 && changed.length === 0) return false;
    beforeWrite();
    this.db.exec('BEGIN IMMEDIATE');
    for (const row of removed) this.remove(row);
    for (const [i, group] of changed.entries()) {
      context.signal?.throwIfAborted();
      context.onProgress?.(i, changed.length);
      await this.change(context, group);
      while (this.waiting.length >= BATCH) this.insert(this.waiting.splice(0, BATCH));
    }
    if (this.waiting.length > 0) this.insert(this.waiting.splice(0));
    this.forgetRedacted();
    this.db.exec('COMMIT');
    this.count();
    return true;
  }

  private load(): void {
    const sql = 'SELECT ifnull(max(seq), 0) + 1 AS next FROM sqlite_sequence';
    this.nextNumber = (this.db.prepare(sql).get() as { next: number }).next;
    for (const row of this.db.prepare('SELECT * FROM groups').all() as GroupRow[])
      this.rows.set(row.name, row);
    this.count();
  }

  private count(): void {
    this.byNumber.clear();
    [this.size, this.length, this.groups] = [0, 0, 0];
    for (const row of this.rows.values()) {
      this.byNumber.set(row.number, row);
      this.size += row.documents;
      this.length += row.length;
      this.groups += row.loose ? row.documents : 1;
    }
  }

  private async change(context: Context, group: StoredGroup): Promise<void> {
    const known = this.rows.get(group.name) ?? null;
    let change: Change;
    try {
      change = await group.read(known);
    } catch (error) {
      context.warnings.push(`${group.name}: ${(error as Error).message}`);
      return;
    }
    if (known && !change.isMore) this.remove(known);
    this.add(group, change.isMore ? known : null, change);
  }

  private add(group: StoredGroup, known: GroupRow | null, change: Change): void {
    const { documents, records = [], redacted = [], hasReset = false } = change;
    const number = known?.number ?? this.nextNumber++;
    const first = number * GROUP_SIZE + (known?.documents ?? 0);
    for (const [i, document] of documents.entries()) this.waiting.push([first + i, document]);
    const { name, stamp, isLoose, session } = group;
    const count = (known?.documents ?? 0) + documents.length;
    const length = documents.reduce((sum, { text }) => sum + text.length, known?.length ?? 0);
    const row = { number, name, stamp, loose: isLoose ? 1 : 0, session, documents: count, length };
    this.rows.set(name, row);
    this.run('INSERT OR REPLACE INTO groups VALUES (?, ?, ?, ?, ?, ?, ?)', ...Object.values(row));
    for (const { id, text } of records)
      this.run('INSERT OR IGNORE INTO records VALUES (?, ?, ?)', id, number, text);
    for (const id of redacted) this.run('INSERT OR IGNORE INTO redacted VALUES (?)', id);
    if (hasReset) this.run("UPDATE facts SET value = 1 WHERE name = 'reset'");
  }

  /** FTS5 writes a segment at the end of each statement, so a statement takes documents of many groups. */
  private insert(documents: readonly [doc: number, document: Document][]): void {
    const into = (table: string, rows: unknown[][]): void => {
      const values = (rows[0] ?? []).map((_, i) => `value ->> ${i}`).join(', ');
      this.run(`INSERT INTO ${table} SELECT ${values} FROM json_each(?)`, JSON.stringify(rows));
    };
    const termsIn = (document: Document): string => termsOf(textOf(document)).join(' ');
    into(
      'documents',
      documents.map(([doc, document]) => Object.values(factsOf(doc, document))),
    );
    into(
      'texts',
      documents.map(([doc, { id, text }]) => [doc, id, text]),
    );
    into(
      'words(rowid, terms)',
      documents.map(([doc, document]) => [doc, termsIn(document)]),
    );
  }

  private run(sql: string, ...values: unknown[]): void {
    const statement = this.statements.get(sql) ?? this.db.prepare(sql);
    this.statements.set(sql, statement);
    statement.run(...values);
  }

  private remove({ number, name, documents }: GroupRow): void {
    this.rows.delete(name);
    for (const table of ['documents', 'texts']) {
      const sql = `DELETE FROM ${table} WHERE doc >= ? AND doc < ?`;
      this.run(sql, number * GROUP_SIZE, (number + 1) * GROUP_SIZE);
    }
    this.run('DELETE FROM records WHERE number = ?', number);
    this.run('DELETE FROM groups WHERE number = ?', number);
    this.run("UPDATE facts SET value = value + ? WHERE name = 'removed'", documents);
  }

  /** A redacted record may be in another file too. Records are found by id only for this and for knowledge. */
  private forgetRedacted(): void {
    const count = 'SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM redacted) AS n';
    if ((this.db.prepare(count).get() as { n: number }).n === 0) return;
    this.db.exec(`CREATE INDEX IF NOT EXISTS ids ON texts(id);
      DELETE FROM documents WHERE doc IN (SELECT doc FROM texts JOIN redacted USING (id));
      DELETE FROM texts WHERE id IN (SELECT id FROM redacted);`);
  }

  having(term: string): Posting[] {
    const sql = `SELECT group_concat(p.doc || ',' || d.length || ',' || d.source || ',' || d.at, ';') AS found
      FROM postings p JOIN documents d ON d.doc = p.doc WHERE p.term = ?`;
    const { found } = this.db.prepare(sql).get(term) as { found: string | null };
    const postings: Posting[] = [];
    for (const fact of parseFacts(found)) {
      const last = postings.at(-1);
      if (last?.doc === fact.doc) last.count++;
      else postings.push({ ...fact, count: 1 });
    }
    return postings;
  }

  frequency(term: string, most: number): number {
    const sql = `SELECT count(*) AS n FROM (SELECT DISTINCT p.doc FROM postings p JOIN documents d ON d.doc = p.doc
      WHERE p.term = ? LIMIT ?)`;
    return (this.db.prepare(sql).get(term, most) as { n: number }).n;
  }

  groupLength = (group: number): number | null => {
    const row = this.byNumber.get(group);
    return row && !row.loose ? row.length : null;
  };

  facts(docs: readonly number[]): Facts[] {
    const sql = `SELECT group_concat(doc || ',' || length || ',' || source || ',' || at, ';') AS found
      FROM documents WHERE doc IN (SELECT value FROM json_each(?))`;
    return parseFacts((this.db.prepare(sql).get(JSON.stringify(docs)) as { found: string | null }).found);
  }

  allFacts = (): Facts[] => this.db.prepare('SELECT doc, length, source, at FROM documents').all() as Facts[];

  documents(docs: readonly number[]): Map<number, Document> {
    const sql =
      'SELECT * FROM texts JOIN documents USING (doc) WHERE doc IN (SELECT value FROM json_each(?))';
    type Row = { doc: number; at: number; id: string; source: string; text: string };
    const rows = this.db.prepare(sql).all(JSON.stringify(docs)) as Row[];
    return new Map(
      rows.map(({ doc, at, id, source, text }) => {
        const session = this.byNumber.get(groupOf(doc))?.session ?? null;
        return [doc, { id, source, session, at: at === 0 ? null : new Date(at).toISOString(), text }];
      }),
    );
  }

  /** The records of the knowledge tier in order of (n, id). */
  records(): Identified[] {
    const rows = this.db.prepare('SELECT id, text FROM records').all() as { id: string; text: string }[];
    return rows
      .map(({ id, text }): Identified => ({ id, record: JSON.parse(text) }))
      .sort((a, b) => a.record.n - b.record.n || (a.id < b.id ? -1 : 1));
  }

  /** Whether the ledger has a record, by the first characters of its id. */
  has = (prefix: string): boolean =>
    this.db.prepare('SELECT 1 FROM texts WHERE id = ?').get(prefix) !== undefined;
}

function parseFacts(found: string | null): Facts[] {
  if (found === null) return [];
  return found.split(';').map((line) => {
    const [doc, length, source = '', at] = line.split(',');
    return { doc: Number(doc), length: Number(length), source, at: Number(at) };
  });
}
