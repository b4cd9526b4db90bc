import { base64View, escapeView, hasRun, hexView } from './decode.js';
import { concatenationView, lineView } from './join.js';
import { makeIndexData } from './keyword-index.js';
import { openIndex, selectRules } from './keywords.js';
import { dropOverlapping, type Finding, mergeFindings } from './merge.js';
import { normaliseView, tagView } from './normalise.js';
import type { Hit, Kind, Rule, Rules, RuleTable } from './rule.js';
import { isJoined, type Span, spanInSource, type View } from './view.js';

/** Those rules of a table that are wanted here. */
export type Wanted = (rule: Kind) => boolean;

const all: Wanted = () => true;
/** For what is read out of a text: what is invisible there is not hidden from anybody here. */
const visible: Wanted = (rule) => rule.class !== 'invisible';
const both =
  (a: Wanted, b: Wanted): Wanted =>
  (rule) =>
    a(rule) && b(rule);

const tables = new WeakMap<readonly Rule[], RuleTable>();

/** A list of rules needs an index of its own, which takes longer to make than a page to read. */
function tableOf(rules: Rules): RuleTable {
  if ('ruleAt' in rules) return rules;
  const known = tables.get(rules);
  if (known) return known;
  const ruleAt = (rank: number): Rule => rules[rank] as Rule;
  const table = { index: openIndex(makeIndexData(rules)), kindAt: ruleAt, ruleAt };
  tables.set(rules, table);
  return table;
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

function scanPlain(text: string, table: RuleTable, wanted: Wanted): Finding[] {
  const findings: Finding[] = [];
  for (const rank of selectRules(text, table.index, (one) => wanted(table.kindAt(one)))) {
    const rule = table.ruleAt(rank);
    for (const span of matchesOf(text, rule)) findings.push({ rule, rank, ...span });
  }
  return findings;
}

const scanView = (view: View | undefined, table: RuleTable, wanted: Wanted): Finding[] =>
  view === undefined
    ? []
    : scanPlain(view.text, table, wanted).map((finding) => ({ ...finding, ...spanInSource(view, finding) }));

/** Wrapped lines: only what a line end goes through, and only what is recognised by itself. */
const scanLines = (view: View | undefined, table: RuleTable, wanted: Wanted): Finding[] =>
  view === undefined
    ? []
    : scanPlain(
        view.text,
        table,
        both(wanted, (rule) => !rule.isLoose),
      )
        .filter((finding) => isJoined(view, finding))
        .map((finding) => ({ ...finding, ...spanInSource(view, finding) }));

function findAll(text: string, table: RuleTable, wanted: Wanted): Finding[] {
  const plain = normaliseView(text);
  const source = plain?.text ?? text;
  const seen = both(wanted, visible);
  const found = scanPlain(text, table, wanted);
  for (const view of [plain, tagView(text)]) found.push(...scanView(view, table, seen));
  for (const makeView of [escapeView, ...(hasRun(source) ? [hexView, base64View] : []), concatenationView])
    found.push(...scanView(makeView(source, plain), table, seen));
  const wrapped = scanLines(lineView(source, plain), table, seen);
  // A secret at a line's end would run on into the next line here: what was found without joining stands.
  return wrapped.length === 0 ? found : [...found, ...dropOverlapping(wrapped, found)];
}

/** Patterns look back and ahead for much less; a text longer than a window is read window by window. */
const WINDOW = 262_144;
const OVERLAP = 16_384;

/** All that the rules find in a text, also encoded, split or made unreadable in it; sorted, none inside another. */
export function scanText(text: string, rules: Rules, wanted: Wanted = all): Hit[] {
  const table = tableOf(rules);
  if (text.length <= WINDOW) return mergeFindings(findAll(text, table, wanted));
  const findings: Finding[] = [];
  for (let from = 0; from < text.length - OVERLAP; from += WINDOW - OVERLAP)
    for (const { start, end, ...finding } of findAll(text.slice(from, from + WINDOW), table, wanted))
      findings.push({ ...finding, start: from + start, end: from + end });
  return mergeFindings(findings);
}
