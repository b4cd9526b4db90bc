import { DAY } from '../core/clock.js';
import { compareText } from '../core/text.js';
import { synonymsOf } from './synonyms.js';
import { flat, isWithin, type Query, readQuery, termsOf, wordsByTerm } from './terms.js';

export interface Document {
  id: string;
  /** Its kind: `note`, `knowledge`, `feature`, `session`, … */
  source: string;
  session: string | null;
  /** ISO time; null when unknown. */
  at: string | null;
  text: string;
  /** Never ranked first. */
  doubt?: 'contested' | 'invalidated';
}

/** Documents written one after another, such as the lines of a session. Loose ones have no context. */
export interface Group {
  isLoose: boolean;
  documents: readonly Document[];
}

/** A document is numbered by its group and its place in it, so its neighbors are the numbers beside it. */
export const GROUP_SIZE = 2 ** 20;
export const groupOf = (doc: number): number => Math.floor(doc / GROUP_SIZE);

/** What ranking reads of a document. */
export interface Facts {
  doc: number;
  /** Characters. */
  length: number;
  source: string;
  /** Milliseconds since 1970; 0 when unknown. */
  at: number;
}

export interface Posting extends Facts {
  /** How often the document has the term. */
  count: number;
}

/** Documents by term. The search index and documents in memory both are one. */
export interface Corpus {
  readonly size: number;
  /** Characters of all documents. */
  readonly length: number;
  /** A loose document counts as a separate group. */
  readonly groups: number;
  having(term: string): readonly Posting[];
  frequency(term: string): number;
  /** Characters of a group; null for loose documents and groups of another corpus. */
  groupLength(group: number): number | null;
  /** Of all documents. */
  allFacts(): Facts[];
  documents(docs: readonly number[]): Map<number, Document>;
}

export interface Hit {
  document: Document;
  score: number;
  why: string[];
}

/** BM25 with textbook values. */
const K1 = 1.2;
const B = 0.75;

/** Weight of a term that was not in the query. */
const SYNONYM = 0.5;
const RELATED = 0.3;
/** A neighbor passes on half of its score, one place further half of that. A session passes on half of its own. */
const NEIGHBORS = [0.5, 0.25];
const SESSION = 0.5;
/** Only the best hits pass their score to neighbors. */
const MAX_WITH_NEIGHBORS = 200;
/** Kinds that people keep on purpose rank before commits, logs and records of runs, which only share words with the question. */
export const KINDS: Readonly<Record<string, number>> = {
  ...{ knowledge: 1.15, learned: 1.15, note: 1.1, feature: 1.05 },
  ...{ architecture: 1, issue: 1, kfr: 1, skill: 1 },
  ...{ session: 0.8, finding: 0.8, artifact: 0.8, commit: 0.6 },
  ...{ execution: 0.5, evaluation: 0.5, audit: 0.5 },
};
/** Of a query with this many terms, a commit needs two: a long history has every single word. */
const MANY_TERMS = 3;
/** The newest document gains this share. It halves every 90 days. */
const RECENT = 0.1;
const HALF_LIFE = 90 * DAY;

export interface SearchOptions {
  limit: number;
  now: number;
  /** Each can be switched off for comparison. */
  related?: boolean;
  synonyms?: boolean;
  context?: boolean;
}

/**
 * AGT-03: the documents that answer a query, best first, or the newest first without a word to search for. The same
 * documents and query give the same answer.
 */
