import { join, relative } from 'node:path';
import { readIndex } from '../artifact/artifact.js';
import { withoutOwn } from '../commit/recent.js';
import { readEntries } from '../core/entries.js';
import { stampOf } from '../core/files.js';
import { objectsIn } from '../core/json.js';
import { architectureFile, archiveFile, doneIssuesFolder, skillsFolder } from '../core/paths.js';
import { FEATURE_LIST, readActive } from '../feature/store.js';
import { UNIT, type Unit } from '../feature/tasks.js';
import { findingsOf } from '../finding/finding.js';
import type { Finding } from '../finding/memory.js';
import { commitAt, isAncestor, readLog } from '../git/read.js';
import { maskText } from '../guard/guard.js';
import { readKfr } from '../kfr/kfr.js';
import { answersIn, type Kfr } from '../kfr/rules.js';
import { describeLearning, readLearnings } from '../knowledge/rules.js';
import { normalizePattern, type Proven, readProven } from '../learning/proven.js';
import { endKey } from '../learning/rules.js';
import { eachRecord } from '../ledger/container.js';
import type { Identified, LedgerRecord } from '../ledger/memory.js';
import { containerBytes, listContainers } from '../ledger/read.js';
import { textsIn } from '../ledger/record.js';
import type { Context } from '../project/project.js';
import { ARCHIVED_SESSION, focusIn, isStoredId, LOG_DAY, RESUMED } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { archivedIds, kfrIn, readProgressText } from '../session/store.js';
import { isShipped } from '../trust/trust.js';
import type { Document } from './engine.js';

const MAX_COMMITS = 2000;
/** Characters that are searched. */
const MAX_TEXT = 4000;

const document = (source: string, id: string, text: string, rest: Partial<Document> = {}): Document => ({
  ...{ id, source, session: null, at: null, text: text.slice(0, MAX_TEXT) },
  ...rest,
});

/** Documents that seldom change, so that an index can keep them. */
export interface StoredGroup {
  name: string;
  /** Changes when the documents do. */
  stamp: string;
  isLoose: boolean;
  session: string | null;
  /** All documents, or those after the indexed ones. */
  read(known: KnownGroup | null): Promise<Change> | Change;
}

interface KnownGroup {
  stamp: string;
  documents: number;
}

export interface Change {
  documents: readonly Document[];
  /** They follow the known documents. */
  isMore: boolean;
  /**
   * Records of the knowledge tier as JSON: their state depends on all of them, so they are not documents. Other records
   * that knowledge may rest on, and that are not documents, have an empty text.
   */
  records?: readonly { id: string; text: string }[];
  redacted?: readonly string[];
  /** A person reset a tier, so that older records do not count. */
  hasReset?: boolean;
}

/** The ledger's files, archived sessions, and commits. */
export async function listStored(context: Context): Promise<StoredGroup[]> {
  return [
    ...ledgerGroups(context),
    ...archiveGroups(context),
    ...historyGroups(context),
    ...(await commitGroups(context)),
  ];
}

/** A ledger file only grows. */
function ledgerGroups(context: Context): StoredGroup[] {
  return listContainers(context).map(({ name, stamp }) => ({
    ...{ name, stamp, isLoose: name.startsWith('solo-'), session: sessionOf(name) },
    read: (known) => {
      const { documents, ...rest } = readContainer(context, name);
      const isMore = known !== null && sameFile(known.stamp, stamp) && documents.length >= known.documents;
      return { documents: isMore ? documents.slice(known.documents) : documents, isMore, ...rest };
    },
  }));
}

/** A file has the records of one session. Restored or redacted ones are in separate files. */
function sessionOf(name: string): string | null {
  const stored = name.slice(0, -'-12345678.jsonl'.length);
  return isStoredId(stored) ? stored : null;
}

/** A stamp begins with device and inode. */
const sameFile = (a: string, b: string): boolean => a.split(':', 2).join() === b.split(':', 2).join();

