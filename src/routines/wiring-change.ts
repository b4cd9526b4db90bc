import { keyOf, type Part } from '../domain/agent/edit-fixture.js';
import type { AgentName } from '../domain/agent/event.js';
import { type FileRecord, type Manifest, type Wired, wiredAs } from '../domain/agent/manifest.js';
import { isSame } from '../domain/agent/own.js';
import { digestText, type FilePlan, planFile } from '../domain/agent/wiring-plan.js';
import type { Wirings } from '../domain/agent/wirings/wirings.js';
import {
  removeDraftsOf,
  removeEmptyFolders,
  replaceProjectFiles,
  requireWritable,
} from '../store/project-file.js';
import { Parts } from './wiring-parts.js';
import {
  explain,
  Files,
  type Place,
  readManifest,
  shownAt,
  type TextFile,
  writeManifest,
} from './wiring-place.js';

/** What a person asked for. */
export interface WiringWish {
  agents: readonly AgentName[];
  isInstall: boolean;
  /** Without it the one that an agent was wired with, or `forge`. */
  command: string | undefined;
  instructions: boolean;
}

export interface ChangedFile {
  path: string;
  change: 'created' | 'changed' | 'removed' | 'unchanged';
}

interface PlannedFile extends FilePlan {
  file: TextFile;
}

/** Plans all files; only when none of them is refused is anything written. */
export function changeWiring(place: Place, wirings: Wirings, wish: WiringWish): ChangedFile[] {
  return place.locked(() => {
    const manifest = readManifest(place);
    const files = new Files(place);
    const parts = new Parts(place, files, wirings);
    const agents = agentsAfter(manifest, parts, wish);
    const planned = planFiles({ place, manifest, files, parts, wish, agents });
    write(place, manifest, agents, planned);
    return planned.map(({ file, text }) => ({
      path: shownAt(place, file.name),
      change: wordFor(file.text, text),
    }));
  });
}

function wordFor(before: string | null, after: string | null): ChangedFile['change'] {
  if (before === after) return 'unchanged';
  return before === null ? 'created' : after === null ? 'removed' : 'changed';
}

/** Who is wired then; instructions that were asked for once stay. */
function agentsAfter(
  manifest: Manifest,
  parts: Parts,
  { agents, isInstall, command, instructions }: WiringWish,
): Wired[] {
  const others = manifest.agents.filter(({ agent }) => !agents.includes(agent));
  if (!isInstall) return others;
  const wired = agents.map((agent) => {
    const before = wiredAs(manifest, agent);
    const wish = {
      agent,
      command: command ?? before?.command ?? 'forge',
      instructions: instructions || before?.instructions === true,
    };
    return { ...wish, files: namesOf(parts.of(wish)) };
  });
  const after = [...others, ...wired];
  const isOrdered = manifest.agents.length === after.length;
  // The same once more changes nothing, the order neither.
  return isOrdered && manifest.agents.every((one) => after.some((other) => isSame(one, other)))
    ? manifest.agents
    : after;
}

const namesOf = (parts: readonly Part[]): string[] => [...new Set(parts.map(({ fixture }) => fixture.file))];

interface Planning {
  place: Place;
  manifest: Manifest;
  files: Files;
  parts: Parts;
  wish: WiringWish;
  agents: readonly Wired[];
}

function planFiles({ place, manifest, files, parts, wish, agents }: Planning): PlannedFile[] {
  const wanted = parts.ofAll(agents);
  const put = wish.isInstall ? parts.ofAll(agents.filter(({ agent }) => wish.agents.includes(agent))) : [];
  const drop = wish.isInstall ? [] : leaving(manifest, parts, wish.agents);
  const noted = manifest.agents
    .filter(({ agent }) => wish.agents.includes(agent))
    .flatMap((wired) => wired.files);
  return [...new Set([...namesOf([...put, ...drop]), ...noted])].map((name) => {
    const file = files.read(name);
    const inFile = (all: readonly Part[]): Part[] => all.filter(({ fixture }) => fixture.file === file.name);
    const record = manifest.files[file.name] ?? null;
    try {
      return {
        file,
        ...planFile({
          text: file.text,
          record,
          wanted: inFile(wanted),
          put: inFile(put),
          drop: inFile(drop),
          folders: foldersFor(manifest, file),
        }),
      };
    } catch (error) {
      throw explain(error, shownAt(place, file.name), file.text);
    }
  });
}

/** Folders that are made for a file now, or were made for another one. */
function foldersFor({ files }: Manifest, { name, missing }: TextFile): string[] {
  const made = Object.values(files).flatMap(({ folders }) => folders);
  const around = made.filter((folder) => name.startsWith(`${folder}/`));
  return [...new Set([...around, ...missing])].sort();
}

/** What those who go have, and nobody else. */
function leaving(manifest: Manifest, parts: Parts, agents: readonly AgentName[]): Part[] {
  const kept = parts.keptFor(new Set(agents), manifest);
  const all = agents.map((agent) => ({
    agent,
    command: wiredAs(manifest, agent)?.command ?? 'forge',
    instructions: true,
  }));
  return parts.ofAll(all).filter((part) => !kept.has(keyOf(part)));
}

/**
 * First what is to be written is noted, beside what was; then it is written; then what was is forgotten. Whatever a kill
 * leaves in between, each file is in one of the noted states, and the same command once more completes it.
 */
function write(place: Place, manifest: Manifest, agents: Wired[], planned: readonly PlannedFile[]): void {
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
