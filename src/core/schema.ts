import type * as z from 'zod/mini';
import { conflictLines } from './conflict-marks.js';
import { corrupted, type ForgeError, refused, UPDATE_HINT, usage } from './error.js';
import { formatJson, JsonProblem, locateJson, parseJson } from './json.js';
import { escapeControls, lineAt, oneLine } from './text.js';

/** A kind of state file: its schema, its version, and how older versions become this one. */
export interface Format<T> {
  /** As `forge schema NAME` calls it. */
  name: string;
  /** The version written today, `major.minor`. */
  version: string;
  schema: z.ZodMiniType<T>;
  /** The value that the schema sees, made of the fields that the file has. */
  prepare?: (fields: Record<string, unknown>) => Record<string, unknown>;
  /** From each older major version to the next one. */
  migrations?: Record<number, (old: Record<string, unknown>) => Record<string, unknown>>;
}

/** A decoded file. `migratedFrom` names the older version that the bytes had. */
export interface Decoded<T> {
  value: T;
  migratedFrom?: string;
}

/** Text of a state file, or exit 4 with the byte offset of what is not UTF-8. */
export function decodeUtf8(bytes: Buffer, file: string): string {
  const bad = (message: string, offset: number): ForgeError =>
    corrupted('file.encoding', `${file}: ${message} (byte ${offset}).`, { file, offset });
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    throw bad('it starts with a byte-order mark', 0);
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    throw bad('it is UTF-16, not UTF-8', 0);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw bad('it is not valid UTF-8', firstInvalidByte(bytes));
  }
}

/** 0-based offset of the first byte that is not UTF-8; the length if all are. */
export function firstInvalidByte(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  let offset = 0;
  for (const part of text.split('\ufffd')) {
    offset += Buffer.byteLength(part, 'utf8');
    const genuine = bytes.subarray(offset, offset + 3).equals(Buffer.from('\ufffd', 'utf8'));
    if (!genuine) return offset;
    offset += 3;
  }
  return bytes.length;
}

/** Decodes and validates a state file. Exit 4 when damaged, 3 when written by a newer forge. */
export function decodeDocument<T>(format: Format<T>, bytes: Buffer, file: string): Decoded<T> {
  const text = decodeUtf8(bytes, file);
  const raw = parseState(text, file);
  const found = versionOf(raw);
  const [major, current] = [majorOf(found), majorOf(format.version)];
  if (Number.isNaN(major))
    throw corrupted('file.version', `${file}: schema_version ${JSON.stringify(found)} is not a version.`, {
      file,
    });
  if (major > current) throw newer(file, found, format.version);
  const value = validate(format, migrate(format, raw, major, current), text, file);
  return major < current ? { value, migratedFrom: found } : { value };
}

const newer = (file: string, found: string, known: string): ForgeError =>
  refused('file.newer', `${file} has format ${found}; this forge knows ${known} and leaves it untouched.`, {
    file,
    hint: UPDATE_HINT,
  });

function parseState(text: string, file: string): Record<string, unknown> {
  refuseConflict(text, file);
  try {
    const value = parseJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    throw new JsonProblem('it is not a JSON object', 0);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    const line = lineAt(text, error.offset);
    const offset = Buffer.byteLength(text.slice(0, error.offset), 'utf8');
    throw corrupted('file.json', `${file}:${line}: ${error.message}.`, { file, line, offset });
  }
}

/** Two branches changed the same place. Both sides are in the file: nothing must be restored over them. */
function refuseConflict(text: string, file: string): void {
  const lines = conflictLines(text);
  if (lines === null) return;
  const { from, to } = lines;
  throw corrupted('file.conflict', `${file}:${from}: it has a merge conflict (lines ${from} to ${to}).`, {
    file,
    line: from,
    hint: 'forge doctor --fix   # merges both sides by id, and shows what it chose',
  });
}

/** Absent means 1 (a source shape without the field). Numbers and texts are both read. */
function versionOf(raw: Record<string, unknown>): string {
  const { schema_version: version = '1.0' } = raw;
  return typeof version === 'string' ? version : JSON.stringify(version);
}

const majorOf = (version: string): number =>
  /^\d+(\.\d+)?$/.test(version) ? Number.parseInt(version, 10) : Number.NaN;

