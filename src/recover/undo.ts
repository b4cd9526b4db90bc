import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { refused, usage } from '../core/error.js';
import {
  archiveFile,
  featureFile,
  focusFile,
  kfrFile,
  openFile,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
} from '../core/paths.js';
import { findTwin } from '../core/schema.js';
import { oneLine, sha256 } from '../core/text.js';
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
import {
  type Context,
  openContext,
  refuseAgent,
  requireRepository,
  requireSupervisor,
} from '../project/project.js';
import { ARCHIVED_SESSION, isCalled, sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { discardSession } from '../session/sessions.js';
import { requireArchive } from '../session/store.js';
import { finishRecovery, moveTo, nameBackup, noteOf, worktreeOf } from './move.js';
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
    // The backup of an interrupted move does not tell.
    const { what } = note as Partial<Snapshot>;
    if (isNamed || what) return { backup, note, isNamed, what: what ?? note.why };
  }
  const what = isNamed
    ? `This worktree has no backup ${JSON.stringify(oneLine(name, 80))}.`
    : 'There is nothing here to undo.';
  throw usage('recover.no_backup', what, { hint: 'forge recover --list' });
}

const UNDO = 'the undo of ';

/** Names the backup of an undo. Undoing that is the redo. */
const reverse = ({ what }: Found): string => (what.startsWith(UNDO) ? what.slice(UNDO.length) : UNDO + what);

const nameOf = ({ ref }: Backup): string => ref.slice(backupRef('').length);

export type Undone = Awaited<ReturnType<typeof undoLast>>;

/**
 * GIT-09: reverts the last change here, or the named one: a rollback, a removed feature, a discarded session. The
 * current state is saved to another backup ref first, so a second undo is a redo.
 */
export async function undoLast(context: Context, { backup }: { backup?: string | undefined } = {}) {
  requireSupervisor(context, RESERVED);
  await finishRecovery(context);
  const found = await findBackup(context, backup);
  const { note, what } = found;
  const done = Array.isArray(note.state)
    ? await putFiles(context, found)
    : await undoRollback(context, found);
  return {
    undone: found.backup.ref,
    at: found.backup.at,
    /** The command that the backup was made for: `rollback`, `undo`, `feature remove`, `session discard`. */
    action: String(note.why),
    /** What was undone: `the removal of feature F-1`, `the undo of …`. */
    what,
    /** The command that reverts this. */
    redo: 'forge undo',
    ...(context.disk.dryRun ? { planned: true as const } : {}),
    ...done,
  };
}

/**
 * Restores files and index as before a rollback, byte for byte, and only adds to history. Without a name it is refused if
 * work was done since, or, for the redo, committed since. The current state is saved to a separate backup first.
 */
async function undoRollback(context: Context, found: Found) {
  refuseAgent(context, 'Undoing a rollback');
  const { backup, note, isNamed } = found;
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
      if (isNamed) return;
      const { folder, isBlocked } = move;
      const isSame = await isSameOutside(context.git as Git, String(note.restored), head, toText(folder));
      // A redo moves what is not committed into its backup, like the rollback.
      const since = isRollback ? await planMove(workspace, head, folder, { beside: [kept] }) : null;
      if (isSame && (since === null || (since.isEmpty && !isBlocked))) return;
      throw refused(
        'recover.newer',
        `There is newer work outside .forge/ since the ${note.why}; nothing was changed.`,
        { hint: `forge undo ${nameOf(backup)}   # keeps the newer work in a backup of its own first` },
      );
    },
    what: reverse(found),
    about: { undone: ref },
  });
}

/** The state before a change of `.forge/`, on a backup ref. */
interface Snapshot extends BackupNote {
  /** Paths from the project's root, and bytes in base64. Null for a file that did not exist. */
  state: { path: string; bytes: string | null }[];
  /** The digests of these files after the change. Missing if it was interrupted. */
  left?: (string | null)[];
  /** The id of the feature that it is about. */
  feature?: string | undefined;
  /** What an undo reverts. */
  what: string;
}

const digestOf = (path: string): string | null => (existsSync(path) ? sha256(readFileSync(path)) : null);

