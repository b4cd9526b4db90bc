import { outside, refused, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type Backup, type BackupNote, backupRef, listBackups, readNote } from '../git/backups.js';
import { readRecords } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { type Place, requirePlace } from './plan.js';

export interface BackupList {
  backups: (Backup & { why: string; here: boolean })[];
}

/** A backup that is to come back. */
export interface Found {
  backup: Backup;
  note: BackupNote;
  /** Somebody named it. */
  isNamed: boolean;
}

/** Every state that a rollback put aside in this repository. */
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

/** The one that is named, else that of the last rollback here. Exit 2 where there is none. */
export async function findBackup(context: Context, place: Place, name: string | undefined): Promise<Found> {
  const all = await listBackups(place.git);
  const wanted = name === undefined ? lastRollback(context, all) : named(all, name);
  const note = wanted && (await readNote(place.git, wanted.ref));
  if (!wanted)
    throw usage('recover.no_backup', 'There is no rollback here to undo.', { hint: 'forge recover --list' });
  if (!note || !Array.isArray(note.files))
    throw outside('recover.backup', `${wanted.ref} is no backup that forge made, or not whole.`, {
      hint: 'forge recover --list',
    });
  if (note.worktree !== place.repository.gitDir)
    throw refused('recover.elsewhere', `${wanted.ref} was made in another worktree.`, {
      hint: `git restore --source=${wanted.ref} -- FILE   or undo it there`,
    });
  return { backup: wanted, note, isNamed: name !== undefined };
}

/** The newest one that nobody has undone. */
function lastRollback(context: Context, all: readonly Backup[]): Backup | undefined {
  const records = readRecords(context, 'audit').filter(({ record }) => record.kind === 'recovery');
  const undone = new Set(records.map(({ record }) => record.undone));
  const refs = records.filter(({ record }) => record.action === 'rollback' && !undone.has(record.backup));
  const here = refs.map(({ record }) => all.find(({ ref }) => ref === record.backup));
  return here.filter((backup) => backup !== undefined).at(-1);
}

function named(all: readonly Backup[], name: string): Backup {
  const found = all.find(
    ({ ref }) => [ref, ref.slice('refs/'.length)].includes(name) || ref === backupRef(name),
  );
  if (found) return found;
  throw usage('recover.no_backup', `There is no backup ${JSON.stringify(oneLine(name, 80))}.`, {
    hint: 'forge recover --list',
  });
}
