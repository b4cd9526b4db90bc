import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { outside, refused, usage } from '../core/error.js';
import { archiveFile, focusFile, kfrFile, openFile, progressFile, sessionFile } from '../core/paths.js';
import { findTwin } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { removeFeature } from '../feature/feature.js';
import { type Feature, requireFeature } from '../feature/rules.js';
import { readFeatures, updateFeatures } from '../feature/store.js';
import {
  type Backup,
  type BackupNote,
  backupRef,
  listBackups,
  readNote,
  writeBackup,
} from '../git/backup.js';
import { byteGit, must, toBytes, words } from '../git/client.js';
import { type Bench, type Move, planMove } from '../git/move.js';
import { installGuard } from '../guard/guard.js';
import { requireVerified } from '../ledger/integrity.js';
import { type Context, openContext, requireSupervisor } from '../project/project.js';
import {
  atBench,
  commitRestored,
  finishRecovery,
  HALF_WAY,
  makeMove,
  nameBackup,
  noteOf,
  requirePlace,
  requirePossible,
  requireRest,
} from '../recover/move.js';
import { RESERVED } from '../recover/recover.js';
import { requireArchive } from '../session/archive.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { discardSession } from '../session/sessions.js';

export interface BackupList {
  backups: (Backup & { why: string; here: boolean })[];
}

/** All backups in this repository, newest first. */
export async function listRecoveries(context: Context): Promise<BackupList> {
  const { git, repository } = requirePlace(context);
  const backups = (await listBackups(git)).map(async (backup) => {
    const note = await readNote(git, backup.ref);
    return { ...backup, why: String(note?.why ?? 'unknown'), here: note?.worktree === repository.gitDir };
  });
  return { backups: await Promise.all(backups) };
}

/** A backup to restore. */
interface Found {
  backup: Backup;
  note: BackupNote;
  /** The user named it. */
  isNamed: boolean;
}

/** The named backup, or the last one of this worktree. Exit 2 without one. */
async function findBackup(context: Context, name: string | undefined): Promise<Found> {
  const { git, repository } = requirePlace(context);
  const isNamed = name !== undefined;
  for (const backup of await listBackups(git)) {
    if (isNamed && ![backup.ref, backup.ref.slice('refs/'.length), nameOf(backup)].includes(name)) continue;
    const note = await readNote(git, backup.ref);
    const isWhole = Array.isArray(note?.files);
    if (note && isWhole && note.worktree === repository.gitDir && (isNamed || note.why !== HALF_WAY))
      return { backup, note, isNamed };
    if (isNamed && !isWhole)
      throw outside('recover.backup', `${backup.ref} is not a backup that forge made, or is not whole.`, {
        hint: 'forge recover --list',
      });
    if (isNamed)
      throw refused('recover.elsewhere', `${backup.ref} was made in another worktree.`, {
        hint: `git restore --source=${backup.ref} -- FILE   # or undo it there`,
      });
  }
  const what = isNamed
    ? `There is no backup ${JSON.stringify(oneLine(name, 80))}.`
    : 'There is nothing here to undo.';
  throw usage('recover.no_backup', what, { hint: 'forge recover --list' });
}

const nameOf = ({ ref }: Backup): string => ref.slice(backupRef('').length);

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
 * GIT-09: reverts the last change here, or the named one: a rollback, a removed feature, a discarded session. The
 * current state is saved to another backup ref first, so a second undo is a redo.
 */
export async function undoLast(context: Context, { backup }: { backup?: string } = {}): Promise<Undone> {
  requireSupervisor(context, RESERVED);
  requirePlace(context);
  await finishRecovery(context);
  const found = await findBackup(context, backup);
  const { note } = found;
  const planned = context.disk.dryRun ? { planned: true as const } : {};
  const done = { undone: found.backup.ref, action: String(note.why), redo: 'forge undo', ...planned };
  if (!Array.isArray(note.state)) return { ...done, ...(await undoRollback(context, found)) };
  const snapshot = note as Snapshot;
  if (!snapshot.feature)
    return { ...done, commit: null, ref: await putFiles(context, snapshot), files: snapshot.state.length };
  return { ...done, commit: null, ref: await putFeature(context, snapshot, snapshot.feature), files: 1 };
}

