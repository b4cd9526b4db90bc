import { readPlain, replaceFiles } from '../core/files.js';
import { type LockPolicy, withLock } from '../core/lock.js';
import { type Layout, sessionIdsFile, sessionIdsLock } from '../core/paths.js';
import { makeToken } from '../core/text.js';
import { formatSessionName, nextNumber } from './rules.js';

/** The issued ids, per date, and the counter over all. */
interface Given {
  seq: number;
  numbers: Record<string, number>;
  /** The newest ids, newest last. A session counts only if its id is here: a clone can bring any other. */
  last?: string[];
}

const LAST = 1000;

interface NewSessionId {
  id: string;
  seq: number;
}

/**
 * The next session id of this repository, under the git common dir, so that worktrees never repeat one. `known` are
 * the ids and counters that the folder itself shows (archives from a clone or merge). A crash wastes a number.
 */
export function allocateSessionId(
  layout: Layout,
  policy: LockPolicy,
  date: string,
  known: { ids: readonly string[]; seq: number },
  dryRun: boolean,
): NewSessionId {
  const suffix = makeToken(6);
  const take = (): NewSessionId => {
    const given = readGiven(layout);
    const n = Math.max((given.numbers[date] ?? 0) + 1, nextNumber(date, known.ids));
    const seq = Math.max(given.seq, known.seq) + 1;
    const id = `${formatSessionName(date, n)}-${suffix}`;
    const last = [...lastOf(given), id].slice(-LAST);
    if (!dryRun) writeGiven(layout, { seq, numbers: { ...given.numbers, [date]: n }, last });
    return { id, seq };
  };
  return dryRun ? take() : withLock(sessionIdsLock(layout), policy, take);
}

/** The ids last issued here, newest last. */
export function lastGiven(layout: Layout): string[] {
  return lastOf(readGiven(layout));
}

const lastOf = ({ last }: Given): string[] => (Array.isArray(last) ? last : []);

const MAX_GIVEN_BYTES = 4 * 1024 * 1024;

function readGiven(layout: Layout): Given {
  const bytes = readPlain(sessionIdsFile(layout), MAX_GIVEN_BYTES);
  try {
    const given = JSON.parse(bytes?.toString('utf8') ?? '') as Given;
    if ([given.seq, ...Object.values(given.numbers)].every(Number.isSafeInteger)) return given;
  } catch {
    // Missing or damaged: the archives and the random suffix keep ids apart.
  }
  return { seq: 0, numbers: {} };
}

/** Durable before the session is written, or a crash would make it look like another clone's. The caller holds the lock. */
function writeGiven(layout: Layout, given: Given): void {
  const path = sessionIdsFile(layout);
  replaceFiles([{ path, bytes: Buffer.from(`${JSON.stringify(given)}\n`) }]);
}
