import { join } from 'node:path';
import * as z from 'zod/mini';
import { withoutOwn } from '../commit/recent.js';
import { readEntries } from '../core/entries.js';
import { usage } from '../core/error.js';
import { skillsFolder } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { FEATURE_LIST } from '../feature/store.js';
import { findingsOf } from '../finding/finding.js';
import { maskText } from '../guard/guard.js';
import { readKfr } from '../kfr/kfr.js';
import { readInvariants } from '../knowledge/architecture.js';
import { describeLearning, LEARNED_LIST, listLearnings } from '../knowledge/rules.js';
import { readIssues, readKnowledge } from '../learning/knowledge.js';
import { type LedgerRecord, type Memory, readMemory, TIERS } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { readArchives } from '../session/archive.js';
import { readProgressText } from '../session/progress.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { type Document, search } from './engine.js';
import { readQuery } from './terms.js';

export const RecallInput = z.strictObject({
  query: z.string(),
  limit: z.optional(z.int().check(z.gte(1), z.lte(1000))),
  tier: z.optional(z.string()),
  since: z.optional(z.string()),
});
export type RecallInput = z.infer<typeof RecallInput>;

export interface RecallHit {
  id: string;
  source: string;
  score: number;
  text: string;
  at: string | null;
  session: string | null;
  why: string[];
  doubt?: 'contested' | 'invalidated';
}

export interface Recalled {
  query: string;
  hits: RecallHit[];
  took_ms: number;
  /** How many records were looked at, and whether they are all there is. */
  index: { records: number; fresh: boolean };
}

const DEFAULT_LIMIT = 10;
const MAX_COMMITS = 2000;
/** Characters of a record that are looked at, and of a hit that are shown. */
const MAX_TEXT = 4000;
const MAX_SHOWN = 500;

/** AGT-03: what memory has on a question, best first, without a model or a network. Reads only. */
export async function recall(context: Context, raw: RecallInput): Promise<Recalled> {
  const started = performance.now();
  const { query: given, limit = DEFAULT_LIMIT, tier, since } = checkInput(RecallInput, raw);
  const query = readQuery(given);
  if (tier !== undefined) query.tier = tier;
  if (since !== undefined) query.since = since;
  if (query.since !== null) query.since = readSince(query.since, context.world.now());
  if (query.terms.length === 0 && query.phrases.length === 0)
    throw usage('recall.empty', 'The query has no word to look for.', {
      hint: 'forge recall what did we learn about login',
    });
  const documents = await readDocuments(context);
  const hits = search(documents, query, { limit, now: context.world.now().getTime() });
  return {
    query: given.slice(0, MAX_SHOWN),
    hits: hits.map(({ document: { id, source, text, at, session, doubt }, score, why }) => ({
      ...{ id, source, score: Math.round(score * 1000) / 1000 },
      ...{ text: text.slice(0, MAX_SHOWN), at, session, why },
      ...(doubt ? { doubt } : {}),
    })),
    took_ms: Math.round(performance.now() - started),
    index: { records: documents.length, fresh: true },
  };
}

const UNITS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  m: 30 * 86_400_000,
  y: 365 * 86_400_000,
};

/** `2026-05-01`, or an age: `30d`, `2w`, `6m`. As an ISO time. */
function readSince(text: string, now: Date): string {
  const [, count, unit = ''] = /^(\d{1,4})([hdwmy])$/.exec(text) ?? [];
  const at =
    count === undefined ? new Date(text) : new Date(now.getTime() - Number(count) * (UNITS[unit] ?? 0));
  if (!Number.isNaN(at.getTime()) && (count !== undefined || /^\d{4}-\d\d/.test(text)))
    return at.toISOString();
  throw usage(
    'recall.since',
    `--since: found ${JSON.stringify(oneLine(text, 40))}, allowed: a date, or an age such as 30d.`,
    {
      hint: 'forge recall login --since 30d',
    },
  );
}

type Source = (context: Context, memory: Memory) => Document[] | Promise<Document[]>;

const document = (source: string, id: string, text: string, rest: Partial<Document> = {}): Document => ({
  ...{ id, source, tier: null, session: null, at: null, text: text.slice(0, MAX_TEXT) },
  ...rest,
});