function migrate<T>(
  format: Format<T>,
  raw: Record<string, unknown>,
  from: number,
  to: number,
): Record<string, unknown> {
  let value = raw;
  for (let major = from; major < to; major++) value = format.migrations?.[major]?.(value) ?? value;
  if (from < to) return { ...value, schema_version: format.version };
  return typeof raw.schema_version === 'string' ? raw : { ...raw, schema_version: versionOf(raw) };
}

function validate<T>(
  { schema, prepare }: Format<T>,
  fields: Record<string, unknown>,
  text: string,
  file: string,
): T {
  const value = prepare ? prepare(fields) : fields;
  const result = schema.safeParse(value);
  // Formats check and change nothing; the value itself has its fields in the order of the file.
  if (result.success) return value as T;
  const issue = result.error.issues[0] as z.core.$ZodIssue;
  const path = issue.path as (string | number)[];
  const line = lineAt(text, locateJson(text, path));
  const field = fieldName(path);
  throw corrupted('file.schema', `${file}:${line}: ${field}: ${describeIssue(issue, value)}.`, {
    file,
    line,
    field,
  });
}

/** `features[3].status` */
export function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

/** What was found and what is allowed, in one clause. */
export function describeIssue(issue: z.core.$ZodIssue, root: unknown): string {
  if (issue.code === 'custom') return issue.message;
  const found = issue.path.reduce<unknown>(
    (value, step) => (value as Record<PropertyKey, unknown> | null)?.[step],
    root,
  );
  const shown = found === undefined ? 'nothing' : oneLine(JSON.stringify(found) ?? typeof found, 60);
  return `found ${shown}, allowed: ${allowed(issue)}`;
}

function allowed(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' | ');
    case 'invalid_type':
      return issue.expected === 'int' ? 'a whole number' : `${issue.expected}`;
    case 'unrecognized_keys':
      return `no field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'too_small':
      return `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'regex' ? `text like ${issue.pattern}` : `${issue.format}`;
    case 'invalid_union':
      return issue.errors.map(([first]) => (first ? allowedForm(first) : 'another form')).join(' or ');
    default:
      return issue.message;
  }
}

const allowedForm = (issue: z.core.$ZodIssue): string =>
  issue.path.length > 0 ? `a list of ${allowed(issue)}` : allowed(issue);

/** The bytes to write: same content, same bytes. */
export function encodeDocument<T>(value: T): Buffer {
  return Buffer.from(formatJson(value), 'utf8');
}

/** Validates what a caller gave (flags, library arguments): exit 2 naming the field. */
export function checkInput<T>(schema: z.ZodMiniType<T>, input: unknown): T {
  const result = schema.safeParse(input ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0] as z.core.$ZodIssue;
  const field = fieldName(issue.path) || 'input';
  throw usage('input.invalid', `${field}: ${describeIssue(issue, input)}.`, { field });
}

/** A whole number from a flag. `1e3`, `0x10`, ` 5 ` and signs are no numbers here. */
export function parseWhole(text: string, name: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw usage(
    'number.invalid',
    `${name}: found ${JSON.stringify(escapeControls(text.slice(0, 40)))}, allowed: a whole number from ${min} to ${max}.`,
    {
      field: name,
    },
  );
}

/** Ids are file names on every system: no path, no option, no drive, at most 64 characters. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
// Windows opens a device for these, with any extension.
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;

export function isId(id: string): boolean {
  return ID_PATTERN.test(id) && !id.includes('..') && !id.endsWith('.') && !DEVICE.test(id);
}

/** Returns the id, or throws exit 2. */
export function checkId(id: string, what = 'id'): string {
  if (isId(id)) return id;
  throw usage('id.invalid', `${JSON.stringify(oneLine(id, 80))} is not a valid ${what}.`, {
    hint: 'An id starts with a letter or digit and has letters, digits, ".", "_" and "-", at most 64 in all.',
  });
}

/** The record that `id` names, or would collide with on a case-insensitive disk. */
export function findTwin<T extends { id: string }>(records: readonly T[], id: string): T | undefined {
  const key = id.toLowerCase();
  return records.find((record) => record.id.toLowerCase() === key);
}
