import { rmSync } from 'node:fs';
import { relative } from 'node:path';
import * as z from 'zod/mini';
import { validId } from '../commit/check.js';
import { formatCommitMessage } from '../commit/message.js';
import { ForgeError, refused, toForgeError } from '../core/error.js';
import { readHint } from '../core/files.js';
import { ProcessIdentity } from '../core/holder.js';
import { recoverClaim, recoverFile, recoverFolder } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { firstPaths, makeToken } from '../core/text.js';
import { requireNoCycle } from '../cycle/running.js';
import { asInProgress, type Feature } from '../feature/rules.js';
import { readFeatures, updateFeatures } from '../feature/store.js';
import { backUp, backupRef, type KeptFile, readNote, writeKept } from '../git/backup.js';
import { type Git, must, toBytes, toText } from '../git/client.js';
import { whyNoCommit } from '../git/commit.js';
import { findFiltered } from '../git/config.js';
import { applyMove, type Move, planMove, requireUntouched, restoreIndex, treeWith } from '../git/move.js';
import { isAncestor } from '../git/read.js';
import type { Repository } from '../git/repository.js';
import { type Workspace, withPrivateIndex } from '../git/tree.js';
import { installGuard } from '../guard/guard.js';
import { readRecords, storeAudit } from '../ledger/memory.js';
import {
  type Context,
  hasRecovery,
  orWarn,
  readConfig,
  readHalt,
  requireRepository,
} from '../project/project.js';
import { type OwnText, ownMessage } from '../session/commit.js';

/**
 * The intent of a rollback or an undo. Everything that it removes is already in its backup. After this is written, the
 * rest is always completed: HEAD moves, then files, then the index, then the record.
 */
const Intent = z.looseObject({
  schema_version: z.string(),
  /** The target tree of the files. */
  tree: z.string(),
  /** The backup whose files, index and features are restored. */
  kept: z.nullable(z.string()),
  /** Features that may keep passing. Null for all. */
  vouched: z.nullable(z.array(z.string())),
  /** The audit record. `from` and `to`: HEAD before and after. */
  record: z.looseObject({
    move: z.string(),
    action: z.enum(['rollback', 'undo']),
    from: z.string(),
    to: z.string(),
    backup: z.string(),
  }),
});
type Intent = z.infer<typeof Intent>;
const INTENT: Format<Intent> = { name: 'recovery intent', version: '1.0', schema: Intent };

/** B-39: no git operation in progress, a name for the commit, and no cycle in progress. Exit 3 otherwise. */
async function requireRest(context: Context): Promise<void> {
  requireNoCycle(context);
  const outerIndex = context.world.env.GIT_INDEX_FILE;
  const reason = await whyNoCommit({ ...requireRepository(context), outerIndex });
  if (reason) throw notNow(reason);
}

export const notNow = (reason: string): Error =>
  refused('recover.place', `Nothing can be recovered now: ${reason}.`, {
    hint: 'finish or abort it first\nforge recover --worktree FOLDER   # the checkpoint, in a folder of its own',
  });

/** One recovery at a time: exit 3 while another live process runs one. A dry run takes no claim. */
async function withWorkspace<T>(context: Context, work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const { world, layout, disk } = context;
  const { repository, git } = requireRepository(context);
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
    return await withPrivateIndex({ repository, git, place }, work);
  } finally {
    // On a full disk the lock may be impossible to create.
    if (!disk.dryRun) rmSync(claim, { force: true });
  }
}

/** The name is the time. A suffix of the milliseconds and random digits keeps names sorted and unique. */
export function nameBackup({ world }: Context): string {
  const [seconds = '', rest = ''] = world.now().toISOString().replace(/[-:]/g, '').split('.');
  return backupRef(`${seconds}Z-${rest.slice(0, 3)}${makeToken(6)}`);
}

export const noteOf = (context: Context, why: string): Record<string, unknown> => ({
  schema_version: '1.0',
  why,
  worktree: worktreeOf(requireRepository(context).repository),
});

/** The same after the repository has moved. */
export const worktreeOf = ({ commonDir, gitDir }: Repository): string => relative(commonDir, gitDir);

