import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from './disk.js';
import { type Layout, shown, viewCopy } from './paths.js';
import { decodeDocument, encodeDocument, type Format } from './schema.js';
import { oneLine } from './text.js';

/**
 * A list of which each entry is a file of its own, so that branches that change different entries never conflict (LAY-09).
 * All entries together stand in a view, which git ignores: a person may edit it, and forge takes the edit in.
 */
export interface EntryList<E, V> {
  folder: (layout: Layout) => string;
  entry: Format<E>;
  /** The name of an entry's file, without `.json`. */
  nameOf: (entry: E) => string;
  /** Exit 4 for entries that cannot stand side by side; else in the order of the view. */
  arrange: (entries: E[]) => E[];
  encode: (entry: E) => Buffer;
  view: Format<V>;
  viewFile: (layout: Layout) => string;
  /** `standing` is what the file has now: fields beside the list stay. */
  toView: (entries: readonly E[], standing: V | null) => V;
  /** The entries with what a person changed in the view since `base`, and each change in a few words. */
  takeIn: (entries: readonly E[], base: V, edited: V) => { entries: E[]; changes: string[] };
}

export interface EntrySnapshot<E, V> {
  entries: E[];
  /** Paths of the files that were read, and the view where it counted. */
  checked: string[];
  /** What a person changed in the view. */
  changes: string[];
  view: { bytes: Buffer | null; value: V | null; copy: Buffer | null };
  stored: Map<string, { bytes: Buffer; entry: E }>;
}

/** All entries, with what a person changed in the view and no command has stored yet. Writes nothing. */
export function readEntries<E, V>(disk: Disk, list: EntryList<E, V>): EntrySnapshot<E, V> {
  const { layout } = disk;
  const stored = readStored(disk, list);
  const entries = list.arrange([...stored.values()].map(({ entry }) => entry));
  const path = list.viewFile(layout);
  const [bytes, copy] = [disk.read(path), disk.read(viewCopy(layout, path))];
  const checked = [...stored.keys()];
  const isEdited = bytes !== null && !(copy?.equals(bytes) ?? bytes.equals(plainView(list, entries)));
  if (!isEdited) return { entries, checked, changes: [], view: { bytes, value: null, copy }, stored };
  const value = decodeDocument(list.view, bytes, shown(layout, path)).value;
  const base = (copy && decodeLoosely(list, copy)) ?? list.toView(entries, null);
  const taken = list.takeIn(entries, base, value);
  return {
    entries: list.arrange(taken.entries),
    checked: [...checked, path],
    changes: taken.changes,
    view: { bytes, value, copy },
    stored,
  };
}

const plainView = <E, V>(list: EntryList<E, V>, entries: readonly E[]): Buffer =>
  encodeDocument(list.toView(entries, null));

function readStored<E, V>(disk: Disk, list: EntryList<E, V>): Map<string, { bytes: Buffer; entry: E }> {
  const folder = list.folder(disk.layout);
  const stored = new Map<string, { bytes: Buffer; entry: E }>();
  for (const name of disk.list(folder)) {
    if (!name.endsWith('.json') || name.startsWith('.')) continue;
    const path = join(folder, name);
    const bytes = disk.read(path);
    if (bytes)
      stored.set(path, { bytes, entry: decodeDocument(list.entry, bytes, shown(disk.layout, path)).value });
  }
  return stored;
}

/**
 * Read, decide, write, under the lock: changed entries, then the view. `change` returns the same objects for what stays.
 * What a person changed in the view is taken in first; `warnings` get a line about it.
 */
export function updateEntries<E, V>(
  { disk, warnings }: { disk: Disk; warnings: string[] },
  list: EntryList<E, V>,
  change: (entries: E[]) => E[] = (entries) => entries,
): E[] {
  return disk.withLock(() => {
    const before = readEntries(disk, list);
    const after = list.arrange(change(before.entries));
    writeEntries(disk, list, before, after);
    const file = shown(disk.layout, list.viewFile(disk.layout));
    if (before.changes.length > 0)
      warnings.push(`${file} was edited, and forge took it in: ${oneLine(before.changes.join('; '), 400)}.`);
    writeView(disk, list, before, after);
    return after;
  });
}

function writeEntries<E, V>(
  disk: Disk,
  list: EntryList<E, V>,
  { stored, entries }: EntrySnapshot<E, V>,
  after: readonly E[],
): void {
  const folder = list.folder(disk.layout);
  const known = new Map([...stored].map(([path, { entry }]) => [entry, path]));
  const kept = new Set<string>();
  const writes: { path: string; bytes: Buffer }[] = [];
  const taken: typeof writes = [];
  for (const entry of after) {
    const path = known.get(entry) ?? join(folder, `${list.nameOf(entry)}.json`);
    kept.add(path);
    if (known.has(entry)) continue;
    const bytes = list.encode(entry);
    if (!stored.get(path)?.bytes.equals(bytes))
      (entries.includes(entry) ? taken : writes).push({ path, bytes });
  }
  const [first] = writes;
  if (first) disk.replaceAll(writes, stored.get(first.path)?.bytes);
  const [edited] = taken;
  if (edited) disk.replaceTaken(taken, stored.get(edited.path)?.bytes);
  for (const path of stored.keys())
    if (!kept.has(path)) {
      disk.note(path);
      disk.remove(path);
    }
}

/** An editor that has just saved the view again is not overwritten: the next command takes that in. */
function writeView<E, V>(
  disk: Disk,
  list: EntryList<E, V>,
  { view }: EntrySnapshot<E, V>,
  after: readonly E[],
): void {
  const path = list.viewFile(disk.layout);
  const copy = viewCopy(disk.layout, path);
  const standing = view.value ?? (view.bytes ? decodeLoosely(list, view.bytes) : null);
  const bytes = encodeDocument(list.toView(after, standing));
  const now = disk.read(path);
  if (now !== null && !(view.bytes?.equals(now) ?? false)) return;
  if (!view.bytes?.equals(bytes)) disk.replaceMoved(path, bytes);
  if (!view.copy?.equals(bytes)) disk.replaceMoved(copy, bytes);
}

function decodeLoosely<E, V>(list: EntryList<E, V>, bytes: Buffer): V | null {
  try {
    return decodeDocument(list.view, bytes, '').value;
  } catch {
    return null;
  }
}

/**
 * JSON with a blank line after each field, so that git merges changes of neighboring fields, and indented by a number of
 * spaces of its own, so that git does not take one entry for a renamed copy of another.
 */
export function encodeFields(key: string, fields: object): Buffer {
  const indent = ' '.repeat((createHash('sha256').update(key).digest()[0] ?? 0) % 32);
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${indent}  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return Buffer.from(`${indent}{\n\n${lines.join(',\n\n')}\n\n${indent}}\n`, 'utf8');
}
