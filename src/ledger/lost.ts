import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { keptFiles } from '../core/disk.js';
import { readPlain, removeQuietly } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { sessionsFolder, shown, shownFrom } from '../core/paths.js';
import { firstPaths, plural, sha256 } from '../core/text.js';
import { operationInProgress } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { type Finding, makeFinding } from './compare.js';
import { openCache, withLedgerLock } from './files.js';
import type { LedgerObjects, Refs } from './git.js';
import { isUnwritable, READER_WAIT_MS } from './observe.js';

type Kept = ReturnType<typeof keptFiles>[number];

/** Copies of older sessions are dropped. */
const MAX_SESSIONS = 100;

/** The branches and stashes that are searched one by one. Others are found in the history. */
const MAX_TIPS = 50;

/** All files that a commit ever touched. */
const HISTORY = 'log --all --full-history -m -z --format= --name-only --ignore-missing'.split(' ');

/**
 * Features, lessons and session archives that forge wrote here and that are now nowhere: not in the working tree, on no
 * branch, and in no stash. Puts them back, as the ledger does with records (`git clean`, `reset --hard`, `branch -D`).
 */
export async function settleLostFiles(
  context: Context,
  objects: LedgerObjects,
  refs: Refs,
  isReadOnly: boolean,
): Promise<Finding[]> {
  const lost = await findLostFiles(context, objects, refs);
  if (lost.length === 0) return [];
  const files = `${plural(lost.length, 'file')} of memory`;
  const names = firstPaths(lost.map(({ path }) => shown(context.layout, path)));
  if (!isReadOnly && putBack(context, lost))
    return [makeFinding('put_back', `put back ${files} written here, which no commit has: ${names}`)];
  const message = `missing: ${files} written here, which no commit has: ${names}`;
  return [makeFinding('missing', message, { hint: 'forge memory verify   # puts back what is missing' })];
}

async function findLostFiles(context: Context, objects: LedgerObjects, { all }: Refs): Promise<Kept[]> {
  const { git, repository, layout } = context;
  const kept = keptFiles(layout);
  const sessions = kept.filter(({ path }) => dirname(path) === sessionsFolder(layout));
  for (const { copy } of sessions.slice(0, -MAX_SESSIONS)) removeQuietly(copy);
  const missing = kept.filter(({ path }) => !existsSync(path));
  // A rebase takes files away for a while.
  if (missing.length === 0 || !git || !repository || operationInProgress(repository)) return [];
  const isTip = (name: string): boolean => !/^refs\/(?!heads|remotes)/.test(name);
  const tips = [...new Set(all.filter(({ name }) => isTip(name)).map(({ commit }) => commit))].slice(
    -MAX_TIPS,
  );
  const cache = openCache<{ of: string }>(context, 'kept.json');
  const of = sha256([...missing.map(({ path }) => path), ...tips].join('\n'));
  if (cache.read()?.of === of) return [];
  const nameOf = ({ path }: Kept): string => shownFrom(repository.root, path);
  const found = await Promise.all(
    missing.map(async (file) => {
      const isThere = await Promise.all(tips.map((tip) => objects.has(`${tip}:${nameOf(file)}`)));
      return isThere.includes(true);
    }),
  );
  const rest = missing.filter((_, i) => !found[i]);
  const stashes = all.filter(({ name, commit }) => name === 'stash' && !commit.includes('^'));
  const args = [...HISTORY, ...stashes.map(({ commit }) => commit), '--', ...rest.map(nameOf)];
  const seen = rest.length === 0 ? { code: 0, stdout: '' } : await git(args);
  if (seen.code !== 0) return [];
  const removed = new Set(seen.stdout.split(/[\0\n]/));
  // A commit removed them on purpose, here or elsewhere.
  for (const file of rest) if (removed.has(nameOf(file)) && !context.disk.dryRun) removeQuietly(file.copy);
  const lost = rest.filter((file) => !removed.has(nameOf(file)));
  if (lost.length === 0) cache.write({ of });
  return lost;
}

/** A feature that passed is in progress again: the code that passed may be gone as well. */
function withoutPass(bytes: Buffer): Buffer {
  const text = bytes.toString('utf8');
  if (!text.includes('"status": "passing"')) return bytes;
  const lines = text.replace('"status": "passing"', '"status": "in_progress"');
  return Buffer.from(lines.replace(/^( *"(?:verified_\w+|override)": ).+?(,?)$/gm, '$1null$2'));
}

/** False where nothing can be written. */
function putBack(context: Context, lost: readonly Kept[]): boolean {
  const { disk } = context;
  const work = (): void => {
    for (const { path, copy } of lost) {
      const bytes = readPlain(copy, MAX_STATE_BYTES);
      disk.makeFolder(dirname(path));
      if (bytes && !disk.exists(path)) disk.replaceMoved(path, withoutPass(bytes));
    }
  };
  try {
    withLedgerLock(context, work, READER_WAIT_MS);
    return true;
  } catch (error) {
    if (isUnwritable(error)) return false;
    throw error;
  }
}
