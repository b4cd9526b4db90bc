import { getNodeValue, type Node } from 'jsonc-parser';
import { type Draft, WiringProblem } from './draft.js';
import type { AgentName } from './event.js';
import {
  appendItem,
  change,
  insertAt,
  listAt,
  listOf,
  nodeAt,
  prune,
  removeItem,
  removeMember,
  replaceItem,
  replaceMember,
  rootOf,
} from './json-change.js';
import { isBlank, removeChild } from './json-text.js';
import { membersOf, named, parseSettings, reach } from './json-tree.js';
import { isOwnServer, isSame, ownHooks, ownShare } from './own.js';
import type { Fixture, Found } from './wiring-rules.js';

export type Member = Fixture & { kind: 'member' };
export type Item = Fixture & { kind: 'item' };

/** Puts a member where it belongs; one of forge's that is there already gets the value. */
export function putMember(draft: Draft, fixture: Member): void {
  const { path, value } = fixture;
  const root = rootOf(draft, path, value);
  if (!root) return;
  const { node, missing } = reach(root, path);
  if (missing.length > 0) {
    insertAt(draft, { root, node, path, missing }, value);
    return;
  }
  const found = getNodeValue(node);
  if (isSame(found, value)) return;
  if (!isOwnServer(found)) throw foreign(path, node);
  replaceMember(draft, path, value);
}

const foreign = (path: readonly string[], node: Node): WiringProblem =>
  new WiringProblem(
    `${named(path)} is there already and is not forge's`,
    node.offset,
    'Give it another name.',
  );

/** Puts items at the end of a list, behind the person's own; those of forge's that are there already are replaced. */
export function putItems(
  draft: Draft,
  agent: AgentName,
  path: readonly string[],
  values: readonly unknown[],
): void {
  const root = rootOf(draft, path, values);
  if (!root) return;
  const { node, missing } = reach(root, path);
  if (missing.length > 0) {
    insertAt(draft, { root, node, path, missing }, values);
    return;
  }
  requireList(node, path);
  dropMixed(draft, agent, path);
  const own = ownItems(draft, agent, path, values);
  for (const at of own.slice(values.length).reverse()) removeItem(draft, path, at);
  for (const [index, value] of values.entries()) {
    const at = own[index];
    if (at === undefined) appendItem(draft, path, value);
    else replaceItem(draft, path, at, value);
  }
}

/** Takes a member of forge's out, with the objects on its path that are empty then. */
export function dropMember(draft: Draft, { path, value }: Member): void {
  const node = nodeAt(draft, path);
  if (!node) return;
  const found = getNodeValue(node);
  if (isOwnServer(found) || isSame(found, value)) removeMember(draft, path);
}

/**
 * Takes forge's items out of all lists beside the one of the fixture: an older forge may have put them elsewhere.
 * `kept`: in which lists they stay.
 */
export function dropItems(
  draft: Draft,
  agent: AgentName,
  { path, value }: Item,
  kept: ReadonlySet<string>,
): void {
  const parent = path.slice(0, -1);
  const box = nodeAt(draft, parent);
  const keys = box ? membersOf(box).map((member) => String(member.children?.[0]?.value)) : [];
  for (const key of keys) {
    const list = [...parent, key];
    if (kept.has(key) || nodeAt(draft, list)?.type !== 'array') continue;
    dropMixed(draft, agent, list);
    const own = ownItems(draft, agent, list, [value]);
    for (const at of own.reverse()) removeItem(draft, list, at);
    if (own.length > 0) prune(draft, list);
  }
}

export function lookForMember(text: string, { path, value }: Member): Found {
  const root = parseSettings(text);
  const reached = root && reach(root, path);
  if (!reached || reached.missing.length > 0) return { state: 'missing', value: undefined };
  const found = getNodeValue(reached.node);
  return { state: isSame(found, value) ? 'wired' : isOwnServer(found) ? 'changed' : 'missing', value: found };
}

export function lookForItem(text: string, agent: AgentName, { path, value }: Item): Found {
  const root = parseSettings(text);
  const reached = root && reach(root, path);
  if (!reached || reached.missing.length > 0) return { state: 'missing', value: undefined };
  requireList(reached.node, path);
  const items = (getNodeValue(reached.node) as unknown[]).filter(
    (item) => ownShare(agent, item, value) !== 'none',
  );
  if (items.length === 0) return { state: 'missing', value: undefined };
  return { state: items.some((item) => isSame(item, value)) ? 'wired' : 'changed', value: items };
}

/** True when the file has nothing in it but what forge begins one with. */
export function isBareSettings(text: string, beginning: string | undefined): boolean {
  const root = parseSettings(text);
  if (!root) return true;
  if (membersOf(root).length === 0) return isBlank(text, root);
  return beginning !== undefined && isSame(getNodeValue(root), JSON.parse(beginning));
}

function requireList(node: Node, path: readonly string[]): void {
  if (node.type !== 'array')
    throw new WiringProblem(`${named(path)} is no list, but ${node.type}`, node.offset, 'Make it a list: []');
}

function ownItems(
  draft: Draft,
  agent: AgentName,
  path: readonly string[],
  wanted: readonly unknown[],
): number[] {
  const isOwn = (item: unknown): boolean => wanted.some((value) => ownShare(agent, item, value) === 'all');
  return listAt(draft, path).flatMap((item, index) => (isOwn(item) ? [index] : []));
}

/** Someone put a hook of their own into a group of forge's: theirs stays. */
function dropMixed(draft: Draft, agent: AgentName, path: readonly string[]): void {
  for (const [index, item] of listAt(draft, path).entries()) {
    if (ownShare(agent, item, undefined) !== 'some') continue;
    for (const hook of ownHooks(agent, item).reverse()) {
      const group = (nodeAt(draft, path) as Node).children?.[index] as Node;
      const hooks = reach(group, ['hooks']).node;
      change(draft, removeChild(draft.text, hooks, hooks.children?.[hook] as Node), (after) => {
        (listOf(after, path)[index] as { hooks: unknown[] }).hooks.splice(hook, 1);
      });
    }
  }
}
