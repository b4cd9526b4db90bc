import { rmSync } from 'node:fs';
import * as z from 'zod/mini';
import { listed } from '../checkpoint/place.js';
import { ForgeError, refused, systemCode } from '../core/error.js';
import { diskError, readHint } from '../core/files.js';
import { ProcessIdentity } from '../core/holder.js';
import { recoverClaim, recoverFile, recoverFolder } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { requireNoCycle } from '../cycle/running.js';
import { asUnproved, type Feature, unproved } from '../feature/rules.js';
import { updateFeatures } from '../feature/store.js';
import { backUp, backupRef, readNote, writeKept } from '../git/backup.js';
import { toBytes, toText } from '../git/bytes.js';
import { must } from '../git/client.js';
import { whyNoCommit } from '../git/commit.js';
import { findFiltered } from '../git/filtered.js';
import { isAncestor } from '../git/memory.js';
import {
  applyMove,
  type Bench,
  keepingMarks,
  type Move,
  onBench,
  planMove,
  requireObjects,
  requireUntouched,
  restoreIndex,
} from '../git/move.js';
import { readBranch } from '../git/state.js';
import { installGuard } from '../guard/guard.js';
import { readRecords, storeAudit } from '../ledger/memory.js';
import { readHalt } from '../project/halt.js';
import { type Context, hasRecovery } from '../project/project.js';
import { type Place, requirePlace } from './plan.js';

/**
 * The intent of a rollback or an undo. Everything that it removes is already in `backup`. After this is written, the rest
 * is always completed: HEAD moves, then files, then the index, then the record.
 */
const Intent = z.looseObject({
  schema_version: z.string(),
  op: z.enum(['rollback', 'undo']),
  /** HEAD before and after. */
  head: z.string(),
  commit: z.string(),
  /** The target tree of the files. */
  tree: z.string(),
  backup: z.string(),
  /** The backup whose files and index are restored byte for byte. */
  kept: z.nullable(z.string()),
  /** Features that may keep passing. Null for all. */
  vouched: z.nullable(z.array(z.string())),
  /** The fields of the audit record. */
  record: z.record(z.string(), z.unknown()),
});
type Intent = z.infer<typeof Intent>;
const INTENT: Format<Intent> = { name: 'recovery intent', version: '1.0', schema: Intent };

/** One recovery at a time: exit 3 while another live process runs one. A dry run takes no claim. */
export async function atBench<T>(context: Context, work: (bench: Bench) => Promise<T>): Promise<T> {
  const { world, layout, disk } = context;
  const { repository, git } = requirePlace(context);
  const claim = recoverClaim(layout);
  disk.withLock(() => {
    const known = ProcessIdentity.safeParse(readHint<unknown>(claim));
    if (known.success && world.liveness(known.data) !== 'gone')
      throw refused('recover.busy', 'Another recovery is running here; nothing was changed.', {
        hint: `forge recover --plan   # once it is done; if none runs on any machine, remove ${claim}`,
      });
    disk.replace(claim, Buffer.from(JSON.stringify(world.self())));
  });
  const place = disk.dryRun ? `${recoverFolder(layout)}-${makeToken(8)}` : recoverFolder(layout);
  try {
    return await onBench({ repository, git, env: world.env, place }, work);
  } catch (error) {
    throw plainly(error, 'nothing was changed; settle that, then: forge recover --plan');
  } finally {
    // On a full disk the lock may be impossible to create.
    if (!disk.dryRun) rmSync(claim, { force: true });
  }
}

/** A system error in one line. */
function plainly(error: unknown, hint: string): unknown {
  const code = error instanceof ForgeError ? undefined : systemCode(error);
  if (code === undefined) return error;
  const { dest, path = 'the git dir' } = error as NodeJS.ErrnoException & { dest?: string };
  const { kind, code: name, message, details } = diskError(error, dest ?? path);
  return new ForgeError(kind, name, message, { ...details, hint });
}

