import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { refused, systemCode } from '../core/error.js';
import { toText } from './bytes.js';

/** A file's state at one moment: whoever writes it changes this. */
export interface FileStamp {
  path: string;
  mode: number;
  isLink: boolean;
  stamp: string;
}

/**
 * The files of a worktree, by paths from its top whose characters are bytes. A folder on the way that is a link is not
 * followed: behind it there is another file, not this one.
 */
export class WorkTree {
  private readonly folders = new Map<string, boolean>();

  constructor(private readonly root: string) {}

  at(path: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.root}/`), Buffer.from(path, 'latin1')]);
  }

  stat(path: string): fs.BigIntStats | null {
    if (!this.isFolder(dirname(path))) return null;
    return fs.lstatSync(this.at(path), { bigint: true, throwIfNoEntry: false }) ?? null;
  }

  /** A folder where a file is meant is no file. */
  isThere(path: string): boolean {
    return this.stat(path)?.isDirectory() === false;
  }

  /** A folder, and no link to one, is where the file would be. */
  isInFolder(path: string): boolean {
    return this.isFolder(dirname(path));
  }

  /** Its own, with whatever is in it. */
  holdsRepository(folder: string): boolean {
    return fs.lstatSync(this.at(`${folder}/.git`), { throwIfNoEntry: false }) !== undefined;
  }

  private isFolder(folder: string): boolean {
    if (folder === '.') return true;
    const known = this.folders.get(folder);
    if (known !== undefined) return known;
    const is =
      this.isFolder(dirname(folder)) &&
      fs.lstatSync(this.at(folder), { throwIfNoEntry: false })?.isDirectory() === true;
    this.folders.set(folder, is);
    return is;
  }

  /** Null for what is no file and no link. */
  stamp(path: string): FileStamp | null {
    const stat = this.stat(path);
    if (!stat?.isFile() && !stat?.isSymbolicLink()) return null;
    const { ino, size, mtimeNs, ctimeNs, mode } = stat;
    return {
      path,
      mode: Number(mode & 0o777n),
      isLink: stat.isSymbolicLink(),
      stamp: `${ino}:${size}:${mtimeNs}:${ctimeNs}:${mode}`,
    };
  }

  readLink(path: string): Buffer {
    return fs.readlinkSync(this.at(path), { encoding: 'buffer' });
  }

  /** Files that stand where one of these has to be written: itself, in place of its folder, or below it as a folder. */
  blocking(paths: Iterable<string>): string[] {
    const found = new Set<string>();
    for (const path of paths) {
      const parts = path.split('/');
      for (let length = 1; length <= parts.length; length++) {
        const prefix = parts.slice(0, length).join('/');
        const stat = fs.lstatSync(this.at(prefix), { throwIfNoEntry: false });
        if (!stat) break;
        if (!stat.isDirectory()) {
          found.add(prefix);
          break;
        }
        if (length === parts.length) for (const file of this.filesIn(prefix)) found.add(file);
      }
    }
    return [...found];
  }

  private filesIn(folder: string): string[] {
    const entries = fs.readdirSync(this.at(folder), { withFileTypes: true, encoding: 'latin1' as 'utf8' });
    if (entries.some(({ name }) => name === '.git')) throw nestedRepository(folder);
    return entries.flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? this.filesIn(path) : [path];
    });
  }

  /** Takes files away, and the folders that are empty by that. */
  remove(paths: readonly string[]): void {
    const folders = new Set<string>();
    for (const path of paths) {
      if (!this.isThere(path)) continue;
      fs.unlinkSync(this.at(path));
      for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
    }
    // The deepest first.
    for (const folder of [...folders].sort((a, b) => b.length - a.length)) this.removeIfEmpty(folder);
    this.folders.clear();
  }

  private removeIfEmpty(folder: string): void {
    try {
      fs.rmdirSync(this.at(folder));
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) throw error;
    }
  }

  /** A file of its own, in place of whatever is there, with just this mode; the caller closes it. */
  create(path: string, mode: number): number {
    const file = fs.openSync(this.makeRoom(path), 'wx', 0o600);
    // The umask does not count.
    fs.fchmodSync(file, mode);
    return file;
  }

  link(path: string, to: Buffer): void {
    fs.symlinkSync(to, this.makeRoom(path));
  }

  private makeRoom(path: string): Buffer {
    const at = this.at(path);
    fs.mkdirSync(this.at(dirname(path)), { recursive: true });
    const there = fs.lstatSync(at, { throwIfNoEntry: false });
    if (there?.isDirectory()) fs.rmdirSync(at);
    else if (there) fs.unlinkSync(at);
    return at;
  }
}

export const nestedRepository = (folder: string): Error =>
  refused('recover.repository', `${toText(folder)} is a repository of its own, and stands in the way.`, {
    hint: `move it elsewhere, then run the command again`,
  });