/**
 * Restores files and index as before a rollback, byte for byte, and only adds to history. Without a name it is refused if
 * work was done since. The current state is saved to a separate backup first.
 */
async function undoRollback(
  context: Context,
  { backup, note, isNamed }: Found,
): Promise<Pick<Undone, 'ref' | 'commit' | 'files'>> {
  await requireVerified(context);
  await requireRest(context);
  const { git, folder } = requirePlace(context);
  return atBench(context, async (bench) => {
    const head = (await must(git, ['rev-parse', 'HEAD'])).trim();
    const more = note.files.map(({ path }) => path);
    const move = await planMove(bench, `${backup.commit}^{tree}`, toBytes(folder), { more });
    if (!isNamed && note.why === 'rollback' && (await hasNewerWork(bench, { backup, note, head, move })))
      throw refused(
        'recover.newer',
        'There is newer work outside .forge/ since the rollback; nothing was changed.',
        { hint: `forge undo ${nameOf(backup)}   # keeps the newer work in a backup of its own first` },
      );
    const files = new Set([...move.write.keys(), ...move.remove, ...more]).size;
    await requirePossible(context, bench, move, { kept: note.files, commit: backup.ref });
    if (context.disk.dryRun) return { ref: null, commit: null, files };
    const isRollback = note.why === 'rollback';
    const commit = await commitRestored(context, bench, {
      head,
      of: `${backup.commit}^1`,
      text: {
        id: 'FORGE',
        subject: isRollback ? `Undo the rollback to ${note.checkpoint}` : 'Take back the last undo',
        what: [`Everything outside .forge/ as before: ${backup.ref}`],
        why: 'forge undo was run.',
      },
    });
    const ref = await makeMove(context, bench, move, {
      op: 'undo',
      head,
      commit,
      kept: backup.ref,
      vouched: null,
      subject: `Before undoing ${backup.ref}`,
      about: { undone: backup.ref },
    });
    return { ref, commit: commit === head ? null : commit, files };
  });
}

/** Whether files, index or history outside `.forge/` changed since the rollback. */
async function hasNewerWork(
  bench: Bench,
  { backup, note, head, move }: Omit<Found, 'isNamed'> & { head: string; move: Move },
): Promise<boolean> {
  const { folder, isBlocked } = move;
  if (isBlocked || !(await planMove(bench, head, folder, { beside: [backup.commit] })).isEmpty) return true;
  const form = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', String(note.restored), head];
  return words(await bench.look(form)).some((path) => !path.startsWith(`${folder}/`));
}

/** The state before a change of `.forge/`, on a backup ref. */
interface Snapshot extends BackupNote {
  /** Paths from the project's root, and bytes in base64. Null for a file that did not exist. */
  state: { path: string; bytes: string | null }[];
  feature?: Feature;
  /** The position of the feature in the list. */
  at?: number;
}

/** Saves files to a backup ref before forge changes them. Null without git, where undo is impossible. */
async function keepFiles(
  context: Context,
  { why, subject, ...more }: { why: string; subject: string } & Pick<Snapshot, 'feature' | 'at'>,
  paths: readonly string[] = [],
): Promise<string | null> {
  const { git: asText, layout, disk } = context;
  if (disk.dryRun) return null;
  if (!asText) {
    context.warnings.push(
      'forge undo cannot bring this back: it keeps things in git, and there is no repository here.',
    );
    return null;
  }
  const state = paths.map((path) => ({
    path: relative(layout.root, path),
    bytes: existsSync(path) ? readFileSync(path, 'base64') : null,
  }));
  const git = byteGit(asText);
  const run = async (...args: string[]): Promise<string> => (await git(args, { input: '' })).trim();
  const { code, stdout } = await asText(['rev-parse', '-q', '--verify', 'HEAD^{commit}']);
  const head =
    code === 0 ? stdout.trim() : await run('commit-tree', await run('mktree'), '-m', 'No commit yet');
  const ref = nameBackup(context);
  const note = { ...noteOf(context, why), ...more, files: [], state };
  await writeBackup(git, { ref, head, subject, note });
  return ref;
}

