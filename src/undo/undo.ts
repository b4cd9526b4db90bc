import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { outside, refused } from '../core/error.js';
import { archiveFile, focusFile, kfrFile, openFile, progressFile, sessionFile } from '../core/paths.js';
import { findTwin } from '../core/schema.js';
import { removeFeature } from '../feature/feature.js';
import { type Feature, requireFeature } from '../feature/rules.js';
import { readFeatures, updateFeatures } from '../feature/store.js';
import { type BackupNote, hashFiles, writeBackup } from '../git/backup.js';
import { byteGit, toBytes } from '../git/bytes.js';
import { openObjects } from '../git/client.js';
import { installGuard } from '../guard/guard.js';
import { type Context, openContext, requireSupervisor } from '../project/project.js';
import { finishRecovery, nameBackup, noteOf } from '../recover/move.js';
import { requirePlace } from '../recover/plan.js';
import { RESERVED } from '../recover/recover.js';
import { type Found, findBackup, type Undone, undoRollback } from '../recover/rollback.js';
import { requireArchive } from '../session/archive.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { discardSession } from '../session/sessions.js';

/** The state before a change of `.forge/`, on a backup ref. */
interface Snapshot extends BackupNote {
  /** Paths from the project's root. Null for a file that did not exist. */
  state: { path: string; oid: string | null }[];
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
  const { git, layout, disk, world } = context;
  if (disk.dryRun) return null;
  if (!git) {
    context.warnings.push(
      'forge undo cannot bring this back: it keeps things in git, and there is no repository here.',
    );
    return null;
  }
  const bytes = byteGit(layout.root, world.env);
  const there = paths.filter((path) => existsSync(path));
  const oids = await hashFiles(bytes, there.map(toBytes));
  const state = paths.map((path) => ({
    path: relative(layout.root, path),
    oid: oids[there.indexOf(path)] ?? null,
  }));
  const ref = nameBackup(context);
  const head =
    (await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).stdout.trim() ||
    (
      await bytes(['commit-tree', (await bytes(['mktree'], { input: '' })).trim(), '-m', 'No commit yet'])
    ).trim();
  const note = { ...noteOf(requirePlace(context), why), ...more, files: [], state };
  const entries = oids.map((oid, i) => `100644 blob ${oid}\tfile-${i}`);
  await writeBackup(bytes, { ref, head, tree: `${head}^{tree}`, subject, note, entries });
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

/**
 * GIT-09: reverts the last change here, or the named one: a rollback, a removed feature, a discarded session. The
 * current state is saved to another backup ref first, so a second undo is a redo.
 */
export async function undoLast(context: Context, { backup }: { backup?: string } = {}): Promise<Undone> {
  requireSupervisor(context, RESERVED);
  const place = requirePlace(context);
  await finishRecovery(context);
  const found = await findBackup(place, backup);
  return Array.isArray(found.note.state)
    ? restoreSnapshot(context, found, found.note as Snapshot)
    : undoRollback(context, found);
}

async function restoreSnapshot(context: Context, { backup }: Found, snapshot: Snapshot): Promise<Undone> {
  const { feature, at, why } = snapshot;
  const planned = context.disk.dryRun ? { planned: true as const } : {};
  const done = { undone: backup.ref, action: why, redo: 'forge undo', commit: null, ...planned };
  if (feature) {
    const ref = await putFeature(context, feature, at ?? 0, why);
    return { ...done, ref, files: 1 };
  }
  const ref = await putFiles(context, snapshot);
  return { ...done, ref, files: snapshot.state.length };
}

/** Restores the feature, or removes it again for a redo. */
async function putFeature(
  context: Context,
  feature: Feature,
  at: number,
  why: string,
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
async function putFiles(context: Context, snapshot: Snapshot): Promise<string | null> {
  const { disk, layout, world } = context;
  const objects = openObjects(layout.root, world.env);
  const kept: { path: string; bytes: Buffer | null }[] = [];
  for (const { path, oid } of snapshot.state) {
    const bytes = oid === null ? null : (await objects.read(oid))?.bytes;
    if (bytes === undefined) throw outside('recover.backup', `${path} is no longer in the backup.`);
    kept.push({ path: resolve(layout.root, path), bytes });
  }
  await objects.close();
  const running = readRunning(context);
  if (running && !kept.some(({ path }) => path === archiveFile(layout, running.id)))
    throw refused('undo.newer', 'Another session was started since; nothing was changed.', {
      hint: 'forge end',
    });
  const subject = `Before the undo of ${snapshot.why}`;
  const ref = await keepFiles(
    context,
    { why: 'session discard', subject },
    kept.map(({ path }) => path),
  );
  disk.withLock(() => {
    for (const { path, bytes } of kept) if (bytes) disk.replaceMoved(path, bytes);
    for (const { path, bytes } of kept) if (!bytes) disk.remove(path);
  });
  delete context.recent;
  return ref;
}