/** A state outside `.forge/` to move to. */
interface Target extends Pick<Intent, 'tree' | 'vouched'> {
  action: Intent['record']['action'];
  /** The commit that HEAD must be. Default: whatever it is. */
  head?: string;
  /** HEAD gets the files of this commit, by a commit with this text. */
  history: string;
  text: OwnText;
  /** The backup whose files are written byte for byte. */
  kept?: { ref: string; files: readonly KeptFile[] };
  /** Refuses the move. */
  check(workspace: Workspace, move: Move, head: string): Promise<void>;
  /** What an undo of it reverts, and more fields of the backup's note. */
  what: string;
  note?: Record<string, unknown>;
  /** More fields of the audit record. */
  about: Record<string, unknown>;
}

const MAX_NAMED = 20;

/**
 * Backs up what the move changes, writes the intent, and moves. Nothing is written in a dry run, or if nothing differs:
 * then `ref`, the backup, is null. `commit` is null if HEAD already had that tree.
 */
export async function moveTo(context: Context, target: Target) {
  await requireRest(context);
  const { git, folder } = requireRepository(context);
  return withWorkspace(context, async (workspace) => {
    const { action, tree, vouched, kept, about, what, note } = target;
    const head = target.head ?? (await must(git, ['rev-parse', 'HEAD'])).trim();
    const more = kept?.files.map(({ path }) => path) ?? [];
    const move = await planMove(workspace, tree, toBytes(folder), { more });
    await target.check(workspace, move, head);
    await requireUnfiltered(context, workspace, move, new Set(more));
    const names = new Set([...move.write.keys(), ...move.remove, ...more]);
    const moved = { files: names.size, paths: [...names].slice(0, MAX_NAMED).map(toText) };
    if (context.disk.dryRun) return { ref: null, commit: null, ...moved };
    const commit = await commitRestored(context, workspace, head, target);
    if (!kept && move.isEmpty && commit === head) return { ref: null, commit: null, ...moved };
    reportLeft(context, move);
    const backup = nameBackup(context);
    await backUp(workspace, move, {
      ...{ ref: backup, head, subject: `Before ${what}` },
      // Work that is newer than this commit is not undone without a name.
      note: { ...noteOf(context, action), ...note, what, restored: commit, features: readFeatures(context) },
    });
    requireUntouched(workspace, move);
    const record = { move: makeToken(8), action, ...about, from: head, to: commit, backup };
    const intent = { schema_version: INTENT.version, tree, kept: kept?.ref ?? null, vouched, record };
    context.disk.withLock(() => context.disk.replace(recoverFile(context.layout), encodeDocument(intent)));
    await finishMove(context, workspace, move, intent);
    return { ref: backup, commit: commit === head ? null : commit, ...moved };
  });
}

/** A commit on HEAD with the files of another commit and HEAD's `.forge/`. HEAD itself if nothing differs. No hook runs. */
async function commitRestored(
  context: Context,
  { git }: Workspace,
  head: string,
  { history, text }: Target,
): Promise<string> {
  const folder = toBytes(requireRepository(context).folder);
  const own = (await git(['ls-tree', '-z', head, '--', folder])).split('\t')[0];
  const tree = await treeWith(git, `${history}^{tree}`, folder, own);
  if ((await git(['rev-parse', `${head}^{tree}`])).trim() === tree) return head;
  const id = validId(context, text.id);
  const message = ownMessage(context, { ...text, id, parent: head.slice(0, 12) });
  const written = formatCommitMessage(message, readConfig(context).commit);
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', tree, '-p', head, '-F', '-'];
  return (await git(args, { input: toBytes(written) })).trim();
}

/**
 * Exit 3 for a file that needs a filter that forge does not run: git would write a pointer, or encrypted bytes. `raw` are
 * paths that are written byte for byte.
 */
async function requireUnfiltered(
  context: Context,
  { look, index }: Workspace,
  { tree, write }: Move,
  raw: ReadonlySet<string>,
): Promise<void> {
  const paths = [...write.keys()].filter((path) => !raw.has(path)).map(toText);
  const env = { GIT_INDEX_FILE: `${index}.target` };
  await look(['read-tree', tree], { env });
  const filtered = await findFiltered(requireRepository(context).git, paths, { source: ['--cached'], env });
  if (filtered)
    throw refused('recover.filter', `${filtered.what}, so it cannot write them; nothing was changed.`, {
      hint: filtered.hint,
    });
}

function reportLeft({ warnings }: Context, { left }: Move): void {
  if (left.length === 0) return;
  const paths = firstPaths(left.map(toText));
  warnings.push(
    `Submodules and repositories inside this one were left as they are: ${paths}. Look at: git status  and  git submodule update`,
  );
}

