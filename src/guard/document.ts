import { isBinary, lineAt } from '../core/text.js';
import { nationalIdRules } from './national-id.js';
import { cardRules, contactRules, ibanRules } from './personal.js';
import { findLongCode, LONG_CODE, proprietaryRules } from './proprietary.js';
import type { Hit, Rule } from './rule.js';
import { invisibleRules } from './rules/invisible.js';
import { scanText } from './scan.js';
import { secretRules } from './secret-rules.js';

export { scanText };

const tables = new Map<string, readonly Rule[]>();

/** All rules (docs/guard.md). Added rules come last, so they never replace or rename a finding of the built-in rules. */
export function guardRules(owners: readonly string[] = [], added: readonly Rule[] = []): readonly Rule[] {
  const key = owners.join('\n');
  const rules = tables.get(key) ?? [
    ...secretRules(),
    ...[...cardRules(), ...ibanRules(), ...nationalIdRules(), ...contactRules()],
    ...proprietaryRules(owners),
    ...invisibleRules(),
  ];
  tables.set(key, rules);
  return added.length === 0 ? rules : [...rules, ...added];
}

/** One text of a document, with its path: `features[2].title`. */
export interface Field {
  path: string;
  text: string;
}

/** A hit in a document. `value` is only for a fingerprint: nothing may keep or show it. */
export interface Found extends Omit<Hit, 'start' | 'end'> {
  /** `features[2].title`, empty in plain text. */
  field: string;
  /** 1-based, in the text of the field. */
  line: number;
  value: string;
}

const toFound = ({ start: _, end: __, ...hit }: Hit, field: string, line: number, value: string): Found => ({
  ...{ ...hit, field, line, value },
});

/** Keys that can make any value a secret. */
const TELLING = /pass|pwd|secret|token|key|auth|cred|cookie|session|dsn|signature/i;

/** A number may be personal by its key. */
const NUMBER = /\d{4}/;

/** The key of a longer text has no meaning. */
const MAX_NAMED = 1024;

/** Scans the texts of one document: each one alone, with its key if that matters, and with the next one (a split secret). */
export function scanFields(fields: readonly Field[], rules: readonly Rule[]): Found[] {
  const keyed = fields.filter(
    ({ path, text }) =>
      path !== '' && text.length <= MAX_NAMED && (TELLING.test(lastKey(path)) || NUMBER.test(text)),
  );
  const named = keyed.map(({ path, text }) => ({ path, text: `${lastKey(path)}: "${text}"` }));
  const whole = [...scanJoined(fields, rules), ...scanJoined(named, rules)];
  // A whole secret at the end of a text only looks longer with the next one.
  const split = scanBorders(fields, rules).filter(
    ({ field, rule }) => !whole.some((hit) => hit.field === field && hit.rule === rule),
  );
  const found = [...whole, ...split];
  const seen = new Set<string>();
  return found.filter((hit) => {
    const key = `${hit.field} ${hit.rule} ${hit.value.replace(/\s/g, '')}`;
    return !seen.has(key) && seen.add(key);
  });
}

const lastKey = (path: string): string => /([^.[\]]*)(?:\[\d+\])*$/.exec(path)?.[1] ?? '';

const MAX_FOUND = 1000;

/** The hits in texts that are scanned as one, joined by line ends; each with its text (`index`) and the offset in it. */
function scanTogether(texts: readonly string[], ...rest: [readonly Rule[], ((rule: Rule) => boolean)?]) {
  if (texts.length === 0) return [];
  const all = texts.join('\n');
  const lengthOf = (index: number): number => texts[index]?.length ?? 0;
  let [index, from] = [0, 0];
  return scanText(all, ...rest)
    .slice(0, MAX_FOUND)
    .map((hit) => {
      while (hit.start > from + lengthOf(index) && index < texts.length - 1) from += lengthOf(index++) + 1;
      return { hit, index, start: hit.start - from, value: all.slice(hit.start, hit.end) };
    });
}

const scanJoined = (fields: readonly Field[], rules: readonly Rule[]): Found[] =>
  scanTogether(
    fields.map(({ text }) => text),
    rules,
  ).map(({ hit, index, start, value }) => {
    const { path, text } = fields[index] as Field;
    return toFound(hit, path, lineAt(text, start), value);
  });

/** Other findings are easily put together by chance. */
const isKnownByForm = (rule: Rule): boolean => rule.class === 'secret' && !rule.isLoose;

