import { accessSync, constants, lstatSync, readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Linux's numbers (statfs(2), linux/magic.h) of file systems that others share over a network or that a program makes
 * up: there two machines may both get a lock, a rename may be seen late, and fsync may promise too much.
 */
const UNRELIABLE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x564c, 'NCP'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x786f4256, 'a VirtualBox shared folder'],
  [0xbacbacbc, 'a VMware shared folder'],
]);

/** The name of a file system whose locks, renames and fsync cannot be relied on; null for any other. */
export const unreliable = (type: number): string | null => UNRELIABLE.get(type >>> 0) ?? null;

/** That of the file system a folder is on; null also where the system does not say. */
export function unreliableFileSystem(folder: string): string | null {
  if (process.platform !== 'linux') return null;
  try {
    return unreliable(statfsSync(folder).type);
  } catch {
    return null;
  }
}

/** What this person may still write where a folder is: bytes, and files where their number is limited; null: unknown. */
export function roomIn(folder: string): { bytes: number; files: number | null } | null {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return { bytes: bavail * bsize, files: files > 0 ? ffree : null };
  } catch {
    return null;
  }
}

/** Whether files can be made in a folder; one that is not there yet is made, by its parent. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** How much is in a folder, and what of it this process may not read: `limit` at most. Links are not followed. */
export function lookThrough(folder: string, limit: number): { bytes: number; unreadable: string[] } {
  const found = { bytes: 0, unreadable: [] as string[] };
  const look = (path: string): void => {
    try {
      const stat = lstatSync(path);
      if (stat.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
      else if (stat.isFile()) {
        found.bytes += stat.size;
        accessSync(path, constants.R_OK);
      }
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isGone && found.unreadable.length < limit) found.unreadable.push(path);
    }
  };
  look(folder);
  return found;
}

/** When a file was last written, in ms; null when it is not there. */
export const writtenAt = (path: string): number | null =>
  lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