/** Exit 3 if HEAD was moved meanwhile. Nothing was changed then. After that, the move can only be completed. */
async function finishMove(context: Context, workspace: Workspace, move: Move, intent: Intent): Promise<void> {
  const { disk, layout } = context;
  const { kept, record } = intent;
  const { git } = requireRepository(context);
  if (!(await moveHead(git, record))) {
    disk.remove(recoverFile(layout));
    throw refused('recover.moved', 'HEAD moved meanwhile; the files were left as they are.', {
      hint: 'forge recover --plan',
    });
  }
  try {
    const note = kept === null ? null : await readNote(git, kept);
    await applyMove(workspace, move);
    if (note) {
      await writeKept(workspace, kept as string, note.files);
      await restoreIndex(workspace, move, `${kept}^2:staged`);
    }
    settleFeatures(context, intent, (note?.features as Feature[] | undefined) ?? []);
    // Recorded only once, even if the move is completed repeatedly.
    if (!readRecords(context, 'audit').some((known) => known.record.move === record.move))
      storeAudit(context, { kind: 'recovery', ...record });
  } catch (error) {
    const hint = `forge recover   # once that is fixed: completes the ${record.action}; the files from before are in ${record.backup}`;
    const { kind, code, message, details } = toForgeError(error);
    throw new ForgeError(kind, code, message, { ...details, hint });
  }
  disk.remove(recoverFile(layout));
}

/** False if HEAD is neither at the start nor at or past the target. */
async function moveHead(git: Git, { action, checkpoint, from, to }: Intent['record']): Promise<boolean> {
  const now = (await must(git, ['rev-parse', '--verify', 'HEAD^{commit}'])).trim();
  if (now !== from || to === from) return now === to || (await isAncestor(git, to, now)) === true;
  const reason = `forge recover: ${action} ${checkpoint ?? ''}`.trim();
  return (await git(['update-ref', '-m', reason, 'HEAD', to, from])).code === 0;
}

/** Features that only removed work proved are in progress again. An undo restores the proof that each one had. */
function settleFeatures(context: Context, { vouched }: Intent, kept: readonly Feature[]): void {
  const bare = ({ unproven, ...feature }: Feature): string => JSON.stringify(asInProgress(feature));
  const before = new Map(kept.map((feature) => [bare(feature), feature]));
  const isLost = ({ id, status }: Feature): boolean =>
    vouched !== null && status === 'passing' && !vouched.includes(id);
  updateFeatures(context, (features) =>
    features.map((feature) =>
      isLost(feature) ? asInProgress(feature) : (before.get(bare(feature)) ?? feature),
    ),
  );
}

/** Completes an interrupted move. Files on disk may be new work by now, so they are backed up first. */
export async function finishRecovery(context: Context): Promise<void> {
  const { disk, layout } = context;
  if (disk.dryRun || !hasRecovery(context) || readHalt(disk) !== null) return;
  const { git, folder } = requireRepository(context);
  const { value: intent } = disk.requireDocument(INTENT, recoverFile(layout));
  const { action, backup } = intent.record;
  await requireRest(context);
  await installGuard(context);
  await withWorkspace(context, async (workspace) => {
    // Files that were ignored before the move are not new work.
    const kept = intent.kept === null ? null : await readNote(git, intent.kept);
    const move = await planMove(workspace, intent.tree, toBytes(folder), {
      beside: [backup],
      more: kept?.files.map(({ path }) => path) ?? [],
    });
    const ref = move.touched.length > 0 ? nameBackup(context) : null;
    const head = (await must(git, ['rev-parse', 'HEAD'])).trim();
    const subject = `Half-way through a ${action} that was interrupted`;
    if (ref) await backUp(workspace, move, { ref, head, subject, note: noteOf(context, 'half_way') });
    await finishMove(context, workspace, move, intent);
    context.warnings.push(
      `A ${action} had been interrupted; it is completed now. What was there before: ${backup}; half-way: ${ref ?? 'nothing'}.`,
    );
  });
}

/** The same when a session starts: a failure is only a warning. */
export const tryFinishRecovery = (context: Context): Promise<unknown> =>
  orWarn(context, 'A recovery was interrupted and waits for: forge recover', () => finishRecovery(context));
