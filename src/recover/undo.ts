import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { refused, usage } from '../core/error.js';
import {
  archiveFile,
  featureFile,
  focusFile,
  kfrFile,
  openFile,
  progressFile,
  sessionFile,
  shown,
} from '../core/paths.js';
import { findTwin } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { removeFeature } from '../feature/feature.js';
import { requireFeature } from '../feature/rules.js';
import { updateFeatures } from '../feature/store.js';
import {
  type Backup,
  type BackupNote,
  backupRef,
  listBackups,
  readNote,
  writeBackup,
} from '../git/backup.js';
import { byteGit, type Git, toText } from '../git/client.js';
import { planMove } from '../git/move.js';
import { commitAt, isSameOutside } from '../git/read.js';
import { installGuard } from '../guard/guard.js';
import { requireVerified } from '../ledger/integrity.js';
import { type Context, openContext, requireRepository, requireSupervisor } from '../project/project.js';
import { isAbout, isCalled } from '../session/rules.js';
import { readRunning, showFocus } from '../session/running.js';
import { discardSession } from '../session/sessions.js';
import { requireArchive } from '../session/store.js';
import { finishRecovery, HALF_WAY, moveTo, nameBackup, noteOf, worktreeOf } from './move.js';
import { RESERVED } from './recover.js';

export type BackupList = Awaited<ReturnType<typeof listRecoveries>>;

/** All backups in this repository, newest first. */
export const listRecoveries = async (context: Context) => ({
  backups: await listBackups(requireRepository(context).git),
});

type Found = Awaited<ReturnType<typeof findBackup>>;

/** The named backup, or the last one of this worktree. Exit 2 without one. */
async function findBackup(context: Context, name: string | undefined) {
  const { git, repository } = requireRepository(context);
  const isNamed = name !== undefined;
  for (const backup of await listBackups(git)) {
    if (isNamed && name !== backup.ref && name !== nameOf(backup)) continue;
    const note = await readNote(git, backup.ref);
    if (!Array.isArray(note?.files) || note.worktree !== worktreeOf(repository)) continue;
    if (isNamed || note.why !== HALF_WAY) return { backup, note, isNamed };
  }
  const what = isNamed
    ? `This worktree has no backup ${JSON.stringify(oneLine(name, 80))}.`
    : 'There is nothing here to undo.';
  throw usage('recover.no_backup', what, { hint: 'forge recover --list' });
}

const nameOf = ({ ref }: Backup): string => ref.slice(backupRef('').length);

/** The result of an undo. */
export type Undone = Awaited<ReturnType<typeof undoLast>>;

/**
 * GIT-09: reverts the last change here, or the named one: a rollback, a removed feature, a discarded session. The
 * current state is saved to another backup ref first, so a second undo is a redo.
 */
export async function undoLast(context: Context, { backup }: { backup?: string | undefined } = {}) {
  requireSupervisor(context, RESERVED);
  await finishRecovery(context);
  const found = await findBackup(context, backup);
  const { note } = found;
  const done = Array.isArray(note.state)
    ? await putFiles(context, note as Snapshot)
    : await undoRollback(context, found);
  return {
    undone: found.backup.ref,
    /** When the backup was made. */
    at: found.backup.at,
    /** The command that the backup was made for: `rollback`, `undo`, `feature remove`, `session discard`. */
    action: String(note.why),
    /** The command that reverts this. */
    redo: 'forge undo',
    ...(context.disk.dryRun ? { planned: true as const } : {}),
    ...done,
  };
}

/**
 * Restores files and index as before a rollback, byte for byte, and only adds to history. Without a name it is refused if
 * work was done since. The current state is saved to a separate backup first.
 */
async function undoRollback(context: Context, { backup, note, isNamed }: Found) {
  await requireVerified(context);
  const isRollback = note.why === 'rollback';
  const { ref, commit: kept } = backup;
  return moveTo(context, {
    ...{ action: 'undo', tree: `${kept}^{tree}`, history: `${kept}^1`, vouched: null },
    kept: { ref, files: note.files },
    text: {
      id: 'FORGE',
      subject: isRollback ? `Undo the rollback to ${note.checkpoint}` : 'Take back the last undo',
      what: [`Everything outside .forge/ as before: ${ref}`],
      why: 'forge undo was run.',
    },
    check: async (workspace, move, head) => {
      if (isNamed || !isRollback) return;
      const { folder, isBlocked } = move;
      const isSame = await isSameOutside(context.git as Git, String(note.restored), head, toText(folder));
      const since = await planMove(workspace, head, folder, { beside: [kept] });
      if (isSame && since.isEmpty && !isBlocked) return;
      throw refused(
        'recover.newer',
        'There is newer work outside .forge/ since the rollback; nothing was changed.',
        { hint: `forge undo ${nameOf(backup)}   # keeps the newer work in a backup of its own first` },
      );
    },
    subject: `Before undoing ${ref}`,
    about: { undone: ref },
  });
}

