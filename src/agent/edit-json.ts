import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { AGENTS, type AgentName, runsHook } from './agents.js';
import {
  commandsIn,
  type Found,
  isOwnServer,
  isSame,
  type JsonPart,
  lineEndOf,
  quotePath,
  SettingsProblem,
} from './parts.js';

type Path = readonly (string | number)[];
type Plain = Record<string | number, unknown>;

/** Puts hooks at the end of their lists and the server into its object; forge's own entries are replaced. */
export function putJson(
  text: string,
  agent: AgentName,
  { hooks, server, allow, beginning }: JsonPart,
): string {
  const begun = parseSettings(text) ? text : `${text}${JSON.stringify(beginning, null, 2)}\n`;
  const wired = writeHooks(begun, agent, hooks);
  const missing = allow?.items.filter((item) => !listAt(wired, allow.at).includes(item)) ?? [];
  const after = missing.reduce((now, item) => appendTo(now, allow?.at ?? [], item), wired);
  return server ? putServer(after, server) : after;
}

/** Removes every hook of forge and its server, with the lists and objects that are empty then. */
export function dropJson(text: string, agent: AgentName, { server }: JsonPart): string {
  if (!parseSettings(text)) return text;
  const after = dropAllowed(writeHooks(text, agent, {}), agent);
  return server && isOwnServer(valueAt(after, server.path)) ? prune(after, server.path) : after;
}

/** Permissions are forge's by their name, whoever wrote them. */
function dropAllowed(text: string, agent: AgentName): string {
  const { allow } = AGENTS[agent];
  if (!allow || !('items' in allow)) return text;
  const found = allow.at.reduce<unknown>((box, key) => (box as Plain | undefined)?.[key], readValue(text));
  if (!Array.isArray(found)) return text;
  const own = [...found.keys()].filter((index) => allow.items.includes(found[index] as string));
  const after = own.reverse().reduce((now, index) => removeAt(now, [...allow.at, index]), text);
  return own.length > 0 ? prune(after, allow.at) : after;
}

/** What the file holds of each hook and of the server. */
export function findInJson(text: string, agent: AgentName, { hooks, server }: JsonPart): Found[] {
  const events = Object.entries(hooks).map(([event, item]): Found => {
    const own = listAt(text, ['hooks', event]).filter(
      (found) => runsHook(agent, found) || isSame(found, item),
    );
    const state =
      own.length === 0 ? 'missing' : own.some((found) => isSame(found, item)) ? 'wired' : 'changed';
    return { state, isServer: false, commands: own.flatMap((found) => commandsIn(agent, found)) };
  });
  if (!server) return events;
  const found = valueAt(text, server.path);
  const state = isSame(found, server.value) ? 'wired' : isOwnServer(found) ? 'changed' : 'missing';
  return [...events, { state, isServer: true, commands: commandsIn(agent, found) }];
}

/** True when the file holds nothing but the content of a new file. */
export function isBareJson(text: string, { beginning }: JsonPart): boolean {
  const root = parseSettings(text);
  if (!root) return true;
  return root.children?.length ? isSame(getNodeValue(root), beginning) : isBlank(text, root);
}

function writeHooks(text: string, agent: AgentName, wanted: JsonPart['hooks']): string {
  const { hooks } = readValue(text) as { hooks?: Plain };
  const others = Object.keys(hooks ?? {}).filter(
    (event) => Array.isArray(hooks?.[event]) && runsHook(agent, hooks[event]),
  );
  const events = new Set([...others, ...Object.keys(wanted)]);
  return [...events].reduce((after, event) => writeEvent(after, agent, event, wanted[event]), text);
}