/** The name is the time. A suffix of the milliseconds and random digits keeps names sorted and unique. */
export function nameBackup({ world }: Context): string {
  const [seconds = '', rest = ''] = world.now().toISOString().replace(/[-:]/g, '').split('.');
  return backupRef(`${seconds}Z-${rest.slice(0, 3)}${makeToken(6)}`);
}

export const noteOf = ({ repository }: Place, why: string): Record<string, unknown> => ({
  schema_version: '1.0',
  why,
  worktree: repository.gitDir,
});

/** B-39: no git operation in progress, a name for the commit, and no cycle in progress. Exit 3 otherwise. */
export async function requireRest(context: Context, { repository, git }: Place): Promise<void> {
  requireNoCycle(context);
  const reason = await whyNoCommit({ repository, git, outerIndex: context.world.env.GIT_INDEX_FILE });
  if (reason) throw notNow(reason);
}

export const notNow = (reason: string): Error =>
  refused('recover.place', `Nothing can be recovered now: ${reason}.`, {
    hint: 'finish or abort it first\nforge recover --worktree FOLDER   # the checkpoint, in a folder of its own',
  });

/** Checks for everything that can block a move, before any change. `index` holds the files' attributes. */
export async function requirePossible(
  { git }: Place,
  bench: Bench,
  move: Move,
  {
    kept = [],
    commit,
    index,
  }: { kept?: readonly { path: string; oid: string }[]; commit: string; index?: string },
): Promise<void> {
  const raw = new Set(kept.map(({ path }) => path));
  const paths = [...move.write.keys()].filter((path) => !raw.has(path)).map(toText);
  const source = index === undefined ? {} : { source: ['--cached'], env: { GIT_INDEX_FILE: index } };
  const filtered = await findFiltered(git, paths, source);
  // Without its filter git would write a pointer, or encrypted bytes, instead of the file.
  if (filtered)
    throw refused('recover.filter', `${filtered.what}, so it cannot write them; nothing was changed.`, {
      hint: filtered.hint,
    });
  const objects = [...move.write, ...kept.map(({ path, oid }) => [path, oid] as const)];
  await requireObjects(bench, objects, commit);
}

/** Backs up what the move changes, writes the intent, and moves. */
export async function makeMove(
  context: Context,
  { place, bench, move }: { place: Place; bench: Bench; move: Move },
  {
    note,
    subject,
    ...job
  }: Omit<Intent, 'schema_version'> & { note: Record<string, unknown>; subject: string },
): Promise<void> {
  const { disk, layout, warnings } = context;
  if (move.left.length > 0)
    warnings.push(
      `Submodules and repositories inside this one were left as they are: ${listed(move.left.map(toText))}. Look at: git status  and  git submodule update`,
    );
  const intent = { schema_version: INTENT.version, ...job } as Intent;
  await backUp(bench, move, { ref: intent.backup, head: intent.head, subject, note });
  requireUntouched(bench, move);
  disk.withLock(() => disk.replace(recoverFile(layout), encodeDocument(intent)));
  await finishMove(context, { place, bench, move }, intent);
  if ((await readBranch(place.repository, place.git)) === null)
    warnings.push(
      `HEAD is detached: no branch holds this commit. Keep it with: git branch NAME ${intent.commit.slice(0, 12)}`,
    );
}

/** Exit 3 if HEAD was moved meanwhile. Nothing was changed then. */
async function finishMove(
  context: Context,
  { place, bench, move }: { place: Place; bench: Bench; move: Move },
  intent: Intent,
): Promise<void> {
  const { disk, layout } = context;
  if (!(await moveHead(place, intent))) {
    disk.remove(recoverFile(layout));
    throw refused('recover.moved', 'HEAD moved meanwhile; the files were left as they are.', {
      hint: 'forge recover --plan',
    });
  }
  try {
    const note = intent.kept === null ? null : await readNote(place.git, intent.kept);
    await keepingMarks(bench, async () => {
      await applyMove(bench, move);
      if (!note) return;
      await writeKept(bench, note.files);
      await restoreIndex(bench, `${intent.kept}^2:staged`, move.folder);
    });
    settleFeatures(context, intent, (note?.features as Feature[] | undefined) ?? []);
    recordMove(context, intent);
  } catch (error) {
    throw cutOff(error, intent);
  }
  disk.remove(recoverFile(layout));
}

