import { existsSync, lstatSync, readdirSync, realpathSync, rmdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { corrupted, refused, systemCode } from './error.js';
import * as durable from './files.js';
import { MAX_STATE_BYTES } from './json.js';
import { type LockPolicy, withLock } from './lock.js';
import { type Layout, lockFile, shown } from './paths.js';
import { type Decoded, decodeDocument, encodeDocument, type Format } from './schema.js';
import { noteWritten } from './written.js';

/** A file as it was read: replacing it later checks that nobody changed it in between. */
interface Snapshot<T> extends Decoded<T> {
  path: string;
  /** Null when there was no file. */
  bytes: Buffer | null;
}

/** Looks at the final bytes of a file before any are written; throws exit 5. `before` is what it had. */
type ContentCheck = (name: string, bytes: Buffer, before: () => Buffer | null) => void;

/** Removes a `.forge/` that holds nothing but the lock's folder. */
function removeIfUnused(dir: string): void {
  try {
    if (readdirSync(dir).join() !== 'local') return;
    rmdirSync(join(dir, 'local'));
    rmdirSync(dir);
  } catch {
    // Another process uses it.
  }
}

/** The one door to the files of a `.forge/`: paths stay inside, `dryRun` writes nothing, changes are listed. */
export class Disk {
  /** What was written (or would be, with `dryRun`), as shown paths. */
  readonly written: string[] = [];
  /** LTM-13: without it nothing is written that travels with the repository. */
  guard: ContentCheck | null = null;
  private readonly insideFolders = new Set<string>();
  private readonly noted = new Set<string>();
  /** Set while this process holds the lock; a new object each time. */
  hold: object | null = null;
  private isHeld = (): boolean => true;

  constructor(
    readonly layout: Layout,
    private readonly policy: LockPolicy,
    readonly dryRun: boolean,
  ) {}

  /** The worktree's lock. Sections may nest. `waitMs`: how long to wait for another holder. */
  withLock<T>(work: () => T, waitMs = this.policy.waitMs): T {
    if (this.hold || this.dryRun) return work();
    this.checkInside(lockFile(this.layout));
    const policy = waitMs === undefined ? this.policy : { ...this.policy, waitMs };
    const isNew = !existsSync(this.layout.dir);
    try {
      return withLock(lockFile(this.layout), policy, (isHeld) => {
        this.hold = {};
        this.isHeld = isHeld;
        try {
          return work();
        } finally {
          this.hold = null;
          this.isHeld = () => true;
        }
      });
    } finally {
      // A refused init leaves no folder.
      if (isNew) removeIfUnused(this.layout.dir);
    }
  }

  /** Just before something is changed: a process that was stopped may have lost the lock meanwhile (exit 3). */
  checkHeld(): void {
    if (this.isHeld()) return;
    const file = lockFile(this.layout);
    throw refused('lock.lost', `${file} is no longer held by this process; nothing was written.`, {
      file,
      hint: 'Run the command again.',
    });
  }

  /** The bytes of a file; null when there is none. */
  read(path: string, max = MAX_STATE_BYTES): Buffer | null {
    this.checkInside(path);
    return durable.readPlain(path, max);
  }

  /** A state file decoded; `missing` when there is none. */
  readDocument<T>(format: Format<T>, path: string, missing: T): Snapshot<T>;
  readDocument<T>(format: Format<T>, path: string, missing: null): Snapshot<T | null>;
  readDocument<T>(format: Format<T>, path: string, missing: T): Snapshot<T> {
    return this.decoded(format, path) ?? { value: missing, path, bytes: null };
  }

  /** Like readDocument, for a file that must be there (exit 4). */
  requireDocument<T>(format: Format<T>, path: string): Snapshot<T> {
    const found = this.decoded(format, path);
    if (!found) throw missingFile(shown(this.layout, path));
    return found;
  }

  private decoded<T>(format: Format<T>, path: string): Snapshot<T> | null {
    const bytes = this.read(path);
    return bytes && { ...decodeDocument(format, bytes, shown(this.layout, path)), path, bytes };
  }

  /**
   * Read, decide, replace, under the lock. `change` gets the value and returns the new one (the same one: nothing is
   * written). A file that an editor or git replaced meanwhile is left alone: exit 3 `file.changed`.
   */
  update<T>(format: Format<T>, path: string, change: (value: T) => T): T {
    return this.withLock(() => {
      const before = this.requireDocument(format, path);
      const after = change(before.value);
      if (after === before.value) return after;
      // LAY-08: the older form of a migrated file stays beside it.
      const { migratedFrom, bytes } = before;
      if (migratedFrom !== undefined && bytes)
        this.replace(`${path}.v${Number.parseInt(migratedFrom, 10)}`, bytes);
      this.replace(path, encodeDocument(after), bytes);
      return after;
    });
  }

  /** Replaces one file whole; `expected` are the bytes it must still have. The caller holds the lock. */
  replace(path: string, bytes: Buffer, expected?: Buffer | null): void {
    this.replaceAll([{ path, bytes }], expected);
  }

  /**
   * Replaces several; each is whole, and all are on the disk on return. `expected` are the bytes that the first must still
   * have; null: none of them may be there. The caller holds the lock.
   */
  replaceAll(writes: readonly durable.Write[], expected?: Buffer | null): void {
    for (const { path, bytes } of writes) this.checkContent(path, bytes);
    this.putAll(writes, expected);
    if (!this.dryRun) noteWritten(this.layout, writes);
  }

  /** The same for entries taken in from an edited view, which count as edited outside forge. */
  replaceTaken(writes: readonly durable.Write[], expected?: Buffer | null): void {
    for (const { path, bytes } of writes) this.checkContent(path, bytes);
    this.putAll(writes, expected);
  }

  /** Like replace, for bytes that stood in `.forge/` before: they were looked at then. */
  replaceMoved(path: string, bytes: Buffer): void {
    this.putAll([{ path, bytes }]);
  }

  private putAll(writes: readonly durable.Write[], expected?: Buffer | null): void {
    for (const { path } of writes) this.note(path);
    if (this.dryRun) return;
    for (const { path } of writes) {
      this.makeFolder(dirname(path));
      durable.removeDrafts(path);
    }
    const checked = expected === null ? writes : writes.slice(0, 1);
    durable.replaceFiles(writes, () => {
      this.checkHeld();
      if (expected !== undefined) for (const { path } of checked) this.checkUnchanged(path, expected);
    });
  }

  /**
   * LTM-13: of everything that is written, what waits in the git dir too. Without a guard nothing goes into `.forge/`;
   * forge's own state beside it is seen by nobody else.
   */
  checkContent(path: string, bytes: Buffer): void {
    const { dir, state } = this.layout;
    const travels = path.startsWith(dir + sep) && !path.startsWith(state + sep);
    if (!this.guard && travels) throw new Error(`${shown(this.layout, path)} would be written unguarded`);
    this.guard?.(shown(this.layout, path), bytes, () => durable.readPlain(path, MAX_STATE_BYTES));
  }

  private checkUnchanged(path: string, expected: Buffer | null): void {
    const bytes = durable.readPlain(path, Number.MAX_SAFE_INTEGER);
    if (bytes === expected || (bytes && expected?.equals(bytes))) return;
    throw refused(
      'file.changed',
      `${shown(this.layout, path)} was changed by another program meanwhile; nothing was written.`,
      {
        file: shown(this.layout, path),
        hint: 'Run the command again.',
      },
    );
  }

  /** Makes a file only if the name is free; for bytes that the guard need not look at. */
  createMoved(path: string, bytes: Buffer): boolean {
    if (!this.dryRun) {
      this.makeFolder(dirname(path));
      if (!durable.createFile(path, bytes)) return false;
    }
    this.note(path);
    return true;
  }

  makeFolder(path: string): void {
    this.checkInside(join(path, 'any'));
    if (!this.dryRun) durable.makeFolder(path);
  }

  remove(path: string): void {
    this.checkInside(path);
    if (!this.dryRun) durable.removePath(path);
  }

  exists(path: string): boolean {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  }

  list(folder: string): string[] {
    return durable.listFolder(folder);
  }

  /** What was written past this door is told like the rest. Forge's own bookkeeping is not worth telling. */
  note(path: string): void {
    const own = [this.layout.state, this.layout.shared].some((folder) => path.startsWith(folder + sep));
    if (own || this.noted.has(path)) return;
    this.noted.add(path);
    const name = shown(this.layout, path);
    if (!this.written.includes(name)) this.written.push(name);
  }

  /** Exit 4 `file.outside` where a folder of `.forge/` is reached through a link: git would not see what stands in it. */
  requireOwn(folder: string): void {
    const real = realFolder(folder);
    const top = realFolder(this.layout.dir);
    if (real === null || top === null || real === top + folder.slice(this.layout.dir.length)) return;
    const file = shown(this.layout, folder);
    throw corrupted('file.outside', `${file} is reached through a link (to ${real}).`, { file });
  }

  /** A folder on the way may be a link that a clone brought along: what leads out of `.forge/` is not followed. */
  private checkInside(path: string): void {
    const folder = dirname(path);
    if (this.insideFolders.has(folder)) return;
    const { dir, state, shared } = this.layout;
    // Without git the state lies in .forge/ itself, and must stay there like the rest.
    const tops = [dir, ...[state, shared].filter((top) => !top.startsWith(dir + sep))];
    const real = realFolder(folder);
    // What is still to be made will be where the nearest folder that exists is.
    if (real === null) {
      if (!tops.includes(folder)) this.checkInside(folder);
      return;
    }
    const inside = tops
      .map(realFolder)
      .some((top) => top !== null && (real === top || real.startsWith(top + sep)));
    if (!inside)
      throw corrupted(
        'file.outside',
        `${shown(this.layout, folder)} leads out of the .forge folder (to ${real}).`,
        {
          file: shown(this.layout, folder),
        },
      );
    this.insideFolders.add(folder);
  }
}

function realFolder(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw durable.diskError(error, path);
  }
}

function missingFile(file: string): Error {
  return corrupted('file.missing', `${file} is missing.`, {
    file,
    hint: 'forge init   # restores what is missing',
  });
}
