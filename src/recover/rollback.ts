import { listed } from '../checkpoint/place.js';
import { issueOf, nameIn } from '../checkpoint/rules.js';
import { validId } from '../commit/check.js';
import { formatCommitMessage } from '../commit/message.js';
import { outside, refused, usage } from '../core/error.js';
import { makeToken, oneLine, plural } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import { unproved } from '../feature/rules.js';
import { type Backup, type BackupNote, backupRef, listBackups, readNote } from '../git/backup.js';
import { toBytes, toText, words } from '../git/bytes.js';
import { must } from '../git/client.js';
import { type Bench, hasLeftOut, listSpared, type Move, planMove, treeWith } from '../git/move.js';
import { requireVerified } from '../ledger/integrity.js';
import type { Context } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { atBench, HALF_WAY, makeMove, nameBackup, noteOf, requirePossible, requireRest } from './move.js';
import { type Place, type RecoveryPlan, requirePlace, type Target } from './plan.js';

/** The result of a rollback. */
interface RolledBack {
  /** The backup of everything that it changed. Null if there was nothing to change. */
  backup_ref: string | null;
  /** The commit that restores the checkpoint. Null if HEAD already had it. */
  commit: string | null;
}

/** Restores the checkpoint's tree outside `.forge/`, as a commit on HEAD and on disk. */
export async function rollBack(context: Context, plan: RecoveryPlan): Promise<RolledBack> {
  const place = requirePlace(context);
  await requireRest(context, place);
  const [target, head] = [plan.checkpoint as Target, plan.head as string];
  return atBench(context, async (bench) => {
    if (await hasLeftOut(bench))
      throw refused('recover.sparse', 'This is a sparse checkout, so it cannot hold a whole checkpoint.', {
        hint: 'forge recover --worktree FOLDER\ngit sparse-checkout disable',
      });
    const { commit, index } = await commitRestored(context, bench, {
      ...describe(context, plan),
      head,
      of: target.commit,
    });
    const move = await planMove(bench, commit, toBytes(place.folder));
    if (move.isEmpty && commit === head) return { backup_ref: null, commit: null };
    await requirePossible(place, bench, move, { commit: target.commit.slice(0, 12), index });
    const backup = nameBackup(context);
    const vouched = target.features_passing;
    const features = unproved(listFeatures(context).features, new Set(vouched));
    const kept = { checkpoint: target.tag, restored: commit, vouched, features };
    await makeMove(
      context,
      { place, bench, move },
      {
        op: 'rollback',
        head,
        commit,
        tree: commit,
        backup,
        kept: null,
        vouched,
        note: { ...noteOf(place, 'rollback'), ...kept },
        subject: `Before the rollback to ${target.tag}`,
        record: { move: makeToken(8), action: 'rollback', ...about(plan), from: head, to: commit, backup },
      },
    );
    const spared = await listSpared(bench, backup, move.folder);
    if (spared.length > 0)
      context.warnings.push(
        `Left where they are, though the checkpoint's .gitignore does not name them: ${listed(spared.map(toText))}. Commit none of them by accident.`,
      );
    return { backup_ref: backup, commit: commit === head ? null : commit };
  });
}

/** The audit record of a decision. */
export const about = ({ checkpoint, rules, checks }: RecoveryPlan): Record<string, unknown> => ({
  checkpoint: checkpoint?.tag ?? null,
  ...(checkpoint ? { checkpoint_commit: checkpoint.commit } : {}),
  rules: rules.map(({ rule, value, limit, holds }) => ({ rule, value, limit, holds })),
  failed: checks.flatMap(({ name, state }) => (state === 'failed' ? [name] : [])),
});

interface Text {
  id: string;
  subject: string;
  what: string[];
  why: string;
  parentNote?: string;
}

