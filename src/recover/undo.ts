import { formatCommitMessage } from '../commit/message.js';
import { refused } from '../core/error.js';
import { makeToken } from '../core/text.js';
import { makeBackup } from '../git/backup.js';
import { backupRef } from '../git/backups.js';
import { type Bench, toBytes, toText } from '../git/bytes.js';
import { must } from '../git/client.js';
import { isEmpty, type Move, planMove, requireObjects, requireUntouched } from '../git/move.js';
import { commitTree, restoreTree } from '../git/restore.js';
import { type Context, timestamp } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { type Found, findBackup } from './backups.js';
import { beginMove, benchAt, finishMove, nameBackup, noteOf } from './move.js';
import { type Place, requirePlace } from './plan.js';
import { requireRest, requireUnfiltered, tellDetached, tellLeft } from './rollback.js';

/** What undoing a rollback did. */
export interface Undone {
  undone: string;
  /** The commit that takes the rollback's back; null when HEAD had that tree already. */
  commit: string | null;
  /** Files that came back byte for byte. */
  files: number;
  /** Where the work is that was newer; null when there was none. */
  backup_ref: string | null;
  /** Only with --dry-run. */
  planned?: true;
}

/**
 * Files and index as they were before a rollback, byte for byte; history only grows. Without a name it is the last rollback
 * here, and only while nothing was done since; with one, newer work is put into a backup of its own first.
 */
export async function undoRollback(
  context: Context,
  { backup: name }: { backup?: string } = {},
): Promise<Undone> {
  const place = requirePlace(context);
  await requireRest(context, place);
  const found = await findBackup(context, place, name);
  return benchAt(context, place, async (bench) => {
    const head = (await must(place.git, ['rev-parse', 'HEAD'])).trim();
    const move = await planMove(bench, `${found.backup.commit}^{tree}`, toBytes(place.folder));
    const isNewer = move.inTheWay.length > 0 || (await hasNewerWork(bench, place, { found, head }));
    if (isNewer && !found.isNamed) throw newerWork(found.backup.ref);
    const done = { undone: found.backup.ref, files: found.note.files.length };
    const kept = new Set(found.note.files.map(({ path }) => path));
    const written = [...move.write.keys()].filter((path) => !kept.has(path));
    await requireUnfiltered(place, written.map(toText));
    await requireObjects(bench, move, { more: found.note.files, commit: found.backup.ref });
    if (context.disk.dryRun) return { ...done, commit: null, backup_ref: null, planned: true as const };
    const commit = await makeUndoCommit(context, { bench, place, head, found });
    const ref = isNewer ? nameBackup(context) : null;
    tellLeft(context, move.left);
    await undo(context, { place, bench, move }, { found, head, commit, ref });
    await tellDetached(context, place, commit);
    return { ...done, commit: commit === head ? null : commit, backup_ref: ref };
  });
}

async function undo(
  context: Context,
  { place, bench, move }: { place: Place; bench: Bench; move: Move },
  { found, head, commit, ref }: { found: Found; head: string; commit: string; ref: string | null },
): Promise<void> {
  const { backup } = found;
  const subject = `Before undoing ${backup.ref}`;
  if (ref !== null) await makeBackup(bench, move, { ref, head, subject, note: noteOf(place, 'undo') });
  requireUntouched(bench, move);
  const intent = beginMove(context, {
    op: 'undo',
    at: timestamp(context),
    head,
    commit,
    tree: `${backup.commit}^{tree}`,
    backup: ref,
    kept: backup.ref,
    vouched: null,
    record: { move: makeToken(8), action: 'undo', undone: backup.ref, from: head, to: commit, backup: ref },
  });
  await finishMove(context, { place, bench, move }, intent);
}

const newerWork = (ref: string): Error =>
  refused(
    'recover.newer',
    'Work was done since the rollback, in files or commits outside .forge/; nothing was changed.',
    {
      hint: `forge recover --undo ${backupRefName(ref)}   (puts the newer work into a backup of its own first)`,
    },
  );

const backupRefName = (ref: string): string => ref.slice(backupRef('').length);

/** Whether files, index or history outside `.forge/` are other than the rollback left them. */
async function hasNewerWork(
  bench: Bench,
  { folder }: Place,
  { found, head }: { found: Found; head: string },
): Promise<boolean> {
  const own = toBytes(folder);
  if (!isEmpty(await planMove(bench, head, own, [found.backup.commit]))) return true;
  const checkpoint = found.note.restored as string | undefined;
  if (checkpoint === undefined) return true;
  const form = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', checkpoint, head];
  const paths = (await bench.git(form)).split('\0').filter(Boolean);
  return paths.some((path) => path !== own && !path.startsWith(`${own}/`));
}

async function makeUndoCommit(
  context: Context,
  { bench, place, head, found }: { bench: Bench; place: Place; head: string; found: Found },
): Promise<string> {
  const { ref, commit } = found.backup;
  const before = `${commit}^1`;
  const tree = await restoreTree(bench, { commit: before, head, folder: toBytes(place.folder) });
  const running = readRunning(context);
  const message = formatCommitMessage({
    id: 'FORGE',
    subject: `Undo the rollback${found.note.checkpoint ? ` to ${found.note.checkpoint}` : ''}`,
    what: [`Everything outside .forge/ as before: ${ref}`],
    why: 'The rollback was taken back.',
    learned: [],
    updated: [],
    backtrace: {
      parent: head.slice(0, 12),
      linear: 'none',
      session: running ? sessionName(running.id) : 'none',
    },
  });
  return commitTree(bench, { tree, head, message });
}
