import { readToml, TomlProblem } from '../core/toml.js';
import {
  foreignEntry,
  isOwnServer,
  isSame,
  lineEndOf,
  type PartState,
  SettingsProblem,
  stateOf,
  type TomlPart,
  unsafeLayout,
} from './parts.js';

const BEGIN = '<!-- forge:begin -->';
const END = '<!-- forge:end -->';

const blockLines = (content: string): string[] => [BEGIN, ...content.trim().split('\n'), END];

/** Puts the text between forge's two marks: where they are, or at the end. */
export function putBlock(text: string, content: string): string {
  const place = findBlock(text);
  if (!place) return appendLines(text, blockLines(content));
  return text.slice(0, place.start) + blockLines(content).join(lineEndOf(text)) + text.slice(place.end);
}

export function dropBlock(text: string): string {
  const place = findBlock(text);
  return place ? removeLines(text, place.start, place.end) : text;
}

export function findBlockState(text: string, content: string): PartState {
  const place = findBlock(text);
  const found = place && text.slice(place.start, place.end);
  return stateOf(found, place !== null, blockLines(content).join(lineEndOf(text)));
}

function findBlock(text: string): { start: number; end: number } | null {
  const offsets = (mark: string): number[] =>
    [...text.matchAll(new RegExp(`(?<=^\\ufeff?)${mark}(?=[ \\t]*\\r?$)`, 'gm'))].map(({ index }) => index);
  const [begins, ends] = [offsets(BEGIN), offsets(END)];
  const [start, end] = [begins[0], ends[0]];
  if (start === undefined && end === undefined) return null;
  if (start !== undefined && end !== undefined && begins.length + ends.length === 2 && start < end)
    return { start, end: end + END.length };
  const hint = 'Leave one pair of the marks, or none.';
  throw new SettingsProblem(`${BEGIN} and ${END} are not one pair`, start ?? end, hint);
}

type Plain = Record<string, unknown>;

/** The server of a text and the one that forge would write, as values. */
function compareServers(text: string, part: TomlPart) {
  const settings = parseSettings(text);
  const [found, wanted] = [settings, readToml(tableText(part))].map((value) => serverIn(value, part));
  return { settings, found, wanted };
}

/** Puts the table at the end. Replaces forge's own older one. */
export function putTable(text: string, part: TomlPart): string {
  const { found, wanted } = compareServers(text, part);
  if (isSame(found, wanted)) return text;
  if (found !== undefined && !isOwnServer(found)) throw foreignEntry(part.table, findTable(text, part).start);
  const without = dropTable(text, part);
  const after = appendLines(without, tableText(part).split('\n'));
  return checked(after, withServer(parseSettings(without), part, wanted));
}

/** Removes forge's table. Keeps a person's own table of that name. */
export function dropTable(text: string, part: TomlPart): string {
  const { settings, found } = compareServers(text, part);
  if (!isOwnServer(found)) return text;
  const { start, end } = findTable(text, part);
  return checked(removeLines(text, start, end), withServer(settings, part, undefined));
}

export function findTableState(text: string, part: TomlPart): PartState {
  const { found, wanted } = compareServers(text, part);
  return stateOf(found, isOwnServer(found), wanted);
}

const tableText = ({ table, lines }: TomlPart): string => [`[${table}]`, ...lines].join('\n');

const serverIn = (settings: Plain, { table }: TomlPart): unknown =>
  table.split('.').reduce<unknown>((inner, key) => (inner as Plain | undefined)?.[key], settings);

/** The settings with another server; undefined: without it, and without the servers if none is left. */
function withServer(before: Plain, { table }: TomlPart, value: unknown): Plain {
  const [group = '', name = ''] = table.split('.');
  const { [group]: servers, ...rest } = before;
  const { [name]: _, ...others } = (servers ?? {}) as Plain;
  const after = value === undefined ? others : { ...others, [name]: value };
  return Object.keys(after).length > 0 ? { ...before, [group]: after } : rest;
}

function parseSettings(text: string): Plain {
  try {
    return readToml(text.replace(/^\ufeff/, ''));
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    const before = text.split('\n').slice(0, error.line - 1);
    const offset = before.reduce((sum, line) => sum + line.length + 1, 0);
    const hint = 'Fix the file, then run the command again.';
    throw new SettingsProblem(`it is not TOML (${error.message})`, offset, hint);
  }
}

/** Refuses an edit that means something else. Dotted keys and inline tables are not edited. */
function checked(text: string, meant: Plain): string {
  try {
    if (isSame(parseSettings(text), meant)) return text;
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
  }
  throw unsafeLayout('Write it as tables with a line [name] each, then try again.');
}

/** Where the table with its sub-tables is. An empty range if it is not written as a table. */
function findTable(text: string, { table }: TomlPart): { start: number; end: number } {
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
  return { start: start ?? 0, end };
}

/** Appends lines after an empty line. A text without a final line ending stays without one. */
function appendLines(text: string, lines: readonly string[]): string {
  const end = lineEndOf(text);
  const body = lines.join(end);
  if (text === '' || text === '\ufeff' || text.endsWith(end + end)) return text + body + end;
  return text.endsWith('\n') ? text + end + body + end : text + end + end + body;
}

/** Removes the lines from `start` (of the first) to `end` (before the line ending of the last), and an empty line before. */
function removeLines(text: string, start: number, end: number): string {
  const [all, first = '', second = ''] = /(\r?\n)?(\r?\n)?$/.exec(text.slice(0, start)) as RegExpExecArray;
  const behind = /^\r?\n/.exec(text.slice(end))?.[0] ?? '';
  const isBlankBefore = second !== '' || start === first.length;
  const from = behind === '' ? start - all.length : isBlankBefore ? start - (second || first).length : start;
  return text.slice(0, from) + text.slice(end + behind.length);
}
