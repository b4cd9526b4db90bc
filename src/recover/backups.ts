import { outside, refused, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type Backup, type BackupNote, backupRef, listBackups, readNote } from '../git/backups.js';
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

/** Every state that forge kept in this repository, newest first. */
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

/** Of an interrupted move: not a state that anybody chose. */
export const HALF_WAY = 'half_way';

/** The one that is named, else the last one of this worktree. Exit 2 where there is none. */
export async function findBackup({ git, repository }: Place, name: string | undefined): Promise<Found> {
  const all = await listBackups(git);
  if (name === undefined) {
    for (const backup of all) {
      const note = await readNote(git, backup.ref);
      if (note?.worktree === repository.gitDir && note.why !== HALF_WAY)
        return { backup, note, isNamed: false };
    }
    throw noBackup('There is nothing here to undo.');
  }
  const backup = all.find(
    ({ ref }) => [ref, ref.slice('refs/'.length)].includes(name) || ref === backupRef(name),
  );
  if (!backup) throw noBackup(`There is no backup ${JSON.stringify(oneLine(name, 80))}.`);
  const note = await readNote(git, backup.ref);
  if (!note || !Array.isArray(note.files))
    throw outside('recover.backup', `${backup.ref} is not a backup that forge made, or is not whole.`, {
      hint: 'forge recover --list',
    });
  if (note.worktree !== repository.gitDir)
    throw refused('recover.elsewhere', `${backup.ref} was made in another worktree.`, {
      hint: `git restore --source=${backup.ref} -- FILE   or undo it there`,
    });
  return { backup, note, isNamed: true };
}

const noBackup = (message: string): Error =>
  usage('recover.no_backup', message, { hint: 'forge recover --list' });
