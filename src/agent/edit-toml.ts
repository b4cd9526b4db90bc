import { lineOfKey, readToml, TomlProblem } from '../core/toml.js';
import { appendLines, type Draft, lineEndOf, removeLines, WiringProblem } from './draft.js';
import { named } from './json-tree.js';
import { isOwnServer, isSame } from './own.js';
import type { Fixture, Found } from './wiring-rules.js';

export type Table = Fixture & { kind: 'table' };
type Plain = Record<string, unknown>;

/** Puts a table at the end; one of forge's that is there already gets the lines, where it is. */
export function putTable(draft: Draft, fixture: Table): void {
  const before = parseSettings(draft.text);
  const meant = parseSettings(linesOf(fixture).join('\n'));
  const found = valueAt(before, pathOf(fixture));
  if (isSame(found, valueAt(meant, pathOf(fixture)))) return;
  if (found === undefined) appendLines(draft, linesOf(fixture));
  else replaceTable(draft, fixture, found);
  expectValue(draft, merged(before, meant, pathOf(fixture)));
}

function replaceTable(draft: Draft, fixture: Table, found: unknown): void {
  const { start, end } = requireOwn(draft.text, fixture, found);
  const inserted = linesOf(fixture).join(lineEndOf(draft.text));
  draft.apply([{ offset: start, removed: end - start, inserted }]);
}

/** Takes forge's table out; a person's own of that name stays. */
export function dropTable(draft: Draft, fixture: Table): void {
  const before = parseSettings(draft.text);
  const found = valueAt(before, pathOf(fixture));
  if (!isOwnServer(found)) return;
  const { start, end } = requireOwn(draft.text, fixture, found);
  removeLines(draft, start, end);
  expectValue(draft, without(before, pathOf(fixture)));
}

export function lookForTable(text: string, fixture: Table): Found {
  const value = valueAt(parseSettings(text), pathOf(fixture));
  if (value === undefined) return { state: 'missing', value };
  const meant = valueAt(parseSettings(linesOf(fixture).join('\n')), pathOf(fixture));
  return { state: isSame(value, meant) ? 'wired' : isOwnServer(value) ? 'changed' : 'missing', value };
}

const linesOf = ({ name, lines }: Table): string[] => [`[${name}]`, ...lines];
const pathOf = ({ name }: Table): string[] => name.split('.');

function parseSettings(text: string): Plain {
  try {
    return readToml(text.replace(/^\ufeff/, ''));
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    const before = text.split('\n').slice(0, error.line - 1);
    const offset = before.reduce((sum, line) => sum + line.length + 1, 0);
    throw new WiringProblem(`it is no TOML (${error.message})`, offset, 'Mend the file, then run it again.');
  }
}

const valueAt = (value: unknown, [key, ...rest]: readonly string[]): unknown =>
  key === undefined ? value : valueAt((value as Plain | undefined)?.[key], rest);

function merged(before: Plain, meant: Plain, [key = '', ...rest]: readonly string[]): Plain {
  if (rest.length === 0) return { ...before, [key]: meant[key] };
  return { ...before, [key]: merged((before[key] ?? {}) as Plain, meant[key] as Plain, rest) };
}

/** Tables above that hold nothing else were never written. */
function without(before: Plain, [key = '', ...rest]: readonly string[]): Plain {
  const { [key]: value, ...others } = before;
  const inner = rest.length === 0 ? {} : without(value as Plain, rest);
  return Object.keys(inner).length === 0 ? others : { ...before, [key]: inner };
}

/** Such as a parent that is written on one line, which takes no table any more. */
function expectValue(draft: Draft, expected: Plain): void {
  let after: Plain | null = null;
  try {
    after = readToml(draft.text.replace(/^\ufeff/, ''));
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
  }
  if (!isSame(after, expected))
    throw new WiringProblem(
      'it is laid out in a way that forge cannot edit safely',
      null,
      'Write it as tables with a line [name] each, then try again.',
    );
}

/** Where the table stands, its sub-tables with it; refused when it is not forge's, or not written as a table. */
function requireOwn(text: string, fixture: Table, found: unknown): { start: number; end: number } {
  const place = findTable(text, fixture.name);
  const line = lineOfKey(text, pathOf(fixture));
  const offset = place?.start ?? text.split('\n', line - 1).join('\n').length + (line > 1 ? 1 : 0);
  if (!isOwnServer(found))
    throw new WiringProblem(
      `${named([fixture.name])} is there already and is not forge's`,
      offset,
      'Give it another name.',
    );
  if (!place)
    throw new WiringProblem(
      `${named([fixture.name])} is not written as a table`,
      offset,
      `Write it as [${fixture.name}].`,
    );
  return place;
}

function findTable(text: string, name: string): { start: number; end: number } | null {
  const escaped = name.replaceAll('.', '\\s*\\.\\s*');
  const header = new RegExp(`^[ \\t]*\\[\\s*${escaped}\\s*(\\.[^\\]]*)?\\]`);
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
  return start === null ? null : { start, end };
}