function readContainer(context: Context, name: string): Omit<Change, 'isMore'> {
  const documents: Document[] = [];
  const records: { id: string; text: string }[] = [];
  const redacted: string[] = [];
  const session = sessionOf(name);
  let hasReset = false;
  eachRecord(containerBytes(context, name), (id, record, { bytes }) => {
    if (!('kind' in record)) {
      redacted.push(id.slice(0, ID_LENGTH));
      records.push({ id, text: '' });
      return;
    }
    const { tier, kind, at = null } = record;
    if (kind === 'reset') hasReset = true;
    if (tier === 'note') redacted.push(...textsIn(record.removes).map((one) => one.slice(0, ID_LENGTH)));
    if (tier === 'knowledge') records.push({ id, text: bytes.toString('utf8') });
    const text = tier === 'knowledge' || kind === 'genesis' ? '' : wordsOf(worthFinding(record));
    // Most records of a run only name its task.
    if (text !== '' && text !== record.task_id)
      documents.push(document(tier, id.slice(0, ID_LENGTH), text, { at, session }));
    else if (objectsIn(record.patterns).length > 0) records.push({ id, text: '' });
  });
  return { documents, records, redacted, hasReset };
}

/** Without test runs that passed, which a feature shows, and without a session's lessons, which may have been removed since. */
function worthFinding(record: LedgerRecord): object {
  if (record.kind === 'verification')
    return { runs: objectsIn(record.runs).filter(({ status }) => status !== 'passing') };
  return record.key === endKey(String(record.session)) ? { ...record, patterns: [] } : record;
}

export const ID_LENGTH = 12;

function archiveGroups(context: Context): StoredGroup[] {
  const { disk, layout } = context;
  return archivedIds(context).map((id) => {
    const path = archiveFile(layout, id);
    return {
      ...{ name: `session ${id}`, stamp: stampOf(path), isLoose: false, session: id },
      read: () => {
        const archive = disk.requireDocument(ARCHIVED_SESSION, path).value;
        // Its log has the NEXT line.
        const { started_at, progress: lines = [] } = archive;
        const log = logDocuments(id, started_at, lines);
        const isCarriedOn = archive.resumed_by !== undefined && kfrIn(archive).entries.length > 0;
        const left = isCarriedOn ? [] : workingMemory(id, started_at, archive.kfr);
        const { task } = focusIn(archive);
        // A feature or an issue is a document already.
        const isText = task !== null && !/^[\w.-]+: /.test(task);
        const goal = isText ? [document('session', `${id}:task`, task, { session: id, at: started_at })] : [];
        return { documents: [...goal, ...log, ...left], isMore: false };
      },
    };
  });
}

function historyGroups({ disk, layout }: Context): StoredGroup[] {
  const folder = doneIssuesFolder(layout);
  const names = disk.list(folder).filter((name) => name.endsWith('.json'));
  return names.map((name) => ({
    ...{ name: `issue ${name}`, stamp: stampOf(join(folder, name)), isLoose: true, session: null },
    read: () => {
      const unit = disk.requireDocument(UNIT, join(folder, name)).value;
      return { documents: [issueDocument(unit)], isMore: false };
    },
  }));
}

/** Without what only forge and Linear read. */
function issueDocument(unit: Unit): Document {
  const { linear_id, title, type, state, created_at, git_refs, ...rest } = unit;
  const { uuid, url, updated_at, fields, pulled, memory_trace, agent_state, ...words } = rest;
  return document('issue', linear_id, `${linear_id} ${title}\n${wordsOf(words)}`.trim());
}

/** `started`: the time of a line without its own. */
const logDocuments = (session: string, started: string, lines: readonly string[]): Document[] => {
  let [day, at] = ['', started];
  const times = lines.map((line) => {
    day = LOG_DAY.exec(line)?.[1] ?? day;
    const time = /^\[(\d\d:\d\d)\] /.exec(line)?.[1];
    if (time !== undefined && day !== '') at = `${day}T${time}:00.000Z`;
    return at;
  });
  const texts = lines.map((line) => line.replace(/^\[\d\d:\d\d\] /, '').trim());
  // The lines before are the log of the session that was resumed.
  const first = texts.findLastIndex((text) => RESUMED.test(text));
  return texts.flatMap((text, i) => {
    return i <= first || text === '' || WRITTEN_BY_FORGE.test(text)
      ? []
      : [document('session', `${session}:${i + 1}`, text, { session, at: times[i] ?? started })];
  });
};