function describe(context: Context, { checkpoint, divergence, checks }: RecoveryPlan): Text {
  const { tag, commit } = checkpoint as Target;
  const { files, commits } = divergence;
  const short = commit.slice(0, 12);
  const failed = checks.filter(({ state }) => state === 'failed');
  return {
    id: validId(context, issueOf(nameIn(tag) ?? 'FORGE')),
    subject: `Roll back to ${tag}`,
    what: [
      `Everything outside .forge/ as in ${short}`,
      `Left behind: ${plural(commits, 'commit')}, ${plural(files, 'changed file')}`,
    ],
    why: failed.map(({ name, why }) => `- ${name}: ${why}`).join('\n'),
    parentNote: `the verified state is ${short}`,
  };
}

/** A commit on HEAD with the files of another commit and HEAD's `.forge/`. HEAD itself if nothing differs. */
async function commitRestored(
  context: Context,
  bench: Bench,
  { head, of, parentNote, ...text }: Text & { head: string; of: string },
): Promise<{ commit: string; index: string }> {
  const folder = toBytes(requirePlace(context).folder);
  const { tree, index } = await treeWith(bench, { commit: of, head, folder });
  const running = readRunning(context);
  const message = formatCommitMessage({
    ...text,
    learned: [],
    updated: [],
    backtrace: {
      parent: head.slice(0, 12),
      ...(parentNote === undefined ? {} : { parentNote }),
      linear: 'none',
      session: running ? sessionName(running.id) : 'none',
    },
  });
  return { commit: await commitTree(bench, { tree, head, message }), index };
}

/** A commit on HEAD; HEAD itself when it has this tree. No hook and no signing program runs. */
async function commitTree(
  { look }: Bench,
  { tree, head, message }: { tree: string; head: string; message: string },
): Promise<string> {
  if ((await look(['rev-parse', `${head}^{tree}`])).trim() === tree) return head;
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', tree, '-p', head, '-F', '-'];
  return (await look(args, { input: toBytes(message) })).trim();
}

export interface BackupList {
  backups: (Backup & { why: string; here: boolean })[];
}

/** All backups in this repository, newest first. */
export async function listRecoveries(context: Context): Promise<BackupList> {
  const { git, repository } = requirePlace(context);
  const backups = await listBackups(git);
  const notes = await Promise.all(backups.map(({ ref }) => readNote(git, ref)));
  return {
    backups: backups.map((backup, i) => ({
      ...backup,
      why: String(notes[i]?.why ?? 'unknown'),
      here: notes[i]?.worktree === repository.gitDir,
    })),
  };
}

/** A backup to restore. */
export interface Found {
  backup: Backup;
  note: BackupNote;
  /** The user named it. */
  isNamed: boolean;
}

/** The named backup, or the last one of this worktree. Exit 2 without one. */
export async function findBackup({ git, repository }: Place, name: string | undefined): Promise<Found> {
  const all = await listBackups(git);
  const chosen =
    name === undefined
      ? all
      : all.filter(({ ref }) => `refs/${name}` === ref || name === ref || ref === backupRef(name));
  for (const backup of chosen) {
    const note = await readNote(git, backup.ref);
    const isHere = note?.worktree === repository.gitDir;
    if (isHere && Array.isArray(note.files) && (name !== undefined || note.why !== HALF_WAY))
      return { backup, note, isNamed: name !== undefined };
    if (name === undefined) continue;
    if (!note || !Array.isArray(note.files))
      throw outside('recover.backup', `${backup.ref} is not a backup that forge made, or is not whole.`, {
        hint: 'forge recover --list',
      });
    throw refused('recover.elsewhere', `${backup.ref} was made in another worktree.`, {
      hint: `git restore --source=${backup.ref} -- FILE   # or undo it there`,
    });
  }
  const what =
    name === undefined
      ? 'There is nothing here to undo.'
      : `There is no backup ${JSON.stringify(oneLine(name, 80))}.`;
  throw usage('recover.no_backup', what, { hint: 'forge recover --list' });
}

