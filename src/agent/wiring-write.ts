import {
  removeDraftsOf,
  removeEmptyFolders,
  replaceProjectFiles,
  requireWritable,
} from '../core/project-file.js';
import type { FileRecord, Manifest, Wired } from './manifest.js';
import { isSame } from './own.js';
import { type Place, type TextFile, writeManifest } from './wiring-place.js';
import { digestText, type FilePlan } from './wiring-plan.js';

/** A file, and what it is to become. */
export interface PlannedFile extends FilePlan {
  file: TextFile;
}

/**
 * First what is to be written is noted, beside what was; then it is written; then what was is forgotten. Whatever a kill
 * leaves in between, each file is in one of the noted states, and the same command once more completes it.
 */
export function writeWiring(
  place: Place,
  manifest: Manifest,
  agents: Wired[],
  planned: readonly PlannedFile[],
): void {
  const changed = planned.filter(({ file, text }) => text !== file.text);
  for (const { file } of changed) requireWritable(file);
  for (const { file } of changed) place.note(file.name);
  const after: Manifest = { ...manifest, agents, files: recordsAfter(manifest, planned) };
  if (place.dryRun || (changed.length === 0 && isSame(after, manifest))) return;
  writeManifest(place, { ...after, files: recordsMeanwhile(manifest, changed, after) });
  removeDraftsOf(planned.map(({ file }) => file));
  replaceProjectFiles(
    changed.map(({ file, text }) => ({ file, bytes: text === null ? null : Buffer.from(text, 'utf8') })),
  );
  for (const { file, text } of planned) {
    const folders = manifest.files[file.name]?.folders ?? (file.text === null ? [] : foldersOf(file.name));
    const around = folders.filter((folder) => file.name.startsWith(`${folder}/`));
    if (text === null) removeEmptyFolders(place.top, around);
  }
  writeManifest(place, after);
}

type Records = Manifest['files'];

function recordsAfter(manifest: Manifest, planned: readonly PlannedFile[]): Records {
  const records: Records = { ...manifest.files };
  for (const { file, record } of planned)
    if (record) records[file.name] = record;
    else delete records[file.name];
  return records;
}

function recordsMeanwhile(manifest: Manifest, changed: readonly PlannedFile[], after: Manifest): Records {
  const records: Records = { ...after.files };
  for (const { file, record } of changed) {
    const old = manifest.files[file.name];
    if (old) records[file.name] = record ? bothStates(old, record, file.text) : old;
  }
  return records;
}

function bothStates(old: FileRecord, record: FileRecord, text: string | null): FileRecord {
  const now = old.left.filter(({ sha256 }) => text !== null && sha256 === digestText(text));
  return old.before === record.before ? { ...record, left: [...now.slice(0, 1), ...record.left] } : record;
}

/** In a clone nobody noted which folders were made for a file: those that it leaves empty. */
function foldersOf(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return name.startsWith('/') ? [] : parts.map((_, depth) => parts.slice(0, depth + 1).join('/'));
}
