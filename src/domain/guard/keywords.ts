/** An index as plain data: the build writes it into the bundle, so that no rule need be made to start with. */
export interface IndexData {
  /** So many words at the beginning are sought one by one: they are too short for a lookup, or not ASCII. */
  sought: number;
  /** The keywords, one a line. None has a line end in it. */
  words: string;
  /** The ranks of the rules of each, one line a keyword. */
  ranks: string;
  /** What the other words begin with, sorted, and where the first of each stands in `words`. */
  keys: readonly number[];
  firsts: readonly number[];
  /** One bit for each slot of a key, in base64: nearly every place of a text ends here. */
  filter: string;
  /** Rules without keywords, by what a text must have for them. */
  always: readonly { source: string; flags: string; ranks: readonly number[] }[];
}

/** Which rules a text calls for, by its first three characters: each place of the text is looked up once. */
export interface KeywordIndex extends Omit<IndexData, 'words' | 'ranks' | 'filter' | 'always'> {
  words: readonly string[];
  ranks: readonly string[];
  filter: Uint8Array;
  always: readonly { requires: RegExp; ranks: readonly number[] }[];
  /** Of each pair of ASCII characters that is a word, 1 + its place in `words`: there are many such words. */
  pairs: Uint8Array;
  /** The words that are sought one by one. */
  single: readonly { word: number; isAscii: boolean }[];
}

export const KEY_LENGTH = 3;
export const MASK = 0x7fff;

const keyOf = (a: number, b: number, c: number): number => (a << 14) | (b << 7) | c;

/** Where the filter has a key's bit. */
export const slotOf = (key: number): number => (key ^ (key >> 6)) & MASK;

// biome-ignore lint/suspicious/noControlCharactersInRegex: where ASCII begins
export const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);

/** What is not ASCII is no part of a keyword that is looked up. */
const codeAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code < 128 ? code : 0;
};

export const keyAt = (text: string, at: number): number =>
  keyOf(codeAt(text, at), codeAt(text, at + 1), codeAt(text, at + 2));

export function openIndex(data: IndexData): KeywordIndex {
  const words = data.words.split('\n');
  const short = words.slice(0, data.sought);
  const pairs = pairsOf(short);
  return {
    ...data,
    words,
    pairs,
    single: short.flatMap((text, word) =>
      isPair(text) && pairs[pairAt(text)] === word + 1 ? [] : [{ word, isAscii: isAscii(text) }],
    ),
    ranks: data.ranks.split('\n'),
    filter: Buffer.from(data.filter, 'base64'),
    always: data.always.map(({ source, flags, ranks }) => ({ requires: new RegExp(source, flags), ranks })),
  };
}

const pairAt = (word: string): number => keyAt(`\0${word}`, 0);
const isPair = (word: string): boolean => word.length === 2 && isAscii(word);

function pairsOf(sought: readonly string[]): Uint8Array {
  const pairs = new Uint8Array(1 << 14);
  // No more than a byte can name; the others are sought one by one.
  for (const [i, word] of sought.slice(0, 255).entries()) if (isPair(word)) pairs[pairAt(word)] = i + 1;
  return pairs;
}

/** The rules of which a keyword occurs, and that are wanted, as positions in the table, in its order. */
export function selectRules(
  text: string,
  index: KeywordIndex,
  isWanted: (rank: number) => boolean = () => true,
): number[] {
  const found = new Set<number>();
  for (const { requires, ranks } of index.always) {
    const wanted = ranks.filter(isWanted);
    if (wanted.length > 0 && requires.test(text)) for (const rank of wanted) found.add(rank);
  }
  const lower = text.toLowerCase();
  const add = (word: number): void => {
    for (const rank of index.ranks[word]?.split(' ').map(Number) ?? []) if (isWanted(rank)) found.add(rank);
  };
  const isPlain = Buffer.byteLength(lower) === lower.length;
  for (const { word, isAscii: isFound } of index.single)
    if ((isFound || !isPlain) && lower.includes(index.words[word] as string)) add(word);
  selectByStart(lower, index, add);
  return [...found].sort((a, b) => a - b);
}

/**
 * Each place of the text is looked up once, in one byte a character: another one that has the same byte is only looked at
 * for nothing.
 */
function selectByStart(text: string, index: KeywordIndex, add: (word: number) => void): void {
  const { filter, words, pairs } = index;
  const bytes = Buffer.from(text, 'latin1');
  const seen = new Uint8Array(words.length);
  const look = (word: number, at: number): void => {
    if (seen[word] === 1 || !text.startsWith(words[word] as string, at)) return;
    seen[word] = 1;
    add(word);
  };
  for (let i = 0, key = 0; i < bytes.length; i += 1) {
    key = ((key << 7) | ((bytes[i] as number) & 0x7f)) & 0x1fffff;
    const pair = pairs[key & 0x3fff] as number;
    if (pair > 0) look(pair - 1, i - 1);
    const slot = slotOf(key);
    if (((filter[slot >> 3] as number) & (1 << (slot & 7))) === 0) continue;
    const [from, to] = wordsOf(key, index);
    for (let word = from; word < to; word += 1) look(word, i - KEY_LENGTH + 1);
  }
}

/** Which words begin with a key. */
function wordsOf(key: number, { keys, firsts, words }: KeywordIndex): [from: number, to: number] {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  if (keys[low] !== key) return [0, 0];
  return [firsts[low] ?? 0, firsts[low + 1] ?? words.length];
}