/** Everything that can be found; what stands together in a session stands together here. */
const SOURCES: Readonly<Record<string, Source>> = {
  ledger: (_, memory) =>
    TIERS.filter((tier) => tier !== 'knowledge').flatMap((tier) =>
      memory.records(tier).flatMap(({ id, record }) => {
        const text = textOf(record);
        const { at = null, session = null } = record;
        return text === ''
          ? []
          : [document(tier, id.slice(0, 12), text, { tier, at, session: shownSession(session) })];
      }),
    ),
  knowledge: (context, memory) =>
    [...readKnowledge(context, memory).values()].map(({ record, pattern, scope, status, created_at: at }) =>
      document('knowledge', record.slice(0, 12), `${pattern} (${scope})`, {
        ...{ tier: 'knowledge', at },
        ...(status === 'contested' ? { doubt: 'contested' as const } : {}),
        ...(status === 'invalid' || status === 'unproven' ? { doubt: 'invalidated' as const } : {}),
      }),
    ),
  learned: ({ disk }) =>
    listLearnings(readEntries(disk, LEARNED_LIST).entries).map((learning) =>
      document('learned', learning.id, describeLearning(learning), {
        at: learning.kind === 'invariant' ? null : learning.learned_at,
      }),
    ),
  invariants: async (context) =>
    (await readInvariants(context)).map((text, i) => document('invariant', `architecture-${i + 1}`, text)),
  features: ({ disk }) =>
    readEntries(disk, FEATURE_LIST).entries.map(({ id, name, tests = [], status }) =>
      document('feature', id, [`${id} ${name} [${status}]`, ...tests].join('\n')),
    ),
  issues: (context) =>
    readIssues(context).issues.map((unit) =>
      document('issue', unit.linear_id, [unit.linear_id, unit.title, textOf(unit)].join('\n')),
    ),
  sessions: (context) =>
    readArchives(context).flatMap(({ id, started_at: at, progress = [], next }) => {
      const session = sessionName(id);
      const lines = next === null ? progress : [...progress, `NEXT: ${next}`];
      return logged(lines).map((text, i) =>
        document('session', `${session}:${i + 1}`, text, { session, at }),
      );
    }),
  running: (context) => {
    const running = readRunning(context);
    if (!running) return [];
    const session = sessionName(running.id);
    const at = running.started_at;
    return [
      ...logged(readProgressText(context).split('\n')).map((text, i) =>
        document('session', `${session}:${i + 1}`, text, { session, at }),
      ),
      ...readKfr(context).entries.map(({ id, kind, text }) =>
        document('kfr', id, `${kind}: ${text}`, { session, at }),
      ),
    ];
  },
  findings: (context) =>
    findingsOf(context).map(({ session, tool, query, fact, step, filePath }) =>
      document('finding', `${session}:${step}`, `${tool} ${query}: ${fact}`, {
        session,
        ...(filePath === undefined ? {} : { files: [filePath] }),
      }),
    ),
  skills: ({ disk, layout }) =>
    disk.list(skillsFolder(layout)).flatMap((name) => {
      const text = disk.read(join(skillsFolder(layout), name, 'instructions.md'))?.toString('utf8');
      const parts = text?.split(/^(?=## )/m) ?? [];
      return parts.map((part, i) => document('skill', `${name}:${i + 1}`, part));
    }),
  commits: async ({ git, repository }) => {
    if (!git || !repository) return [];
    const { readMessages } = await import('../git/read.js');
    return withoutOwn(await readMessages(git, MAX_COMMITS)).map(({ short, at, subject, body }) =>
      document('commit', short, body === '' ? subject : `${subject}\n${body}`, { at }),
    );
  },
};

const shownSession = (session: string | null): string | null =>
  session === null ? null : sessionName(session);

/** What was written down, without times and the lines that every session begins with. */
const logged = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const text = line.replace(/^\[\d\d:\d\d\] /, '').trim();
    const isOwn =
      /^(===|\(times in UTC\)|Started - branch: |Active issues: \d|Session ending$|Resumed )/.test(text);
    return text === '' || isOwn ? [] : [text];
  });

/** Of a record's own fields those that hold words, one a line. Ids and digests are none. */
function textOf(record: Partial<LedgerRecord> | object): string {
  const texts: string[] = [];
  const visit = (value: unknown, name: string): void => {
    if (typeof value === 'string') {
      if (!/^[0-9a-f]{16,64}$/.test(value) && !NO_WORDS.has(name)) texts.push(value);
    } else if (Array.isArray(value)) for (const inner of value) visit(inner, name);
    else if (typeof value === 'object' && value !== null)
      for (const [inner, field] of Object.entries(value)) visit(field, inner);
  };
  visit(record, '');
  return texts.join('\n').slice(0, MAX_TEXT);
}

const NO_WORDS = new Set(
  'v tier n seg prev seen ledger at session actor kind sha256 commit head schema_version classification created_at'.split(
    ' ',
  ),
);

/** A source that cannot be read is named, and the others are looked at. */
async function readDocuments(context: Context): Promise<Document[]> {
  const memory = readMemory(context);
  const parts = await Promise.all(
    Object.entries(SOURCES).map(async ([name, read]) => {
      try {
        return await read(context, memory);
      } catch (error) {
        context.warnings.push(`${name}: ${(error as Error).message}`);
        return [];
      }
    }),
  );
  const all = parts.flat();
  // A commit that went past the hooks may hold a secret.
  return Promise.all(
    all.map(async (one) => (one.source === 'commit' ? { ...one, text: await maskText(one.text) } : one)),
  );
}
