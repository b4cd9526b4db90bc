// Other versions of Node, as npm packages bring them.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { peer } from './peers.mjs';

/** The oldest that forge promises to run on, and the newest of every line since. */
export const NODES = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'];

/** A folder for PATH in which `node` is that version and nothing else is; null where it cannot be had. */
export function nodeFolder(version) {
  if (!/^\d+(\.\d+){0,2}$/.test(version))
    throw new Error(`A Node is named like 26 or 26.10.0, not ${version}`);
  const place = peer(`node-${process.platform}-${process.arch}`, version);
  if (place === null) return null;
  // Headers and manuals are a third of it.
  for (const part of ['include', 'share']) rmSync(join(place, part), { recursive: true, force: true });
  return join(place, 'bin');
}
