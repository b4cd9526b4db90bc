import { parse, TomlError } from 'smol-toml';

/** Small edits to TOML text that keep every comment and every other line as they are. */

const HEADER = /^\s*\[\s*"?([A-Za-z0-9_-]+)"?\s*\]\s*(#.*)?\r?$/;
const keyLine = (key: string): RegExp => new RegExp(`^\\s*(?:${key}|"${key}")\\s*=`);
/** What stands behind a value: a comment, and the CR of a file with such line ends. */
const REST = /^[^=]*=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^#"'\s]*)(\s*#.*)?\s*?(\r?)$/;

/** What is wrong in a TOML text, and in which line (from 1). */
export class TomlProblem extends Error {
  constructor(
    message: string,
    readonly line: number,
  ) {
    super(message);
  }
}

/** Throws TomlProblem. */
export function readToml(text: string): Record<string, unknown> {
  try {
    return parse(text) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? 'no TOML';
    throw new TomlProblem(reason, error.line);
  }
}

interface Table {
  /** Index of the header line; -1 for the top. */
  header: number;
  /** Index after its last line. */
  end: number;
}

function findTable(lines: readonly string[], name: string | null): Table | null {
  let header = name === null ? -1 : null;
  for (const [index, line] of lines.entries()) {
    if (!/^\s*\[/.test(line)) continue;
    if (header !== null) return { header, end: index };
    if (HEADER.exec(line)?.[1] === name) header = index;
  }
  return header === null ? null : { header, end: lines.length };
}

/** 1-based line of a `[table] key` (or of a top-level key, which may hold the table); 1 when it cannot be found. */
export function lineOfKey(text: string, path: readonly string[]): number {
  const lines = text.split('\n');
  const [key = '', ...tables] = [...path].reverse();
  const table = findTable(lines, tables.length > 0 ? tables.reverse().join('.') : null);
  const isKey = keyLine(key);
  if (table) {
    const at = lines.findIndex((line, i) => i > table.header && i < table.end && isKey.test(line));
    return (at >= 0 ? at : Math.max(table.header, 0)) + 1;
  }
  // `table.key = …` or `table = { key = … }`, at the top.
  const other = new RegExp(`^\\s*${path[0]}\\s*(?:=|\\.\\s*${path[1]}\\s*=)`);
  return (
    Math.max(
      lines.findIndex((line) => other.test(line)),
      0,
    ) + 1
  );
}

type TomlValue = string | number | boolean | readonly string[];

/** A TOML value on one line. JSON escapes texts as basic strings have them. */
export const formatTomlValue = (value: TomlValue): string =>
  JSON.stringify(value).replaceAll('\u007f', '\\u007f');

/** Sets `[table] key = value`: in place, else where a comment shows the key's default, else at the table's end. */
export function setTomlValue(text: string, table: string, key: string, value: TomlValue): string {
  const lines = text.split('\n');
  const bare = `${key} = ${formatTomlValue(value)}`;
  const end = lines[0]?.endsWith('\r') ? '\r' : '';
  const line = bare + end;
  const found = findTable(lines, table);
  if (!found)
    return `${text}${text === '' || text.endsWith('\n') ? '' : `${end}\n`}${end}\n[${table}]${end}\n${line}\n`;
  const inTable = (pattern: RegExp): number =>
    lines.findIndex((candidate, i) => i > found.header && i < found.end && pattern.test(candidate));
  const at = inTable(keyLine(key));
  const [, comment = '', cr = ''] = REST.exec(lines[at] ?? '') ?? [];
  if (at >= 0) lines[at] = bare + comment + cr;
  else {
    const shown = inTable(new RegExp(`^\\s*#\\s*${key}\\s*=`));
    if (shown >= 0) lines.splice(shown + 1, 0, line);
    else lines.splice(lastLine(lines, found) + 1, 0, line);
  }
  return lines.join('\n');
}

/** Of what is set in the table: a comment at its end belongs to the table that follows. */
function lastLine(lines: readonly string[], { header, end }: Table): number {
  let last = end - 1;
  while (last > header && /^\s*(#|$)/.test(lines[last] ?? '')) last--;
  return last;
}
