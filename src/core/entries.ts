import { join, sep } from 'node:path';
import type { Disk } from './disk.js';
import { corrupted, ForgeError, unlessFailed } from './error.js';
import { type Layout, shown, viewCopy } from './paths.js';
import { decodeDocument, encodeDocument, type Format, isId } from './schema.js';
import { oneLine, plural, sha256 } from './text.js';

/**
 * A list with one file for each entry, so that branches that change different entries never conflict (LAY-09). A view,
 * which git ignores, shows all entries. A person may edit the view, and forge takes the edit in. An entry that the view
 * lacks stays: the view may be an older one.
 */
export interface EntryList<E, V> {
  folder: (layout: Layout) => string;
  entry: Format<E>;
  /** The name of an entry's file, without `.json`. */
  nameOf: (entry: E) => string;
  /** The entries in the order of the view. Exit 4 for entries that exclude each other. */
  arrange: (entries: E[]) => E[];
  encode: (entry: E) => Buffer;
  view: Format<V>;
  viewFile: (layout: Layout) => string;
  /** Fields of `present` beside the list are kept. */
  toView: (entries: readonly E[], present: V | null) => V;
  /** The entries with what a person changed in the view since `base` (see `takeInById`), and a description of each change. */
  takeIn: (entries: readonly E[], base: V | null, edited: V) => Taken<E>;
}

/** `lacking`: the command that removes each entry that is gone from the view. */
interface Taken<E> {
  entries: E[];
  changes: string[];
  lacking: string[];
}

interface EntrySnapshot<E, V> extends Taken<E> {
  stored: Map<string, { bytes: Buffer; entry: E }>;
  view: { bytes: Buffer | null; copy: Buffer | null; value: V | null };
}

/** All entries, with edits of the view that no command has stored yet. Writes nothing. */
export function readEntries<E, V>(disk: Disk, list: EntryList<E, V>): EntrySnapshot<E, V> {
  const stored = readStored(disk, list);
  const entries = list.arrange([...stored.values()].map(({ entry }) => entry));
  const path = list.viewFile(disk.layout);
  const [bytes, copy] = [disk.read(path), disk.read(viewCopy(disk.layout, path))];
  const unedited = copy ?? encodeDocument(list.toView(entries, null));
  if (!bytes || unedited.equals(bytes))
    return { entries, changes: [], lacking: [], stored, view: { bytes, copy, value: null } };
  const value = decodeDocument(list.view, bytes, shown(disk.layout, path));
  const taken = list.takeIn(entries, decodeView(list, copy), value);
  return { ...taken, entries: list.arrange(taken.entries), stored, view: { bytes, copy, value } };
}

/** A command reads the entries several times. Unchanged files are decoded once. */
const decoded = new WeakMap<Disk, Map<string, { bytes: Buffer; entry: unknown }>>();

function readStored<E, V>(disk: Disk, list: EntryList<E, V>): EntrySnapshot<E, V>['stored'] {
  const before = (decoded.get(disk) ?? new Map()) as EntrySnapshot<E, V>['stored'];
  decoded.set(disk, before);
  const folder = list.folder(disk.layout);
  const stored: EntrySnapshot<E, V>['stored'] = new Map();
  for (const name of disk.list(folder).filter((each) => each.endsWith('.json') && !each.startsWith('.'))) {
    const path = folder + sep + name;
    const bytes = disk.read(path);
    const known = before.get(path);
    if (bytes && known?.bytes.equals(bytes)) stored.set(path, known);
    else if (bytes)
      stored.set(path, { bytes, entry: decodeDocument(list.entry, bytes, shown(disk.layout, path)) });
  }
  for (const [path, read] of stored) before.set(path, read);
  return stored;
}

interface TakeIn<E> {
  /** The command that removes an entry. */
  remove: (entry: E) => string;
  /** Returns the same object for an unchanged entry. */
  edit: (entry: E, old: E, wanted: E, changes: string[]) => E;
  /** Makes an entry of a new one. */
  add?: (entry: E) => E;
  /** How a change names an entry; by default its id. */
  show?: (entry: E) => string;
}