/** The answered questions, and the entries that were dismissed or expired with their task or their session. */
const workingMemory = (session: string, at: string, kfr: unknown): Document[] => {
  const { entries, closed } = (kfr ?? {}) as Partial<Kfr>;
  const expired = [
    ...objectsIn(entries),
    ...objectsIn(closed).filter(({ outcome }) => outcome === 'expired' || outcome === 'dismissed'),
  ];
  const rows = expired.map(({ id, kind, text, words }) => ({
    id: String(id),
    text: `${kind}: ${text}${words ? ` → dismissed: ${words}` : ''}`,
  }));
  return [...rows, ...answersIn(kfr)].map(({ id, text }) =>
    document('session', `${session}:${id}`, text, { session, at }),
  );
};

/** The parts of architecture.md. A list item is a part. */
async function architectureParts({ disk, layout }: Context): Promise<Document[]> {
  const text = disk.read(architectureFile(layout))?.toString('utf8') ?? '';
  const parts = text
    .replace(/<!--[\s\S]*?-->/g, '')
    .split(/\n(?=[-*+] |#)|\n\s*\n/)
    .filter((part) => !/^\s*(?:#.*)?$/.test(part));
  const documents = parts.map(async (part, i) =>
    document('architecture', `architecture.md:${i + 1}`, (await maskText(part)).trim()),
  );
  return Promise.all(documents);
}

const WRITTEN_BY_FORGE = /^(?:===|\(times in UTC\)|Started - branch: |Active issues: \d|Session ending$)/;

async function commitGroups({ git }: Context): Promise<StoredGroup[]> {
  const head = git && (await commitAt(git, 'HEAD'));
  if (!git || !head) return [];
  return [
    {
      ...{ name: 'commits', stamp: head, isLoose: true, session: null },
      read: async (known) => {
        const isMore =
          known !== null &&
          known.documents < 2 * MAX_COMMITS &&
          (await isAncestor(git, known.stamp, head)) === true;
        const commits = await readLog(git, MAX_COMMITS, isMore ? `${known.stamp}..${head}` : head);
        const documents = withoutOwn(commits).map(async ({ short, at, subject, body }) => {
          // A commit that no hook checked may hold a secret.
          // Web forms send line breaks with a CR.
          const text = await maskText(`${subject}\n${body.replaceAll('\r', '')}`.trim());
          return document('commit', short, text, { at });
        });
        return { documents: await Promise.all(documents), isMore };
      },
    },
  ];
}

interface KnowledgeRecords {
  records: readonly Identified[];
  has: (id: string) => boolean;
}

/** Documents that are read for each query. `hasShipped`: with the skills that every project has. */
export async function readLive(context: Context, knowledge: KnowledgeRecords, hasShipped: boolean) {
  const proven = [...readProven(knowledge.records, knowledge.has).values()];
  const known = new Set(proven.map(({ pattern }) => normalizePattern(pattern)));
  const sources: Record<string, () => Document[] | Promise<Document[]>> = {
    knowledge: () => proven.map(knowledgeDocument),
    learned: () => learnedDocuments(context, known),
    architecture: () => architectureParts(context),
    features: () =>
      readEntries(context.disk, FEATURE_LIST).entries.map(({ id, name, tests = [], status }) =>
        document('feature', id, [`${id} ${name} [${status}]`, ...tests].join('\n')),
      ),
    issues: () => readActive(context).map(issueDocument),
    session: () => runningDocuments(context),
    findings: () =>
      newestAnswers(findingsOf(context)).map(({ session, at, tool, query, fact, step }) =>
        document('finding', `${session}:${step}`, `${tool} ${query}: ${fact}`, { session, at }),
      ),
    skills: () => skillDocuments(context, hasShipped),
    artifacts: () =>
      readIndex(context).map(({ id, name, type, at, session, issue }) =>
        document('artifact', id, `${name} [${type}] ${issue ?? ''}`.trim(), { at, session }),
      ),
  };
  const groups = Object.entries(sources).map(async ([name, read]) => ({
    isLoose: name !== 'session',
    documents: (await orSkip(context, name, read)) ?? [],
  }));
  return Promise.all(groups);
}

/** The last answer to each question: what a file has, a part of it, or what another call found. */
function newestAnswers<T extends Finding>(findings: readonly T[]): T[] {
  const keyOf = ({ filePath, query, fact }: Finding): string =>
    filePath === undefined || fact.startsWith('Lines ') ? query : filePath;
  return [...new Map(findings.map((one) => [keyOf(one), one])).values()];
}

/** Null with a warning for a source that cannot be read: the others are still searched. */
export async function orSkip<T>(context: Context, name: string, read: () => T | Promise<T>) {
  try {
    return await read();
  } catch (error) {
    context.warnings.push(`${name}: ${(error as Error).message}`);
    return null;
  }
}

/** The knowledge that a lesson became is a document already. */
const learnedDocuments = ({ disk }: Context, known: ReadonlySet<string>): Document[] =>
  readLearnings(disk)
    .filter((one) => one.kind !== 'success' || !known.has(normalizePattern(one.approach)))
    .map((one) =>
      document('learned', one.id, describeLearning(one), {
        ...{ at: one.learned_at ?? null, session: one.session ?? null },
      }),
    );

const knowledgeDocument = ({ record, pattern, scope, status, created_at: at }: Proven): Document =>
  document('knowledge', record.slice(0, ID_LENGTH), `${pattern} (${scope})`, {
    at,
    ...(status === 'contested' ? { doubt: 'contested' as const } : {}),
    ...(status === 'invalid' ? { doubt: 'invalidated' as const } : {}),
  });

function runningDocuments(context: Context): Document[] {
  const running = readRunning(context);
  if (!running) return [];
  const { id: session, started_at: at } = running;
  const kfr = readKfr(context);
  const entries = kfr.entries.map((entry) =>
    document('kfr', entry.id, `${entry.kind}: ${entry.text}`, { session, at }),
  );
  const lines = logDocuments(session, at, readProgressText(context).split('\n'));
  const answers = workingMemory(session, at, { ...kfr, entries: [] });
  return [...lines, ...entries, ...answers];
}

const skillDocuments = ({ disk, layout }: Context, hasShipped: boolean): Document[] =>
  disk.list(skillsFolder(layout)).flatMap((name) => {
    const path = join(skillsFolder(layout), name, 'instructions.md');
    const text = disk.read(path)?.toString('utf8');
    if (text === undefined || (!hasShipped && isShipped(path, relative(layout.dir, path)))) return [];
    return text.split(/^(?=## )/m).map((part, i) => document('skill', `${name}:${i + 1}`, part));
  });

/** Fields without words: links, times, ids, constants and argument lists. */
const NO_WORDS = new Set([
  ...'v tier n seg prev seen ledger at session actor by kind key scope evidence sha256 commit head'.split(
    ' ',
  ),
  ...'schema_version classification created_at started_at finished_at'.split(' '),
]);

/** The strings of a record, each once and on its own line, without digests. */
function wordsOf(record: Partial<LedgerRecord> | object): string {
  const texts = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      if (!/^[0-9a-f]{16,64}$/.test(value)) texts.add(value);
    } else if (Array.isArray(value)) for (const inner of value) visit(inner);
    else if (typeof value === 'object' && value !== null)
      for (const name in value) if (!NO_WORDS.has(name)) visit((value as Record<string, unknown>)[name]);
  };
  visit(record);
  return [...texts].join('\n').slice(0, MAX_TEXT);
}
