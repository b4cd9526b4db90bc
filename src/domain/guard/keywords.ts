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
  return {
    ...data,
    words: data.words.split('\n'),
    ranks: data.ranks.split('\n'),
    filter: Buffer.from(data.filter, 'base64'),
    always: data.always.map(({ source, flags, ranks }) => ({ requires: new RegExp(source, flags), ranks })),
  };
}

/** The rules of which a keyword occurs, as positions in the table, in its order. */
export function selectRules(text: string, index: KeywordIndex): number[] {
  const found = new Set<number>();
  for (const { requires, ranks } of index.always) {
    if (requires.test(text)) for (const rank of ranks) found.add(rank);
  }
  const lower = text.toLowerCase();
  for (let word = 0; word < index.sought; word += 1) {
    if (lower.includes(index.words[word] ?? '')) addRanks(index, word, found);
  }
  selectByStart(lower, index, found);
  return [...found].sort((a, b) => a - b);
}

function addRanks({ ranks }: KeywordIndex, word: number, found: Set<number>): void {
  for (const rank of ranks[word]?.split(' ') ?? []) found.add(Number(rank));
}

function selectByStart(text: string, index: KeywordIndex, found: Set<number>): void {
  const { filter, words } = index;
  const seen = new Set<number>();
  let a = codeAt(text, 0);
  let b = codeAt(text, 1);
  for (let i = KEY_LENGTH - 1; i < text.length; i += 1) {
    const c = codeAt(text, i);
    const key = keyOf(a, b, c);
    const slot = slotOf(key);
    if (((filter[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0) {
      const [from, to] = wordsOf(key, index);
      for (let word = from; word < to; word += 1) {
        if (seen.has(word) || !text.startsWith(words[word] ?? '', i - KEY_LENGTH + 1)) continue;
        seen.add(word);
        addRanks(index, word, found);
      }
    }
    a = b;
    b = c;
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
