import { lstatSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type Database from 'libsql';
import { listFolder, makeFolder, readPlain, removeQuietly } from '../core/files.js';
import { recallFile, recallStampFile } from '../core/paths.js';
import { makeToken } from '../core/text.js';
import type { Identified } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { type Change, orSkip, type StoredGroup } from './documents.js';
import {
  type Corpus,
  type Document,
  type Facts,
  factsOf,
  GROUP_SIZE,
  groupOf,
  type Posting,
} from './engine.js';
import { termsOf } from './terms.js';

/** The version of the tables, of the documents and of the term rules. */
const VERSION = 17;
/** Documents per call of the library. */
const BATCH = 500;
/** ms to wait for another writing process. */
const PATIENCE = 2000;

/** Ranking reads many narrow rows, and the texts of a few. */
const SCHEMA = `
  PRAGMA page_size = 8192;
  CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
  CREATE TABLE groups(number INTEGER PRIMARY KEY, name TEXT, stamp TEXT, loose INTEGER, session TEXT,
    documents INTEGER, length INTEGER);
  CREATE TABLE documents(doc INTEGER PRIMARY KEY, length INTEGER, source TEXT, at INTEGER);
  CREATE TABLE texts(doc INTEGER PRIMARY KEY, id TEXT, text TEXT);
  CREATE TABLE records(id TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;
  CREATE TABLE redacted(id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE VIRTUAL TABLE words USING fts5(terms, content='', columnsize=0, tokenize="ascii tokenchars '_$./:@-'");
  INSERT INTO words(words, rank) VALUES ('automerge', 0);
  CREATE VIRTUAL TABLE postings USING fts5vocab(words, instance);
  CREATE VIRTUAL TABLE counts USING fts5vocab(words, row);
  INSERT INTO facts VALUES ('version', ${VERSION}), ('reset', 0);
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
 * The up-to-date index of the stored groups. Null if there can be none: libsql is not installed, or a person reset a
 * tier, so that the valid records depend on the whole ledger. Throws for damage and for a disk that refuses writes. The
 * file can be deleted at any time. A stamp in the git dir shows which file is forge's own.
 */
export async function openIndex(context: Context, stored: readonly StoredGroup[]) {
  const library = await import('libsql').catch(() => null);
  if (!library) return null;
  const open = (path: string): SearchIndex => new SearchIndex(new library.default(path));
  const index = (await update(context, stored, open)) ?? (await build(context, stored, open));
  return index.fact('reset') > 0 ? null : index;
}

type Open = (path: string) => SearchIndex;

/** Null for an index that has to be built again. */
async function update(context: Context, stored: readonly StoredGroup[], open: Open) {
  // A file from a clone is never opened.
  if (!isOwn(context)) return null;
  const index = open(recallFile(context.layout));
  if (index.fact('version') === VERSION && (await index.update(context, stored))) return index;
  index.close();
  return null;
}

/** Builds a new file, which then replaces any other. */
async function build(context: Context, stored: readonly StoredGroup[], open: Open): Promise<SearchIndex> {
  const path = recallFile(context.layout);
  makeFolder(dirname(path));
  const draft = join(dirname(path), `.recall.db.${makeToken(12)}.tmp`);
  // A killed builder leaves its temporary file.
  for (const name of listFolder(dirname(path)))
    if (/^\.recall\.db\.\w+\.tmp$/.test(name)) removeQuietly(join(dirname(path), name));
  try {
    const index = open(draft);
    // A draft needs no rollback.
    index.db.exec(`PRAGMA journal_mode=OFF; ${SCHEMA}`);
    await index.update(context, stored);
    // SQLite would apply the journal of the file before to this one.
    removeQuietly(`${path}-journal`);
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

export class SearchIndex implements Corpus {
  private byName = new Map<string, GroupRow>();
  private byNumber = new Map<number, GroupRow>();
  size = 0;
  length = 0;
  groups = 0;
  private waiting: [doc: number, document: Document][] = [];
  /** Reused, because libsql frees a statement only when its object is collected. */
  private readonly statements = new Map<string, Database.Statement>();

  constructor(readonly db: Database.Database) {
    // Durability is not needed, because a damaged file is rebuilt.
    db.exec(`PRAGMA busy_timeout=${PATIENCE}; PRAGMA synchronous=OFF;`);
  }

  close(): void {
    this.db.close();
  }

  fact(name: string): number {
    return (this.db.prepare('SELECT value FROM facts WHERE name = ?').get(name) as { value: number }).value;
  }

  /**
   * Adds what is new. False if a group was removed or rewritten, as when another branch is checked out: FTS5 keeps the
   * words of removed documents, so the index has to be built again.
   */
  async update(context: Context, stored: readonly StoredGroup[]): Promise<boolean> {
    this.load();
    const isNew = ({ name, stamp }: StoredGroup): boolean => this.byName.get(name)?.stamp !== stamp;
    const names = new Set(stored.map(({ name }) => name));
    if ([...this.byName.keys()].some((name) => !names.has(name))) return false;
    if (!stored.some(isNew)) return true;
    this.db.exec('BEGIN IMMEDIATE');
    // Another process may have added something before.
    this.load();
    const changed = stored.filter(isNew);
    for (const [i, group] of changed.entries()) {
      context.signal?.throwIfAborted();
      context.onProgress?.(i, changed.length);
      const known = this.byName.get(group.name) ?? null;
      const change = await orSkip(context, group.name, () => group.read(known));
      if (known && change?.isMore === false) return false;
      if (change) this.add(group, known, change);
      while (this.waiting.length >= BATCH) this.insert(this.waiting.splice(0, BATCH));
    }
    if (this.waiting.length > 0) this.insert(this.waiting.splice(0));
    this.forgetRedacted();
    this.db.exec('COMMIT');
    this.load();
    return true;
  }

  private load(): void {
    const rows = this.db.prepare('SELECT * FROM groups').all() as GroupRow[];
    this.byName = new Map(rows.map((row) => [row.name, row]));
    this.byNumber = new Map(rows.map((row) => [row.number, row]));
    const sum = (count: (row: GroupRow) => number): number =>
      rows.reduce((total, row) => total + count(row), 0);
    this.size = sum(({ documents }) => documents);
    this.length = sum(({ length }) => length);
    this.groups = sum(({ loose, documents }) => (loose ? documents : 1));
  }

  private add(group: StoredGroup, known: GroupRow | null, change: Change): void {
    const { documents, records = [], redacted = [], hasReset = false } = change;
    const { name, stamp, isLoose, session } = group;
    const count = (known?.documents ?? 0) + documents.length;
    const length = documents.reduce((sum, { text }) => sum + text.length, known?.length ?? 0);
    const row = [known?.number ?? null, name, stamp, isLoose ? 1 : 0, session, count, length];
    const number = this.run('INSERT OR REPLACE INTO groups VALUES (?, ?, ?, ?, ?, ?, ?)', ...row);
    const first = number * GROUP_SIZE + (known?.documents ?? 0);
    for (const [i, document] of documents.entries()) this.waiting.push([first + i, document]);
    for (const { id, text } of records) this.run('INSERT OR IGNORE INTO records VALUES (?, ?)', id, text);
    for (const id of redacted) this.run('INSERT OR IGNORE INTO redacted VALUES (?)', id);
    if (hasReset) this.run("UPDATE facts SET value = 1 WHERE name = 'reset'");
  }

  /** FTS5 writes a segment at the end of each statement, so a statement takes documents of many groups. */
  private insert(documents: readonly [doc: number, document: Document][]): void {
    const into = (table: string, rowOf: (doc: number, document: Document) => unknown[]): void => {
      const rows = documents.map(([doc, document]) => rowOf(doc, document));
      const values = (rows[0] ?? []).map((_, i) => `value ->> ${i}`).join(', ');
      this.run(`INSERT INTO ${table} SELECT ${values} FROM json_each(?)`, JSON.stringify(rows));
    };
    into('documents', (doc, document) => Object.values(factsOf(doc, document)));
    into('texts', (doc, { id, text }) => [doc, id, text]);
    into('words(rowid, terms)', (doc, { text }) => [doc, termsOf(text).join(' ')]);
  }

  private run(sql: string, ...values: unknown[]): number {
    const statement = this.statements.get(sql) ?? this.db.prepare(sql);
    this.statements.set(sql, statement);
    return Number(statement.run(...values).lastInsertRowid);
  }

  /** A redacted record may be in another file too. Records are found by id only for this and for knowledge. */
  private forgetRedacted(): void {
    if (!this.db.prepare("SELECT 1 FROM records WHERE text <> '' UNION ALL SELECT 1 FROM redacted").get())
      return;
    this.db.exec(`CREATE INDEX IF NOT EXISTS ids ON texts(id);
      DELETE FROM documents WHERE doc IN (SELECT doc FROM texts JOIN redacted USING (id));
      DELETE FROM texts WHERE id IN (SELECT id FROM redacted);`);
  }

  having(term: string): Posting[] {
    const sql = `SELECT group_concat(p.doc || ',' || d.length || ',' || d.source || ',' || d.at, ';') AS found
      FROM postings p JOIN documents d ON d.doc = p.doc WHERE p.term = ?`;
    const { found } = this.db.prepare(sql).get(term) as { found: string | null };
    const postings: Posting[] = [];
    for (const line of found?.split(';') ?? []) {
      const [doc, length, source = '', at] = line.split(',');
      const last = postings.at(-1);
      if (last?.doc === Number(doc)) last.count++;
      else postings.push({ doc: Number(doc), length: Number(length), source, at: Number(at), count: 1 });
    }
    return postings;
  }

  frequency(term: string): number {
    const row = this.db.prepare('SELECT doc FROM counts WHERE term = ?').get(term);
    return (row as { doc: number } | undefined)?.doc ?? 0;
  }

  groupLength = (group: number): number | null => {
    const row = this.byNumber.get(group);
    return row && !row.loose ? row.length : null;
  };

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
    const rows = this.db.prepare("SELECT id, text FROM records WHERE text <> ''").all();
    return (rows as { id: string; text: string }[])
      .map(({ id, text }): Identified => ({ id, record: JSON.parse(text) }))
      .sort((a, b) => a.record.n - b.record.n || (a.id < b.id ? -1 : 1));
  }

  /** Whether the ledger has a record, by the first characters of its id. */
  has = (prefix: string): boolean =>
    this.db
      .prepare(
        "SELECT 1 FROM texts WHERE id = ?1 UNION ALL SELECT 1 FROM records WHERE id BETWEEN ?1 AND ?1 || 'g'",
      )
      .get(prefix) !== undefined;
}
