import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { isSame } from '../feature/rules.js';
import { AGENTS, type AgentName, runsHook } from './agents.js';
import {
  foreignEntry,
  isOwnServer,
  type JsonPart,
  lineEndOf,
  SettingsProblem,
  unsafeLayout,
} from './parts.js';

type Path = readonly (string | number)[];
type Plain = Record<string | number, unknown>;

/** Adds hooks, permissions and the server after what is there. Replaces forge's own older entries. */
export function putJson(text: string, agent: AgentName, part: JsonPart): string {
  const { hooks, server, allow, beginning } = part;
  const found = server && nodeAt(text, server.path);
  if (found && !isOwnServer(getNodeValue(found))) throw foreignEntry(server.path.join('.'), found.offset);
  const begun = removeAll(text, ownPaths(text, agent, part, true));
  const root = parse(begun);
  const isNew = !root || (begun !== text && isBlank(begun, root) && !wasEmpty(text, parse(text)));
  // A new file has an entry for now: an object that is empty is a person's.
  const start = `${JSON.stringify({ '': 0, ...beginning }, null, 2)}\n`;
  let after = isNew ? `${root ? '' : begun}${start}` : begun;
  for (const [event, item] of Object.entries(hooks)) after = append(after, ['hooks', event], item);
  for (const item of allow?.items ?? []) after = append(after, allow?.at ?? [], item);
  if (server && !nodeAt(after, server.path)) after = insert(after, server.path, server.value);
  return isNew ? remove(after, ['']) : after;
}

/** Removes forge's hooks, permissions and server, and the lists and objects that forge made for them. */
export const dropJson = (text: string, agent: AgentName, part: JsonPart): string =>
  removeAll(text, ownPaths(text, agent, part, false));

const removeAll = (text: string, paths: readonly Path[]): string =>
  paths.toReversed().reduce(removeWithBoxes, text);

/** Whether the file holds only what forge writes into a new file. `before`: with forge's entries. */
export function isBareJson(text: string, before: string, { beginning }: JsonPart): boolean {
  const root = parse(text);
  if (!root || root.children?.length) return !root || isSame(getNodeValue(root), beginning);
  return isBlank(text, root) && !wasEmpty(before, parse(before));
}

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Plain | undefined)?.[key], value);

/** The settings as a value, empty when the file is blank. */
export const readValue = (text: string): Plain => {
  const root = parse(text);
  return root ? getNodeValue(root) : {};
};

