import { createHash } from 'node:crypto';
import { sep } from 'node:path';
import { readHint, writeHint } from './cache.js';
import { architectureFile, featuresFolder, type Layout, learnedFolder, shown, writtenFile } from './paths.js';

/** More files than change between two commits. */
const KEPT = 500;

type Written = Record<string, string>;

/** Files that agents rely on. Only forge or a commit may change them. */
export const isRelied = (layout: Layout, path: string): boolean =>
  path === architectureFile(layout) ||
  [featuresFolder(layout), learnedFolder(layout)].some((folder) => path.startsWith(folder + sep));

/** Records the bytes that forge wrote, to detect edits by other programs. */
export function noteWritten(layout: Layout, writes: readonly { path: string; bytes: Buffer }[]): void {
  const relied = writes.filter(({ path }) => isRelied(layout, path));
  if (relied.length === 0) return;
  const known = readHint<Written>(writtenFile(layout)) ?? {};
  for (const { path, bytes } of relied) {
    delete known[shown(layout, path)];
    known[shown(layout, path)] = digest(bytes);
  }
  writeHint(writtenFile(layout), Object.fromEntries(Object.entries(known).slice(-KEPT)));
}

/** True for the bytes that forge itself wrote last. */
export const wasWritten = (layout: Layout, path: string, bytes: Buffer): boolean =>
  readHint<Written>(writtenFile(layout))?.[shown(layout, path)] === digest(bytes);

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32);
