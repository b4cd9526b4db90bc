import { synonymsOf } from './synonyms.js';
import { flat, type Query, readQuery, termsOf } from './terms.js';

/** Something that can be found. */
export interface Document {
  id: string;
  /** Where it stands: `note`, `knowledge`, `feature`, `session`, … */
  source: string;
  tier: string | null;
  session: string | null;
  /** ISO time; null where none is known. */
  at: string | null;
  text: string;
  files?: readonly string[];
  /** What is contested or invalid is told apart, and never stands first. */
  doubt?: 'contested' | 'invalidated';
}

export interface Hit {
  document: Document;
  score: number;
  why: string[];
}

/** BM25 as in the textbooks. */
const K1 = 1.2;
const B = 0.75;

/** What a term that was not asked for counts, beside one that was. */
const SYNONYM = 0.5;
const RELATED = 0.3;
/** What a record beside a hit in the same session gets of the hit's score. */
const BESIDE = 0.25;
/** Kinds that were kept on purpose count more; what says little of the project less. */
const KINDS: Readonly<Record<string, number>> = {
  ...{ knowledge: 1.15, learned: 1.15, note: 1.1, feature: 1.05 },
  ...{ skill: 0.7, audit: 0.5 },
};
/** The newest record counts so much more than a very old one; halves every 90 days. */
const RECENT = 0.1;
const HALF_LIFE = 90 * 86_400_000;

/** A term to look for, how much it counts, and what it was asked for as. */
interface Wanted {
  weight: number;
  /** Null: it was asked for itself. */
  for: string | null;
  kind: 'asked' | 'synonym' | 'related';
}

/** The terms of each document that was looked into, by its place. */
type Analysed = (ReadonlyMap<string, number> | undefined)[];

export interface SearchOptions {
  limit: number;
  now: number;
  /** Related terms of the project's own records; off to compare. */
  related?: boolean;
  synonyms?: boolean;
  neighbours?: boolean;
}

/** AGT-03: the documents that answer a query, best first. The same documents and query give the same answer. */
export function search(documents: readonly Document[], query: Query, options: SearchOptions): Hit[] {
  const corpus = new Corpus(documents);
  const wanted = widen(corpus, query, options);
  const scores: Hit[] = documents.map((document) => ({ document, score: 0, why: [] }));
  // Of the words that stand for one asked word, the best counts.
  const best = new Map<string, number>();
  for (const place of corpus.places([...wanted.keys()])) {
    const counts = corpus.countsAt(place);
    const hit = scores[place] as Hit;
    best.clear();
    for (const [term, { weight, for: asked, kind }] of wanted) {
      const count = counts.get(term);
      if (count === undefined) continue;
      const saturated = (count * (K1 + 1)) / (count + K1 * (1 - B + B * corpus.lengthAt(place)));
      const key = asked ?? term;
      best.set(key, Math.max(best.get(key) ?? 0, weight * corpus.rarity(term) * saturated));
      hit.why.push(
        kind === 'asked' ? term : `${term} (${kind === 'synonym' ? 'like' : 'goes with'} ${asked})`,
      );
    }
    for (const value of best.values()) hit.score += value;
  }
  const isMeant = filterOf(query);
  const found = (options.neighbours === false ? scores : withNeighbours(scores))
    .filter(({ score, document }) => score > 0 && isMeant(document))
    .map((hit) => ({ ...hit, score: hit.score * boost(hit.document, options.now) }))
    .sort((a, b) => b.score - a.score || compare(a.document.id, b.document.id));
  return doubtsLast(found).slice(0, options.limit);
}

/** Documents, of which only those that may have a term are looked into. */
class Corpus {
  private readonly texts: string[];
  /** In lower case, and composed as terms are. */
  private readonly low: string[];
  private readonly analysed: Analysed = [];
  private readonly average: number;
  private readonly found = new Map<string, number>();

