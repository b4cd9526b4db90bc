import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from './repository.js';

/** Where git stands, from its files alone: asking git would cost each record two processes. */
export interface GitState {
  /** Changes whenever HEAD or its branch moves, even when it comes back. */
  head: string;
  /** Changes whenever the index is written. */
  index: string;
}

export function readGitState({ gitDir, commonDir }: Repository): GitState {
  const head = readText(join(gitDir, 'HEAD'));
  const ref = /^ref: (\S+)/.exec(head)?.[1];
  const tip = ref ? readText(join(commonDir, ref)) || stampOf(join(commonDir, 'packed-refs')) : '';
  // The log of HEAD grows with every move. A reftable repository keeps refs and logs elsewhere.
  const moves = stampOf(join(gitDir, 'logs', 'HEAD')) + stampOf(join(gitDir, 'reftable', 'tables.list'));
  return { head: digest(`${head}\0${tip}\0${moves}`), index: stampOf(join(gitDir, 'index')) };
}

/**
 * Cheap enough for every append of a loop: while it is the same, so is the state. Null where git keeps no log of HEAD;
 * then only reading the state tells.
 */
export function stampGit({ gitDir }: Repository): string | null {
  const moves = stampOf(join(gitDir, 'logs', 'HEAD'));
  return moves === '' ? null : `${moves} ${stampOf(join(gitDir, 'HEAD'))} ${stampOf(join(gitDir, 'index'))}`;
}

/**
 * Whether the index may name a file. Its name is sought as bytes; where names are not stored whole (version 4,
 * a split index) the answer is yes, which only closes a segment earlier than needed.
 */
export function indexMayKnow({ gitDir }: Repository, name: string): boolean {
  try {
    const index = readFileSync(join(gitDir, 'index'));
    const isSplit = readdirSync(gitDir).some((entry) => entry.startsWith('sharedindex.'));
    return index.readUInt32BE(4) === 4 || isSplit || index.includes(name);
  } catch {
    return existsSync(join(gitDir, 'index'));
  }
}

/** Which git dir this is: a copied or moved repository is another one. */
export function identifyGitDir({ gitDir }: Repository): string {
  return `${gitDir}:${stampOf(gitDir).split(':')[0]}`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export function stampOf(path: string): string {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : '';
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