/** Writes nothing, so a refused command leaves no backup. */
async function rehearse(context: Context, work: (dry: Context) => unknown): Promise<void> {
  const dry = openContext(context.layout.root, context.world, true);
  await installGuard(dry);
  work(dry);
}

/** Like `feature remove`, after saving the feature to a backup ref. */
export async function removeFeatureKept(
  context: Context,
  input: { id: string },
): Promise<{ removed: Feature; undo: string | null }> {
  await rehearse(context, (dry) => removeFeature(dry, input));
  const features = readFeatures(context);
  const feature = requireFeature(features, input.id);
  const at = features.indexOf(feature);
  const kept = await keepFiles(context, {
    why: 'feature remove',
    subject: `Before feature remove ${feature.id}`,
    feature,
    at,
  });
  return { ...removeFeature(context, input), undo: kept && 'forge undo' };
}

/** Like `session discard`, after saving the session's files to a backup ref. */
export async function discardSessionKept(
  context: Context,
  input: { id?: string } = {},
): Promise<ReturnType<typeof discardSession> & { undo: string | null }> {
  await rehearse(context, (dry) => discardSession(dry, input));
  const running = readRunning(context);
  const isRunning = running && [undefined, running.id, sessionName(running.id)].includes(input.id);
  const { id } = isRunning ? running : requireArchive(context, input.id as string);
  const about = { why: 'session discard', subject: `Before session discard ${id}` };
  const kept = await keepFiles(context, about, filesOf(context, id));
  return { ...discardSession(context, input), undo: kept && 'forge undo' };
}

/** All files that a discard may change. */
function filesOf({ layout }: Context, id: string): string[] {
  const live = [sessionFile, progressFile, focusFile, kfrFile, openFile].map((file) => file(layout));
  return [...live, archiveFile(layout, id)];
}

/** Restores the feature, or removes it again for a redo. */
async function putFeature(
  context: Context,
  { at = 0, why }: Snapshot,
  feature: Feature,
): Promise<string | null> {
  const isBack = why === 'feature remove';
  const twin = findTwin(readFeatures(context), feature.id);
  if (isBack && twin)
    throw refused('undo.newer', `A feature ${twin.id} was added since; nothing was changed.`, {
      hint: `forge feature remove ${twin.id}`,
    });
  const next = { why: isBack ? 'feature restore' : 'feature remove', subject: `Before the undo of ${why}` };
  const ref = await keepFiles(context, { ...next, feature, at });
  if (!isBack) removeFeature(context, { id: feature.id });
  else updateFeatures(context, (before) => before.toSpliced(at, 0, feature));
  return ref;
}

/** Restores the session's files. A session that is running now keeps its own. */
async function putFiles(context: Context, { state, why }: Snapshot): Promise<string | null> {
  const { disk, layout } = context;
  const kept = state.map(({ path, bytes }) => ({ path: resolve(layout.root, path), bytes }));
  const running = readRunning(context);
  if (running && !kept.some(({ path }) => path === archiveFile(layout, running.id)))
    throw refused('undo.newer', 'Another session was started since; nothing was changed.', {
      hint: 'forge end',
    });
  const about = { why: 'session discard', subject: `Before the undo of ${why}` };
  const paths = kept.map(({ path }) => path);
  const ref = await keepFiles(context, about, paths);
  disk.withLock(() => {
    for (const { path, bytes } of kept)
      if (bytes !== null) disk.replaceMoved(path, Buffer.from(bytes, 'base64'));
    for (const { path, bytes } of kept) if (bytes === null) disk.remove(path);
  });
  delete context.recent;
  return ref;
}
