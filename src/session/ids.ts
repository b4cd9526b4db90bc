import { readPlain, replaceFiles } from '../core/files.js';
import { type LockPolicy, withLock } from '../core/lock.js';
import { type Layout, sessionIdsFile, sessionIdsLock } from '../core/paths.js';
import { makeToken } from '../core/text.js';
import { formatSessionName, nextNumber } from './rules.js';

/** `session-ids.json` in the git common dir. */
interface Issued {
  /** The counter over all sessions. */
  seq: number;
  /** The newest ids, newest last. A session counts only if its id is here: a clone can bring any other. */
  last: string[];
}

const KEPT = 1000;

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
): { id: string; seq: number } {
  const take = (): { id: string; seq: number } => {
    const issued = readIssued(layout);
    const n = nextNumber(date, [...known.ids, ...issued.last]);
    const id = `${formatSessionName(date, n)}-${makeToken(6)}`;
    const seq = Math.max(issued.seq, known.seq) + 1;
    const bytes = Buffer.from(`${JSON.stringify({ seq, last: [...issued.last, id].slice(-KEPT) })}\n`);
    // Durable before the session is written, or a crash would make it look like another clone's.
    if (!dryRun) replaceFiles([{ path: sessionIdsFile(layout), bytes }]);
    return { id, seq };
  };
  return dryRun ? take() : withLock(sessionIdsLock(layout), policy, take);
}

/** The ids last issued here, newest last. */
export const lastIssued = (layout: Layout): string[] => readIssued(layout).last;

const MAX_BYTES = 4 * 1024 * 1024;

function readIssued(layout: Layout): Issued {
  const bytes = readPlain(sessionIdsFile(layout), MAX_BYTES);
  try {
    const { seq, last } = JSON.parse(bytes?.toString('utf8') ?? '') as Issued;
    if (Number.isSafeInteger(seq) && Array.isArray(last)) return { seq, last };
  } catch {
    // Missing or damaged: the archives and the random suffix keep ids apart.
  }
  return { seq: 0, last: [] };
}