/** Saves files to a backup ref, and then changes them. `ref` is null without a commit, where undo is impossible. */
async function changeKept<T>(
  context: Context,
  about: Pick<Snapshot, 'why' | 'feature' | 'what'>,
  paths: readonly string[],
  change: () => T,
): Promise<{ done: T; ref: string | null }> {
  const { git, layout, disk } = context;
  if (disk.dryRun) return { done: change(), ref: null };
  const head = git && (await commitAt(git, 'HEAD'));
  if (!git || head === null) {
    context.warnings.push(
      'forge undo cannot bring this back: it keeps things in git, and there is no commit here.',
    );
    return { done: change(), ref: null };
  }
  const state = paths.map((path) => ({
    path: relative(layout.root, path),
    bytes: existsSync(path) ? readFileSync(path, 'base64') : null,
  }));
  const ref = nameBackup(context);
  const note = { ...noteOf(context, about.why), files: [], state, ...about };
  const subject = `Before ${about.what}`;
  const old = await writeBackup(byteGit(git), { ref, head, subject, note });
  const done = change();
  const after = { ...note, left: paths.map(digestOf) };
  await writeBackup(byteGit(git), { ref, head, subject, note: after, old });
  return { done, ref };
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
  const about = { why: 'feature remove', feature: id, what: `the removal of feature ${id}` };
  const paths = [featureFile(context.layout, id)];
  const { done, ref } = await changeKept(context, about, paths, () => removeFeature(context, input));
  return { ...done, undo: ref && 'forge undo' };
}

/** Like `session discard`, after saving the session's files to a backup ref. */
export async function discardSessionKept(context: Context, input: { id?: string | undefined } = {}) {
  await rehearse(context, (dry) => discardSession(dry, input));
  const { layout } = context;
  const running = readRunning(context);
  const isRunning = running && (input.id === undefined || isCalled(running.id, input.id));
  const { id } = isRunning ? running : requireArchive(context, input.id as string);
  const live = isRunning ? [sessionFile, progressFile, focusFile, kfrFile, openFile] : [];
  const about = { why: 'session discard', what: `the discard of session ${sessionName(id)}` };
  const paths = [...live.map((file) => file(layout)), archiveFile(layout, id)];
  const { done, ref } = await changeKept(context, about, paths, () => discardSession(context, input));
  return { ...done, undo: ref && 'forge undo' };
}

/** Restores the files of a snapshot. */
async function putFiles(context: Context, found: Found) {
  const { disk, layout } = context;
  const { state, left = [], feature } = found.note as Snapshot;
  const files = state.map(({ path, bytes }, i) => ({
    path: resolve(layout.root, path),
    bytes,
    left: left[i],
  }));
  refuseNewer(context, found, files);
  const paths = files.map(({ path }) => path);
  const about = { why: 'undo', feature, what: reverse(found) };
  const { done, ref } = await changeKept(context, about, paths, () => {
    disk.withLock(() => {
      for (const { path, bytes } of files)
        if (bytes !== null) disk.putBack(path, Buffer.from(bytes, 'base64'));
      for (const { path, bytes } of files) if (bytes === null) disk.remove(path);
    });
    const written = [...disk.written];
    if (feature !== undefined) updateFeatures(context);
    return written;
  });
  return { ref, commit: null, files: done.length, paths: done };
}

/** Exit 3 for a session that is running now or went on since, a feature that was added since, and, without a name, a file that was changed. */
function refuseNewer(
  context: Context,
  { backup, note: { feature }, isNamed }: Found,
  files: readonly { path: string; bytes: string | null; left: string | null | undefined }[],
): void {
  const { layout } = context;
  const refuse = (what: string, hint: string): never => {
    throw refused('undo.newer', `${what} since; nothing was changed.`, { hint });
  };
  const running = readRunning(context);
  const isKnown = (path: string): boolean => files.some((file) => file.path === path);
  if (running && isKnown(sessionFile(layout)) && !isKnown(archiveFile(layout, running.id)))
    refuse('Another session was started', 'forge end');
  for (const { path } of files.filter((file) => dirname(file.path) === sessionsFolder(layout))) {
    const { value } = context.disk.readDocument(ARCHIVED_SESSION, path, null);
    const name = sessionName(value?.id ?? '');
    if (value?.status === 'ended') refuse(`Session ${name} has ended`, `forge session show ${name}`);
    if (value?.resumed_by) refuse(`Session ${name} was resumed`, `forge session show ${name}`);
  }
  const isBack = feature !== undefined && files[0]?.bytes !== null;
  const twin = isBack && findTwin(updateFeatures(context), String(feature));
  if (twin) refuse(`A feature ${twin.id} was added`, `forge feature remove ${twin.id}`);
  // These change without a command of the person: another terminal continues the session.
  const loose = [sessionFile(layout), openFile(layout)];
  const changed = files.find(
    ({ path, left }) => left !== undefined && !loose.includes(path) && left !== digestOf(path),
  );
  if (changed && !isNamed)
    refuse(
      `${shown(layout, changed.path)} was changed`,
      `forge undo ${nameOf(backup)}   # keeps the newer state in a backup of its own first`,
    );
}
