import { explainSyntax } from '../core/error.js';
import { readToml } from '../core/toml.js';
import { isSame } from '../feature/rules.js';
import { dropJson, isBareJson, putJson } from './edit-json.js';
import {
  foreignEntry,
  isOwnServer,
  lineEndOf,
  type Part,
  type PartState,
  SettingsProblem,
  type TomlPart,
  unsafeLayout,
} from './parts.js';

/** The text of a file with forge's parts, next to what is there. Replaces forge's own older ones. */
export const putParts = (text: string | null, parts: readonly Part[]): string =>
  parts.reduce(putPart, text ?? '');

/** The text without forge. Null for no file: nothing else is in it. */
export function dropParts(text: string | null, parts: readonly Part[]): string | null {
  if (text === null) return null;
  const rest = parts.reduce(dropPart, text);
  return rest !== text && parts.every((part) => isBare(rest, text, part)) ? null : rest;
}

/** Forge's plugin names the command that wrote it. */
const isOwnFile = (text: string): boolean => text.includes('forge agent install');

function putPart(text: string, part: Part): string {
  if (part.kind === 'json') return putJson(text, part.agent, part);
  if (part.kind === 'toml') return putTable(text, part);
  if (part.kind === 'lines') return text.includes(part.text) ? text : part.text + text;
  if (text.trim() === '' || isOwnFile(text)) return part.text;
  const hint = 'Move it away, then run the command again.';
  throw new SettingsProblem("it is there already and is not forge's", null, hint);
}

function dropPart(text: string, part: Part): string {
  if (part.kind === 'json') return dropJson(text, part.agent, part);
  if (part.kind === 'toml') return dropTable(text, part);
  if (part.kind === 'lines') return text.replace(part.text, '');
  return isOwnFile(text) ? '' : text;
}

/** What a file has of a part, by what an install and an uninstall would change. */
export function findPart(text: string, part: Part): PartState {
  if (putPart(text, part) === text) return 'wired';
  return dropPart(text, part) === text ? 'missing' : 'changed';
}

const isBare = (text: string, before: string, part: Part): boolean =>
  part.kind === 'json' ? isBareJson(text, before, part) : text.trim() === '';

type Plain = Record<string, unknown>;

/** Puts the table at the end. Replaces forge's own older one. */
function putTable(text: string, part: TomlPart): string {
  const found = serverIn(parseSettings(text), part);
  const wanted = serverIn(readToml(tableText(part)), part);
  if (isSame(found, wanted)) return text;
  if (found !== undefined && !isOwnServer(found)) throw foreignEntry(part.table, findTable(text, part).start);
  const rest = dropTable(text, part);
  return checked(rest, appendLines(rest, tableText(part).split('\n')), part, wanted);
}

/** Removes forge's table. Keeps a person's own table of that name. */
function dropTable(text: string, part: TomlPart): string {
  if (!isOwnServer(serverIn(parseSettings(text), part))) return text;
  const { start, end } = findTable(text, part);
  return checked(text, removeLines(text, start, end), part, undefined);
}

const tableText = ({ table, lines }: TomlPart): string => [`[${table}]`, ...lines].join('\n');

const serverIn = (settings: Plain, { table }: TomlPart): unknown =>
  table.split('.').reduce<unknown>((inner, key) => (inner as Plain | undefined)?.[key], settings);

/** The rest of the settings, without empty tables: one of a person may contain forge's alone. */
function othersIn(settings: Plain, { table }: TomlPart): unknown[] {
  const [group = '', name = ''] = table.split('.');
  const { [name]: _, ...others } = (settings[group] ?? {}) as Plain;
  return Object.entries({ ...settings, [group]: others }).filter(([, value]) => !isSame(value, {}));
}

const parseSettings = (text: string): Plain =>
  explainSyntax(readToml, text.replace(/^\ufeff/, ''), ({ message, line = 1 }) => {
    const before = text.split('\n').slice(0, line - 1);
    const offset = before.reduce((sum, each) => sum + each.length + 1, 0);
    const hint = 'Fix the file, then run the command again.';
    return new SettingsProblem(`it is not TOML (${message})`, offset, hint);
  });

/** Refuses an edit unless the text now has this server and else what it had. Dotted keys and inline tables are not edited. */
function checked(before: string, after: string, part: TomlPart, server: unknown): string {
  try {
    const [old, now] = [before, after].map(parseSettings) as [Plain, Plain];
    if (isSame(serverIn(now, part), server) && isSame(othersIn(old, part), othersIn(now, part))) return after;
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
  if (text === '' || text === '\ufeff') return text + body + end;
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