function writeEvent(text: string, agent: AgentName, event: string, item: object | undefined): string {
  const list = ['hooks', event];
  const own = listAt(text, list).flatMap((found, index) => ownPaths(agent, found, [...list, index], item));
  const [only = []] = own;
  if (item && own.length === 1 && only.length === 3) return replaceAt(text, only, item);
  const without = own.reverse().reduce(removeAt, text);
  if (item) return appendTo(without, list, item);
  return own.length > 0 ? prune(without, list) : without;
}

/** Where an item of a list belongs to forge. A person may have put a hook of their own into a group of forge's. */
function ownPaths(agent: AgentName, item: unknown, path: Path, wanted: unknown): Path[] {
  const { hooks } = (item ?? {}) as { hooks?: unknown };
  if (isSame(item, wanted) || !Array.isArray(hooks))
    return isSame(item, wanted) || runsHook(agent, item) ? [path] : [];
  const own = [...hooks.keys()].filter((at) => runsHook(agent, hooks[at]));
  return own.length > 0 && own.length === hooks.length ? [path] : own.map((at) => [...path, 'hooks', at]);
}

function putServer(text: string, { path, value }: NonNullable<JsonPart['server']>): string {
  const { node, missing } = reach(parseSettings(text) as Node, path);
  if (missing.length > 0) return insertAt(text, path, value);
  if (isSame(getNodeValue(node), value) || isOwnServer(getNodeValue(node)))
    return replaceAt(text, path, value);
  throw new SettingsProblem(
    `${quotePath(path)} is there already and is not forge's`,
    node.offset,
    'Give it another name.',
  );
}

