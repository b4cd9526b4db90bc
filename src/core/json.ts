import { findNodeAtLocation, type JSONVisitor, parseTree, visit } from 'jsonc-parser';

/** Limits of a state file; far above real use, far below what hurts. */
export const MAX_STATE_BYTES = 8 * 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_KEYS = 200_000;
/** Keys that no input may bear, wherever it comes from. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** `ParseErrorCode.UnexpectedEndOfString`, a const enum that one file alone cannot be compiled with. */
const UNCLOSED = 12;

/** What is wrong in a JSON text, and where (0-based UTF-16 offset). */
export class JsonProblem extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** Parses JSON that forge may have to write back. Throws JsonProblem. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw new JsonProblem('the file is empty', 0);
  refuseKeys(text);
  const stopped = refuseUnsafe(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw syntaxProblem(text, error as SyntaxError, stopped);
  }
}

/** Counts by the text alone: a visit of that many tokens would take more memory than the refusal is worth. */
function refuseKeys(text: string): void {
  let keys = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2))
    if (++keys > MAX_KEYS) throw new JsonProblem(`more than ${MAX_KEYS} keys`, at);
}

/** Thrown by a visitor to end the visit: jsonc-parser goes on after errors. */
class Stop extends Error {
  constructor(readonly offset: number) {
    super();
  }
}

/**
 * Refuses what JSON.parse accepts silently: duplicate keys, keys that reach the prototype, depth that breaks other
 * readers, numbers that cannot be written back. Ends at the first syntax error, which JSON.parse reports, and returns where.
 */
function refuseUnsafe(text: string): number {
  const objects: Set<string>[] = [];
  let depth = 0;
  const enter = (offset: number): void => {
    if (++depth > MAX_DEPTH) throw new JsonProblem(`nested deeper than ${MAX_DEPTH}`, offset);
  };
  const visitor: JSONVisitor = {
    onObjectBegin: (offset) => {
      enter(offset);
      objects.push(new Set());
    },
    onObjectProperty: (key, offset) => {
      const known = objects.at(-1) as Set<string>;
      if (FORBIDDEN_KEYS.has(key)) throw new JsonProblem(`the key "${key}" is not allowed`, offset);
      if (known.has(key)) throw new JsonProblem(`the key "${key}" stands twice`, offset);
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
        throw new JsonProblem(`the number ${raw.slice(0, 40)} cannot be kept exactly`, offset);
    },
    onError: (error, offset, length) => {
      if (error === UNCLOSED && offset + length === text.length)
        throw new JsonProblem('a text is not closed', offset);
      throw new Stop(offset);
    },
  };
  try {
    visit(text, visitor, { disallowComments: true });
    return text.length;
  } catch (error) {
    if (error instanceof Stop) return error.offset;
    throw error;
  }
}

function isExact(value: number, raw: string): boolean {
  // A zero that is written with other digits lies below what a number can hold.
  const isLost = value === 0 && /^[^eE]*[1-9]/.test(raw);
  if (isLost || Object.is(value, -0) || !Number.isFinite(value)) return false;
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

/** V8 names no place for most errors. The visit ended at `stopped`. */
function syntaxProblem(text: string, { message }: SyntaxError, stopped: number): JsonProblem {
  const position = /position (\d+)/.exec(message)?.[1];
  const offset = position === undefined ? stopped : Number(position);
  const char = /end of JSON/.test(message) ? '' : text.charAt(offset);
  return char === ''
    ? new JsonProblem('it breaks off in the middle', text.length)
    : new JsonProblem(`unexpected ${JSON.stringify(char)}`, offset);
}

/** The offset of the value at `path`, or 0. Only for messages: reads the whole text. */
export function locateJson(text: string, path: (string | number)[]): number {
  const root = parseTree(text);
  return (root && findNodeAtLocation(root, path)?.offset) ?? 0;
}

/** The form every state file is written in: two spaces, one final line feed. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
