import { stemmer } from 'stemmer';

/** Words that are in almost every text. */
const STOP_WORDS = new Set(
  'a about after all also am an and any are as at be because been before being but by can could did do does doing done for from get gets got had has have having he her here him his how i if in into is it its itself just may me might more most must my no nor not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us use used uses using very was we were what when where which while who whom why will with would you your yours'.split(
    ' ',
  ),
);

/** A word, with the characters that join the parts of a path, a dotted name, snake_case and kebab-case. */
const TOKEN = /[\p{L}\p{N}_$][\p{L}\p{N}\p{M}_$./:@-]*[\p{L}\p{N}\p{M}_$]|[\p{L}\p{N}]/gu;
const PART = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+|[\p{L}\p{M}]+/gu;
/** Scripts without spaces between words are compared by pairs of characters. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;
/** The same for most texts, in half the time. */
const ASCII_TOKEN = /[A-Za-z0-9_$][A-Za-z0-9_$./:@-]*[A-Za-z0-9_$]|[A-Za-z0-9]/g;
const EMOJI = /\p{Extended_Pictographic}/gu;

/** Terms of each token seen so far: stemming takes longer than a lookup. */
const known = new Map<string, readonly string[]>();
const MAX_KNOWN = 50_000;

/** The terms of a text in order, repeated ones repeated. A name counts whole and in its parts. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  const isAscii = /^[\0-\x7f]*$/.test(text);
  for (const token of (isAscii ? text.match(ASCII_TOKEN) : text.normalize('NFKC').match(TOKEN)) ?? []) {
    let found = known.get(token);
    if (!found) {
      found = split(token);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(token, found);
    }
    for (const term of found) terms.push(term);
  }
  if (!isAscii) for (const emoji of text.match(EMOJI) ?? []) terms.push(emoji);
  return terms;
}

function split(token: string): string[] {
  const dense = token.match(DENSE);
  if (dense) return dense.flatMap(pairs);
  const parts = (token.match(PART) ?? [token]).flatMap((part) => termOf(part) ?? []);
  return parts.length > 1 ? [token.toLowerCase(), ...parts] : parts;
}

function pairs(run: string): string[] {
  const characters = [...run];
  const count = Math.max(1, characters.length - 1);
  return Array.from({ length: count }, (_, i) => characters.slice(i, i + 2).join(''));
}

/** Null for stop words and single letters. */
function termOf(part: string): string | null {
  const word = part.toLowerCase();
  if (STOP_WORDS.has(word) || (word.length < 2 && !/\p{N}/u.test(word))) return null;
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}

/** By term, the first word of a text that has it, as written there. */
export function wordsByTerm(text: string): Map<string, string> {
  const words = new Map<string, string>();
  for (const word of text.match(/[\p{L}\p{N}\p{M}_$]+/gu) ?? [])
    for (const term of termsOf(word)) if (!words.has(term)) words.set(term, word);
  return words;
}

export interface Query {
  terms: string[];
  /** The query's spelling of its terms. */
  words: ReadonlyMap<string, string>;
  /** Quoted: the text must contain these phrases, ignoring case and white space. */
  phrases: string[];
  /** A kind of document, such as `note` or `commit`. */
  tier: string | null;
  session: string | null;
  file: string | null;
  /** ISO time. */
  since: string | null;
  /** The day or month that the query names: the start of an ISO time. */
  date: string | null;
}

/** Characters. */
const MAX_QUERY = 4000;

const FILTER = /(?:^|\s)(tier|session|file|since):("[^"]*"|\S+)/gi;

/** Parses filters and quoted phrases. Everything else is plain text: `AND`, `NEAR`, `*` and brackets have no meaning. */
export function readQuery(text: string): Query {
  const query: Query = {
    ...{ terms: [], words: new Map(), phrases: [] },
    ...{ tier: null, session: null, file: null, since: null, date: null },
  };
  const rest = text.slice(0, MAX_QUERY).replace(FILTER, (_, name: string, value: string) => {
    query[name.toLowerCase() as 'tier'] = value.replace(/"/g, '');
    return ' ';
  });
  query.phrases = [...rest.matchAll(/"([^"]+)"/g)]
    .map(([, phrase]) => flat(phrase as string))
    .filter(Boolean);
  query.terms = [...new Set(termsOf(rest))];
  query.words = wordsByTerm(rest);
  query.date = readDate(rest);
  return query;
}

const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const WRITTEN_DATE = new RegExp(`(?:\\b${DAY},? )?\\b(${MONTH})\\.?(?: ${DAY}\\b)?,? (\\d{4})\\b`, 'i');

/** `13 October 2026`, `October 13, 2026`, `October 2026`, `2026-10-13` or `2026-10`. */
function readDate(text: string): string | null {
  const [, before, name, after, year] = WRITTEN_DATE.exec(text) ?? [];
  if (name === undefined) return /\b\d{4}-\d\d(?:-\d\d)?\b/.exec(text)?.[0] ?? null;
  const month = 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
  const parts = [year, month, before ?? after ?? []].flat();
  return parts.map((part) => String(part).padStart(2, '0')).join('-');
}

/** Lower case, with single spaces, to compare phrases. */
export const flat = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
