import { isUtf8 } from 'node:buffer';
import type * as z from 'zod/mini';
import { corrupted, type ForgeError, refused, SyntaxProblem, UPDATE_HINT, usage } from './error.js';
import { formatJson, locateJson, parseJson } from './json.js';
import { escapeControls, isObject, lineAt, oneLine } from './text.js';

export interface Format<T> {
  /** Its name in `forge schema NAME`. */
  name: string;
  /** The version written today, `major.minor`. */
  version: string;
  schema: z.ZodMiniType<T>;
  /** Makes the value that the schema checks from the fields of the file. */
  prepare?: (fields: Record<string, unknown>) => Record<string, unknown>;
}

/** The text of a state file; exit 4 with the byte offset of what is not UTF-8. */
export function decodeUtf8(bytes: Buffer, file: string): string {
  const bad = (message: string, offset: number): ForgeError =>
    corrupted('file.encoding', `${file}: ${message} (byte ${offset}).`, { file, offset });
  const start = bytes.subarray(0, 3).toString('hex');
  if (start === 'efbbbf') throw bad('it starts with a byte-order mark', 0);
  if (/^(fffe|feff)/.test(start)) throw bad('it is UTF-16, not UTF-8', 0);
  if (!isUtf8(bytes)) throw bad('it is not valid UTF-8', firstInvalidByte(bytes));
  return bytes.toString('utf8');
}

/** The same for a file that people write: some editors begin it with a byte-order mark. */
export const decodeProse = (bytes: Buffer, file: string): string =>
  decodeUtf8(bytes.subarray(0, 3).toString('hex') === 'efbbbf' ? bytes.subarray(3) : bytes, file);

/** 0-based offset of the first byte that is not UTF-8; the length when all bytes are. */
function firstInvalidByte(bytes: Buffer): number {
  let offset = 0;
  for (const part of bytes.toString('utf8').split('\ufffd')) {
    offset += Buffer.byteLength(part, 'utf8');
    // The replacement character itself may be in the text.
    if (bytes.subarray(offset, offset + 3).toString('hex') !== 'efbfbd') return offset;
    offset += 3;
  }
  return bytes.length;
}

/** Decodes and checks a state file. Exit 4 when it is damaged, 3 when a newer forge wrote it. */
export function decodeDocument<T>(format: Format<T>, bytes: Buffer, file: string): T {
  const text = decodeUtf8(bytes, file);
  const raw = parseState(text, file);
  // The shapes in RFC-9060 have no version, which means 1. Numbers are read like texts.
  const { schema_version: given = '1.0' } = raw;
  const version = typeof given === 'string' ? given : JSON.stringify(given);
  const major = /^[1-9]\d*(\.\d+)?$/.test(version) ? Number.parseInt(version, 10) : Number.NaN;
  const problem = `${file}: schema_version ${JSON.stringify(version)} is not a version.`;
  if (Number.isNaN(major)) throw corrupted('file.version', problem, { file });
  const newer = `${file} has format ${version}; this forge knows ${format.version} and leaves it untouched.`;
  if (major > Number.parseInt(format.version, 10))
    throw refused('file.newer', newer, { file, hint: UPDATE_HINT });
  if (typeof raw.schema_version !== 'string') raw.schema_version = version;
  return validate(format, raw, text, file);
}

function parseState(text: string, file: string): Record<string, unknown> {
  refuseConflict(text, file, 'forge doctor --fix   # merges both sides by id, and shows what it chose');
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
    throw new SyntaxProblem('it is not a JSON object', 1);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { message, line } = error;
    const offset = Buffer.byteLength(text.slice(0, error.offset), 'utf8');
    throw corrupted('file.json', `${file}:${line}: ${message}.`, { file, line, offset });
  }
}

/** 1-based lines of the first merge conflict; null without one. `conflict-marker-size` may make its markers longer. */
export function conflictLines(text: string): { from: number; to: number } | null {
  if (!text.includes('<<<<<<<')) return null;
  const lines = text.split('\n');
  const from = lines.findIndex((line) => /^<{7,}(?: |\r?$)/.test(line));
  const to = lines.findIndex((line, at) => at > from && /^>{7,}(?: |\r?$)/.test(line));
  return from < 0 || to < 0 ? null : { from: from + 1, to: to + 1 };
}

/** Exit 4 `file.conflict` for text with git's conflict markers. */
export function refuseConflict(text: string, file: string, hint: string): void {
  const lines = conflictLines(text);
  if (lines === null) return;
  const { from, to } = lines;
  const message = `${file}:${from}: it has a merge conflict (lines ${from} to ${to}).`;
  throw corrupted('file.conflict', message, { file, line: from, hint });
}

function validate<T>(
  { schema, prepare = (fields) => fields }: Format<T>,
  fields: Record<string, unknown>,
  text: string,
  file: string,
): T {
  const value = prepare(fields);
  const result = schema.safeParse(value);
  // Schemas only check. The value itself has its fields in the order of the file.
  if (result.success) return value as T;
  const issue = result.error.issues[0] as z.core.$ZodIssue;
  const line = lineAt(text, locateJson(text, issue.path as (string | number)[]));
  const field = fieldName(issue.path);
  const message = `${file}:${line}: ${field}: ${describeIssue(issue, value)}.`;
  throw corrupted('file.schema', message, { file, line, field });
}

/** `features[3].status` */
export function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

/** One clause: what was found and what is allowed. */
export function describeIssue(issue: z.core.$ZodIssue, root: unknown): string {
  if (issue.code === 'custom') return issue.message;
  const found = issue.path.reduce((value, step) => (value as never)?.[step], root);
  const shown =
    found === undefined ? 'missing' : `found ${oneLine(JSON.stringify(found) ?? typeof found, 60)}`;
  return `${shown}, allowed: ${allowed(issue)}`;
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

/** The same value always has the same bytes. */
export const encodeDocument = (value: unknown): Buffer => Buffer.from(formatJson(value), 'utf8');

/** Checks flags and library arguments; exit 2 names the field. */
export function checkInput<T>(schema: z.ZodMiniType<T>, input: unknown): T {
  const result = schema.safeParse(input ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0] as z.core.$ZodIssue;
  const field = fieldName(issue.path) || 'input';
  throw usage('input.invalid', `${field}: ${describeIssue(issue, input)}.`, { field });
}

/** A whole number from a flag, digits only: not `1e3`, `0x10`, ` 5 ` or `-1`. */
export function parseWhole(text: string, name: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const found = JSON.stringify(escapeControls(text.slice(0, 40)));
  const message = `${name}: found ${found}, allowed: a whole number from ${min} to ${max}.`;
  throw usage('number.invalid', message, { field: name });
}

/** Ids are valid file names on every system, and never options. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Windows opens devices by these names, with any extension. */
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;

export function isId(id: string): boolean {
  return ID_PATTERN.test(id) && !id.includes('..') && !id.endsWith('.') && !DEVICE.test(id);
}

export function checkId(id: string, what = 'id'): string {
  if (isId(id)) return id;
  throw usage('id.invalid', `${JSON.stringify(oneLine(id, 80))} is not a valid ${what}.`, {
    hint: 'An id starts with a letter or digit and has letters, digits, ".", "_" and "-", at most 64 in all.',
  });
}

/** Ids are equal in any case, because some disks ignore it. */
export const isSameId = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The record with that id. */
export const findTwin = <T extends { id: string }>(records: readonly T[], id: string): T | undefined =>
  records.find((record) => isSameId(record.id, id));
