import type { Rule } from './rule.js';

interface Entry {
  keyword: string;
  rules: number[];
}

/** Which rules a text calls for, by its first three characters: each place of the text is looked up once. */
export interface KeywordIndex {
  always: readonly { rule: number; requires: RegExp | undefined }[];
  /** Too short for a lookup, or not ASCII: sought one by one. */
  others: Entry[];
  /** One bit for each hash of three characters: nearly every place of a text ends here. */
  filter: Uint8Array;
  starts: Map<number, Entry[]>;
}

const LENGTH = 3;

const hash = (a: number, b: number, c: number): number => (a << 14) | (b << 7) | c;

/** What is not ASCII is no part of a keyword that is looked up. */
const codeAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code < 128 ? code : 0;
};

export function makeKeywordIndex(rules: readonly Rule[]): KeywordIndex {
  const entries = new Map<string, number[]>();
  const always: { rule: number; requires: RegExp | undefined }[] = [];
  rules.forEach((rule, at) => {
    if (rule.keywords.length === 0) always.push({ rule: at, requires: rule.requires });
    for (const keyword of rule.keywords) entries.set(keyword, [...(entries.get(keyword) ?? []), at]);
  });
  const index: KeywordIndex = { always, others: [], filter: new Uint8Array(1 << 18), starts: new Map() };
  for (const [keyword, at] of entries) addEntry(index, { keyword, rules: at });
  return index;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: where ASCII begins
const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);

function addEntry(index: KeywordIndex, entry: Entry): void {
  if (entry.keyword.length < LENGTH || !isAscii(entry.keyword)) {
    index.others.push(entry);
    return;
  }
  const key = hash(codeAt(entry.keyword, 0), codeAt(entry.keyword, 1), codeAt(entry.keyword, 2));
  index.filter[key >> 3] = (index.filter[key >> 3] ?? 0) | (1 << (key & 7));
  index.starts.set(key, [...(index.starts.get(key) ?? []), entry]);
}

/** The rules of which a keyword occurs, as positions in the table, in its order. */
export function selectRules(text: string, index: KeywordIndex): number[] {
  const found = new Set<number>();
  const met = new Map<RegExp | undefined, boolean>([[undefined, true]]);
  for (const { rule, requires } of index.always) {
    if (!met.has(requires)) met.set(requires, requires?.test(text) ?? true);
    if (met.get(requires)) found.add(rule);
  }
  const lower = text.toLowerCase();
  for (const { keyword, rules } of index.others) {
    if (lower.includes(keyword)) for (const rule of rules) found.add(rule);
  }
  selectByStart(lower, index, found);
  return [...found].sort((a, b) => a - b);
}

function selectByStart(text: string, { filter, starts }: KeywordIndex, found: Set<number>): void {
  const seen = new Set<Entry>();
  let a = codeAt(text, 0);
  let b = codeAt(text, 1);
  for (let i = LENGTH - 1; i < text.length; i += 1) {
    const c = codeAt(text, i);
    const key = hash(a, b, c);
    if (((filter[key >> 3] ?? 0) & (1 << (key & 7))) !== 0) {
      for (const entry of starts.get(key) ?? []) {
        if (seen.has(entry) || !text.startsWith(entry.keyword, i - LENGTH + 1)) continue;
        seen.add(entry);
        for (const rule of entry.rules) found.add(rule);
      }
    }
    a = b;
    b = c;
  }
}
