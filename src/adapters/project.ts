import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

export const STACKS = ['node', 'none'] as const;
export type Stack = (typeof STACKS)[number];

/** The stack that the files at the top speak of. */
export function detectStack(root: string): Stack {
  return existsSync(join(root, 'package.json')) ? 'node' : 'none';
}

/** A repository without a working tree. */
export function isBareRepository(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
}

/** The folder's name; it may hold anything a file name can. */
export const folderName = (root: string): string => basename(root);
