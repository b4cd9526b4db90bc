import * as z from 'zod/mini';
import { readHint } from '../core/cache.js';
import { ForgeError, refused, systemCode } from '../core/error.js';
import { diskError } from '../core/files.js';
import { ForgeProcess, sameProcess } from '../core/holder.js';
import { recoverClaim, recoverFile, recoverFolder } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { asUnproved, type Feature, unproved } from '../feature/rules.js';
import { updateFeatures } from '../feature/store.js';
import { makeBackup } from '../git/backup.js';
import { backupRef, readNote, writeKept, writeKeptIndex } from '../git/backups.js';
import { type Bench, onBench, toBytes } from '../git/bytes.js';
import { must } from '../git/client.js';
import { installIndex, removeOwnLock } from '../git/install-index.js';
import { isAncestor } from '../git/memory.js';
import { applyMove, type Move, planMove } from '../git/move.js';
import { installGuard } from '../guard/guard.js';
import { readRecords, storeAudit } from '../ledger/memory.js';
import { readHalt } from '../project/halt.js';
import { type Context, hasRecovery } from '../project/project.js';
import { HALF_WAY } from './backups.js';
import { type Place, requirePlace } from './plan.js';

/**
 * A rollback, or its undoing, that has begun. All that it takes away is in `backup` by then. Once this is written the rest
 * is done, whatever happens: HEAD moves, then files, then the index, then the record; last this goes.
 */
const Intent = z.looseObject({
  schema_version: z.string(),
  op: z.enum(['rollback', 'undo']),
  at: z.string(),
  process: ForgeProcess,
  /** HEAD before and after. */
  head: z.string(),
  commit: z.string(),
  /** What the files become. */
  tree: z.string(),
  backup: z.nullable(z.string()),
  /** The backup whose files and index come back byte for byte. */
  kept: z.nullable(z.string()),
  /** Features that may pass afterwards; null for all. */
  vouched: z.nullable(z.array(z.string())),
  /** What the audit ledger gets. */
  record: z.record(z.string(), z.unknown()),
});
type Intent = z.infer<typeof Intent>;
const INTENT: Format<Intent> = { name: 'recovery intent', version: '1.0', schema: Intent };

/**
 * A bench for one recovery at a time: exit 3 while another process is at one, which would lose its bench. A dry run has one
 * of its own.
 */
export async function benchAt<T>(
  context: Context,
  { repository, git }: Place,
  work: (bench: Bench) => Promise<T>,
): Promise<T> {
  const { world, layout, disk } = context;
  const folder = disk.dryRun ? `${recoverFolder(layout)}-${makeToken(8)}` : recoverFolder(layout);
  claim(context);
  try {
    return await onBench({ repository, git, env: world.env, place: folder }, work);
  } catch (error) {
    throw plainly(error, 'nothing was changed; settle that, then: forge recover --plan');
  } finally {
    release(context);
  }
}

/** On a full disk there may be no lock for it; the next one takes it over all the same. */
function release({ disk, layout }: Context): void {
  try {
    disk.withLock(() => disk.remove(recoverClaim(layout)));
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
  }
}

/** Taken over from a process that is gone. */
function claim({ disk, layout, world }: Context): void {
  const path = recoverClaim(layout);
  disk.withLock(() => {
    const known = ForgeProcess.safeParse(readHint<unknown>(path));
    if (known.success && world.liveness(known.data) !== 'gone')
      throw underWay(`   (if none runs, on no other machine either, remove ${path})`);
    disk.replace(path, Buffer.from(JSON.stringify(world.self())));
  });
}

/** What the system refused, in one line. */
function plainly(error: unknown, hint: string): unknown {
  const code = error instanceof ForgeError ? undefined : systemCode(error);
  if (code === undefined) return error;
  const { dest, path = 'the git dir' } = error as NodeJS.ErrnoException & { dest?: string };
  const { kind, code: name, message, details } = diskError(error, dest ?? path);
  return new ForgeError(kind, name, message, { ...details, hint });
}

/** Its name is the time; the word after it begins with the milliseconds, so that names sort, and is random. */
export function nameBackup({ world }: Context): string {
  const [seconds = '', rest = ''] = world.now().toISOString().replace(/[-:]/g, '').split('.');
  return backupRef(`${seconds}Z-${rest.slice(0, 3)}${makeToken(6)}`);
}

export const noteOf = ({ repository }: Place, why: string): Record<string, unknown> => ({
  schema_version: '1.0',
  why,
  worktree: repository.gitDir,
});

/** Takes this worktree for one recovery; exit 3 while another one is under way. */
export function beginMove(context: Context, intent: Omit<Intent, 'schema_version' | 'process'>): Intent {
  const { disk, layout, world } = context;
  const whole = { schema_version: INTENT.version, process: world.self(), ...intent } as Intent;
  disk.withLock(() => {
    if (hasRecovery(context)) throw underWay();
    disk.replace(recoverFile(layout), encodeDocument(whole));
  });
  return whole;
}

const underWay = (unless = ''): Error =>
  refused('recover.busy', 'Another recovery is under way here; nothing was changed.', {
    hint: `wait for it, then: forge recover --plan${unless}`,
  });

