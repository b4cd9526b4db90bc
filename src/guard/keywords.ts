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
  /** Rules without keywords, by what a text must have for them. */
  always: readonly { source: string; flags: string; ranks: readonly number[] }[];
}

/** Which rules a text calls for, by its first three characters: each place of the text is looked up once. */
export interface KeywordIndex extends Omit<IndexData, 'words' | 'ranks' | 'always'> {
  words: readonly string[];
  ranks: readonly string[];
  /** At a key's slot 1 + its place in `keys`: nearly every place of a text ends at a slot that has none. */
  slots: Uint16Array;
  /** The character of each word behind its key; 0 where it ends. */
  next: Uint8Array;
  always: readonly { requires: RegExp; ranks: readonly number[] }[];
  /** Of each pair of ASCII characters that is a word, 1 + its place in `words`: there are many such words. */
  pairs: Uint8Array;
  /** The words that are sought one by one. */
  single: readonly { word: number; isAscii: boolean }[];
}

export const KEY_LENGTH = 3;
const MASK = 0x7fff;
/** In the slot of several keys. */
const SEVERAL = 0xffff;

const keyOf = (a: number, b: number, c: number): number => (a << 14) | (b << 7) | c;

const slotOf = (key: number): number => (key ^ (key >> 6)) & MASK;

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
    slots: slotsOf(data.keys),
    next: Uint8Array.from(words, (word) => codeAt(word, KEY_LENGTH)),
    always: data.always.map(({ source, flags, ranks }) => ({ requires: new RegExp(source, flags), ranks })),
  };
}

function slotsOf(keys: readonly number[]): Uint16Array {
  const slots = new Uint16Array(MASK + 1);
  for (const [i, key] of keys.entries()) slots[slotOf(key)] = slots[slotOf(key)] === 0 ? i + 1 : SEVERAL;
  return slots;
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
  const { keys, firsts, slots, next, words, pairs } = index;
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
    const slot = slots[slotOf(key)] as number;
    if (slot === 0) continue;
    const place = slot === SEVERAL ? keys.indexOf(key) : slot - 1;
    if (keys[place] !== key) continue;
    const to = firsts[place + 1] ?? words.length;
    for (let word = firsts[place] as number; word < to; word += 1)
      if (next[word] === 0 || next[word] === bytes[i + 1]) look(word, i - KEY_LENGTH + 1);
  }
}
