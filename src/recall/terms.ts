import { stemmer } from 'stemmer';

/** Words that say nothing about what a text is about. */
const STOP_WORDS = new Set(
  'a about after all also am an and any are as at be because been before being but by can could did do does doing done for from get gets got had has have having he her here him his how i if in into is it its itself just may me might more most must my no nor not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us very was we were what when where which while who whom why will with would you your yours'.split(
    ' ',
  ),
);

/** Words with what names have in them: paths, snake_case, kebab-case, dotted names. */
const TOKEN = /[\p{L}\p{N}_$][\p{L}\p{N}\p{M}_$./:@-]*[\p{L}\p{N}\p{M}_$]|[\p{L}\p{N}]/gu;
const PART = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+|[\p{L}\p{M}]+/gu;
/** Scripts that put no space between words: two characters at a time are compared. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;
const EMOJI = /\p{Extended_Pictographic}/gu;

const stems = new Map<string, string>();

function stem(word: string): string {
  let known = stems.get(word);
  if (known === undefined) {
    known = /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
    if (stems.size > 50_000) stems.clear();
    stems.set(word, known);
  }
  return known;
}

/** One word's term; null for what is left out. */
function termOf(part: string): string | null {
  const word = part.toLowerCase();
  if (STOP_WORDS.has(word) || (word.length < 2 && !/\p{N}/u.test(word))) return null;
  return stem(word);
}

/** The terms of a text, in order, repeated ones repeated. A name is kept whole as well as in its parts. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const [token] of text.normalize('NFKC').matchAll(TOKEN)) {
    if (/^[a-z]+$/.test(token)) {
      const term = termOf(token);
      if (term !== null) terms.push(term);
      continue;
    }
    const dense = token.match(DENSE);
    if (dense) {
      for (const run of dense) {
        const characters = [...run];
        for (let i = 0; i < Math.max(1, characters.length - 1); i++)
          terms.push(characters.slice(i, i + 2).join(''));
      }
      continue;
    }
    const parts = (token.match(PART) ?? [token]).flatMap((part) => termOf(part) ?? []);
    if (parts.length > 1) terms.push(token.toLowerCase());
    terms.push(...parts);
  }
  for (const [emoji] of text.matchAll(EMOJI)) terms.push(emoji);
  return terms;
}

/** What a query asks for. */
export interface Query {
  terms: string[];
  /** In quotes: must stand in the text as it is, but for case and white space. */
  phrases: string[];
  tier: string | null;
  session: string | null;
  file: string | null;
  /** A time as `since:` has it. */
  since: string | null;
}

/** Longer queries are cut: nobody types them. */
const MAX_QUERY = 4000;

const FILTER = /(?:^|\s)(tier|session|file|since):("[^"]*"|\S+)/gi;

/** All else is plain text: `AND`, `NEAR`, `*` and brackets mean nothing here. */
export function readQuery(text: string): Query {
  const query: Query = { terms: [], phrases: [], tier: null, session: null, file: null, since: null };
  const rest = text.slice(0, MAX_QUERY).replace(FILTER, (_, name: string, value: string) => {
    query[name.toLowerCase() as 'tier'] = value.replace(/"/g, '');
    return ' ';
  });
  query.phrases = [...rest.matchAll(/"([^"]+)"/g)]
    .map(([, phrase]) => flat(phrase as string))
    .filter(Boolean);
  query.terms = [...new Set(termsOf(rest))];
  return query;
}

/** For phrases: case and white space do not count. */
export const flat = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
