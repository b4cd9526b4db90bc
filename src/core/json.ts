/** Limits of a state file; far above real use, far below what hurts. */
export const MAX_STATE_BYTES = 8 * 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_KEYS = 200_000;
/** Characters of `"":0,`: a shorter text has no more than MAX_KEYS of them. */
const SHORTEST_MEMBER = 5;
/** Keys that no input may bear, wherever it comes from. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** What is wrong in a JSON text, and where (0-based UTF-16 offset). */
export class JsonProblem extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

interface Frame {
  keys: Set<string> | null;
  /** The key or index of the value that comes next. */
  at: string | number;
  expectsKey: boolean;
}

type Path = readonly (string | number)[];

/**
 * Walks the tokens once, before JSON.parse, for what JSON.parse lets through silently: duplicate keys, keys that
 * reach the prototype, depth that breaks other readers, numbers that cannot be written back as they were.
 * Syntax itself is left to JSON.parse.
 */
class Walk {
  private readonly stack: Frame[] = [];
  found = -1;

  constructor(
    private readonly text: string,
    private readonly target?: Path,
  ) {}

  run(): void {
    const { text } = this;
    for (let i = 0; i < text.length; ) {
      const char = text.charCodeAt(i);
      if (char <= 0x20) i++;
      else if (char === 0x22) i = this.string(i);
      else if (char === 0x7b || char === 0x5b) i = this.open(i, char === 0x7b);
      else if (char === 0x7d || char === 0x5d) i = this.close(i);
      else if (char === 0x2c) i = this.comma(i);
      else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) i = this.number(i);
      else if (char >= 0x61 && char <= 0x7a) i = this.word(i);
      else i++;
    }
  }

  private get frame(): Frame | undefined {
    return this.stack[this.stack.length - 1];
  }

  private value(offset: number): void {
    if (!this.target || this.found >= 0 || this.stack.length !== this.target.length) return;
    if (this.stack.every((frame, depth) => frame.at === this.target?.[depth])) this.found = offset;
  }

  private open(i: number, object: boolean): number {
    this.value(i);
    if (this.stack.length >= MAX_DEPTH) throw new JsonProblem(`nested deeper than ${MAX_DEPTH}`, i);
    this.stack.push({ keys: object ? new Set() : null, at: object ? '' : 0, expectsKey: object });
    return i + 1;
  }

  private close(i: number): number {
    this.stack.pop();
    return i + 1;
  }

  private comma(i: number): number {
    const frame = this.frame;
    if (frame?.keys) frame.expectsKey = true;
    else if (frame) frame.at = (frame.at as number) + 1;
    return i + 1;
  }

  private string(start: number): number {
    const end = closingQuote(this.text, start);
    const frame = this.frame;
    if (frame?.keys && frame.expectsKey) this.key(frame, start, end);
    else this.value(start);
    return end + 1;
  }

  private key(frame: Frame, start: number, end: number): void {
    const raw = this.text.slice(start + 1, end);
    const key = raw.includes('\\') ? unescapeKey(raw) : raw;
    if (FORBIDDEN_KEYS.has(key)) throw new JsonProblem(`the key "${key}" is not allowed`, start);
    if (frame.keys?.has(key)) throw new JsonProblem(`the key "${key}" stands twice`, start);
    frame.keys?.add(key);
    frame.at = key;
    frame.expectsKey = false;
  }

  private number(start: number): number {
    this.value(start);
    let end = start + 1;
    while (end < this.text.length && /[-+.eE0-9]/.test(this.text.charAt(end))) end++;
    const raw = this.text.slice(start, end);
    const value = Number(raw);
    const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
    // A zero that is written with other digits lies below what a number can hold.
    const lost = value === 0 && /^[^eE]*[1-9]/.test(raw);
    if (!exact || lost || Object.is(value, -0))
      throw new JsonProblem(`the number ${raw.slice(0, 40)} cannot be kept exactly`, start);
    return end;
  }

  private word(start: number): number {
    this.value(start);
    let end = start + 1;
    while (end < this.text.length && /[a-z]/.test(this.text.charAt(end))) end++;
    return end;
  }
}

function closingQuote(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  throw new JsonProblem('a text is not closed', start);
}

function unescapeKey(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}

/** Counted before any is remembered: what is refused for its size takes no memory. */
function refuseManyKeys(text: string): void {
  let keys = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = closingQuote(text, start);
    let next = end + 1;
    while (text.charCodeAt(next) <= 0x20) next++;
    if (text.charCodeAt(next) === 0x3a && ++keys > MAX_KEYS)
      throw new JsonProblem(`more than ${MAX_KEYS} keys`, start);
    start = text.indexOf('"', next);
  }
}

/** Parses JSON that forge may have to write back. Throws JsonProblem. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw new JsonProblem('the file is empty', 0);
  if (text.length > SHORTEST_MEMBER * MAX_KEYS) refuseManyKeys(text);
  new Walk(text).run();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw syntaxProblem(text, error as SyntaxError);
  }
}

function syntaxProblem(text: string, error: SyntaxError): JsonProblem {
  const offset = positionIn(error) ?? firstWrong(text);
  const char = text.charAt(offset);
  return new JsonProblem(
    char === '' ? 'it breaks off in the middle' : `unexpected ${JSON.stringify(char)}`,
    offset,
  );
}

function positionIn(error: unknown): number | null {
  const position = /position (\d+)/.exec((error as Error).message)?.[1];
  return position === undefined ? null : Number(position);
}

/** For most errors V8 names no place: the shortest beginning that no ending could mend shows it. */
function firstWrong(text: string): number {
  let [whole, broken] = [0, text.length + 1];
  while (broken - whole > 1) {
    const middle = Math.floor((whole + broken) / 2);
    if (couldGoOn(text.slice(0, middle))) whole = middle;
    else broken = middle;
  }
  return whole;
}

function couldGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const position = positionIn(error);
    return position === null ? /end of JSON/.test((error as Error).message) : position >= text.length;
  }
}

/** The offset of the value at `path`, or 0. Only for messages: walks the whole text. */
export function locateJson(text: string, path: Path): number {
  const walk = new Walk(text, path);
  try {
    walk.run();
  } catch {
    // A text that cannot be walked to its end may still have shown the place.
  }
  return Math.max(walk.found, 0);
}

/** 1-based line of a UTF-16 offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let i = text.indexOf('\n'); i >= 0 && i < offset; i = text.indexOf('\n', i + 1)) line++;
  return line;
}

/** The form every state file is written in: two spaces, one final line feed. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
