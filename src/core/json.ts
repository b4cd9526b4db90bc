import { findNodeAtLocation, type JSONVisitor, parseTree, visit } from 'jsonc-parser';
import { SyntaxProblem } from './error.js';
import { lineAt } from './text.js';

/** Limits of a state file, far above real use. */
export const MAX_STATE_BYTES = 8 * 1024 * 1024;
const MAX_DEPTH = 64;
/** However deep a shorter text is, parsing it takes little memory. */
const SHORT = 65_536;
const MAX_KEYS = 200_000;
/** Keys that no input may have. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const problemIn = (text: string, message: string, offset = 0): SyntaxProblem =>
  new SyntaxProblem(message, lineAt(text, offset), offset);

/** Parses JSON that forge may have to write back. Throws SyntaxProblem. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw problemIn(text, 'the file is empty');
  const known = parseQuickly(text, countKeysOf(text));
  if (known !== undefined) return known;
  visit(text, strictVisitor(text), { disallowComments: true });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw problemIn(text, (error as Error).message);
  }
}

/** The number of `":` in the text. Too many are refused, because visiting them would need too much memory. */
function countKeysOf(text: string): number {
  let keys = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2))
    if (++keys > MAX_KEYS) throw problemIn(text, `more than ${MAX_KEYS} keys`, at);
  return keys;
}

/** Visiting takes ten times as long. With as many keys as the text has `":`, no key is there twice. Undefined: visit it. */
function parseQuickly(text: string, keys: number): unknown {
  // A key that was not counted, or a number that may have become zero.
  if (text.length > SHORT || /"\s+:|\de-\d\d|0{300}/i.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return countKeys(value) === keys ? value : undefined;
  } catch {
    return undefined;
  }
}

/** NaN for a value that `strictVisitor` may refuse. */
function countKeys(value: unknown, depth = 0): number {
  if (typeof value === 'number') return isExact(value, '') ? 0 : Number.NaN;
  if (typeof value !== 'object' || value === null) return 0;
  const keys = Object.keys(value);
  if (depth === MAX_DEPTH || keys.some((key) => FORBIDDEN_KEYS.has(key))) return Number.NaN;
  const own = Array.isArray(value) ? 0 : keys.length;
  return Object.values(value).reduce((count, item) => count + countKeys(item, depth + 1), own);
}

/** Refuses what JSON.parse accepts: duplicate or prototype keys, great depth, and numbers that cannot be written back. */
function strictVisitor(text: string): JSONVisitor {
  const objects: Set<string>[] = [];
  let depth = 0;
  const enter = (offset: number): void => {
    if (++depth > MAX_DEPTH) throw problemIn(text, `nested deeper than ${MAX_DEPTH}`, offset);
  };
  return {
    onObjectBegin: (offset) => {
      enter(offset);
      objects.push(new Set());
    },
    onObjectProperty: (key, offset) => {
      const known = objects.at(-1) as Set<string>;
      if (FORBIDDEN_KEYS.has(key)) throw problemIn(text, `the key "${key}" is not allowed`, offset);
      if (known.has(key)) throw problemIn(text, `the key "${key}" is duplicated`, offset);
      known.add(key);
    },
    onObjectEnd: () => {
      depth--;
      objects.pop();
    },
    onArrayBegin: enter,
    onArrayEnd: () => {
      depth--;
    },
    onLiteralValue: (value, offset, length) => {
      const raw = text.slice(offset, offset + length);
      if (typeof value === 'number' && !isExact(value, raw))
        throw problemIn(text, `the number ${raw.slice(0, 40)} cannot be stored exactly`, offset);
    },
    onError: (_, offset, length) => {
      const char = text.charAt(offset);
      const end = text.trimEnd().length;
      if (offset + length >= end && !/[}\],]/.test(char))
        throw problemIn(text, 'it breaks off in the middle', end);
      const what = char === '"' ? 'invalid string' : `unexpected ${JSON.stringify(char)}`;
      throw problemIn(text, what, offset);
    },
  };
}

function isExact(value: number, raw: string): boolean {
  // Digits that became zero are below the smallest number.
  const isLost = value === 0 && /^[^eE]*[1-9]/.test(raw);
  if (isLost || Object.is(value, -0) || !Number.isFinite(value)) return false;
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

/** The offset of the value at `path`, or 0. Reads the whole text, so use it only for messages. */
export function locateJson(text: string, path: (string | number)[]): number {
  const root = parseTree(text);
  return (root && findNodeAtLocation(root, path)?.offset) ?? 0;
}

export const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The objects of a list that may hold anything. */
export const objectsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
