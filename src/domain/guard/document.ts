import { decodeUtf8 } from '../document.js';
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
}

/** A key that makes its value a secret whatever that looks like. */
const TELLING = /pass|pwd|secret|token|key|auth|cred|cookie|session|dsn|signature/i;

/**
 * Looks at the texts of one document together: each by itself, with its key where that tells something, and with the
 * next, since a secret may be split over two.
 */
export function scanFields(fields: readonly Field[], rules: readonly Rule[]): Found[] {
  const found = scanJoined(fields, rules);
  const keyed = fields.filter(({ path }) => TELLING.test(lastKey(path)));
  const named = keyed.map(({ path, text }) => ({ path, text: `${lastKey(path)}: "${text}"` }));
  if (named.length > 0) found.push(...scanJoined(named, rules));
  for (const { path, text } of fields) if (path !== '') found.push(...longCode(path, text));
  const seen = new Set<string>();
  return found.filter((hit) => {
    const key = `${hit.field} ${hit.rule} ${hit.value}`;
    return !seen.has(key) && seen.add(key);
  });
}

const lastKey = (path: string): string => /([^.[\]]*)(?:\[\d+\])*$/.exec(path)?.[1] ?? '';

/** As lines of one text: the engine tries what stands on both sides of a line end as one. */
function scanJoined(fields: readonly Field[], rules: readonly Rule[]): Found[] {
  const text = fields.map((field) => field.text).join('\n');
  const starts: number[] = [];
  let at = 0;
  for (const field of fields) {
    starts.push(at);
    at += field.text.length + 1;
  }
  return scanText(text, rules).map((hit) => {
    const index = starts.findLastIndex((start) => start <= hit.start);
    return toFound(text, hit, fields[index]?.path ?? '', starts[index] ?? 0);
  });
}

/** Somebody else's code comes in long runs; where text is a file's it is expected. */
function longCode(field: string, text: string): Found[] {
  const run = findLongCode(text);
  return run ? [toFound(text, { ...LONG_CODE, ...run }, field, 0)] : [];
}

function toFound(
  text: string,
  { rule, class: name, what, start, end }: Hit,
  field: string,
  from: number,
): Found {
  const line = text.slice(from, start).split('\n').length;
  return { rule, class: name, what, field, line, value: text.slice(start, end) };
}

/** The bytes of a file of forge's: JSON by its texts, JSONL line by line, anything else as it stands. */
export function scanBytes(name: string, bytes: Buffer, rules: readonly Rule[]): Found[] {
  const text = decodeUtf8(bytes, name);
  if (name.endsWith('.jsonl'))
    return text
      .split('\n')
      .flatMap((line, i) => scanLine(line, rules).map((hit) => ({ ...hit, line: i + 1 })));
  if (name.endsWith('.json')) return scanLine(text, rules);
  return scanFields([{ path: '', text }], rules);
}

/** What is no JSON is looked at as text. */
function scanLine(text: string, rules: readonly Rule[]): Found[] {
  if (text === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return scanFields([{ path: '', text }], rules);
  }
  return scanFields(flatten(value), rules);
}