/** What a person changed in a view since `base`. Without the base the view may be older, so only new entries are taken in. */
export function takeInById<E>(
  idOf: (entry: E) => string,
  [entries, base, edited]: [entries: readonly E[], base: readonly E[] | undefined, edited: readonly E[]],
  { edit, add = (entry) => entry, show = idOf, remove }: TakeIn<E>,
): Taken<E> {
  const [was, now] = [base ?? [], edited].map((list) => new Map(list.map((one) => [idOf(one), one])));
  const changes: string[] = [];
  const kept = entries.map((entry) => {
    const wanted = base && now?.get(idOf(entry));
    return wanted ? edit(entry, was?.get(idOf(entry)) ?? entry, wanted, changes) : entry;
  });
  const lacking = kept.filter((entry) => was?.has(idOf(entry)) && !now?.has(idOf(entry))).map(remove);
  const known = new Set([...entries, ...(base ?? [])].map(idOf));
  const added = edited.filter((entry) => !known.has(idOf(entry)));
  const wrong = added.map(idOf).find((id) => !isId(id));
  if (wrong !== undefined)
    throw corrupted('entry.id', `An edit added ${JSON.stringify(oneLine(wrong, 80))}, which is no valid id.`);
  changes.push(...added.map((entry) => `${show(entry)} added`));
  return { entries: [...kept, ...added.map(add)], changes, lacking };
}

const decodeView = <E, V>(list: EntryList<E, V>, bytes: Buffer | null): V | null =>
  unlessFailed(null, () => bytes && decodeDocument(list.view, bytes, ''));

/** Changes the entries and their view under the lock, after edits of the view. `change` keeps unchanged objects. */
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
    try {
      writeView(disk, list, before, after);
    } catch (error) {
      // The entries are stored, and the next command writes the view.
      if (!(error instanceof ForgeError) || error.kind !== 'outside') throw error;
      warnings.push(`Stored, but ${file} is not up to date: ${error.message}`);
    }
    if (before.changes.length > 0)
      warnings.push(`${file} was edited, and forge took it in: ${oneLine(before.changes.join('; '), 400)}.`);
    if (before.lacking.length > 0)
      warnings.push(
        `${file} lacked ${plural(before.lacking.length, 'entry', 'entries')}, now put back. To remove: ${oneLine(before.lacking.join('; '), 400)}`,
      );
    return after;
  });
}

function writeEntries<E, V>(
  disk: Disk,
  list: EntryList<E, V>,
  { stored, entries }: EntrySnapshot<E, V>,
  after: readonly E[],
): void {
  const paths = new Map([...stored].map(([path, { entry }]) => [entry, path]));
  const fresh = after
    .filter((entry) => !paths.has(entry))
    .map((entry) => {
      const path = join(list.folder(disk.layout), `${list.nameOf(entry)}.json`);
      const expected = stored.get(path)?.bytes;
      paths.set(entry, path);
      return { entry, path, bytes: list.encode(entry), expected, edited: entries.includes(entry) };
    })
    .filter(({ bytes, expected }) => !expected?.equals(bytes));
  const kept = new Set(after.map((entry) => paths.get(entry)));
  const removed = [...stored.keys()].filter((path) => !kept.has(path));
  disk.replaceAll([...fresh, ...removed.map((path) => ({ path, bytes: null }))]);
}

/** Does not overwrite a view that was saved meanwhile: the next command takes that edit in. */
function writeView<E, V>(
  disk: Disk,
  list: EntryList<E, V>,
  { view }: EntrySnapshot<E, V>,
  after: readonly E[],
): void {
  const path = list.viewFile(disk.layout);
  const bytes = encodeDocument(list.toView(after, view.value ?? decodeView(list, view.bytes)));
  const now = disk.read(path);
  if (now && !view.bytes?.equals(now)) return;
  if (!view.bytes?.equals(bytes)) disk.replaceMoved(path, bytes);
  if (!view.copy?.equals(bytes)) disk.replaceMoved(viewCopy(disk.layout, path), bytes);
}

/**
 * JSON with a blank line after each field, so that git merges changes of neighboring fields. The indentation
 * depends on the key, so that git rarely takes an entry for a renamed copy of another one.
 */
export function encodeFields(key: string, fields: object): Buffer {
  const indent = ' '.repeat(Number.parseInt(sha256(key).slice(0, 2), 16) % 32);
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${indent}  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return Buffer.from(`${indent}{\n\n${lines.join(',\n\n')}\n\n${indent}}\n`, 'utf8');
}