/** After HEAD has moved, the move can only be completed. */
function cutOff(error: unknown, { op, backup }: Intent): unknown {
  const hint = `settle that, then: forge recover  (completes the ${op}; what was there is in ${backup})`;
  if (error instanceof ForgeError)
    return new ForgeError(error.kind, error.code, error.message, { ...error.details, hint });
  return plainly(error, hint);
}

/** False if HEAD is neither at the start nor at or past the target. */
async function moveHead({ git }: Place, { head, commit, record }: Intent): Promise<boolean> {
  const now = (await must(git, ['rev-parse', '--verify', 'HEAD^{commit}'])).trim();
  if (now !== head || commit === head) return now === commit || (await isAncestor(git, commit, now)) === true;
  const reason = `forge recover: ${record.action} ${record.checkpoint ?? ''}`.trim();
  return (await git(['update-ref', '-m', reason, 'HEAD', commit, head])).code === 0;
}

/** Features that only removed work proved are in progress again. A redo restores their status. */
function settleFeatures(context: Context, { vouched }: Intent, features: readonly Feature[]): void {
  const back = new Map(features.map((feature) => [JSON.stringify(asUnproved(feature)), feature]));
  updateFeatures(context, (before) => {
    const lost = vouched === null ? [] : unproved(before, new Set(vouched));
    return before.map((feature) =>
      lost.includes(feature) ? asUnproved(feature) : (back.get(JSON.stringify(feature)) ?? feature),
    );
  });
}

/** Recorded only once, even if the move is completed repeatedly. */
function recordMove(context: Context, { record }: Intent): void {
  const isKnown = readRecords(context, 'audit').some(
    ({ record: { kind, move } }) => kind === 'recovery' && move === record.move,
  );
  if (!isKnown) storeAudit(context, { kind: 'recovery', ...record });
}

/** The reason of an automatic backup after an interrupted move. */
export const HALF_WAY = 'half_way';

/** Completes an interrupted move. Files on disk may be new work by now, so they are backed up first. */
export async function finishRecovery(context: Context): Promise<void> {
  const { disk, layout } = context;
  if (disk.dryRun || !hasRecovery(context) || readHalt(disk) !== null) return;
  const place = requirePlace(context);
  const { value: intent } = disk.requireDocument(INTENT, recoverFile(layout));
  await requireRest(context, place);
  await installGuard(context);
  await atBench(context, async (bench) => {
    // Files that were ignored before the move are not new work.
    const kept = intent.kept === null ? null : await readNote(place.git, intent.kept);
    const move = await planMove(bench, intent.tree, toBytes(place.folder), {
      beside: [intent.backup],
      more: kept?.files.map(({ path }) => path) ?? [],
    });
    const ref = nameBackup(context);
    const head = (await must(place.git, ['rev-parse', 'HEAD'])).trim();
    const subject = `Half-way through a ${intent.op} that was interrupted`;
    if (move.touched.length > 0)
      await backUp(bench, move, { ref, head, subject, note: noteOf(place, HALF_WAY) });
    await finishMove(context, { place, bench, move }, intent);
    context.warnings.push(
      `A ${intent.op} had been interrupted; it is completed now. What was there before: ${intent.backup}; half-way: ${move.touched.length > 0 ? ref : 'nothing'}.`,
    );
  });
}

/** The same when a session starts: a failure is only a warning. */
export async function tryFinishRecovery(context: Context): Promise<void> {
  try {
    await finishRecovery(context);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(
      `A recovery was interrupted and waits: ${error.message} Complete it with: forge recover`,
    );
  }
}
