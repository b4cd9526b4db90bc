import { ForgeError } from '../core/error.js';
import { cycleFile, shown } from '../core/paths.js';
import { removeHandover } from '../cycle/handover.js';
import { purgeMark } from '../cycle/state.js';
import type { Context } from '../project/project.js';
import { type Content, pendingOf } from './store/redact.js';
import { keepRedactedKeys, readRedactedKeys } from './store/redacted-keys.js';

/**
 * LTM-19: what waits to be recorded under the keys of these records, and what a cycle that was cut off left of them. The
 * git dir remembers the keys first: whoever has read one of these before, in this worktree or another, records none of
 * it. Returns the files that had something. The caller holds the lock.
 */
export function purgeWaiting(context: Context, contents: readonly Content[]): string[] {
  const { disk } = context;
  const keyed = contents.flatMap(({ id, tier, record: { key, n } }) =>
    typeof key === 'string' ? [{ key, tier, id, n }] : [],
  );
  keepRedactedKeys(disk, keyed);
  const now = new Set(keyed.map(({ key }) => key));
  const before = readRedactedKeys(disk);
  const isGone = (key: string): boolean => now.has(key) || before(key).length > 0;
  const pending = pendingOf(disk, isGone);
  for (const path of pending) disk.remove(path);
  if (!disk.dryRun) for (const key of now) if (/^[0-9a-f]{16}$/.test(key)) removeHandover(key);
  return [...pending, ...purgeCycle(context, isGone)];
}

/** A cycle under way moves its mark on without the lock: then it is looked at again. */
const ATTEMPTS = 5;

function purgeCycle({ disk, layout, warnings }: Context, isGone: (key: string) => boolean): string[] {
  const path = cycleFile(layout);
  for (let attempt = 1; ; attempt++)
    try {
      return purgeMark(disk, isGone) ? [path] : [];
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      if (error.code === 'file.changed' && attempt < ATTEMPTS) continue;
      warnings.push(
        `What a cycle left behind was not looked at; remove ${shown(layout, path)} by hand: ${error.message}`,
      );
      return [];
    }
}
