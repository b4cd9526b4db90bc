import { existsSync, lstatSync, renameSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { corrupted, refused } from './error.js';
import * as files from './files.js';
import { MAX_STATE_BYTES } from './json.js';
import { type LockPolicy, withLock } from './lock.js';
import * as paths from './paths.js';
import { decodeDocument, type Format } from './schema.js';
import { sha256 } from './text.js';

/** A file as it was read, without bytes when it does not exist. Pass them to `replace` to detect a change in between. */
interface Snapshot<T> {
  value: T;
  path: string;
  bytes: Buffer | null;
}

/** Checks the final bytes of a file before any are written; throws exit 5. `before` reads the present ones. */
type ContentCheck = (name: string, bytes: Buffer, before: () => Buffer | null) => void;

/** Access to the files of a `.forge/`: paths stay inside, `dryRun` writes nothing, changes are listed. */
export class Disk {
  /** Files that were written, or would be with `dryRun`, from the top folder. */
  readonly written: string[] = [];
  /** LTM-13: set before anything is written that travels with the repository. */
  guard: ContentCheck | null = null;
  private readonly checked = new Set<string>();
  private isHeld: (() => boolean) | null = null;

  constructor(
    readonly layout: paths.Layout,
    private readonly policy: LockPolicy,
    readonly dryRun: boolean,
  ) {}

  /** Runs `work` under the worktree's lock. Calls may nest. `waitMs`: how long to wait for another holder. */
  withLock<T>(work: () => T, waitMs = this.policy.waitMs): T {
    if (this.isHeld || this.dryRun) return work();
    const path = paths.lockFile(this.layout);
    this.checkInside(dirname(path));
    return withLock(path, { ...this.policy, waitMs }, (isHeld) => {
      this.isHeld = isHeld;
      try {
        return work();
      } finally {
        this.isHeld = null;
      }
    });
  }

  /** Tells one holding of the lock from the next; null while it is free. */
  get hold(): object | null {
    return this.isHeld;
  }

  /** Exit 3 when another process took the lock while this one was stopped. Call it just before a change. */
  checkHeld(): void {
    if (this.isHeld?.() ?? true) return;
    const file = paths.lockFile(this.layout);
    const message = `${file} is no longer held by this process; nothing was written.`;
    throw refused('lock.lost', message, { file, hint: 'Run the command again.' });
  }

  /** The bytes of a file; null when it does not exist. */
  read(path: string, max = MAX_STATE_BYTES): Buffer | null {
    this.checkInside(dirname(path));
    return files.readPlain(path, max);
  }

  /** A decoded state file, or `missing` when it does not exist. */
  readDocument<T, M extends T | null>(format: Format<T>, path: string, missing: M): Snapshot<T | M> {
    const bytes = this.read(path);
    const value = bytes ? decodeDocument(format, bytes, paths.shown(this.layout, path)) : missing;
    return { value, path, bytes };
  }

  /** Like readDocument, for a file that must exist (exit 4). */
  requireDocument<T>(format: Format<T>, path: string): Snapshot<T> {
    const { value, bytes } = this.readDocument(format, path, null);
    if (value !== null) return { value, path, bytes };
    const file = paths.shown(this.layout, path);
    const hint = 'forge init   # restores what is missing';
    throw corrupted('file.missing', `${file} is missing.`, { file, hint });
  }

  /** Replaces one file; `expected` are the bytes that it must still have (exit 3). The caller holds the lock. */
  replace(path: string, bytes: Buffer, expected?: Buffer | null): void {
    this.replaceAll([{ path, bytes, expected }]);
  }

  /** Replaces or removes files, durably. The caller holds the lock. `edited`: counts as edited by a person outside forge. */
  replaceAll(writes: readonly (files.Write & { edited?: boolean })[]): void {
    for (const { path, bytes } of writes) if (bytes) this.checkContent(path, bytes);
    this.put(writes);
    this.recordOwn(writes.filter(({ edited = false }) => !edited));
  }

  /** Replaces a file with what forge wrote there earlier. */
  putBack(path: string, bytes: Buffer): void {
    this.put([{ path, bytes }]);
    this.recordOwn([{ path, bytes }]);
  }

  /** Records the bytes that forge wrote, to detect edits by other programs. */
  private recordOwn(writes: readonly files.Write[]): void {
    const own = writes.filter(({ path }) => isRelied(this.layout, path));
    if (own.length === 0 || this.dryRun) return;
    const known = new Map(Object.entries(readWritten(this.layout)));
    for (const { path, bytes } of own) {
      known.delete(paths.shown(this.layout, path));
      known.set(paths.shown(this.layout, path), bytes ? digest(bytes) : REMOVED);
    }
    files.writeHint(paths.writtenFile(this.layout), Object.fromEntries([...known].slice(-MAX_RECORDED)));
  }

  /** Like replace, for bytes that were in `.forge/` before and so have passed the guard. Null removes the file. */
  replaceMoved(path: string, bytes: Buffer | null, keepMode?: number): void {
    this.put([{ path, bytes, keepMode }]);
  }

  private put(writes: readonly files.Write[]): void {
    for (const { path } of writes) {
      this.note(path);
      this.checkInside(dirname(path));
    }
    if (this.dryRun) return;
    const named = writes.map((write) => ({ ...write, name: paths.shown(this.layout, write.path) }));
    files.replaceFiles(named, () => this.checkHeld());
    for (const write of writes) keepCopy(this.layout, write);
  }

  /** Nothing that travels with the repository is written without a guard (LTM-13). */
  checkContent(path: string, bytes: Buffer): void {
    const { dir, state } = this.layout;
    const travels = path.startsWith(dir + sep) && !path.startsWith(state + sep);
    if (!this.guard && travels)
      throw new Error(`${paths.shown(this.layout, path)} would be written unguarded`);
    this.guard?.(paths.shown(this.layout, path), bytes, () => files.readPlain(path, MAX_STATE_BYTES));
  }

  makeFolder(path: string): void {
    this.checkInside(path);
    if (!this.dryRun) files.makeFolder(path);
  }

  remove(path: string): void {
    this.checkInside(dirname(path));
    if (this.exists(path)) this.note(path);
    if (this.dryRun) return;
    files.removePath(path);
    this.recordOwn([{ path, bytes: null }]);
    keepCopy(this.layout, { path, bytes: null });
  }

  exists(path: string): boolean {
    return files.onDisk(path, () => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
  }

  list(folder: string): string[] {
    this.checkInside(folder);
    return files.listFolder(folder);
  }

  /** The folders in a folder, without symlinks to folders. */
  listFolders(folder: string): string[] {
    this.checkInside(folder);
    return files.listFolder(folder, (entry) => entry.isDirectory());
  }

  /** Lists a path as written. Forge's own bookkeeping is not listed. */
  note(path: string): void {
    const { state, shared } = this.layout;
    if ([state, shared].some((folder) => path.startsWith(folder + sep))) return;
    const name = paths.shown(this.layout, path);
    if (!this.written.includes(name)) this.written.push(name);
  }

  /** B-20: a clone may bring symlinked folders. Exit 4 for a folder that is reached through one. */
  private checkInside(folder: string): void {
    if (this.checked.has(folder)) return;
    const { dir, state, shared } = this.layout;
    const top = [dir, state, shared].find((each) => folder === each || folder.startsWith(each + sep)) ?? dir;
    const real = files.realPath(folder);
    // A folder that does not exist yet will be made below the nearest one that does.
    if (real === null) {
      if (folder !== top) this.checkInside(dirname(folder));
      return;
    }
    if (real !== `${files.realPath(top)}${folder.slice(top.length)}`) {
      const file = paths.shown(this.layout, folder);
      throw corrupted('file.outside', `${file} is reached through a symlink (to ${real}).`, { file });
    }
    this.checked.add(folder);
  }
}

/** Files that agents rely on. Only forge or a commit may change them. */
export const reliedPaths = (layout: paths.Layout): string[] => [
  paths.featuresFolder(layout),
  paths.learnedFolder(layout),
  paths.sessionsFolder(layout),
  paths.activeIssuesFolder(layout),
  paths.architectureFile(layout),
];

const isRelied = (layout: paths.Layout, path: string): boolean =>
  reliedPaths(layout).some((relied) => path === relied || path.startsWith(relied + sep));

/** A feature, a lesson, the architecture or a session's archive: git may take it away before or after a commit. */
function keepCopy(layout: paths.Layout, { path, bytes }: files.Write): void {
  if (!isRelied(layout, path)) return;
  const copy = join(paths.keptFolder(layout), encodeURIComponent(relative(layout.dir, path)));
  if (bytes) files.writeQuietly(copy, () => bytes, MAX_STATE_BYTES);
  else files.removeQuietly(copy);
}

/** The files that forge wrote here, and where the copy of each is. A killed writer may leave the draft of a copy. */
export const keptFiles = (layout: paths.Layout): { path: string; copy: string }[] =>
  files
    .listFolder(paths.keptFolder(layout), ({ name }) => !name.startsWith('.'))
    .map((name) => ({
      path: join(layout.dir, decodeURIComponent(name)),
      copy: join(paths.keptFolder(layout), name),
    }));

/** Moves the copies of removed worktrees to those of this one. `linked`: the names of the others. */
export function adoptKept(layout: paths.Layout, linked: readonly string[]): void {
  const { KEPT_LINKED, keptFolder } = paths;
  const isRemoved = ({ name }: { name: string }): boolean =>
    name.startsWith(KEPT_LINKED) && !linked.includes(name.slice(KEPT_LINKED.length));
  for (const folder of files.listFolder(layout.shared, isRemoved).map((name) => join(layout.shared, name))) {
    files.makeFolder(keptFolder(layout));
    for (const name of files.listFolder(folder)) {
      const copy = join(keptFolder(layout), name);
      files.onDisk(copy, () => existsSync(copy) || renameSync(join(folder, name), copy));
    }
    files.removePath(folder);
  }
}

/** More files than change between two commits. */
const MAX_RECORDED = 2000;

/** In place of a digest. */
const REMOVED = '';

const readWritten = (layout: paths.Layout): Record<string, string> =>
  files.readHint(paths.writtenFile(layout)) ?? {};

/** A check whether forge itself last wrote these bytes or, for null, removed the file. */
export function writtenHere(layout: paths.Layout): (path: string, bytes: Buffer | null) => boolean {
  const known = readWritten(layout);
  return (path, bytes) => known[paths.shown(layout, path)] === (bytes ? digest(bytes) : REMOVED);
}

const digest = (bytes: Buffer): string => sha256(bytes).slice(0, 32);
