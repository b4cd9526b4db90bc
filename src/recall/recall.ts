import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { oneLine, oneOf } from '../core/text.js';
import { type Memory, readMemory, TIERS, type Tier } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { shownId } from '../session/rules.js';
import { archivedIds } from '../session/store.js';
import { ID_LENGTH, listStored, orSkip, readLive, type StoredGroup } from './documents.js';
import {
  type Corpus,
  type Document,
  type Hit,
  KINDS,
  MemoryCorpus,
  type SearchOptions,
  search,
} from './engine.js';
import { forgetIndex, isDatabaseError, openIndex, type SearchIndex } from './search-index.js';
import { type Query, readQuery } from './terms.js';

const RecallInput = z.strictObject({
  query: z.string(),
  limit: z.optional(z.int().check(z.gte(1), z.lte(1000))),
  tier: z.optional(z.string()),
  since: z.optional(z.string()),
});
type RecallInput = z.infer<typeof RecallInput>;

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
  /** How many up-to-date documents were searched. */
  index: { records: number; fresh: boolean };
}

const DEFAULT_LIMIT = 10;
/** Among this many hits, one whose id is the whole query moves to the front. */
const FIRST = 50;
const MAX_SHOWN = 500;

/** AGT-03: the memory that matches a question, best first, without a model or a network. */
export async function recall(context: Context, raw: RecallInput): Promise<Recalled> {
  const started = performance.now();
  const { query: given, limit = DEFAULT_LIMIT, tier, since } = checkInput(RecallInput, raw);
  const query = readQuery(given);
  const kind = tier ?? query.tier;
  if (kind !== null)
    query.tier = oneOf(Object.keys(KINDS), kind.toLowerCase(), '--tier', 'recall.tier', {
      hint: 'forge recall --help',
    });
  if (since !== undefined) query.since = since;
  if (query.since !== null) query.since = readSince(query.since, context.world.now());
  const { terms, phrases, session, file } = query;
  const isFiltered = [query.tier, query.since, session, file].some((value) => value !== null);
  if (terms.length + phrases.length === 0 && !isFiltered)
    throw usage('recall.empty', 'The query has no word to search for.', {
      hint: 'forge recall what did we learn about login\nforge recall --help',
    });
  const now = context.world.now().getTime();
  const { hits: found, records } = await searchAll(context, query, { limit: Math.max(limit, FIRST), now });
  const sessions = archivedIds(context);
  const shown = found.map((hit) => toShown(hit, sessions));
  const isNamed = ({ id }: RecallHit): boolean => id.toLowerCase() === given.trim().toLowerCase();
  return {
    query: given.slice(0, MAX_SHOWN),
    hits: [...shown.filter(isNamed), ...shown.filter((hit) => !isNamed(hit))].slice(0, limit),
    took_ms: Math.round(performance.now() - started),
    index: { records, fresh: true },
  };
}

/** `sessions`: all ids, because two clones may use the same name. */
function toShown({ document, score, why }: Hit, sessions: readonly string[]): RecallHit {
  const { id, source, text, at, session: stored, doubt } = document;
  const session = stored === null ? null : shownId(stored, sessions);
  return {
    id: stored !== null && id.startsWith(`${stored}:`) ? `${session}${id.slice(stored.length)}` : id,
    ...{ source, score: Math.round(score * 1000) / 1000 },
    ...{ text: text.slice(0, MAX_SHOWN), at, session, why },
    ...(doubt ? { doubt } : {}),
  };
}

/** In hours. */
const UNITS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 7 * 24, m: 30 * 24, y: 365 * 24 };

/** `2026-05-01`, or an age: `30d`, `2w`, `6m`. As an ISO time. */
function readSince(text: string, now: Date): string {
  const [, count, unit = ''] = /^(\d{1,4})([hdwmy])$/.exec(text) ?? [];
  const ago = now.getTime() - Number(count) * (UNITS[unit] ?? 0) * 3_600_000;
  const at = new Date(count === undefined ? text : ago);
  if (!Number.isNaN(at.getTime()) && (count !== undefined || /^\d{4}-\d\d/.test(text)))
    return at.toISOString();
  const found = JSON.stringify(oneLine(text, 40));
  throw usage('recall.since', `--since: found ${found}, allowed: a date, or an age such as 30d.`, {
    hint: 'forge recall login --since 30d',
  });
}

/** Group numbers in memory, above those of the index. */
const IN_MEMORY = 2 ** 31;

type Found = { hits: Hit[]; records: number };

/** A damaged index is removed, so that the next query builds another one; this one is answered without. */
async function searchAll(context: Context, query: Query, options: SearchOptions): Promise<Found> {
  const hasShipped = query.tier === 'skill';
  const stored = await listStored(context);
  const find = (corpora: readonly Corpus[]): Found => ({
    hits: search(corpora, query, options),
    records: corpora.reduce((sum, { size }) => sum + size, 0),
  });
  let index: SearchIndex | null = null;
  try {
    index = await openIndex(context, stored);
    if (index) return find(await withIndex(context, index, hasShipped));
  } catch (error) {
    if (!isDatabaseError(error)) throw error;
    forgetIndex(context);
  } finally {
    index?.close();
  }
  return find([await readAll(context, stored, hasShipped)]);
}

/** The index, plus documents read for each query. */
async function withIndex(context: Context, index: SearchIndex, hasShipped: boolean): Promise<Corpus[]> {
  const has = (id: string): boolean => index.has(id.slice(0, ID_LENGTH));
  const live = await readLive(context, { records: index.records(), has }, hasShipped);
  return [index, new MemoryCorpus(live, IN_MEMORY)];
}

async function readAll(context: Context, stored: readonly StoredGroup[], hasShipped: boolean) {
  const memory = readMemory(context);
  const before = new Map(TIERS.map((tier) => [tier as string, beforeReset(memory, tier)]));
  const changes = stored.map(async ({ name, isLoose, read }) => {
    const { documents = [], redacted = [] } = (await orSkip(context, name, () => read(null))) ?? {};
    return { isLoose, documents, redacted };
  });
  const found = await Promise.all(changes);
  const gone = new Set(found.flatMap(({ redacted }) => redacted));
  const counts = ({ source, id }: Document): boolean => !gone.has(id) && !before.get(source)?.has(id);
  const groups = found.map(({ isLoose, documents }) => ({ isLoose, documents: documents.filter(counts) }));
  const has = (id: string): boolean => memory.graph.has(id);
  const live = await readLive(context, { records: memory.records('knowledge'), has }, hasShipped);
  return new MemoryCorpus([...groups, ...live]);
}

/** Ids of the records that do not count because a person reset the tier. */
const beforeReset = (memory: Memory, tier: Tier): Set<string> =>
  new Set([...memory.graph.ancestorsOf(memory.resets(tier))].map((id) => id.slice(0, ID_LENGTH)));
