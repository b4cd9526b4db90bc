import { type Field, flatten } from './fields.js';
import { findLongCode, LONG_CODE } from './long-code.js';
import type { GuardClass, Hit, Rule } from './rule.js';
import { scanText } from './scan.js';

/** A hit in a document, told by its place. `value` is for a fingerprint alone: nothing may keep or show it. */
export interface Found {
  rule: string;
  class: GuardClass;
  what: string;
  /** `features[2].title`, empty in plain text. */
  field: string;
  /** 1-based, in the text of the field. */
  line: number;
  value: string;
  isCertain: boolean;
}

/** A key that makes its value a secret whatever that looks like. */
const TELLING = /pass|pwd|secret|token|key|auth|cred|cookie|session|dsn|signature/i;

/** A number that is somebody's if its key says so. */
const NUMBER = /\d{4}/;

/** Characters. Of a longer text its key says nothing. */
const MAX_NAMED = 1024;

/**
 * Looks at the texts of one document together: each by itself, with its key where that tells something, and with the
 * next, since a secret may be split over two.
 */
export function scanFields(fields: readonly Field[], rules: readonly Rule[]): Found[] {
  const passed = passedBy(rules);
  const found = scanJoined(
    fields.filter(({ text }) => !passed.has(text)),
    rules,
  );
  const keyed = fields.filter(
    ({ path, text }) =>
      path !== '' && text.length <= MAX_NAMED && (TELLING.test(lastKey(path)) || NUMBER.test(text)),
  );
  const named = keyed.map(({ path, text }) => ({ path, text: `${lastKey(path)}: "${text}"` }));
  if (named.length > 0) found.push(...scanJoined(named, rules));
  if (fields.length > 1) found.push(...scanBorders(fields, rules));
  if (found.length === 0) for (const { text } of fields) if (text.length < MAX_REMEMBERED) passed.add(text);
  const seen = new Set<string>();
  return found.filter((hit) => {
    const key = `${hit.field} ${hit.rule} ${hit.value.replace(/\s/g, '')}`;
    return !seen.has(key) && seen.add(key);
  });
}

const MAX_REMEMBERED = 65_536;
const memory = new WeakMap<readonly Rule[], Set<string>>();

/** Texts in which these rules found nothing: what was scanned on the way in is not scanned again when it is written. */
function passedBy(rules: readonly Rule[]): Set<string> {
  const known = memory.get(rules);
  if (known && known.size < 5000) return known;
  const passed = new Set<string>();
  memory.set(rules, passed);
  return passed;
}

const lastKey = (path: string): string => /([^.[\]]*)(?:\[\d+\])*$/.exec(path)?.[1] ?? '';

/** Whoever has more than this in one text need not be told of each. */
const MAX_FOUND = 1000;

/** As much of a field as one secret split over two could take up. */
const REACH = 2048;

/** Each field with the next one, in one text: what stands over the border is the first one's. */
function scanBorders(fields: readonly Field[], rules: readonly Rule[]): Found[] {
  const heads = fields.slice(0, -1).map(({ text }) => text.slice(-REACH));
  const pairs = heads.map((head, i) => ({
    path: '',
    text: head + (fields[i + 1]?.text.slice(0, REACH) ?? ''),
  }));
  const found: Found[] = [];
  let [index, start] = [0, 0];
  for (const hit of scanText(pairs.map(({ text }) => text).join('\n'), rules, isKnownByForm)) {
    while (hit.start > start + lengthOf(pairs[index])) start += lengthOf(pairs[index++]) + 1;
    const border = start + (heads[index]?.length ?? 0);
    const end = start + lengthOf(pairs[index]);
    if (hit.start >= border || hit.end <= border || hit.end > end) continue;
    const { path, text } = fields[index] as Field;
    const value = pairs[index]?.text.slice(hit.start - start, hit.end - start) ?? '';
    found.push(toFound(hit, path, countLines(text, 0, text.length) + 1, value));
  }
  return found;
}

/** Secrets that are one wherever they stand: others are easily put together by chance. */
const isKnownByForm = (rule: Rule): boolean => rule.class === 'secret' && !rule.isLoose;

/** Lines of one text. */
function scanJoined(fields: readonly Field[], rules: readonly Rule[]): Found[] {
  const text = fields.map((field) => field.text).join('\n');
  const hits = scanText(text, rules).slice(0, MAX_FOUND);
  const found: Found[] = [];
  let [index, start, at, line] = [0, 0, 0, 1];
  for (const hit of hits) {
    for (let end = start + lengthOf(fields[index]); hit.start > end && index < fields.length - 1; index++) {
      [start, at, line] = [end + 1, end + 1, 1];
      end = start + lengthOf(fields[index + 1]);
    }
    line += countLines(text, at, hit.start);
    at = hit.start;
    found.push(toFound(hit, fields[index]?.path ?? '', line, text.slice(hit.start, hit.end)));
  }
  return found;
}

const lengthOf = (field: Field | undefined): number => field?.text.length ?? 0;

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** Somebody else's code comes in long runs. Only in given text: files hold code rightly. */
export function findForeignCode(fields: readonly Field[]): Found[] {
  return fields.flatMap(({ path, text }) => {
    const run = findLongCode(text);
    if (!run) return [];
    const line = countLines(text, 0, run.start) + 1;
    return [toFound({ ...LONG_CODE, ...run, isCertain: false }, path, line, text.slice(run.start, run.end))];
  });
}

const toFound = (
  { rule, class: name, what, isCertain }: Hit,
  field: string,
  line: number,
  value: string,
): Found => ({
  rule,
  class: name,
  what,
  isCertain,
  field,
  line,
  value,
});

/** The bytes of a file of forge's: JSON by its texts, JSONL line by line, anything else as it stands. */
export function scanBytes(name: string, bytes: Buffer, rules: readonly Rule[]): Found[] {
  const text = bytes.toString('utf8');
  if (name.endsWith('.jsonl'))
    return text
      .split('\n')
      .flatMap((line, i) => scanFields(fieldsOf(line), rules).map((hit) => ({ ...hit, line: i + 1 })));
  if (name.endsWith('.json')) return scanFields(fieldsOf(text), rules);
  return scanFields([{ path: '', text }], rules);
}

/** The texts of a JSON value, or the whole text if it is not JSON. */
export function fieldsOf(text: string, path = ''): Field[] {
  if (text === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ path, text }];
  }
  return flatten(value, path);
}