export function search(corpora: readonly Corpus[], query: Query, options: SearchOptions): Hit[] {
  const corpus = combine(corpora);
  const wanted = widen(corpus, query, options);
  const isList = wanted.size === 0;
  const scored = score(corpus, wanted);
  const { facts, own } = scored;
  const least = wanted.size < MANY_TERMS ? 1 : 2;
  if (options.context !== false && query.date !== null) addDate(corpus, scored, query.date);
  const scores = options.context === false ? own : addContext(corpus, scored);
  const found = isList
    ? corpus.allFacts().map(({ doc, at }) => ({ doc, score: at }))
    : [...scores]
        .map(([doc, value]) => ({ doc, score: value * boost(facts.get(doc) as Facts, options.now) }))
        .filter(({ doc }) => facts.get(doc)?.source !== 'commit' || (scored.terms.get(doc) ?? 0) >= least);
  const ranked = found.sort((a, b) => b.score - a.score || a.doc - b.doc);
  const hits: Hit[] = [];
  const seen = new Set<string>();
  const isMeant = filterOf(query);
  for (let start = 0; start < ranked.length && hits.length <= options.limit; start += BATCH) {
    const batch = ranked.slice(start, start + BATCH);
    const documents = corpus.documents(batch.map(({ doc }) => doc));
    for (const { doc, score: value } of batch) {
      const document = documents.get(doc);
      if (!document || !isMeant(document)) continue;
      // A record may be in two files.
      const key = `${document.source} ${document.id}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const why = isList ? [] : explain(corpus, doc, document, wanted, own, query);
      hits.push({ document, score: isList ? 0 : value, why });
      if (hits.length > options.limit) break;
    }
  }
  return doubtsLast(hits).slice(0, options.limit);
}

const BATCH = 50;

function combine(all: readonly Corpus[]): Corpus {
  const sum = (pick: (corpus: Corpus) => number): number =>
    all.reduce((total, corpus) => total + pick(corpus), 0);
  const postings = new Map<string, readonly Posting[]>();
  return {
    size: sum(({ size }) => size),
    length: sum(({ length }) => length),
    groups: sum(({ groups }) => groups),
    having: (term) => {
      const found = postings.get(term) ?? all.flatMap((corpus) => corpus.having(term));
      postings.set(term, found);
      return found;
    },
    frequency: (term) => sum((corpus) => corpus.frequency(term)),
    groupLength: (group) => {
      for (const corpus of all) {
        const length = corpus.groupLength(group);
        if (length !== null) return length;
      }
      return null;
    },
    allFacts: () => all.flatMap((corpus) => corpus.allFacts()),
    documents: (docs) => new Map(all.flatMap((corpus) => [...corpus.documents(docs)])),
  };
}

/** For each term of the query, the terms that count for it. */
type Wanted = Map<string, Map<string, number>>;

/** The query's terms, their synonyms, and terms that the project uses beside them (LTM-20). */
function widen(corpus: Corpus, { terms }: Query, { related = true, synonyms = true }: SearchOptions): Wanted {
  const wanted: Wanted = new Map(terms.map((term) => [term, new Map([[term, 1]])]));
  const taken = new Set(terms);
  const add = (asked: string, term: string, weight: number): void => {
    if (taken.has(term)) return;
    taken.add(term);
    wanted.get(asked)?.set(term, weight);
  };
  if (synonyms) for (const term of terms) for (const other of synonymsOf(term)) add(term, other, SYNONYM);
  if (related)
    for (const term of terms) for (const other of relatedTo(corpus, term)) add(term, other, RELATED);
  return wanted;
}

/** Documents with both terms. */
const MIN_TOGETHER = 3;
const MAX_RELATED = 3;
/** Share of the documents with either term that have both. */
const MIN_OVERLAP = 1 / 3;
/** Terms in more documents say little about each other. */
const MAX_HAVING = 500;

/** LTM-20: terms that occur with this one far more often than by chance. Deterministic, learned from the documents. */
function relatedTo(corpus: Corpus, term: string): string[] {
  const having = corpus.having(term);
  if (having.length < MIN_TOGETHER || having.length > Math.min(MAX_HAVING, corpus.size / 10)) return [];
  const together = new Map<string, number>();
  for (const { text } of corpus.documents(having.map(({ doc }) => doc)).values())
    for (const other of new Set(termsOf(text)))
      if (other !== term) together.set(other, (together.get(other) ?? 0) + 1);
  const least = Math.max(MIN_TOGETHER, having.length * MIN_OVERLAP);
  return [...together]
    .filter(([, count]) => count >= least)
    .map(([other, count]) => ({
      other,
      overlap: count / (having.length + corpus.frequency(other) - count),
    }))
    .filter(({ overlap }) => overlap >= MIN_OVERLAP)
    .sort((a, b) => b.overlap - a.overlap || compareText(a.other, b.other))
    .slice(0, MAX_RELATED)
    .map(({ other }) => other);
}

interface Scores {
  facts: Map<number, Facts>;
  /** By document, and by group. */
  own: Map<number, number>;
  sessions: Map<number, number>;
  /** How many terms of the query a document has. */
  terms: Map<number, number>;
}

type Match = { weight: number; postings: readonly Posting[] };

/** BM25 of documents, and of whole groups. */
function score(corpus: Corpus, wanted: Wanted): Scores {
  const scores: Scores = { facts: new Map(), own: new Map(), sessions: new Map(), terms: new Map() };
  for (const terms of wanted.values()) {
    const matches = [...terms].map(([term, weight]) => ({ weight, postings: corpus.having(term) }));
    addScores(corpus, scores, matches, corpus.size, corpus.groups);
  }
  return scores;
}

/** Of the terms that count for one term of the query, the best counts. */
function addScores(
  corpus: Corpus,
  scores: Scores,
  matches: readonly Match[],
  size: number,
  groups: number,
): void {
  const own = new Map<number, number>();
  const sessions = new Map<number, number>();
  /** 1 is the average of so many. */
  const relative = (length: number, count: number): number => (length * count) / Math.max(1, corpus.length);
  for (const { weight, postings } of matches) {
    const rarity = weight * inverseFrequency(postings.length, size);
    const counts = new Map<number, { count: number; length: number }>();
    for (const posting of postings) {
      const { doc, count, length } = posting;
      if (!scores.facts.has(doc)) scores.facts.set(doc, posting);
      raise(own, doc, rarity * saturate(count, relative(length, corpus.size)));
      const whole = corpus.groupLength(groupOf(doc));
      const key = whole === null ? doc : groupOf(doc);
      const known = counts.get(key);
      if (known) known.count += count;
      else counts.set(key, { count, length: whole ?? length });
    }
    const rarityOfGroups = weight * inverseFrequency(counts.size, groups);
    for (const [key, { count, length }] of counts)
      raise(sessions, key, rarityOfGroups * saturate(count, relative(length, corpus.groups)));
  }
  for (const [doc, value] of own) {
    addTo(scores.own, doc, value);
    addTo(scores.terms, doc, 1);
  }
  for (const [key, value] of sessions) addTo(scores.sessions, key, value);
}

const raise = (values: Map<number, number>, key: number, value: number): unknown =>
  value > (values.get(key) ?? 0) && values.set(key, value);
const addTo = (values: Map<number, number>, key: number, value: number): unknown =>
  values.set(key, (values.get(key) ?? 0) + value);

const inverseFrequency = (having: number, size: number): number =>
  Math.log(1 + (size - having + 0.5) / (having + 0.5));

const saturate = (count: number, relativeLength: number): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + B * relativeLength));

/** The text around a hit, and its whole session, are likely about the same subject. */
function addContext(corpus: Corpus, { facts, own, sessions }: Scores): Map<number, number> {
  const isLoose = (doc: number): boolean => corpus.groupLength(groupOf(doc)) === null;
  const best = [...own].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_WITH_NEIGHBORS);
  const bound = best.filter(([doc]) => !isLoose(doc));
  const beside = new Set(bound.flatMap(([doc]) => neighborsOf(doc).map(([other]) => other)));
  for (const [doc, document] of corpus.documents([...beside].filter((doc) => !facts.has(doc))))
    facts.set(doc, factsOf(doc, document));
  const scores = new Map<number, number>();
  for (const doc of new Set([...own.keys(), ...beside])) {
    if (!facts.has(doc)) continue;
    const loose = isLoose(doc);
    const near = loose
      ? 0
      : neighborsOf(doc).reduce((sum, [other, weight]) => sum + weight * (own.get(other) ?? 0), 0);
    scores.set(doc, (own.get(doc) ?? 0) + near + SESSION * (sessions.get(loose ? doc : groupOf(doc)) ?? 0));
  }
  return scores;
}

/** A date in the query is a term of the matching documents from that time. */
function addDate(corpus: Corpus, scores: Scores, date: string): void {
  const postings = [...scores.own.keys()].flatMap((doc) => {
    const fact = scores.facts.get(doc) as Facts;
    const isThen = fact.at !== 0 && isWithin(new Date(fact.at).toISOString(), date);
    return isThen ? [{ ...fact, count: 1 }] : [];
  });
  addScores(corpus, scores, [{ weight: 1, postings }], scores.own.size, scores.sessions.size);
}

/** The documents before and after one in its group, with the share that each passes on. */
const neighborsOf = (doc: number): [doc: number, weight: number][] =>
  NEIGHBORS.flatMap((weight, i): [number, number][] => [
    [doc - i - 1, weight],
    [doc + i + 1, weight],
  ]).filter(([other]) => groupOf(other) === groupOf(doc));

function boost({ source, at }: Facts, now: number): number {
  const age = at === 0 ? Number.POSITIVE_INFINITY : Math.max(0, now - at);
  return (KINDS[source] ?? 1) * (1 + RECENT * 2 ** (-age / HALF_LIFE));
}

/** The terms that matched, or those of the neighbor that passed on its score. */
function explain(
  corpus: Corpus,
  doc: number,
  document: Document,
  wanted: Wanted,
  own: ReadonlyMap<number, number>,
  query: Query,
): string[] {
  if (own.has(doc)) return matches(document, wanted, query);
  const near = neighborsOf(doc).map(([other, weight]) => ({ other, value: weight * (own.get(other) ?? 0) }));
  const best = near.sort((a, b) => b.value - a.value)[0]?.other ?? doc;
  const neighbor = corpus.documents([best]).get(best);
  return neighbor ? [`next to: ${matches(neighbor, wanted, query).join(', ')}`] : [];
}

/** In the words of the document, not their stems. */
function matches(document: Document, wanted: Wanted, { words: asWritten, date }: Query): string[] {
  const [has, words] = [new Set(termsOf(document.text)), wordsByTerm(document.text)];
  const dates =
    date !== null && document.at !== null && isWithin(document.at, date) ? [`${date} (its date)`] : [];
  const found = [...wanted].flatMap(([asked, terms]) =>
    [...terms]
      .filter(([term]) => has.has(term))
      .map(([term, weight]) => {
        const word = words.get(term)?.toLowerCase() ?? term;
        if (term === asked) return word;
        return `${word} (${weight === SYNONYM ? 'like' : 'goes with'} ${asWritten.get(asked)?.toLowerCase() ?? asked})`;
      }),
  );
  return [...new Set([...found, ...dates])];
}

function filterOf({ phrases, tier, session, file, since }: Query): (document: Document) => boolean {
  const name = file?.toLowerCase();
  return (document) =>
    phrases.every((phrase) => flat(document.text).includes(phrase)) &&
    (tier === null || document.source === tier) &&
    (session === null || document.session?.includes(session) === true) &&
    (name === undefined || document.text.toLowerCase().includes(name)) &&
    (since === null || (document.at !== null && document.at >= since));
}

function doubtsLast(hits: Hit[]): Hit[] {
  const first = hits.findIndex(({ document }) => document.doubt === undefined);
  if (first <= 0) return hits;
  return [hits[first] as Hit, ...hits.slice(0, first), ...hits.slice(first + 1)];
}

/** Documents in memory. `base` keeps their numbers apart from those of other corpora. */
export class MemoryCorpus implements Corpus {
  readonly size: number = 0;
  readonly length: number = 0;
  readonly groups: number = 0;
  private readonly postings = new Map<string, Posting[]>();
  private readonly all = new Map<number, Document>();
  private readonly lengths = new Map<number, number>();

  constructor(groups: readonly Group[], base = 0) {
    for (const [number, { isLoose, documents }] of groups.entries()) {
      const group = base + number;
      for (const [place, document] of documents.entries()) this.add(group * GROUP_SIZE + place, document);
      const length = documents.reduce((sum, { text }) => sum + text.length, 0);
      if (!isLoose) this.lengths.set(group, length);
      this.size += documents.length;
      this.length += length;
      this.groups += isLoose ? documents.length : 1;
    }
  }

  private add(doc: number, document: Document): void {
    this.all.set(doc, document);
    const counts = new Map<string, number>();
    for (const term of termsOf(document.text)) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      const known = this.postings.get(term);
      const posting = { ...factsOf(doc, document), count };
      if (known) known.push(posting);
      else this.postings.set(term, [posting]);
    }
  }

  having = (term: string): readonly Posting[] => this.postings.get(term) ?? [];
  frequency = (term: string): number => this.having(term).length;
  groupLength = (group: number): number | null => this.lengths.get(group) ?? null;

  allFacts = (): Facts[] => [...this.all].map(([doc, document]) => factsOf(doc, document));

  documents = (docs: readonly number[]): Map<number, Document> => {
    const present = docs.filter((doc) => this.all.has(doc));
    return new Map(present.map((doc) => [doc, this.all.get(doc) as Document]));
  };
}

export const factsOf = (doc: number, { text, source, at }: Document): Facts => ({
  ...{ doc, length: text.length, source, at: at === null ? 0 : Date.parse(at) },
});

/** SES-03: the indices of the texts about a subject, best first. Texts that are about as good keep their order. */
export function about(texts: readonly string[], subject: string): number[] {
  const query = readQuery(subject);
  // A number alone matches everything that is counted.
  query.terms = query.terms.filter((term) => !/^\d+$/.test(term));
  if (query.terms.length === 0) return [];
  query.phrases = [];
  const documents = texts.map(
    (text, i): Document => ({ id: String(i), source: 'text', session: null, at: null, text }),
  );
  const corpus = new MemoryCorpus([{ isLoose: true, documents }]);
  const hits = search([corpus], query, { limit: texts.length, now: 0, context: false, related: false });
  const best = hits[0]?.score ?? 1;
  return hits
    .map(({ document, score }) => ({ at: Number(document.id), level: Math.round((10 * score) / best) }))
    .sort((a, b) => b.level - a.level || a.at - b.at)
    .map(({ at }) => at);
}
