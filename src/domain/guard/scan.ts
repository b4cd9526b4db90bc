import { base64View, escapeView, hexView } from './decode.js';
import { concatenationView, lineView } from './join.js';
import { type KeywordIndex, makeKeywordIndex, selectRules } from './keywords.js';
import { dropOverlapping, type Finding, mergeFindings } from './merge.js';
import { normaliseView, tagView } from './normalise.js';
import type { Hit, Rule } from './rule.js';
import { isJoined, type Span, spanInSource, type View } from './view.js';

interface Indexed {
  index: KeywordIndex;
  /** What the index speaks of. */
  table: readonly Rule[];
  /** Null: all of it. */
  part: ReadonlySet<Rule> | null;
}

const indexes = new WeakMap<readonly Rule[], Indexed>();

function indexOf(rules: readonly Rule[]): Indexed {
  const known = indexes.get(rules);
  if (known !== undefined) return known;
  const indexed = { index: makeKeywordIndex(rules), table: rules, part: null };
  indexes.set(rules, indexed);
  return indexed;
}

/** Those rules of a table that are wanted. They share its index, which takes longer to make than a page to read. */
export function partOf(rules: readonly Rule[], wanted: (rule: Rule) => boolean): readonly Rule[] {
  const part = rules.filter(wanted);
  indexes.set(part, { ...indexOf(rules), part: new Set(part) });
  return part;
}

/** The part of a match that must not be kept. It is the last place of its text in the match: a name stands before. */
function spanOf(match: RegExpExecArray): Span {
  const end = match.index + match[0].length;
  const secret = match.groups?.['secret'];
  if (secret === undefined) return { start: match.index, end };
  const start = match.index + match[0].lastIndexOf(secret);
  return { start, end: start + secret.length };
}

function* matchesOf(text: string, rule: Rule): Generator<Span> {
  const { pattern, accept } = rule;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const span = spanOf(match);
    const secret = match.groups?.['secret'];
    const isHit = match[0] !== '' && secret !== '' && (accept?.(secret ?? match[0], match) ?? true);
    if (isHit) yield span;
    // What stands beside a value that was refused may hide the beginning of another: `token = secret = "…"`.
    else if (secret !== undefined || match[0] === '')
      pattern.lastIndex = Math.max(span.start, afterChar(text, match.index));
  }
}

/** With flag `u` a pattern that is sent into the middle of a pair goes back to its start, for ever. */
const afterChar = (text: string, at: number): number => at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

function scanPlain(text: string, rules: readonly Rule[]): Finding[] {
  const findings: Finding[] = [];
  const { index, table, part } = indexOf(rules);
  for (const rank of selectRules(text, index)) {
    const rule = table[rank];
    if (rule === undefined || part?.has(rule) === false) continue;
    for (const span of matchesOf(text, rule)) findings.push({ rule, rank, ...span });
  }
  return findings;
}

const scanView = (view: View | undefined, rules: readonly Rule[]): Finding[] =>
  view === undefined
    ? []
    : scanPlain(view.text, rules).map((finding) => ({ ...finding, ...spanInSource(view, finding) }));

/** Wrapped lines: only what a line end goes through, and only what is recognised by itself. */
function scanLines(view: View | undefined, rules: readonly Rule[]): Finding[] {
  if (view === undefined) return [];
  return scanPlain(view.text, rules)
    .filter((finding) => !finding.rule.isLoose && isJoined(view, finding))
    .map((finding) => ({ ...finding, ...spanInSource(view, finding) }));
}

const readings = new WeakMap<readonly Rule[], readonly Rule[]>();

/** For what is read out of a text: what is invisible there is not hidden from anybody here. */
function read(rules: readonly Rule[]): readonly Rule[] {
  const known = readings.get(rules) ?? partOf(rules, (rule) => rule.class !== 'invisible');
  readings.set(rules, known);
  return known;
}

function findAll(text: string, rules: readonly Rule[]): Finding[] {
  const plain = normaliseView(text);
  const source = plain?.text ?? text;
  const findings = [
    scanPlain(text, rules),
    scanView(plain, read(rules)),
    scanView(tagView(text), read(rules)),
  ];
  for (const makeView of [escapeView, hexView, base64View, concatenationView]) {
    findings.push(scanView(makeView(source, plain), read(rules)));
  }
  const found = findings.flat();
  const wrapped = scanLines(lineView(source, plain), read(rules));
  // A secret at a line's end would run on into the next line here: what was found without joining stands.
  return [...found, ...dropOverlapping(wrapped, found)];
}

/** Patterns look back and ahead for much less; a text longer than a window is read window by window. */
const WINDOW = 262_144;
const OVERLAP = 16_384;

/** All that the rules find in a text, also encoded, split or made unreadable in it; sorted, none inside another. */
export function scanText(text: string, rules: readonly Rule[]): Hit[] {
  if (text.length <= WINDOW) return mergeFindings(findAll(text, rules));
  const findings: Finding[] = [];
  for (let from = 0; from < text.length - OVERLAP; from += WINDOW - OVERLAP)
    for (const { start, end, ...finding } of findAll(text.slice(from, from + WINDOW), rules))
      findings.push({ ...finding, start: from + start, end: from + end });
  return mergeFindings(findings);
}
