import type { hash } from 'node:crypto';
import { usage } from './error.js';

export const MAX_TEXT_BYTES = 64 * 1024;

/** The token count of every budget: ceil(UTF-8 bytes / 4). */
export const countTokens = (text: string): number => Math.ceil(Buffer.byteLength(text, 'utf8') / 4);

// Terminal controls, bidi overrides and isolates, and tag characters. A terminal or a model may read them as something
// else than a reviewer sees. Joiners are allowed, because emoji and several scripts need them.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
const EVERY_HIDDEN = new RegExp(HIDDEN.source, 'gu');

export const codePoint = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

interface TextRule {
  /** How messages name the text ("The goal"). */
  what: string;
  /** Allow line breaks; default true. */
  lines?: boolean;
  maxBytes?: number;
}

/** Returns the text unchanged, or throws exit 2: a text is stored byte for byte or not at all. */
export function checkText(text: string, { what, lines = true, maxBytes = MAX_TEXT_BYTES }: TextRule): string {
  if (typeof text !== 'string') throw usage('text.type', `${what} must be text.`);
  if (text.trim() === '') throw usage('text.empty', `${what} is empty.`);
  if (!text.isWellFormed())
    throw usage('text.surrogate', `${what} is not valid Unicode (an unpaired surrogate).`);
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > maxBytes)
    throw usage('text.too_long', `${what} has ${bytes} bytes; ${maxBytes} are allowed.`, {
      hint: 'Keep the long text in a file and name the file.',
    });
  const hidden = HIDDEN.exec(text);
  if (hidden) {
    const char = codePoint(hidden[0]);
    const message = `${what} has the control or invisible character ${char} at position ${hidden.index}.`;
    throw usage('text.hidden_character', message, { hint: `Remove the character ${char}.` });
  }
  if (!lines && /[\n\u2028\u2029]/.test(text)) throw usage('text.lines', `${what} must be one line.`);
  return text;
}

/** The word, if it is one of the allowed ones, or exit 2. `what`: how the message names it (`--tier`). */
export function oneOf<T extends string>(
  allowed: readonly T[],
  word: string,
  what: string,
  code: string,
  details: { field?: string; hint?: string } = {},
): T {
  const known = allowed.find((each) => each === word);
  if (known !== undefined) return known;
  const message = `${what}: found ${JSON.stringify(oneLine(word, 40))}, allowed: ${allowed.join(' | ')}.`;
  throw usage(code, message, { field: what.replace(/^--/, '').toLowerCase(), ...details });
}

/** Exit 2 `knowledge.unknown`: There is no knowledge "…". */
export const noSuch = (kind: string, name: string, hint: string, code = kind): Error =>
  usage(`${code}.unknown`, `There is no ${kind} ${JSON.stringify(oneLine(name, 60))}.`, { hint });

// Fast checks for plain text, because long lists are shown.
const PLAIN = /^[\x20-\x7e\n]*$/;
const PLAIN_LINE = /^(?:[\x21-\x7e]+(?: (?=[\x21-\x7e])|$))*$/;