/** The result of an undo. */
export interface Undone {
  /** The restored backup. */
  undone: string;
  /** The command it was made for: `rollback`, `undo`, `feature remove`, `session discard`. */
  action: string;
  /** The backup of the state before the undo. Null in a dry run. */
  ref: string | null;
  /** The command that reverts this. */
  redo: string;
  /** The commit that reverts the rollback's. Null without one, or if HEAD already had that tree. */
  commit: string | null;
  /** How many files were written or removed. */
  files: number;
  /** Only with --dry-run. */
  planned?: true;
}

/**
 * Restores files and index as before a rollback, byte for byte, and only adds to history. Without a name it is refused if
 * work was done since. The current state is saved to a separate backup first.
 */
export async function undoRollback(context: Context, found: Found): Promise<Undone> {
  const place = requirePlace(context);
  await requireVerified(context);
  await requireRest(context, place);
  const { backup, note, isNamed } = found;
  return atBench(context, async (bench) => {
    const head = (await must(place.git, ['rev-parse', 'HEAD'])).trim();
    const tree = `${backup.commit}^{tree}`;
    const more = note.files.map(({ path }) => path);
    const move = await planMove(bench, tree, toBytes(place.folder), { more });
    if (!isNamed && note.why === 'rollback' && (await hasNewerWork(bench, { found, head, move })))
      throw newerWork(backup.ref);
    const done = {
      undone: backup.ref,
      action: String(note.why),
      redo: 'forge undo',
      files: new Set([...move.write.keys(), ...move.remove, ...more]).size,
    };
    await requirePossible(place, bench, move, { kept: note.files, commit: backup.ref });
    if (context.disk.dryRun) return { ...done, commit: null, ref: null, planned: true as const };
    const { commit } = await commitRestored(context, bench, {
      head,
      of: `${backup.commit}^1`,
      id: 'FORGE',
      subject:
        note.why === 'rollback'
          ? `Undo the rollback${note.checkpoint ? ` to ${note.checkpoint}` : ''}`
          : 'Take back the last undo',
      what: [`Everything outside .forge/ as before: ${backup.ref}`],
      why: 'forge undo was run.',
    });
    const ref = nameBackup(context);
    // The features that the rollback vouched for: a redo unproves the same ones.
    const vouched = note.vouched as string[] | undefined;
    const isRedo = note.isRolledBack === true;
    const features = isRedo && vouched ? unproved(listFeatures(context).features, new Set(vouched)) : [];
    await makeMove(
      context,
      { place, bench, move },
      {
        op: 'undo',
        head,
        commit,
        tree,
        backup: ref,
        kept: backup.ref,
        vouched: isRedo ? (vouched ?? null) : null,
        note: { ...noteOf(place, 'undo'), isRolledBack: !isRedo, vouched, features },
        subject: `Before undoing ${backup.ref}`,
        record: {
          move: makeToken(8),
          action: 'undo',
          undone: backup.ref,
          from: head,
          to: commit,
          backup: ref,
        },
      },
    );
    return { ...done, commit: commit === head ? null : commit, ref };
  });
}

const newerWork = (ref: string): Error =>
  refused('recover.newer', 'There is newer work outside .forge/ since the rollback; nothing was changed.', {
    hint: `forge undo ${ref.slice(backupRef('').length)}   # keeps the newer work in a backup of its own first`,
  });

/** Whether files, index or history outside `.forge/` changed since the rollback. */
async function hasNewerWork(
  bench: Bench,
  { found, head, move }: { found: Found; head: string; move: Move },
): Promise<boolean> {
  const { folder, inTheWay } = move;
  if (inTheWay.length > 0) return true;
  if (!(await planMove(bench, head, folder, { beside: [found.backup.commit] })).isEmpty) return true;
  const checkpoint = found.note.restored as string | undefined;
  if (checkpoint === undefined) return true;
  const form = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', checkpoint, head];
  return words(await bench.look(form)).some((path) => path !== folder && !path.startsWith(`${folder}/`));
}
