import { parse, TomlError } from 'smol-toml';
import { SyntaxProblem } from './error.js';

/** Throws SyntaxProblem with a line. */
export function readToml(text: string): Record<string, unknown> {
  try {
    return parse(text) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? 'invalid TOML';
    throw new SyntaxProblem(reason, error.line);
  }
}

const HEADER = /^\s*\[\s*"?([A-Za-z0-9_-]+)"?\s*\]\s*(#.*)?\r?$/;
const keyLine = (key: string): RegExp => new RegExp(`^\\s*(?:${key}|"${key}")\\s*=`);
/** A key with its value. A list may take several lines. The groups are a comment behind it, and CR. */
const SETTING =
  /^[^=]*=[ \t]*(?:"(?:[^"\\]|\\.)*"|'[^']*'|\[(?:[^"'#\]]|#[^\n]*\n|"(?:[^"\\]|\\.)*"|'[^']*')*\]|[^#"'[\s]*)([ \t]*#.*)?[ \t]*(\r?)(?:\n|$)/;

interface Table {
  /** Index of the header line; -1 for the top. */
  header: number;
  /** Index after its last line. */
  end: number;
}

function findTable(lines: readonly string[], name: string | undefined): Table | null {
  const header = name === undefined ? -1 : lines.findIndex((line) => HEADER.exec(line)?.[1] === name);
  if (name !== undefined && header < 0) return null;
  const end = lines.findIndex((line, i) => i > header && /^\s*\[/.test(line));
  return { header, end: end < 0 ? lines.length : end };
}

const findLine = (lines: readonly string[], { header, end }: Table, pattern: RegExp): number =>
  lines.findIndex((line, i) => i > header && i < end && pattern.test(line));

/** 1-based line of `[table] key`, or of a top-level key; the table's header or 1 when it is not found. */
export function lineOfKey(text: string, path: readonly string[]): number {
  const lines = text.split('\n');
  const key = path.at(-1) ?? '';
  const table = findTable(lines, path.at(-2));
  if (table) return Math.max(findLine(lines, table, keyLine(key)), table.header, 0) + 1;
  // `table.key = …` or `table = { key = … }`, at the top.
  const inline = new RegExp(`^\\s*${path[0]}\\s*(?:=|\\.\\s*${path[1]}\\s*=)`);
  const at = lines.findIndex((line) => inline.test(line));
  return Math.max(at, 0) + 1;
}

type TomlValue = string | number | boolean | readonly string[];

/** A TOML value on one line. Basic strings have the escapes of JSON. */
export const formatTomlValue = (value: TomlValue): string =>
  JSON.stringify(value).replaceAll('\u007f', '\\u007f');

/** Sets `[table] key = value`: in place, else below a comment with the key's default, else at the table's end. */
export function setTomlValue(text: string, table: string, key: string, value: TomlValue): string {
  const lines = text.split('\n');
  const setting = `${key} = ${formatTomlValue(value)}`;
  const end = lines[0]?.endsWith('\r') ? '\r' : '';
  const found = findTable(lines, table);
  if (!found) {
    const gap = text === '' || text.endsWith('\n') ? '' : `${end}\n`;
    return `${text}${gap}${end}\n[${table}]${end}\n${setting}${end}\n`;
  }
  const at = findLine(lines, found, keyLine(key));
  if (at >= 0) {
    const [old = '', comment = '', cr = ''] = SETTING.exec(lines.slice(at, found.end).join('\n')) ?? [];
    lines.splice(at, old.trimEnd().split('\n').length, setting + comment + cr);
  } else {
    const shown = findLine(lines, found, new RegExp(`^\\s*#\\s*${key}\\s*=`));
    lines.splice((shown >= 0 ? shown : lastSetting(lines, found)) + 1, 0, setting + end);
  }
  return lines.join('\n');
}

/** A comment at the end of a table belongs to the next table. */
function lastSetting(lines: readonly string[], { header, end }: Table): number {
  let last = end - 1;
  while (last > header && /^\s*(#|$)/.test(lines[last] ?? '')) last--;
  return last;
}