const dropIntent = ({ disk, layout }: Context): void => disk.remove(recoverFile(layout));

/** All but the backup. Exit 3 when HEAD is not where it was; then nothing was changed. */
export async function finishMove(
  context: Context,
  { place, bench, move }: { place: Place; bench: Bench; move: Move },
  intent: Intent,
): Promise<void> {
  if (!(await moveHead(place, intent))) {
    dropIntent(context);
    throw refused('recover.moved', 'HEAD moved meanwhile; the files were left as they are.', {
      hint: 'forge recover --plan',
    });
  }
  await moveFiles(context, { place, bench, move }, intent).catch((error: unknown) => {
    throw cutOff(error, intent);
  });
  dropIntent(context);
}

async function moveFiles(
  context: Context,
  { place, bench, move }: { place: Place; bench: Bench; move: Move },
  intent: Intent,
): Promise<void> {
  const { git, repository, folder } = place;
  const note = intent.kept === null ? null : await readNote(git, intent.kept);
  const kept = note?.files ?? [];
  await applyMove(bench, move, new Set(kept.map(({ path }) => path)), intent.head.length);
  await writeKept(bench, kept);
  const index = note?.index === true ? `${bench.index}.back` : bench.index;
  if (note?.index === true) await writeKeptIndex(bench, intent.kept as string, folder, index);
  else if (intent.kept !== null) await bench.git(['read-tree', `${intent.kept}^2:staged`]);
  installIndex(repository.gitDir, index);
  settleFeatures(context, intent, (note?.features as Feature[] | undefined) ?? []);
  await recordMove(context, intent);
}

/** Once HEAD has moved there is one way out, and it leads on. */
function cutOff(error: unknown, { op, backup }: Intent): unknown {
  const where = backup === null ? '' : `; what was there is in ${backup}`;
  const hint = `settle that, then: forge recover  (completes the ${op}${where})`;
  if (error instanceof ForgeError)
    return new ForgeError(error.kind, error.code, error.message, { ...error.details, hint });
  return plainly(error, hint);
}

/** False when HEAD is neither where it was nor past where it is to be. */
async function moveHead({ git }: Place, { head, commit, record }: Intent): Promise<boolean> {
  const now = (await must(git, ['rev-parse', '--verify', 'HEAD^{commit}'])).trim();
  if (now !== head || commit === head) return now === commit || (await isAncestor(git, commit, now)) === true;
  const said = `forge recover: ${record.action} ${record.checkpoint ?? ''}`.trim();
  return (await git(['update-ref', '-m', said, 'HEAD', commit, head])).code === 0;
}

/** What only work that is gone has shown is in progress again; what was so for that reason is as it was. */
function settleFeatures(context: Context, { vouched }: Intent, features: readonly Feature[]): void {
  const back = new Map(features.map((feature) => [JSON.stringify(asUnproved(feature)), feature]));
  updateFeatures(context, (before) => {
    const lost = vouched === null ? [] : unproved(before, new Set(vouched));
    return before.map((feature) =>
      lost.includes(feature) ? asUnproved(feature) : (back.get(JSON.stringify(feature)) ?? feature),
    );
  });
}

/** Once, however often it is completed. */
async function recordMove(context: Context, { record }: Intent): Promise<void> {
  const known = readRecords(context, 'audit').filter(
    ({ record: { kind, move } }) => kind === 'recovery' && move === record.move,
  );
  if (known.length === 0) storeAudit(context, { kind: 'recovery', ...record });
}

/** Completes what was cut off. What is on the disk half-way, and may be somebody's new work, is in a backup first. */
export async function finishRecovery(context: Context): Promise<void> {
  const { disk, layout, world } = context;
  if (disk.dryRun || !hasRecovery(context) || readHalt(disk) !== null) return;
  const place = requirePlace(context);
  const intent = disk.requireDocument(INTENT, recoverFile(layout)).value;
  const isMine = sameProcess(intent.process, world.self());
  if (!isMine && world.liveness(intent.process) !== 'gone') throw underWay();
  await installGuard(context);
  removeOwnLock(place.repository.gitDir);
  await benchAt(context, place, async (bench) => {
    // What was ignored before it began still is nobody's work.
    const beside = [intent.backup ?? intent.head];
    const move = await planMove(bench, intent.tree, toBytes(place.folder), beside);
    const ref = nameBackup(context);
    const subject = `Half-way through a ${intent.op} that was cut off`;
    const head = (await must(place.git, ['rev-parse', 'HEAD'])).trim();
    if (move.touched.length > 0)
      await makeBackup(bench, move, { ref, head, subject, note: noteOf(place, HALF_WAY) });
    await finishMove(context, { place, bench, move }, intent);
    context.warnings.push(
      `A ${intent.op} had been cut off; it is completed now. What was there before: ${intent.backup ?? 'HEAD'}; half-way: ${move.touched.length > 0 ? ref : 'nothing'}.`,
    );
  });
}

/** The same where somebody only starts to work: what hinders it is told. */
export async function tryFinishRecovery(context: Context): Promise<void> {
  try {
    await finishRecovery(context);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(
      `A recovery was cut off and waits: ${error.message} Complete it with: forge recover`,
    );
  }
}
