import { sha256 } from '../core/text.js';
import { bare } from './numbers.js';
import {
  isJoined,
  normalizeView,
  rangesOf,
  type Span,
  spanInSource,
  tagView,
  touchesChange,
  unwrapView,
  type View,
  viewsOf,
} from './readings.js';
import type { GuardClass, Hit, Rule } from './rule.js';
import { EXAMPLE_IBANS, EXAMPLE_KEYS, TEST_CARDS } from './rules/published.js';

type Wanted = (rule: Rule) => boolean;

type Range = readonly [from: number, to: number];

interface Keyword {
  text: string;
  /** The rules' places in the list. */
  ranks: number[];
}

interface Table {
  rules: readonly Rule[];
  /** By the first three characters. */
  keywords: readonly (Keyword[] | undefined)[];
  /** The rules of each anchor. */
  anchors: ReadonlyMap<RegExp, readonly number[]>;
}

const tables = new WeakMap<readonly Rule[], Table>();

function tableOf(rules: readonly Rule[]): Table {
  const known = tables.get(rules);
  if (known) return known;
  const anchors = new Map<RegExp, number[]>();
  const keywords = new Array<Keyword[] | undefined>(32_768);
  for (const [rank, rule] of rules.entries()) {
    for (const text of rule.keywords) {
      // Any character may follow a keyword of two.
      const thirds = text.length === 2 ? [...Array(32).keys()] : [text.charCodeAt(2)];
      for (const third of thirds) {
        const key = shift(pairAt(text, 0), third);
        keywords[key] ??= [];
        const keyword = keywords[key].find((other) => other.text === text);
        if (keyword) keyword.ranks.push(rank);
        else keywords[key].push({ text, ranks: [rank] });
      }
    }
    const { anchor } = rule;
    if (anchor) anchors.set(anchor, [...(anchors.get(anchor) ?? []), rank]);
  }
  const table = { rules, keywords, anchors };
  tables.set(rules, table);
  return table;
}

/** Three characters, five bits of each. */
const shift = (key: number, code: number): number => ((key << 5) | (code & 31)) & 32_767;
const pairAt = (text: string, at: number): number => shift(text.charCodeAt(at) & 31, text.charCodeAt(at + 1));

/** The anchors of each rule, by its rank. A rule without any is not run. */
function findAnchors(
  text: string,
  { keywords, anchors }: Table,
  ranges: readonly Range[],
): Map<number, number[]> {
  const places = new Map<number, number[]>();
  const add = (ranks: readonly number[], at: number): void => {
    for (const rank of ranks) {
      const known = places.get(rank);
      if (!known) places.set(rank, [at]);
      else if (known.at(-1) !== at) known.push(at);
    }
  };
  // Keeps the offsets: `İ` is the only character whose lower case has two.
  const lower = text.replaceAll('\u0130', 'I').toLowerCase();
  for (const [from, to] of ranges) {
    let key = pairAt(lower, from);
    for (let at = from; at < to; at++) {
      key = shift(key, lower.charCodeAt(at + 2));
      const bucket = keywords[key];
      if (bucket === undefined) continue;
      for (const keyword of bucket) if (lower.startsWith(keyword.text, at)) add(keyword.ranks, at);
    }
  }
  for (const [anchor, ranks] of anchors)
    for (const [from, to] of ranges) {
      // Cut at the end of the range: a failing search would run to the end of the text.
      const part = text.slice(0, to);
      anchor.lastIndex = from;
      for (let match = anchor.exec(part); match; match = anchor.exec(part)) add(ranks, match.index);
    }
  return places;
}

