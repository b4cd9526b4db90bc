/** Small edits to TOML text that keep every comment and every other line as they are. */

const HEADER = /^\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(#.*)?$/;
const keyLine = (key: string): RegExp => new RegExp(`^\\s*(?:${key}|"${key}")\\s*=`);

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

/** 1-based line of a `[table] key` (or of a top-level key); 1 when it is written in another form. */
export function lineOfKey(text: string, path: readonly string[]): number {
  const lines = text.split('\n');
  const [key, ...tables] = [...path].reverse();
  const table = findTable(lines, tables.length > 0 ? tables.reverse().join('.') : null);
  if (!table || key === undefined) return 1;
  const at = lines.findIndex((line, i) => i > table.header && i < table.end && keyLine(key).test(line));
  return (at >= 0 ? at : Math.max(table.header, 0)) + 1;
}

/** A TOML value on one line. Texts are basic strings, as JSON escapes them. */
export function formatTomlValue(value: string | number | boolean): string {
  return typeof value === 'string' ? JSON.stringify(value).replaceAll('\u007f', '\\u007f') : String(value);
}

/** Sets `[table] key = value`: in place, else where a comment shows the key's default, else at the table's end. */
export function setTomlValue(
  text: string,
  table: string,
  key: string,
  value: string | number | boolean,
): string {
  const lines = text.split('\n');
  const line = `${key} = ${formatTomlValue(value)}`;
  const found = findTable(lines, table);
  if (!found) return `${text.replace(/\n*$/, '\n')}\n[${table}]\n${line}\n`;
  const inTable = (pattern: RegExp): number =>
    lines.findIndex((candidate, i) => i > found.header && i < found.end && pattern.test(candidate));
  const at = inTable(keyLine(key));
  if (at >= 0) lines[at] = `${line}${/\s+#[^"']*$/.exec(lines[at] ?? '')?.[0] ?? ''}`;
  else {
    const shown = inTable(new RegExp(`^\\s*#\\s*${key}\\s*=`));
    if (shown >= 0) lines.splice(shown + 1, 0, line);
    else lines.splice(lastLine(lines, found) + 1, 0, line);
  }
  return lines.join('\n');
}

function lastLine(lines: readonly string[], { header, end }: Table): number {
  let last = end - 1;
  while (last > header && lines[last]?.trim() === '') last--;
  return last;
}
