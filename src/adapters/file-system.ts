import { statfsSync } from 'node:fs';

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
