import { stemmer } from 'stemmer';

const STOP_WORDS = new Set(
  'a about after all also am an and any are as at be because been before being but by can could did do does doing done for from get gets got had has have having he her here him his how i if in into is it its itself just may me might more most must my no nor not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us use used uses using very was we were what when where which while who whom why will with would you your yours'.split(
    ' ',
  ),
);

/** Irregular forms, each line with the base form first. Words that are also another common word ("bound", "leaves") are left out. */
const IRREGULAR = new Map(
  `
arise arose arisen|awake awoke awoken|beat beaten|become became|begin began begun|bend bent|bite bit bitten|bleed bled
blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought|catch caught
choose chose chosen|come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk
drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|give gave given
go goes went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lead led
leap leapt|learn learnt|leave left|lend lent|lose lost|make made|mean meant|meet met|mistake mistook mistaken
overcome overcame|override overrode overridden|overwrite overwrote overwritten|pay paid|rebuild rebuilt
rewrite rewrote rewritten|ride rode ridden|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent
shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat
sleep slept|slide slid|speak spoke spoken|spend spent|spin spun|stand stood|steal stole stolen|stick stuck
strike struck|swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught
tear tore torn|tell told|think thought|throw threw thrown|understand understood|undo undid undone|wake woke woken
wear wore worn|weave wove woven|weep wept|win won|withdraw withdrew withdrawn|write wrote written
child children|criterion criteria|foot feet|goose geese|half halves|index indices|knife knives|man men|matrix matrices
mouse mice|person people|shelf shelves|thief thieves|tooth teeth|vertex vertices|wife wives|wolf wolves|woman women
`
    .trim()
    .split(/[|\n]/)
    .map((line) => line.split(' '))
    .flatMap(([base = '', ...forms]) => forms.map((form) => [form, base] as const)),
);

/** How a text is taken apart. Most are ASCII, for which short patterns take half the time. */
interface Patterns {
  /** A word, with the characters that join the parts of a path, a dotted name, snake_case and kebab-case. */
  token: RegExp;
  part: RegExp;
  word: RegExp;
  /** Scripts without spaces between words are compared by pairs of characters. */
  dense: RegExp | null;
  emoji: RegExp | null;
}

const ASCII: Patterns = {
  token: /[A-Za-z0-9_$][A-Za-z0-9_$./:@-]*[A-Za-z0-9_$]|[A-Za-z0-9]/g,
  part: /[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g,
  word: /[A-Za-z0-9_$]+/g,
  dense: null,
  emoji: null,
};
let unicode: Patterns | undefined;

function patternsFor(text: string): Patterns {
  if (/^[\0-\x7f]*$/.test(text)) return ASCII;
  unicode ??= {
    token: /[\p{L}\p{N}_$][\p{L}\p{N}\p{M}_$./:@-]*[\p{L}\p{N}\p{M}_$]|[\p{L}\p{N}]/gu,
    part: /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+|[\p{L}\p{M}]+/gu,
    word: /[\p{L}\p{N}\p{M}_$]+/gu,
    dense: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu,
    emoji: /\p{Extended_Pictographic}/gu,
  };
  return unicode;
}

/** Terms of each token seen so far: stemming takes longer than a lookup. */
const known = new Map<string, readonly string[]>();
const MAX_KNOWN = 50_000;

/** The terms of a text in order, repeated ones repeated. A name counts whole and in its parts. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  const { token: pattern, emoji } = patternsFor(text);
  for (const token of (emoji ? text.normalize('NFKC') : text).match(pattern) ?? []) {
    let found = known.get(token);
    if (!found) {
      // A copy, because a part of a string keeps the whole string in memory.
      const copy = Buffer.from(token).toString();
      found = split(copy);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(copy, found);
    }
    for (const term of found) terms.push(term);
  }
  for (const found of (emoji && text.match(emoji)) ?? []) terms.push(found);
  return terms;
}

function split(token: string): string[] {
  const { part, dense } = patternsFor(token);
  const runs = dense && token.match(dense);
  if (runs) return runs.flatMap(pairs);
  const parts = token.match(part) ?? [token];
  const terms = parts.flatMap((each) => termOf(each) ?? []);
  // `getMajor` counts whole too, although `get` is a stop word; `sign-in` is a kind of sign.
  const isName = terms.length > 1 || (terms.length === 1 && parts.length > 1 && /^\w+$/.test(token));
  return isName ? [token.toLowerCase(), ...terms] : terms;
}

function pairs(run: string): string[] {
  const characters = [...run];
  const count = Math.max(1, characters.length - 1);
  return Array.from({ length: count }, (_, i) => characters.slice(i, i + 2).join(''));
}

/** Null for stop words and single letters. */
function termOf(part: string): string | null {
  const lower = part.toLowerCase();
  const word = IRREGULAR.get(lower) ?? lower;
  if (STOP_WORDS.has(word) || (word.length < 2 && !/\p{N}/u.test(word))) return null;
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}

/** By term, the first word of a text that has it, as written there. */
export function wordsByTerm(text: string): Map<string, string> {
  const words = new Map<string, string>();
  for (const word of text.match(patternsFor(text).word) ?? [])
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
  /** The day, month or year that the query names: the start of an ISO time, or `-10-13` and `-10` for any year. */
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
const WRITTEN_DATE = new RegExp(`(?:\\b${DAY},? )?\\b(${MONTH})\\.?(?: ${DAY}\\b)?(?:,? (\\d{4}))?\\b`, 'gi');
/** The word before a month or year that stands alone. "May" and "march" are other words too. */
const IN = /\b(?:in|of|since|during|until|last|early|late) $/i;

/** `13 October 2026`, `October 13, 2026`, `13 October`, `October 2026`, `in October`, `in 2026`, `2026-10-13` or `2026-10`. */
function readDate(text: string): string | null {
  for (const match of text.matchAll(WRITTEN_DATE)) {
    const [, before, name = '', after, year = ''] = match;
    const day = before ?? after;
    if (day === undefined && year === '' && !IN.test(text.slice(0, match.index))) continue;
    const month = 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
    return [year, month, day ?? []]
      .flat()
      .map((part, i) => (i === 0 ? part : String(part).padStart(2, '0')))
      .join('-');
  }
  const [iso] = /\b\d{4}-\d\d(?:-\d\d)?\b/.exec(text) ?? [];
  return iso ?? /\b(?:in|of|since|during|until) ((?:19|20)\d\d)\b/i.exec(text)?.[1] ?? null;
}

export const isWithin = (time: string, date: string): boolean =>
  (date.startsWith('-') ? time.slice(4) : time).startsWith(date);

/** Lower case, with single spaces, to compare phrases. */
export const flat = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
