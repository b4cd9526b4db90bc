import { getNodeValue, type Node } from 'jsonc-parser';
import { BOM, type Draft, type Edit, insertion, WiringProblem } from './draft.js';
import { formatSettings, insertChild, isBlank, removeChild, replaceValue } from './json-text.js';
import { membersOf, named, parseSettings, reach } from './json-tree.js';
import { isSame } from './own.js';

/** Single changes of a file of settings. Each is checked: the text says what was meant then, and all else as before. */

export function nodeAt({ text }: Draft, path: readonly string[]): Node | null {
  const root = parseSettings(text);
  const reached = root && reach(root, path);
  return reached && reached.missing.length === 0 ? reached.node : null;
}

/** The file's object; an empty file gets one that has the value already (null). */
export function rootOf(draft: Draft, path: readonly string[], value: unknown): Node | null {
  const root = parseSettings(draft.text);
  if (root) return root;
  const at = draft.text.startsWith(BOM) ? 1 : 0;
  const end = draft.text.length > at ? '' : '\n';
  draft.apply([insertion(at, formatSettings(nest(path, value)) + end)]);
  return null;
}

const nest = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight((inner, key) => ({ [key]: inner }), value);

/** Where a path ends in what is there. */
interface End {
  root: Node;
  node: Node;
  path: readonly string[];
  missing: readonly string[];
}

/** Makes the rest of a path, with the value at its end. */
export function insertAt(draft: Draft, { root, node, path, missing }: End, value: unknown): void {
  const above = path.slice(0, path.length - missing.length);
  if (node.type !== 'object')
    throw new WiringProblem(
      `${named(above)} is no object, but ${node.type}`,
      node.offset,
      'Make it an object: {}',
    );
  const [key = '', ...rest] = missing;
  change(draft, insertChild(draft.text, root, node, nest(rest, value), key), (after) => {
    at(after, above)[key] = nest(rest, value);
  });
}

type Plain = Record<string, unknown>;
const at = (value: Plain, path: readonly string[]): Plain =>
  path.reduce<Plain>((inner, key) => inner[key] as Plain, value);
const containerOf = (value: Plain, path: readonly string[]): Plain => at(value, path.slice(0, -1));
export const listOf = (value: Plain, path: readonly string[]): unknown[] =>
  at(value, path) as unknown as unknown[];

/** Edits the text, and makes sure that it says exactly what was meant and all else as before. */
export function change(draft: Draft, edits: readonly Edit[], meant: (value: Plain) => void): void {
  const before = getNodeValue(parseSettings(draft.text) as Node) as Plain;
  meant(before);
  draft.apply(edits);
  const after = parseSettings(draft.text);
  if (!after || !isSame(getNodeValue(after), before))
    throw new WiringProblem(
      'it is laid out in a way that forge cannot edit safely',
      null,
      'Format it, then try again.',
    );
}

export function listAt(draft: Draft, path: readonly string[]): unknown[] {
  const node = nodeAt(draft, path);
  return node ? (getNodeValue(node) as unknown[]) : [];
}

export function replaceMember(draft: Draft, path: readonly string[], value: unknown): void {
  const root = parseSettings(draft.text) as Node;
  change(draft, replaceValue(draft.text, root, reach(root, path).node, value), (after) => {
    containerOf(after, path)[path.at(-1) as string] = value;
  });
}

export function appendItem(draft: Draft, path: readonly string[], value: unknown): void {
  const root = parseSettings(draft.text) as Node;
  change(draft, insertChild(draft.text, root, reach(root, path).node, value), (after) => {
    listOf(after, path).push(value);
  });
}

export function replaceItem(draft: Draft, path: readonly string[], index: number, value: unknown): void {
  const root = parseSettings(draft.text) as Node;
  const node = reach(root, path).node.children?.[index] as Node;
  if (isSame(getNodeValue(node), value)) return;
  change(draft, replaceValue(draft.text, root, node, value), (after) => {
    listOf(after, path)[index] = value;
  });
}

export function removeItem(draft: Draft, path: readonly string[], index: number): void {
  const box = nodeAt(draft, path) as Node;
  change(draft, removeChild(draft.text, box, box.children?.[index] as Node), (after) => {
    listOf(after, path).splice(index, 1);
  });
}

export function removeMember(draft: Draft, path: readonly string[]): void {
  const box = nodeAt(draft, path.slice(0, -1)) as Node;
  const member = membersOf(box).find(({ children }) => children?.[0]?.value === path.at(-1)) as Node;
  change(draft, removeChild(draft.text, box, member), (after) => {
    delete containerOf(after, path)[path.at(-1) as string];
  });
  prune(draft, path.slice(0, -1));
}

/** An object or list that holds nothing any more goes as well; the file's own does not. */
export function prune(draft: Draft, path: readonly string[]): void {
  const box = path.length > 0 ? nodeAt(draft, path) : null;
  if (box && isBlank(draft.text, box)) removeMember(draft, path);
}
