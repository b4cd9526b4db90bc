import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { corrupted, refused } from '../core/error.js';
import { conflictsFolder, keptConflict, shown } from '../core/paths.js';
import { operationInProgress } from '../git/state.js';
import { addResolved } from '../git/status.js';
import { installGuard } from '../guard/guard.js';
import { type Context, refuseHalted, timestamp } from '../project/project.js';
import { type Conflict, findConflicts } from './conflicts.js';
import type { Choice } from './merge-fields.js';

/** Something that `forge doctor --fix` does, or did. */
export interface Fix {
  /** In a line. */
  what: string;
  /** What was chosen between the sides, a field each. */
  choices: Choice[];
  /** What to type to have it as it was. */
  undo: string;
  /** Of this very plan: what is not as it was when the plan was shown is not done. */
  token: string;
}

export interface PlannedFix extends Fix {
  /** Does it, and makes sure. Returns the way back, now that all of it is known. */
  act(): Promise<Pick<Fix, 'undo'>>;
}

/** LAY-09: a fix for each file that two branches changed and forge can merge. */
export async function planConflictFixes(context: Context): Promise<PlannedFix[]> {
  const conflicts = await findConflicts(context);
  return conflicts.flatMap((conflict) =>
    conflict.merged ? [planFix(context, conflict, conflict.merged)] : [],
  );
}

function planFix(
  context: Context,
  conflict: Conflict,
  { bytes, choices }: NonNullable<Conflict['merged']>,
): PlannedFix {
  const { file, before, unmerged, notes } = conflict;
  const copy = keptConflict(
    context.layout,
    `${timestamp(context).replaceAll(/[:.]/g, '-')}-${basename(file)}`,
  );
  const told = unmerged === null ? '' : ', and tell git (git add)';
  const token = createHash('sha256')
    .update(`${file}\0`)
    .update(before ?? '')
    .update('\0')
    .update(bytes);
  return {
    what: [
      `merge ${conflict.state === 'twice' ? 'what stands twice in' : 'both sides of'} ${file}${told}`,
      ...notes,
      ...swapped(context, conflict),
    ].join('; '),
    choices,
    undo: wayBack(context, conflict, copy),
    token: token.digest('hex'),
    act: async () => {
      // A halt says that something stands in the files that must not be built on.
      refuseHalted(context.disk);
      await installGuard(context);
      const kept = keepOriginal(context, copy, before);
      replaceConflict(context, conflict, bytes);
      if (unmerged !== null && context.git && !context.disk.dryRun) await addResolved(context.git, unmerged);
      await requireResolved(context, conflict);
      return { undo: wayBack(context, conflict, kept) };
    },
  };
}

/** Git calls the sides of a rebase by what it does, which is the reverse of what people mean. */
function swapped({ repository }: Context, { unmerged }: Conflict): string[] {
  if (unmerged === null || !repository || operationInProgress(repository) !== 'a rebase') return [];
  return ['in a rebase, "ours" is what you rebase onto, "theirs" your own commits'];
}

/**
 * Git brings its conflict back as long as the merge is not committed, but not what was done by hand to the file; the copy
 * is there after that as well.
 */
function wayBack({ layout }: Context, { file, before, unmerged, notes }: Conflict, copy: string): string {
  const name = formatArgv([file]);
  const conflict = `git checkout --merge -- ${name}`;
  if (unmerged !== null && notes.length === 0) return conflict;
  const bytes = before === null ? `rm ${name}` : `cp ${formatArgv([shown(layout, copy)])} ${name}`;
  return unmerged === null ? bytes : `${conflict} && ${bytes}`;
}

/** Under a name that is free: a second merge within a millisecond is another one. */
function keepOriginal({ disk, layout }: Context, copy: string, before: Buffer | null): string {
  if (before === null) return copy;
  disk.makeFolder(conflictsFolder(layout));
  for (let n = 1; ; n++) {
    const free = n === 1 ? copy : `${copy}.${n}`;
    if (disk.createMoved(free, before)) return free;
  }
}

function replaceConflict({ disk }: Context, { path, before }: Conflict, bytes: Buffer): void {
  disk.withLock(() => disk.replace(path, bytes, before));
}

async function requireResolved(context: Context, { file, path }: Conflict): Promise<void> {
  if (context.disk.dryRun) return;
  const left = (await findConflicts(context)).find((conflict) => conflict.path === path);
  if (!left) return;
  if (left.lines || left.state === 'twice')
    throw corrupted('file.conflict', `${file} has a conflict still.`, { file });
  throw refused('conflict.index', `${file} is merged, but git still holds it for a conflict.`, {
    file,
    hint: `git add -- ${file}`,
  });
}