/** The longest part of a split secret, in characters. */
const REACH = 2048;

/** No secret known by its form is shorter. */
const LEAST = 16;

/** Scans each field together with the next, if a word could go on there. A hit over the border belongs to the first. */
function scanBorders(fields: readonly Field[], rules: readonly Rule[]): Found[] {
  const borders = fields.slice(0, -1).flatMap(({ path, text }, i) => {
    const next = fields[i + 1]?.text ?? '';
    const end = /\S*$/.exec(text.slice(-LEAST))?.[0] ?? '';
    const start = /^\S*/.exec(next.slice(0, LEAST))?.[0] ?? '';
    if (end === '' || start === '' || end.length + start.length < LEAST) return [];
    return [
      { path, text, pair: text.slice(-REACH) + next.slice(0, REACH), at: Math.min(text.length, REACH) },
    ];
  });
  const pairs = borders.map(({ pair }) => pair);
  return scanTogether(pairs, rules, isKnownByForm).flatMap(({ hit, index, start, value }) => {
    const { path, text, pair, at } = borders[index] as (typeof borders)[number];
    const end = start + value.length;
    if (start >= at || end <= at || end > pair.length) return [];
    return [toFound(hit, path, lineAt(text, text.length), value)];
  });
}

/** Copied code comes in long runs. Only for input: files may contain code. */
export const findForeignCode = (fields: readonly Field[]): Found[] =>
  fields.flatMap(({ path, text }) => {
    const run = findLongCode(text);
    if (!run) return [];
    const hit = { ...LONG_CODE, ...run, isCertain: false };
    return [toFound(hit, path, lineAt(text, run.start), text.slice(run.start, run.end))];
  });

/**
 * Scans a file of `.forge/`: JSON by its texts, JSONL line by line, anything else as plain text. A binary file, such as a
 * picture, is searched with the `grave` rules only.
 */
export function scanBytes(
  name: string,
  bytes: Buffer,
  rules: readonly Rule[],
  grave: readonly Rule[],
): Found[] {
  // A byte order mark at the start hides nothing.
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  if (name.endsWith('.jsonl'))
    return text
      .split('\n')
      .flatMap((line, i) => scanFields(fieldsOf(line), rules).map((hit) => ({ ...hit, line: i + 1 })));
  if (name.endsWith('.json')) return scanFields(fieldsOf(text), rules);
  const fields = [{ path: '', text }];
  return scanFields(fields, isBinary(bytes) ? grave : rules);
}

/** Every text of a JSON value, or the whole text if it is not JSON. Long numbers count as texts: they may be cards. */
export function fieldsOf(text: string, path = ''): Field[] {
  if (text === '') return [];
  const fields: Field[] = [];
  try {
    visit(JSON.parse(text), path, '', fields);
    return fields;
  } catch {
    return [{ path, text }];
  }
}

const HASH = /^[0-9a-f]{7,64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const SLUG = /^\d{4}-\d\d-\d\d-session-\d{3,9}-[0-9a-f]{4,16}$/;

const keyed = (keys: string, form: RegExp): [string, RegExp][] => keys.split(' ').map((key) => [key, form]);

/** What forge itself writes, by key and exact form. The same value under another key is scanned like any text. */
const OWN: ReadonlyMap<string, RegExp> = new Map([
  ...keyed('id', new RegExp(`${HASH.source}|${SLUG.source}`)),
  // A boot id of Linux; Linear's id of an issue.
  ...keyed('boot uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  ...keyed('prev seen heads ledger subject execution execution_id records lost voided sha256 digest', HASH),
  ...keyed('tree commit head head_at_start key idempotency_key', HASH),
  ...keyed('salt', /^[0-9a-z]{1,62}$/),
  ...keyed('at created_at updated_at started_at ended_at halted_at verified_at learned_at', TIME),
  ...keyed('session resumed_from resumed_by', SLUG),
  // The project's folder, which may have any name.
  ['root', /^\/.*$/],
]);

function visit(value: unknown, path: string, key: string, fields: Field[]): void {
  if (typeof value === 'string') {
    if (value !== '' && !OWN.get(key)?.test(value)) fields.push({ path, text: value });
  } else if (typeof value === 'number' && Math.abs(value) >= 1e7) fields.push({ path, text: String(value) });
  else if (Array.isArray(value))
    for (const [i, item] of value.entries()) visit(item, `${path}[${i}]`, key, fields);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value))
      visit(item, path === '' ? name : `${path}.${name}`, name, fields);
}
