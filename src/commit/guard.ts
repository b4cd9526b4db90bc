import { refused } from '../core/error.js';
import { focusFile, kfrFile, progressFile, sessionFile, shown, shownFrom } from '../core/paths.js';
import type { Git } from '../git/client.js';
import { changedFiles } from '../git/commit.js';
import { readBlob } from '../git/read.js';
import type { Found } from '../guard/document.js';
import { loadGuard, newHits, notOwnFolder, refuseFound } from '../guard/guard.js';
import { readText } from '../guard/scan-tree.js';
import { journaledLines } from '../ledger/memory.js';
import type { Context } from '../project/project.js';

/**
 * LTM-13: what a session's end would archive and commit, whoever wrote it there. Exit 5 before anything is ended; what
 * HEAD has already is for `forge guard scan` to name.
 */
export async function guardCommit(context: Context): Promise<void> {
  const { layout, disk } = context;
  const guard = await loadGuard(context.world.env, context);
  for (const path of [progressFile(layout), focusFile(layout), kfrFile(layout), sessionFile(layout)]) {
    const bytes = disk.read(path);
    const name = shown(layout, path);
    if (bytes) refuse(context, name, guard.scanBytes(path, bytes).filter(notOwnFolder(context, name)));
  }
  const { repository, git } = context;
  if (!repository || !git) return;
  const written = journaledLines(context);
  for (const name of await changedFiles(git, shownFrom(repository.root, layout.dir))) {
    const path = `${repository.root}/${name}`;
    const isLedger = name.endsWith('.jsonl');
    const read = readText(path, isLedger ? Number.MAX_SAFE_INTEGER : undefined);
    // A link, a binary file, or gone meanwhile.
    if ('skipped' in read) continue;
    const bytes = Buffer.from(read.text);
    const before = await readBlob(git, 'HEAD', name);
    if (before?.equals(bytes)) continue;
    const fresh = isLedger ? withoutLines(bytes, before, written) : bytes;
    const found = guard.scanBytes(name, fresh);
    refuse(context, shown(layout, path), before ? newHits(found, guard.scanBytes(name, before)) : found);
  }
}

/** Files outside of memory that forge is about to commit by itself: exit 3 for what is new in them and critical. */
export async function guardFiles(context: Context, git: Git, names: readonly string[]): Promise<void> {
  const root = context.repository?.root ?? context.layout.root;
  const guard = await loadGuard(context.world.env, context);
  for (const name of names) {
    const read = readText(`${root}/${name}`);
    const found = 'skipped' in read ? [] : guard.scanGrave(read.text);
    if (found.length === 0) continue;
    const before = await readBlob(git, 'HEAD', name);
    const [hit] = before ? newHits(found, guard.scanGrave(before.toString('utf8'))) : found;
    if (hit)
      throw refused('commit.secret', `${name}:${hit.line} has ${hit.what} (rule ${hit.rule}).`, {
        hint: 'forge guard scan   # then commit what is clean: forge commit',
      });
  }
}

function refuse(context: Context, name: string, found: readonly Found[]): void {
  if (found.length > 0) refuseFound(context, name, found, true);
}

/** The same lines at the same numbers, but empty where they are known. */
function withoutLines(bytes: Buffer, before: Buffer | null, written: ReadonlySet<string>): Buffer {
  const known = new Set(before?.toString('utf8').split('\n'));
  const lines = bytes.toString('utf8').split('\n');
  // Lines of the ledger are indented, which is no part of the record.
  const left = lines.map((line) => (known.has(line) || written.has(line.trimStart()) ? '' : line));
  return Buffer.from(left.join('\n'));
}
