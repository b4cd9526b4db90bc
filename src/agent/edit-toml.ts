import { readToml, TomlProblem } from '../core/toml.js';
import {
  appendLines,
  commandsIn,
  type Found,
  isOwnServer,
  isSame,
  lineEndOf,
  quotePath,
  removeLines,
  SettingsProblem,
  type TomlPart,
} from './parts.js';

type Plain = Record<string, unknown>;

/** Puts the table at the end; forge's own is replaced where it is. */
export function putTable(text: string, part: TomlPart): string {
  const before = readSettings(text);
  const value = wantedValue(part);
  const found = valueAt(before, pathOf(part));
  if (isSame(found, value)) return text;
  const { start, end } = placeOf(text, part);
  if (found !== undefined && !isOwnServer(found))
    throw new SettingsProblem(
      `${quotePath([part.table])} is there already and is not forge's`,
      start,
      'Give it another name.',
    );
  const lines = linesOf(part);
  const after =
    found === undefined
      ? appendLines(text, lines)
      : text.slice(0, start) + lines.join(lineEndOf(text)) + text.slice(end);
  return checked(after, withValue(before, pathOf(part), value));
}

/** Removes forge's table; a person's own of that name stays. */
export function dropTable(text: string, part: TomlPart): string {
  const before = readSettings(text);
  if (!isOwnServer(valueAt(before, pathOf(part)))) return text;
  const { start, end } = placeOf(text, part);
  return checked(removeLines(text, start, end), withValue(before, pathOf(part), undefined));
}

export function findTableState(text: string, part: TomlPart): Found {
  const value = valueAt(readSettings(text), pathOf(part));
  const state = isSame(value, wantedValue(part)) ? 'wired' : isOwnServer(value) ? 'changed' : 'missing';
  return { state, isServer: true, commands: commandsIn('codex', value) };
}

const linesOf = ({ table, lines }: TomlPart): string[] => [`[${table}]`, ...lines];
const pathOf = ({ table }: TomlPart): string[] => table.split('.');
const wantedValue = (part: TomlPart): unknown => valueAt(readToml(linesOf(part).join('\n')), pathOf(part));

const parse = (text: string): Plain => readToml(text.replace(/^\ufeff/, ''));

function readSettings(text: string): Plain {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    const before = text.split('\n').slice(0, error.line - 1);
    const offset = before.reduce((sum, line) => sum + line.length + 1, 0);
    throw new SettingsProblem(
      `it is not TOML (${error.message})`,
      offset,
      'Fix the file, then run it again.',
    );
  }
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Plain | undefined)?.[key], value);

/** The settings with another value at a path; without it and the tables that are empty then for undefined. */
function withValue(before: Plain, [key = '', ...rest]: readonly string[], value: unknown): Plain {
  const inner = rest.length === 0 ? value : withValue((before[key] ?? {}) as Plain, rest, value);
  const { [key]: _, ...others } = before;
  const isEmpty = inner === undefined || (value === undefined && isSame(inner, {}));
  return isEmpty ? others : { ...before, [key]: inner };
}

/** Refuses an edit that means something else: dotted keys and inline tables are not edited. */
function checked(text: string, meant: Plain): string {
  try {
    if (isSame(parse(text), meant)) return text;
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
  }
  throw new SettingsProblem(
    'it is laid out in a way that forge cannot edit safely',
    null,
    'Write it as tables with a line [name] each, then try again.',
  );
}

/** Where the table is, its sub-tables included; nothing where it is not written as a table. */
function placeOf(text: string, { table }: TomlPart): { start: number; end: number } {
  const name = table.replaceAll('.', '\\s*\\.\\s*');
  const header = new RegExp(`^[ \\t]*\\[\\s*${name}\\s*(\\.[^\\]]*)?\\]`);
  let start: number | null = null;
  let [offset, end] = [0, 0];
  for (const line of text.split('\n')) {
    const isOwn = header.test(line);
    if (start !== null && !isOwn && /^\s*\[/.test(line)) break;
    if (isOwn) start ??= offset;
    // Comments at its end belong to what follows.
    if (start !== null && !/^\s*(#|$)/.test(line)) end = offset + line.trimEnd().length;
    offset += line.length + 1;
  }
  return start === null ? { start: 0, end: 0 } : { start, end };
}