/** The settings as a tree, comments and trailing commas allowed; null when the file is blank. */
function parseSettings(text: string): Node | null {
  const errors: ParseError[] = [];
  const given = text.replace(/^\ufeff/, ' ');
  let root: Node | undefined;
  try {
    root = parseTree(given, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch {
    // The parser calls itself once per level.
    throw new SettingsProblem('it is nested too deeply', 0, MEND);
  }
  const [first] = errors;
  if (first) throw new SettingsProblem(`it is not JSON (${wordsOf(first)})`, first.offset, MEND);
  if (root && root.type !== 'object') throw new SettingsProblem('it holds no JSON object', root.offset, MEND);
  return root ?? null;
}

const MEND = 'Fix the file, then run the command again.';

/** `PropertyNameExpected` → `property name expected` */
const wordsOf = ({ error }: ParseError): string =>
  printParseErrorCode(error)
    .replace(/(?<=[a-z])[A-Z]/g, ' $&')
    .toLowerCase();

/** The settings as a value; empty when the file is blank. */
export const readValue = (text: string): Plain => {
  const root = parseSettings(text);
  return root ? getNodeValue(root) : {};
};

const endOf = ({ offset, length }: Node): number => offset + length;

/** Follows a path of keys as far as it exists. Duplicate keys are refused: agents read the last one, editors show the first. */
function reach(root: Node, path: readonly string[]): { node: Node; missing: readonly string[] } {
  let node = root;
  for (const [depth, key] of path.entries()) {
    if (node.type !== 'object')
      throw new SettingsProblem(
        `${quotePath(path.slice(0, depth))} is not an object, but ${node.type}`,
        node.offset,
        'Make it an object: {}',
      );
    const [first, second] = (node.children ?? []).filter(({ children }) => children?.[0]?.value === key);
    if (second)
      throw new SettingsProblem(
        `${quotePath(path.slice(0, depth + 1))} stands twice`,
        second.offset,
        'Keep one of the two: agents take the last.',
      );
    const value = first?.children?.[1];
    if (!value) return { node, missing: path.slice(depth) };
    node = value;
  }
  return { node, missing: [] };
}

function valueAt(text: string, path: readonly string[]): unknown {
  const root = parseSettings(text);
  const reached = root && reach(root, path);
  return reached?.missing.length === 0 ? getNodeValue(reached.node) : undefined;
}

function listAt(text: string, path: readonly string[]): unknown[] {
  const root = parseSettings(text);
  const { node, missing } = root ? reach(root, path) : { node: root, missing: path };
  if (!node || missing.length > 0) return [];
  if (node.type === 'array') return getNodeValue(node);
  const what = `${quotePath(path)} is not a list, but ${node.type}`;
  throw new SettingsProblem(what, node.offset, 'Make it a list: []');
}

/** Inserts a value at a path that does not exist; the objects on the way are created. */
function insertAt(text: string, path: readonly string[], value: unknown): string {
  const { node, missing } = reach(parseSettings(text) as Node, path);
  const [key = '', ...rest] = missing;
  const nested = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const above = path.slice(0, path.length - missing.length);
  return checked(text, insertChild(text, node, nested, key), [...above, key], nested);
}

function appendTo(text: string, path: readonly string[], item: object | string): string {
  const { node, missing } = reach(parseSettings(text) as Node, path);
  if (missing.length > 0) return insertAt(text, path, [item]);
  return checked(text, insertChild(text, node, item), [...path, node.children?.length ?? 0], item);
}

function replaceAt(text: string, path: Path, value: unknown): string {
  const root = parseSettings(text) as Node;
  const node = findNodeAtLocation(root, [...path]) as Node;
  if (isSame(getNodeValue(node), value)) return text;
  const layout = layoutOf(text, root);
  const isInline = layout.isInline || !text.slice(node.offset, endOf(node)).includes('\n');
  const printed = print(value, layout, isInline ? null : indentAt(text, node.offset));
  return checked(text, text.slice(0, node.offset) + printed + text.slice(endOf(node)), path, value);
}

function removeAt(text: string, path: Path): string {
  const node = findNodeAtLocation(parseSettings(text) as Node, [...path]) as Node;
  const child = node.parent?.type === 'property' ? node.parent : node;
  return checked(text, removeChild(text, child.parent as Node, child), path, undefined);
}

/** Removes the value at a path, and what holds it as long as that is empty then. Comments keep it. */
function prune(text: string, path: Path): string {
  const above = path.slice(0, -1);
  const node = findNodeAtLocation(parseSettings(text) as Node, [...path]);
  const isOurs = node && (node.type !== 'array' || isBlank(text, node));
  if (!isOurs) return text;
  const after = removeAt(text, path);
  const box = findNodeAtLocation(parseSettings(after) as Node, [...above]);
  return above.length > 0 && box && isBlank(after, box) ? prune(after, above) : after;
}

/** Refuses an edit unless the text now has the value (undefined: nothing) at the path, and all else as before. */
function checked(before: string, after: string, path: Path, value: unknown): string {
  const meant = readValue(before);
  const box = path.slice(0, -1).reduce<Plain>((inner, key) => inner[key] as Plain, meant);
  const key = path.at(-1) as string;
  if (value !== undefined) box[key] = value;
  else if (Array.isArray(box)) box.splice(Number(key), 1);
  else delete box[key];
  if (isSame(readValue(after), meant)) return after;
  throw new SettingsProblem(
    'it is laid out in a way that forge cannot edit safely',
    null,
    'Format it, then try again.',
  );
}

interface Layout {
  lineEnd: string;
  /** One step of indentation. */
  unit: string;
  /** Everything is on one line. */
  isInline: boolean;
}

function layoutOf(text: string, root: Node): Layout {
  const inner = text.slice(root.offset, endOf(root));
  return {
    lineEnd: lineEndOf(text),
    unit: /\n([ \t]+)\S/.exec(inner)?.[1] ?? '  ',
    isInline: (root.children?.length ?? 0) > 0 && !inner.includes('\n'),
  };
}

/** `indent` null: on one line. */
function print(value: unknown, { unit, lineEnd }: Layout, indent: string | null): string {
  if (indent === null) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', lineEnd + indent);
}

/** Puts a child after the last one of an object (with its key) or array, laid out like the others. */
function insertChild(text: string, box: Node, value: unknown, key?: string): string {
  const layout = layoutOf(text, parseSettings(text) as Node);
  const last = box.children?.at(-1);
  const close = endOf(box) - 1;
  const start = last ? endOf(last) : box.offset + 1;
  const tail = tokensIn(text, start, close);
  const hasComma = tail.some(({ kind }) => kind === TOKEN.comma);
  const end = tail.at(-1)?.end ?? start;
  const child = (indent: string | null): string =>
    (key === undefined ? '' : JSON.stringify(key) + (indent === null ? ':' : ': ')) +
    print(value, layout, indent) +
    // A trailing comma stays one.
    (hasComma ? ',' : '');
  const put = (inserted: string): string =>
    text.slice(0, start) +
    (last && !hasComma ? ',' : '') +
    text.slice(start, end) +
    inserted +
    text.slice(end);
  const isOpen = tail.at(-1)?.kind === TOKEN.lineComment || text.slice(end, close).includes('\n');
  if (!isOpen && (last || layout.isInline)) return put((end > box.offset + 1 ? ' ' : '') + child(null));
  const outer = indentAt(text, isOpen ? close : box.offset);
  const first = box.children?.[0]?.offset ?? 0;
  const isFirstInLine = first > 0 && /\n[ \t]*$/.test(text.slice(0, first));
  const indent = isFirstInLine ? indentAt(text, first) : outer + layout.unit;
  return put(layout.lineEnd + indent + child(indent) + (isOpen ? '' : layout.lineEnd + outer));
}

/** Removes a child with one comma (of the last child: the one before it) and with the lines that it had for itself. */
function removeChild(text: string, box: Node, child: Node): string {
  const own = /^\s*,/.exec(text.slice(endOf(child)))?.[0].length;
  const [start, end] = spanOf(text, child.offset, endOf(child) + (own ?? 0), own !== undefined);
  const before = box.children?.[(box.children?.indexOf(child) ?? 0) - 1];
  const comma = before && tokensIn(text, endOf(before), start).find(({ kind }) => kind === TOKEN.comma);
  if (own !== undefined || !comma) return text.slice(0, start) + text.slice(end);
  return text.slice(0, comma.offset) + text.slice(comma.end, start) + text.slice(end);
}

/** A child's range with the white space that goes with it. */
function spanOf(text: string, start: number, tail: number, hasComma: boolean): [number, number] {
  const indent = /(^|\r?\n)?[ \t]*$/.exec(text.slice(0, start)) as RegExpExecArray;
  const blank = /^[ \t]*/.exec(text.slice(tail))?.[0].length ?? 0;
  const rest = text.slice(tail + blank);
  if (indent[1] && /^\r?\n/.test(rest)) return [indent.index, tail];
  if (hasComma && !/^[\]}]/.test(rest)) return [start, tail + blank];
  return [indent.index + (indent[1]?.length ?? 0), tail];
}

/** True when nothing lies between the brackets, not even a comment. */
const isBlank = (text: string, box: Node): boolean =>
  text.slice(box.offset + 1, endOf(box) - 1).trim() === '';

/** The indentation of the line of an offset. */
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? '';

/** SyntaxKind of jsonc-parser, which is a const enum. Comments are 12 and 13, white space is 14 and 15. */
const TOKEN = { comma: 5, lineComment: 12, blank: 14, end: 17 };

/** The tokens of a range, with comments and without white space. */
function tokensIn(text: string, start: number, end: number): { kind: number; offset: number; end: number }[] {
  const scanner = createScanner(text, false);
  scanner.setPosition(start);
  const tokens = [];
  for (let kind: number = scanner.scan(); kind !== TOKEN.end; kind = scanner.scan()) {
    const offset = scanner.getTokenOffset();
    if (offset >= end) break;
    if (kind < TOKEN.blank) tokens.push({ kind, offset, end: offset + scanner.getTokenLength() });
  }
  return tokens;
}