  constructor(documents: readonly Document[]) {
    this.texts = documents.map(({ text, files = [] }) =>
      files.length === 0 ? text : [text, ...files].join('\n'),
    );
    this.low = this.texts.map((text) => (isAscii(text) ? text : text.normalize('NFKC')).toLowerCase());
    this.average = this.texts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, this.texts.length);
  }

  get size(): number {
    return this.texts.length;
  }

  /** In characters, where 1 is the average. */
  lengthAt = (place: number): number => (this.texts[place] as string).length / Math.max(1, this.average);

  countsAt(place: number): ReadonlyMap<string, number> {
    const known = this.analysed[place];
    if (known) return known;
    const counts = new Map<string, number>();
    for (const term of termsOf(this.texts[place] as string)) counts.set(term, (counts.get(term) ?? 0) + 1);
    this.analysed[place] = counts;
    return counts;
  }

  /** The documents with one of the terms, and how many have each. */
  places(terms: readonly string[]): number[] {
    if (terms.length === 0) return [];
    const start = new RegExp(
      terms.map((term) => startOf(term).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|'),
    );
    const places: number[] = [];
    for (const term of terms) this.found.set(term, 0);
    for (const [place, text] of this.low.entries()) {
      if (!start.test(text)) continue;
      const counts = this.countsAt(place);
      const having = terms.filter((term) => counts.has(term));
      for (const term of having) this.found.set(term, (this.found.get(term) ?? 0) + 1);
      if (having.length > 0) places.push(place);
    }
    return places;
  }

  /** How many documents have a term that `places` was asked for. */
  countOf = (term: string): number => this.found.get(term) ?? 0;

  /** BM25's inverse document frequency. */
  rarity(term: string): number {
    const n = this.countOf(term);
    return Math.log(1 + (this.size - n + 0.5) / (n + 0.5));
  }
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** What every word with this stem begins with: a stem may end otherwise than its words. */
const startOf = (term: string): string =>
  /^[a-z]{4,}$/.test(term) ? term.replace(/(?:bl|[ei])$/, '') : term;

/** SES-03: the indices of the texts that have to do with a subject, the best first. */
export function about(texts: readonly string[], subject: string): number[] {
  const query = readQuery(subject);
  // A number alone has to do with everything that is counted.
  query.terms = query.terms.filter((term) => !/^\d+$/.test(term));
  if (query.terms.length === 0) return [];
  query.phrases = [];
  const documents = texts.map(
    (text, i): Document => ({
      ...{ id: String(i).padStart(9, '0'), source: 'text', tier: null, session: null, at: null, text },
    }),
  );
  const hits = search(documents, query, { limit: texts.length, now: 0, neighbours: false, related: false });
  const best = hits[0]?.score ?? 1;
  // Those that are about as good stay in their order.
  return hits
    .map(({ document, score }) => ({ at: Number(document.id), level: Math.round((10 * score) / best) }))
    .sort((a, b) => b.level - a.level || a.at - b.at)
    .map(({ at }) => at);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The terms asked for, their synonyms, and what the project's own records have beside them (LTM-20). */
function widen(
  corpus: Corpus,
  { terms }: Query,
  { related = true, synonyms = true }: SearchOptions,
): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>(
    terms.map((term) => [term, { weight: 1, for: null, kind: 'asked' }]),
  );
  const add = (term: string, entry: Wanted): void => {
    if (!wanted.has(term)) wanted.set(term, entry);
  };
  if (synonyms)
    for (const term of terms)
      for (const other of synonymsOf(term)) add(other, { weight: SYNONYM, for: term, kind: 'synonym' });
  if (related) {
    const places = corpus.places(terms);
    for (const term of terms)
      for (const other of relatedTo(corpus, term, places))
        add(other, { weight: RELATED, for: term, kind: 'related' });
  }
  return wanted;
}

/** Fewer say nothing; a project has to have written about both. */
const MIN_TOGETHER = 3;
const MAX_RELATED = 3;
/** Of the records with either term, so many have both. */
const MIN_OVERLAP = 1 / 3;
/** Of a term in more records the newest are looked at. */
const MAX_HAVING = 2000;

/**
 * LTM-20: terms that stand with this one far more often than chance has it: in at least three records, in at least a third
 * of those that have either. Deterministic; learned anew from the records each time.
 */
function relatedTo(corpus: Corpus, term: string, places: readonly number[]): string[] {
  const having = places.filter((place) => corpus.countsAt(place).has(term)).slice(-MAX_HAVING);
  if (having.length < MIN_TOGETHER || having.length > corpus.size / 10) return [];
  const together = new Map<string, number>();
  for (const place of having)
    for (const other of corpus.countsAt(place).keys())
      if (other !== term) together.set(other, (together.get(other) ?? 0) + 1);
  const least = Math.max(MIN_TOGETHER, having.length * MIN_OVERLAP);
  const likely = [...together].filter(([, count]) => count >= least).map(([other]) => other);
  corpus.places(likely);
  const scored = likely.map((other) => {
    const count = together.get(other) ?? 0;
    return { other, overlap: count / (having.length + corpus.countOf(other) - count) };
  });
  return scored
    .filter(({ overlap }) => overlap >= MIN_OVERLAP)
    .sort((a, b) => b.overlap - a.overlap || compare(a.other, b.other))
    .slice(0, MAX_RELATED)
    .map(({ other }) => other);
}

/** What stands right before and after a hit in its session is about the same more often than not. */
function withNeighbours(scores: readonly Hit[]): Hit[] {
  return scores.map((hit, i) => {
    const { session } = hit.document;
    if (session === null) return hit;
    const near = [scores[i - 1], scores[i + 1]].filter(
      (other) => other?.document.session === session && other.document.source === hit.document.source,
    );
    const best = near.reduce<Hit | null>(
      (found, other) => (other && other.score > (found?.score ?? 0) ? other : found),
      null,
    );
    if (!best) return hit;
    const why = hit.score > 0 ? hit.why : [`beside: ${best.why.join(', ')}`];
    return { ...hit, score: hit.score + BESIDE * best.score, why };
  });
}

function boost({ source, at }: Document, now: number): number {
  const age = at === null ? Number.POSITIVE_INFINITY : Math.max(0, now - Date.parse(at));
  return (KINDS[source] ?? 1) * (1 + RECENT * 2 ** (-age / HALF_LIFE));
}

function filterOf({ phrases, tier, session, file, since }: Query): (document: Document) => boolean {
  const [wantedTier, wantedFile] = [tier?.toLowerCase(), file?.toLowerCase()];
  return (document) =>
    (phrases.length === 0 || phrases.every((phrase) => flat(document.text).includes(phrase))) &&
    (wantedTier === undefined || document.tier === wantedTier || document.source === wantedTier) &&
    (session === null || document.session?.includes(session) === true) &&
    (wantedFile === undefined ||
      [document.text, ...(document.files ?? [])].some((text) => text.toLowerCase().includes(wantedFile))) &&
    (since === null || (document.at !== null && document.at >= since));
}

/** What is contested or no longer valid never stands before what is not. */
function doubtsLast(hits: Hit[]): Hit[] {
  const first = hits.findIndex(({ document }) => document.doubt === undefined);
  if (first <= 0) return hits;
  return [hits[first] as Hit, ...hits.slice(0, first), ...hits.slice(first + 1)];
}