const wordsOf = (text: string): Set<string> => new Set(text.replace(/#.*/g, '').split(/\s+/));
let published: Set<string> | undefined;

const digestOf = (text: string): string => sha256(text).slice(0, 16);

/** Only the signature of a JSON web token is secret. */
const keyOf = (secret: string): string => /^eyJ[\w-]+\.[\w-]+\.([\w-]{40,})$/.exec(secret)?.[1] ?? secret;

/** Whether a hit is a sample from public documentation, which people quote. */
function isPublished(name: GuardClass, secret: string): boolean {
  if (name !== 'card' && name !== 'iban' && name !== 'secret') return false;
  // Stripe's test cards for all countries and cases.
  if (name === 'card' && bare(secret).startsWith('400000')) return true;
  published ??= wordsOf(`${TEST_CARDS} ${EXAMPLE_IBANS} ${EXAMPLE_KEYS}`);
  return published.has(name === 'secret' ? digestOf(keyOf(secret)) : bare(secret));
}

const isHit = (rule: Rule, match: RegExpExecArray): boolean => {
  const secret = match.groups?.['secret'] ?? match[0];
  return secret !== '' && (rule.accept?.(secret, match) ?? true) && !isPublished(rule.class, secret);
};

type Match = Span & { match: Span };

/** The name precedes the secret in a match, so the last occurrence of the secret counts. */
function toMatch(match: RegExpExecArray): Match {
  const whole = { start: match.index, end: match.index + match[0].length };
  const secret = match.groups?.['secret'];
  if (secret === undefined) return { ...whole, match: whole };
  const start = match.index + match[0].lastIndexOf(secret);
  return { start, end: start + secret.length, match: whole };
}

/** Matches that begin at an anchor. */
function* matchAt(text: string, rule: Rule, places: readonly number[]): Generator<Match> {
  const { pattern } = rule;
  let done = 0;
  for (const place of places) {
    if (place < done) continue;
    pattern.lastIndex = place;
    const match = pattern.exec(text);
    if (!match || !isHit(rule, match)) continue;
    yield toMatch(match);
    done = match.index + match[0].length;
  }
}

/** Matches that begin between `from` and the end of the text. */
function* matchFrom(text: string, rule: Rule, from: number): Generator<Match> {
  const { pattern } = rule;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const found = toMatch(match);
    if (isHit(rule, match)) yield found;
    // A rejected value may hide the beginning of another match: `token = secret = "…"`.
    else if (match.groups?.['secret'] !== undefined)
      pattern.lastIndex = Math.max(found.start, afterChar(text, match.index));
    if (match[0] === '') pattern.lastIndex = afterChar(text, match.index);
  }
}

/** With flag `u`, a pattern that starts inside a surrogate pair goes back to its first half, forever. */
const afterChar = (text: string, at: number): number => at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** Matches within the rule's reach of its anchors. Overlapping ranges are searched once. */
function* matchAround(text: string, rule: Rule, places: readonly number[]): Generator<Match> {
  const [before, after] = rule.reach ?? [0, 0];
  let done = 0;
  for (let i = 0; i < places.length; ) {
    const from = Math.max(done, (places[i] as number) - before);
    let to = (places[i] as number) + after;
    for (i += 1; i < places.length && (places[i] as number) - before <= to; i += 1)
      to = (places[i] as number) + after;
    yield* matchFrom(text.slice(0, to), rule, from);
    done = to;
  }
}

interface Finding extends Match {
  rule: Rule;
  rank: number;
}

/** Runs the wanted rules on these ranges of a text. */
function findPlain(
  text: string,
  table: Table,
  wanted: Wanted,
  ranges: readonly Range[] = [[0, text.length]],
): Finding[] {
  const findings: Finding[] = [];
  for (const [rank, places] of findAnchors(text, table, ranges)) {
    const rule = table.rules[rank] as Rule;
    if (!wanted(rule)) continue;
    const find = rule.pattern.sticky ? matchAt : matchAround;
    for (const match of find(text, rule, places)) findings.push({ rule, rank, ...match });
  }
  return findings;
}

/** Findings at the changes of a view, in the offsets of the text. */
function findInView(
  view: View | undefined,
  table: Table,
  wanted: Wanted,
  isNew = (view: View, { match }: Finding): boolean => touchesChange(view, match),
): Finding[] {
  if (view === undefined) return [];
  return findPlain(view.text, table, wanted, rangesOf(view))
    .filter((finding) => isNew(view, finding))
    .map((finding) => ({ ...finding, ...spanInSource(view, finding) }));
}

function findAll(text: string, table: Table, wanted: Wanted): Finding[] {
  const found = findPlain(text, table, wanted);
  // Invisible characters in decoded text are no disguise.
  const visible: Wanted = (rule) => rule.class !== 'invisible' && wanted(rule);
  const plain = normalizeView(text);
  const source = plain ?? { text };
  for (const view of [plain, tagView(text), ...viewsOf(source)])
    found.push(...findInView(view, table, visible));
  // Wrapped lines: only matches over a line end, and only of rules that recognize a form.
  const byForm: Wanted = (rule) => !rule.isLoose && visible(rule);
  const wrapped = findInView(unwrapView(source), table, byForm, isJoined).sort(bySpan);
  // A secret at the end of a line would extend into the next line here, so the finding without joining wins.
  return [...found, ...without(wrapped, mergeClass(found), (finding, owner) => owner.start < finding.end)];
}

/** Characters. A repetition over millions of characters overflows the stack of a regular expression. */
const WINDOW = 262_144;
const OVERLAP = 16_384;

/** All hits in a text, including encoded, split and disguised ones. Sorted; no hit is inside another. */
export function scanText(text: string, rules: readonly Rule[], wanted: Wanted = () => true): Hit[] {
  const table = tableOf(rules);
  const findings: Finding[] = [];
  for (let from = 0; from === 0 || from < text.length - OVERLAP; from += WINDOW - OVERLAP)
    for (const { start, end, ...finding } of findAll(text.slice(from, from + WINDOW), table, wanted))
      findings.push({ ...finding, start: from + start, end: from + end });
  return mergeFindings(findings);
}

/** Classes that could claim the same digits and words, the strongest first. The others may overlap any class. */
const CLAIMS: readonly GuardClass[] = ['secret', 'card', 'iban', 'national-id', 'email', 'phone', 'ip'];

const bySpan = (a: Span, b: Span): number => a.start - b.start || a.end - b.end;

/** Overlapping findings of one class become one, with the rule of the lowest rank. */
function mergeClass(findings: readonly Finding[]): Finding[] {
  const merged: Finding[] = [];
  for (const finding of [...findings].sort(bySpan)) {
    const last = merged.at(-1);
    if (last === undefined || finding.start >= last.end) {
      merged.push({ ...finding });
      continue;
    }
    // Vendors' rules precede generic ones.
    if (finding.rank < last.rank) Object.assign(last, { rule: finding.rule, rank: finding.rank });
    last.end = Math.max(last.end, finding.end);
  }
  return merged;
}

/** Findings that no owner replaces. Both lists are sorted, and owners do not overlap. */
function without(
  findings: readonly Finding[],
  owners: readonly Span[],
  replaces: (finding: Span, owner: Span) => boolean,
): Finding[] {
  let at = 0;
  return findings.filter((finding) => {
    while (at < owners.length && (owners[at]?.end ?? 0) <= finding.start) at += 1;
    const owner = owners[at];
    return owner === undefined || !replaces(finding, owner);
  });
}

function mergeFindings(findings: readonly Finding[]): Hit[] {
  const ofClass = (name: GuardClass): Finding[] =>
    mergeClass(findings.filter(({ rule }) => rule.class === name));
  const isInside = (finding: Span, owner: Span): boolean =>
    owner.start <= finding.start && finding.end <= owner.end;
  let claimed: Finding[] = [];
  for (const name of CLAIMS)
    claimed = [...claimed, ...without(ofClass(name), claimed, isInside)].sort(bySpan);
  return [...claimed, ...ofClass('proprietary'), ...ofClass('invisible')]
    .sort(bySpan)
    .map(({ rule: { id, class: name, what, isLoose }, start, end }) => {
      return { rule: id, class: name, what, isCertain: !isLoose, start, end };
    });
}
