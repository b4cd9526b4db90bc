import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../project/project.js';

/** RFC-9060 §8.2: what a folder of `.forge/` holds. */
export type FolderKind = 'long-term' | 'short-term' | 'artifacts' | 'linear' | 'git' | 'other';

export interface TreeNode {
  name: string;
  kind: FolderKind;
  /** Of a file: its size in bytes. */
  bytes?: number;
  /** Of a folder. */
  children?: TreeNode[];
  /** How many entries of a folder are left out. */
  more?: number;
}

/** Entries of one folder. */
const MAX_ENTRIES = 200;
const MAX_DEPTH = 6;

const KINDS: readonly [pattern: RegExp, kind: FolderKind][] = [
  [/^memory\/(long-term|ledger|sessions|knowledge|note)/, 'long-term'],
  [/^memory\/(execution|evaluation|audit)\.jsonl$/, 'long-term'],
  [/^(memory\/short-term|local)(\/|$)/, 'short-term'],
  [/^memory\/artifacts(\/|$)/, 'artifacts'],
  [/^linear(\/|$)/, 'linear'],
  [/^git(\/|$)/, 'git'],
];

/** `path`: from `.forge/`, with forward slashes. */
export const kindOf = (path: string): FolderKind =>
  KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? 'other';

/** VIS-02: the names and sizes in `.forge/`. Reads no content and follows no link. */
export const readTree = ({ layout }: Context): TreeNode => ({
  name: '.forge',
  kind: 'other',
  ...listFolder(layout.dir, '', 0),
});

function listFolder(folder: string, prefix: string, depth: number): Pick<TreeNode, 'children' | 'more'> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort(
    (a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1),
  );
  const children = entries.slice(0, MAX_ENTRIES).map((entry): TreeNode => {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    const node = { name: entry.name, kind: kindOf(path) };
    if (entry.isDirectory())
      return depth < MAX_DEPTH ? { ...node, ...listFolder(join(folder, entry.name), path, depth + 1) } : node;
    return { ...node, bytes: lstatSync(join(folder, entry.name), { throwIfNoEntry: false })?.size ?? 0 };
  });
  const more = entries.length - children.length;
  return { children, ...(more > 0 ? { more } : {}) };
}
