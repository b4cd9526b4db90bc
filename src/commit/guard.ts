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

/** LTM-13: exit 5 if a session end would archive or commit something forbidden. Ignores what HEAD already contains. */
export async function guardCommit(context: Context): Promise<void> {
  const { layout, disk, repository, git } = context;
  const guard = await loadGuard(context.world.env, context);
  const refuse = (name: string, found: readonly Found[]): void => {
    if (found.length > 0) refuseFound(context, name, found, true);
  };
  for (const path of [progressFile(layout), focusFile(layout), kfrFile(layout), sessionFile(layout)]) {
    const bytes = disk.read(path);
    const name = shown(layout, path);
    if (bytes) refuse(name, guard.scanBytes(path, bytes).filter(notOwnFolder(context, name)));
  }
  if (!repository || !git) return;
  const written = journaledLines(context);
  for (const name of await changedFiles(git, shownFrom(repository.root, layout.dir))) {
    const path = `${repository.root}/${name}`;
    const isLedger = name.endsWith('.jsonl');
    const read = readText(path, isLedger ? Number.MAX_SAFE_INTEGER : undefined);
    // A link, a binary file, or deleted meanwhile.
    if ('skipped' in read) continue;
    const known = isLedger ? await atHead(git, name) : '';
    const fresh = isLedger ? withoutKnownLines(read.text, known, written) : read.text;
    const found = guard.scanBytes(name, Buffer.from(fresh));
    if (found.length === 0) continue;
    const before = Buffer.from(await atHead(git, name));
    refuse(shown(layout, path), newHits(found, guard.scanBytes(name, before)));
  }
}

/** Exit 3 for a new secret in files outside memory that forge is about to commit by itself. */
export async function guardFiles(context: Context, git: Git, names: readonly string[]): Promise<void> {
  const root = context.repository?.root ?? context.layout.root;
  const guard = await loadGuard(context.world.env, context);
  for (const name of names) {
    const read = readText(`${root}/${name}`);
    const found = 'skipped' in read ? [] : guard.scanGrave(read.text);
    if (found.length === 0) continue;
    const [hit] = newHits(found, guard.scanGrave(await atHead(git, name)));
    if (hit)
      throw refused('commit.secret', `${name}:${hit.line} has ${hit.what} (rule ${hit.rule}).`, {
        hint: 'forge guard scan   # then commit what is clean: forge commit',
      });
  }
}

const atHead = async (git: Git, name: string): Promise<string> =>
  (await readBlob(git, 'HEAD', name))?.toString('utf8') ?? '';

/** Empties lines that HEAD contains or that forge itself wrote, so line numbers stay. Ledger files indent records. */
function withoutKnownLines(text: string, before: string, written: ReadonlySet<string>): string {
  const known = new Set(before.split('\n'));
  return text
    .split('\n')
    .map((line) => (known.has(line) || written.has(line.trimStart()) ? '' : line))
    .join('\n');
}
