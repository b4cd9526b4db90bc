import { type GitStream, gitError } from './client.js';
import { Moves, type RemovedLine } from './moves.js';
import { type PatchHandler, PatchReader } from './patch.js';
import { isLedger, ledgersIn } from './raw.js';
import type { Repository } from './repository.js';
import { isShallow } from './state.js';

export interface HistoryOutcome {
  /** Commits that touched the folder. */
  commits: number;
  /** This clone's history has a boundary, so the range may end at it. */
  shallow: boolean;
  /** Why git stopped before the end, such as blobs that a partial clone lacks; null when it did not. */
  incomplete: string | null;
}

export interface HistoryQuery {
  repository: Repository | null;
  folder: string;
  /** Not read: this commit and what is behind it. All is read when it is null or not known here (any more). */
  from: string | null | undefined;
  to: string;
  /** Leave out lines that the same commit adds elsewhere, as far as that is known without holding much of it. */
  skipReadded?: boolean;
}

/**
 * Each line that a commit dropped against any of its parents. `--full-history`, or git would not look at a branch
 * that a merge dropped as a whole. Every setting that changes what a patch looks like is set: the person's own may
 * say anything.
 */
export async function readRemovedLines(
  stream: GitStream,
  query: HistoryQuery,
  onLine: (line: RemovedLine) => void,
  onAnchor: (commit: string, value: string) => void = () => {},
): Promise<HistoryOutcome> {
  const reader = new HistoryReader(query.skipReadded ?? false, onLine, onAnchor);
  const { code, stderr } = await readPatches(stream, query, reader);
  const incomplete = code === 0 ? null : gitError(['log'], stderr).message.replace(/^git log: /, '');
  if (incomplete !== null && !LACKING.test(incomplete)) throw gitError(['log'], stderr);
  reader.end(incomplete === null);
  const shallow = query.repository !== null && isShallow(query.repository);
  return { commits: reader.commits, shallow, incomplete };
}

async function readPatches(
  stream: GitStream,
  { folder, from, to }: HistoryQuery,
  reader: HistoryReader,
): Promise<{ code: number; stderr: string }> {
  const log = (range: string): ReturnType<GitStream> =>
    stream([...LOG, '--end-of-options', range, '--', ...ledgersIn(folder)], (chunk) => reader.push(chunk));
  if (!from) return log(to);
  const result = await log(`${from}..${to}`);
  // Where `to` is unknown too, the second answer says so.
  const isUnknown =
    reader.commits === 0 && /bad (object|revision)|[Ii]nvalid revision range/.test(result.stderr);
  return result.code !== 0 && isUnknown ? log(to) : result;
}

const LOG = [
  // For the pathspec below.
  '--no-literal-pathspecs',
  'log',
  '--full-history',
  '--diff-merges=separate',
  ...['-p', '-U0', '--inter-hunk-context=0', '--diff-algorithm=myers', '--no-indent-heuristic', '--text'],
  ...['--no-renames', '--no-follow', '--no-ext-diff', '--no-textconv', '--no-color', '--no-relative'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--full-index', '-O/dev/null'],
  ...[
    '--pretty=raw',
    '--encoding=UTF-8',
    '--no-abbrev-commit',
    '--no-decorate',
    '--no-notes',
    '--no-mailmap',
  ],
];

/** What git says of an object that is not there, or not as it was. */
const LACKING = /promisor|unable to read|could not (fetch|read)|missing (blob|tree|object)|is corrupt/i;

class HistoryReader implements PatchHandler {
  commits = 0;
  private commit = '';
  private parent: string | undefined;
  private readonly patches = new PatchReader(this);
  private readonly moves: Moves | null;

  constructor(
    skipReadded: boolean,
    private readonly onLine: (line: RemovedLine) => void,
    readonly onAnchor: (commit: string, value: string) => void,
  ) {
    this.moves = skipReadded ? new Moves(onLine) : null;
  }

  push(chunk: Buffer): void {
    this.patches.push(chunk);
  }

  end(whole: boolean): void {
    this.patches.end(whole);
    this.moves?.end();
  }

  onDiff(commit: string, parent: string | undefined): void {
    this.moves?.end();
    if (commit !== this.commit) this.commits++;
    this.commit = commit;
    this.parent = parent;
  }

  onRemoved(path: string, bytes: Buffer): void {
    if (!isLedger(path)) return;
    const parent = this.parent === undefined ? {} : { parent: this.parent };
    const line = { commit: this.commit, ...parent, path, bytes };
    if (this.moves) this.moves.removed(line);
    else this.onLine(line);
  }

  onAdded(bytes: Buffer): void {
    this.moves?.added(bytes);
  }
}