/** The state before a change of `.forge/`, on a backup ref. */
interface Snapshot extends BackupNote {
  /** Paths from the project's root, and bytes in base64. Null for a file that did not exist. */
  state: { path: string; bytes: string | null }[];
  /** The id of the feature that it is about. */
  feature?: string;
}

/** Saves files to a backup ref before forge changes them. Null without a commit, where undo is impossible. */
async function keepFiles(
  context: Context,
  about: Pick<Snapshot, 'why'> & { subject: string; feature?: string | undefined },
  paths: readonly string[],
): Promise<string | null> {
  const { git, layout, disk } = context;
  if (disk.dryRun) return null;
  const head = git && (await commitAt(git, 'HEAD'));
  if (!git || head === null) {
    context.warnings.push(
      'forge undo cannot bring this back: it keeps things in git, and there is no commit here.',
    );
    return null;
  }
  const state = paths.map((path) => ({
    path: relative(layout.root, path),
    bytes: existsSync(path) ? readFileSync(path, 'base64') : null,
  }));
  const ref = nameBackup(context);
  const { subject, why, ...more } = about;
  const note = { ...noteOf(context, why), files: [], state, ...more };
  await writeBackup(byteGit(git), { ref, head, subject, note });
  return ref;
}

/** Writes nothing, so a refused command leaves no backup. */
async function rehearse(context: Context, work: (dry: Context) => unknown): Promise<void> {
  const dry = openContext(context.layout.root, context.world, true);
  await installGuard(dry);
  work(dry);
}

/** Like `feature remove`, after saving the feature to a backup ref. */
export async function removeFeatureKept(context: Context, input: { id: string }) {
  await rehearse(context, (dry) => removeFeature(dry, input));
  // An edit of features.json is in the feature's file then.
  const { id } = requireFeature(updateFeatures(context), input.id);
  const about = { why: 'feature remove', subject: `Before feature remove ${id}`, feature: id };
  const focus = isAbout(showFocus(context), id) ? [focusFile(context.layout)] : [];
  const kept = await keepFiles(context, about, [featureFile(context.layout, id), ...focus]);
  return { ...removeFeature(context, input), undo: kept && 'forge undo' };
}

/** Like `session discard`, after saving the session's files to a backup ref. */
export async function discardSessionKept(context: Context, input: { id?: string | undefined } = {}) {
  await rehearse(context, (dry) => discardSession(dry, input));
  const { layout } = context;
  const running = readRunning(context);
  const isRunning = running && (input.id === undefined || isCalled(running.id, input.id));
  const { id } = isRunning ? running : requireArchive(context, input.id as string);
  const live = [sessionFile, progressFile, focusFile, kfrFile, openFile].map((file) => file(layout));
  const about = { why: 'session discard', subject: `Before session discard ${id}` };
  const kept = await keepFiles(context, about, [...live, archiveFile(layout, id)]);
  return { ...discardSession(context, input), undo: kept && 'forge undo' };
}

/** Restores the files of a snapshot. Exit 3 for a session that is running now, or a feature that was added since. */
async function putFiles(context: Context, { state, why, feature }: Snapshot) {
  const { disk, layout } = context;
  const all = state.map(({ path, bytes }) => ({ path: resolve(layout.root, path), bytes }));
  const running = readRunning(context);
  // The focus comes back with its feature, unless the session has ended or turned to another task.
  const focus = showFocus(context);
  const isOver =
    feature !== undefined && (running === null || (focus.task !== null && !isAbout(focus, feature)));
  const files = all.filter(({ path }) => !isOver || path !== focusFile(layout));
  const isBack = files[0]?.bytes !== null;
  const twin = feature !== undefined && isBack && findTwin(updateFeatures(context), feature);
  const isOther = running && !files.some(({ path }) => path === archiveFile(layout, running.id));
  if (twin || (feature === undefined && isOther))
    throw refused(
      'undo.newer',
      `${twin ? `A feature ${twin.id} was added` : 'Another session was started'} since; nothing was changed.`,
      { hint: twin ? `forge feature remove ${twin.id}` : 'forge end' },
    );
  const about = { why: 'undo', subject: `Before the undo of ${why}`, feature };
  const paths = files.map(({ path }) => path);
  const ref = await keepFiles(context, about, paths);
  disk.withLock(() => {
    for (const { path, bytes } of files) if (bytes !== null) disk.putBack(path, Buffer.from(bytes, 'base64'));
    for (const { path, bytes } of files) if (bytes === null) disk.remove(path);
  });
  if (feature !== undefined) updateFeatures(context);
  return { ref, commit: null, files: files.length, paths: files.map(({ path }) => shown(layout, path)) };
}
