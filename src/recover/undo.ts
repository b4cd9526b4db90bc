import { refused } from '../core/error.js';
import { makeToken } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import { type Feature, unproved } from '../feature/rules.js';
import { makeBackup } from '../git/backup.js';
import { backupRef } from '../git/backups.js';
import { type Bench, toBytes, toText } from '../git/bytes.js';
import { must } from '../git/client.js';
import { isEmpty, type Move, planMove, requireObjects, requireUntouched } from '../git/move.js';
import { requireVerified } from '../ledger/integrity.js';
import { type Context, timestamp } from '../project/project.js';
import type { Found } from './backups.js';
import { beginMove, benchAt, finishMove, nameBackup, noteOf } from './move.js';
import { type Place, requirePlace } from './plan.js';
import { commitRestored, requireRest, requireUnfiltered, tellDetached, tellLeft } from './rollback.js';

/** What an undo did. */
export interface Undone {
  /** The backup whose state is back. */
  undone: string;
  /** What it had been made for: `rollback`, `undo`, `feature remove`, `session discard`. */
  action: string;
  /** Where that is which stood until now; null in a dry run. */
  ref: string | null;
  /** What takes this back. */
  redo: string;
  /** The commit that takes the rollback's back; null without one, or when HEAD had that tree already. */
  commit: string | null;
  /** Files that came back byte for byte. */
  files: number;
  /** Only with --dry-run. */
  planned?: true;
}

/**
 * Files and index as they were before a rollback, byte for byte; history only grows. Without a name it is refused once work
 * was done since. All that stands until now is in a backup of its own first.
 */
export async function undoRollback(context: Context, found: Found): Promise<Undone> {
  const place = requirePlace(context);
  await requireVerified(context);
  await requireRest(context, place);
  return benchAt(context, place, async (bench) => {
    const head = (await must(place.git, ['rev-parse', 'HEAD'])).trim();
    const { backup, note, isNamed } = found;
    const move = await planMove(bench, `${backup.commit}^{tree}`, toBytes(place.folder));
    if (!isNamed && note.why === 'rollback' && (await hasNewerWork(bench, place, { found, head, move })))
      throw newerWork(backup.ref);
    const done = {
      undone: backup.ref,
      action: String(note.why),
      redo: 'forge undo',
      files: note.files.length,
    };
    const kept = new Set(note.files.map(({ path }) => path));
    const written = [...move.write.keys()].filter((path) => !kept.has(path));
    await requireUnfiltered(place, written.map(toText));
    await requireObjects(bench, move, { more: note.files, commit: backup.ref });
    if (context.disk.dryRun) return { ...done, commit: null, ref: null, planned: true as const };
    const commit = await makeUndoCommit(context, bench, { found, head });
    const ref = nameBackup(context);
    tellLeft(context, move.left);
    await undo(context, { place, bench, move }, { found, head, commit, ref });
    await tellDetached(context, place, commit);
    return { ...done, commit: commit === head ? null : commit, ref };
  });
}

async function undo(
  context: Context,
  { place, bench, move }: { place: Place; bench: Bench; move: Move },
  { found, head, commit, ref }: { found: Found; head: string; commit: string; ref: string },
): Promise<void> {
  const { backup, note } = found;
  // The features that the rollback vouched for: doing it again unproves the same ones.
  const vouched = note.vouched as string[] | undefined;
  const isRedo = note.isRolledBack === true;
  const features: Feature[] =
    isRedo && vouched ? unproved(listFeatures(context).features, new Set(vouched)) : [];
  const more = { ...noteOf(place, 'undo'), isRolledBack: !isRedo, vouched, features };
  await makeBackup(bench, move, { ref, head, subject: `Before undoing ${backup.ref}`, note: more });
  requireUntouched(bench, move);
  const intent = beginMove(context, {
    op: 'undo',
    at: timestamp(context),
    head,
    commit,
    tree: `${backup.commit}^{tree}`,
    backup: ref,
    kept: backup.ref,
    vouched: isRedo ? (vouched ?? null) : null,
    record: { move: makeToken(8), action: 'undo', undone: backup.ref, from: head, to: commit, backup: ref },
  });
  await finishMove(context, { place, bench, move }, intent);
}

const newerWork = (ref: string): Error =>
  refused(
    'recover.newer',
    'Work was done since the rollback, in files or commits outside .forge/; nothing was changed.',
    {
      hint: `forge undo ${ref.slice(backupRef('').length)}   (puts the newer work into a backup of its own first)`,
    },
  );

/** Whether files, index or history outside `.forge/` are other than the rollback left them. */
async function hasNewerWork(
  bench: Bench,
  { folder }: Place,
  { found, head, move }: { found: Found; head: string; move: Move },
): Promise<boolean> {
  const own = toBytes(folder);
  if (move.inTheWay.length > 0) return true;
  if (!isEmpty(await planMove(bench, head, own, [found.backup.commit]))) return true;
  const checkpoint = found.note.restored as string | undefined;
  if (checkpoint === undefined) return true;
  const form = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', checkpoint, head];
  const paths = (await bench.git(form)).split('\0').filter(Boolean);
  return paths.some((path) => path !== own && !path.startsWith(`${own}/`));
}

function makeUndoCommit(
  context: Context,
  bench: Bench,
  { found, head }: { found: Found; head: string },
): Promise<string> {
  const { note, backup } = found;
  const of = note.checkpoint ? ` to ${note.checkpoint}` : '';
  return commitRestored(context, bench, {
    head,
    of: `${backup.commit}^1`,
    id: 'FORGE',
    subject: note.why === 'rollback' ? `Undo the rollback${of}` : 'Take back the last undo',
    what: [`Everything outside .forge/ as before: ${backup.ref}`],
    why: 'forge undo was run.',
  });
}
