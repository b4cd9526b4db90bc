import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from './repository.js';

/** Deeper than any name of forge's. */
const DEPTH = 5;

/**
 * The names of the refs below a folder (`refs/tags/checkpoint`), without it, from the files alone: no program is started,
 * so a reftable repository shows none.
 */
export function refNames({ commonDir }: Repository, folder: string): string[] {
  const loose = walk(join(commonDir, ...folder.split('/')), '', DEPTH);
  const packed = readPacked(commonDir).flatMap((line) => {
    const at = line.indexOf(` ${folder}/`);
    return at > 0 ? [line.slice(at + folder.length + 2)] : [];
  });
  return [...new Set([...loose, ...packed])].sort();
}

function walk(folder: string, prefix: string, depth: number): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      if (entry.isFile()) return [prefix + entry.name];
      if (!entry.isDirectory() || depth === 0) return [];
      return walk(join(folder, entry.name), `${prefix}${entry.name}/`, depth - 1);
    });
  } catch {
    return [];
  }
}

function readPacked(commonDir: string): string[] {
  try {
    return readFileSync(join(commonDir, 'packed-refs'), 'utf8').split('\n');
  } catch {
    return [];
  }
}