/** Where forge's entries are. With `isPut` only those that are not as this forge writes them. */
function ownPaths(text: string, agent: AgentName, part: JsonPart, isPut: boolean): Path[] {
  const settings = readValue(text);
  const hooks = Object.entries((settings.hooks ?? {}) as Plain).flatMap(([event, items]) =>
    asList(items).flatMap((item, at) =>
      isPut && isSame(item, part.hooks[event]) ? [] : hookPaths(agent, item, ['hooks', event, at]),
    ),
  );
  const { allow } = AGENTS[agent];
  const { at, items } = !isPut && allow && 'items' in allow ? allow : { at: [], items: [] };
  const allowed = asList(valueAt(settings, at)).flatMap((item, index) =>
    items.includes(item as string) ? [[...at, index]] : [],
  );
  const server = part.server && valueAt(settings, part.server.path);
  const isLeft = !isOwnServer(server) || (isPut && isSame(server, part.server?.value));
  return [...hooks, ...allowed, ...(part.server && !isLeft ? [part.server.path] : [])];
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Where an item of a list is forge's. A person may have added a hook to forge's group. */
function hookPaths(agent: AgentName, item: unknown, path: Path): Path[] {
  if (!runsHook(agent, item)) return [];
  const inner = asList((item as { hooks?: unknown }).hooks);
  const own = [...inner.keys()].filter((at) => runsHook(agent, inner[at]));
  return own.length === inner.length ? [path] : own.map((at) => [...path, 'hooks', at]);
}

/** Parses the settings with comments and trailing commas. Null when the file is blank. */
function parse(text: string): Node | null {
  const errors: ParseError[] = [];
  const hint = 'Fix the file, then run the command again.';
  let root: Node | undefined;
  try {
    const options = { allowTrailingComma: true, allowEmptyContent: true };
    root = parseTree(text.replace(/^\ufeff/, ' '), errors, options);
  } catch {
    // The parser recurses once per level.
    throw new SettingsProblem('it is nested too deeply', 0, hint);
  }
  const [first] = errors;
  if (first) throw new SettingsProblem('it is not JSON', first.offset, hint);
  if (root && root.type !== 'object')
    throw new SettingsProblem('it contains no JSON object', root.offset, hint);
  return root ?? null;
}

function nodeAt(text: string, path: Path): Node | undefined {
  const root = parse(text);
  return root ? findNodeAtLocation(root, [...path]) : undefined;
}

function listAt(text: string, path: Path): unknown[] {
  const node = nodeAt(text, path);
  if (!node) return [];
  if (node.type === 'array') return getNodeValue(node);
  const what = `"${path.join('.')}" is not a list, but ${node.type}`;
  throw new SettingsProblem(what, node.offset, 'Make it a list: []');
}

const endOf = ({ offset, length }: Node): number => offset + length;

/** Inserts a value at a path that does not exist, with the objects on the way. */
function insert(text: string, path: Path, value: unknown): string {
  const depth = path.findIndex((_, at) => !nodeAt(text, path.slice(0, at + 1)));
  const [above, key] = [path.slice(0, depth), path[depth] as string];
  const nested = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const box = nodeAt(text, above) as Node;
  if (box.type !== 'object') {
    const what = `"${above.join('.')}" is not an object, but ${box.type}`;
    throw new SettingsProblem(what, box.offset, 'Make it an object: {}');
  }
  return checked(text, insertChild(text, box, nested, key), [...above, key], nested);
}

/** Appends an item to a list that does not have it. */
function append(text: string, path: Path, item: object | string): string {
  const items = listAt(text, path);
  const list = nodeAt(text, path);
  if (items.some((found) => isSame(found, item))) return text;
  if (!list) return insert(text, path, [item]);
  return checked(text, insertChild(text, list, item), [...path, items.length], item);
}

function remove(text: string, path: Path): string {
  const node = nodeAt(text, path) as Node;
  const child = node.parent?.type === 'property' ? node.parent : node;
  return checked(text, removeChild(text, child.parent as Node, child), path, undefined);
}

/** Removes what is at a path, and the lists and objects around it that are then empty and were not before. */
function removeWithBoxes(text: string, path: Path): string {
  const after = remove(text, path);
  const above = path.slice(0, -1);
  const box = nodeAt(after, above);
  const isKept = !box || above.length === 0 || !isBlank(after, box) || wasEmpty(text, nodeAt(text, above));
  return isKept ? after : removeWithBoxes(after, above);
}

/** One space before the first child marks a list or object that was empty before forge. */
const wasEmpty = (text: string, box: Node | null | undefined): boolean =>
  text.slice((box?.offset ?? 0) + 1, box?.children?.[0]?.offset) === ' ';

const isBlank = (text: string, { type, offset, length }: Node): boolean =>
  (type === 'array' || type === 'object') && text.slice(offset + 1, offset + length - 1).trim() === '';

/** Refuses an edit unless the text now has the value (undefined: nothing) at the path, and everything else as before. */
function checked(before: string, after: string, path: Path, value: unknown): string {
  const meant = readValue(before);
  const box = path.slice(0, -1).reduce<Plain>((inner, key) => inner[key] as Plain, meant);
  const key = path.at(-1) as string;
  if (value !== undefined) box[key] = value;
  else if (Array.isArray(box)) box.splice(Number(key), 1);
  else delete box[key];
  if (isSame(readValue(after), meant)) return after;
  throw unsafeLayout('Format it, then try again.');
}

/** The text with comments replaced by spaces. */
const blankComments = (text: string): string =>
  text.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, (comment) => ' '.repeat(comment.length));

/** The indentation of the line of an offset. */
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? '';

/** Puts a child after the last one of an object (with its key) or an array, laid out like the rest of the file. */
function insertChild(text: string, box: Node, value: unknown, key?: string): string {
  const root = parse(text) as Node;
  const whole = text.slice(root.offset, endOf(root));
  const unit = /\n([ \t]+)\S/.exec(whole)?.[1] ?? '  ';
  const lineEnd = lineEndOf(text);
  const last = box.children?.at(-1);
  const close = endOf(box) - 1;
  const start = last ? endOf(last) : box.offset + 1;
  // Comments after the last child stay before the new one, and a trailing comma stays one.
  const end = start + text.slice(start, close).trimEnd().length;
  const hasComma = blankComments(text.slice(start, end)).includes(',');
  const isOpen = text.slice(end, close).includes('\n');
  const isMarked = !last && end === start;
  const isOneLine = !(last ? text.slice(box.offset, close) : whole).includes('\n');
  const isInline = !isOpen && isOneLine && root.children?.length !== 0;
  const outer = indentAt(text, isOpen ? close : box.offset);
  const line = lineEnd + outer + unit;
  const printed = isInline ? JSON.stringify(value) : JSON.stringify(value, null, unit).replaceAll('\n', line);
  return [
    text.slice(0, start),
    last && !hasComma ? ',' : '',
    text.slice(start, end),
    isInline || isMarked ? ' ' : line,
    key === undefined ? '' : `${JSON.stringify(key)}:${isInline ? '' : ' '}`,
    printed,
    hasComma ? ',' : '',
    text.slice(end),
  ].join('');
}

/** Removes a child with the white space before it and one comma: the one after it, or for the last child the one before. */
function removeChild(text: string, box: Node, child: Node): string {
  const start = text.slice(0, child.offset).trimEnd().length;
  const comma = /^\s*,/.exec(text.slice(endOf(child)))?.[0].length;
  const rest = text.slice(endOf(child) + (comma ?? 0));
  const before = box.children?.[(box.children?.indexOf(child) ?? 0) - 1];
  if (comma !== undefined || !before) return text.slice(0, start) + rest;
  const at = endOf(before) + blankComments(text.slice(endOf(before), start)).indexOf(',');
  return text.slice(0, at) + text.slice(at + 1, start) + rest;
}