/** Escapes text from memory, git or the network for a terminal or a prompt. Keeps line breaks. */
export function escapeControls(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.toWellFormed().replace(EVERY_HIDDEN, (char) => `<${codePoint(char)}>`);
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** JSON in one line, with invisible characters as `\uXXXX` (B-06). */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(INVISIBLE, (char) =>
    [...Array(char.length).keys()]
      .map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** The text as a part of a regular expression. */
export const escapePattern = (text: string): string => text.replace(/[{}[\]().*+?^$|\\]/g, '\\$&');

/** One line: controls escaped, white space folded, cut at `max` characters. */
export function oneLine(text: string, max = 200): string {
  if (text.length <= max && PLAIN_LINE.test(text)) return text;
  const folded = escapeControls(text.replaceAll('\r\n', '\n')).replace(/\s+/g, ' ').trim();
  const chars = [...folded];
  return chars.length <= max ? folded : `${chars.slice(0, max - 1).join('')}…`;
}

/** `a, b, c and 4 more` */
export const firstNames = (names: readonly string[], most: number): string =>
  names.slice(0, most).join(', ') + (names.length > most ? ` and ${names.length - most} more` : '');

const TELLING = /error|assert|\bFAIL|not found|\bno (?:such|tests?)\b|cannot|undefined/i;

/** A line without a cause: a rule between parts (`=== FAILURES ===`), the code before npm's message, a test that passed. */
const NO_CAUSE = /^[^\p{L}\p{N}\s]{3,}|^npm (?:error|ERR!) code |^\s*(?:# Subtest: |ok \d|[✔✓] )/u;
/** A failed test of TAP, or of Node's own report. */
const FAILED_TEST = /^\s*(?:not ok \d+(?!.*# (?:TODO|SKIP)\b)|✖ )/u;
const MARKED = /^E {2,}(?=\S)/;

/** The marked line of an output, else the first one that names a failed test, then that mentions an error, else the last one. */
export function tellingLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !NO_CAUSE.test(line));
  const found = [MARKED, FAILED_TEST, TELLING].flatMap(
    (mark) => lines.find((line) => mark.test(line)) ?? [],
  )[0];
  return oneLine((found ?? lines.at(-1) ?? '').replace(MARKED, ''), 120);
}

export const firstPaths = (paths: readonly string[]): string =>
  [...paths.slice(0, 5).map((path) => oneLine(path, 100)), ...(paths.length > 5 ? ['…'] : [])].join(', ');

/** Normalizes a text for comparison: ignores case, width, white space and final `marks`. */
export function wordsOf(text: string, marks: string): string {
  const plain = text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
  // A regular expression would take quadratic time on runs of marks.
  let end = plain.length;
  while (end > 0 && (marks.includes(plain[end - 1] as string) || plain[end - 1] === ' ')) end--;
  return plain.slice(0, end);
}

/** Parsed JSON, YAML or TOML with fields, unlike a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Code-unit order, which is the same in every locale. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Like compareText, but `F-9` before `F-10`. */
export function compareIds(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [one = '', two = ''] = [left[i], right[i]];
    const order = i % 2 === 1 ? Number(one) - Number(two) : compareText(one, two);
    if (order !== 0) return order;
  }
  return compareText(a, b);
}

/** `1 feature`, `2 features`. */
export const plural = (count: number, word: string, many = `${word}s`): string =>
  `${count} ${count === 1 ? word : many}`;

let digest: typeof hash | undefined;

/** In 64 hex digits. Loading node:crypto takes 4 ms, and many commands hash nothing. */
export function sha256(data: string | Uint8Array): string {
  digest ??= process.getBuiltinModule('node:crypto').hash;
  return digest('sha256', data);
}

/** Random hex digits for unique names, not for secrets. */
export function makeToken(digits: number): string {
  let token = '';
  while (token.length < digits)
    token += Math.floor(Math.random() * 2 ** 48)
      .toString(16)
      .padStart(12, '0');
  return token.slice(0, digits);
}

/** The rules of git-check-ref-format(1) for a branch name. A HEAD file may have been edited by hand. */
export const isBranchName = (name: string): boolean =>
  /^[^-/.\s~^:?*[\\\p{C}][^\s~^:?*[\\\p{C}]*$/u.test(name) &&
  !/\.\.|@\{|\/\/|\/\.|[/.]$|\.lock(\/|$)|^@$/.test(name);

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let i = text.indexOf('\n'); i >= 0 && i < offset; i = text.indexOf('\n', i + 1)) line++;
  return line;
}

/** The most bytes of a log's end that a record keeps. */
export const MAX_TAIL_BYTES = 4096;

/** The end of a log, as text that does not begin in the middle of a character. */
export function lastBytes(bytes: Buffer, max = MAX_TAIL_BYTES): string {
  let start = Math.max(0, bytes.length - max);
  while (start > 0 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString('utf8');
}

/** Escapes every text and key in a value: memory, a path or git may contain escape sequences. Shared objects stay shared. */
export function harmless<T>(value: T, seen = new Map<unknown, unknown>()): T {
  if (typeof value === 'string') return escapeControls(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known as T;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  seen.set(value, copy);
  for (const [key, entry] of Object.entries(value))
    (copy as Record<string, unknown>)[escapeControls(key)] = harmless(entry, seen);
  return copy as T;
}

/** Changes every text in a value, but not its keys or errors. */
export async function mapTexts<T>(value: T, change: (text: string) => Promise<string>): Promise<T> {
  if (typeof value === 'string') return (await change(value)) as T;
  if (Array.isArray(value)) return (await Promise.all(value.map((item) => mapTexts(item, change)))) as T;
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  const entries = Object.entries(value).map(async ([key, item]) => [key, await mapTexts(item, change)]);
  return Object.fromEntries(await Promise.all(entries)) as T;
}

/** Names that begin with the word or that it begins with, else those with its first and most of its letters, nearest first. */
export function namesLike(word: string, names: readonly string[]): string[] {
  const longer = names.filter((name) => word !== '' && name.startsWith(word));
  if (longer.length > 0) return longer;
  const shorter = names.filter((name) => name.length > 3 && word.startsWith(`${name}-`));
  if (shorter.length > 0) return shorter;
  const share = (name: string): number => {
    const left = [...name];
    const shared = [...word].filter(
      (letter) => left.includes(letter) && left.splice(left.indexOf(letter), 1),
    );
    return shared.length / Math.max(word.length, name.length);
  };
  return names.filter((name) => name[0] === word[0] && share(name) > 0.7).sort((a, b) => share(b) - share(a));
}

/** Whether git would treat the bytes as binary. */
export const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8000).includes(0);
