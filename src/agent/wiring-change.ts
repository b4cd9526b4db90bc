import { keyOf, type Part } from './edit-fixture.js';
import type { AgentName } from './event.js';
import { type Manifest, type Wired, wiredAs } from './manifest.js';
import { isSame } from './own.js';
import { Parts, unique } from './wiring-parts.js';
import { explain, Files, type Place, readManifest, shownAt, type TextFile } from './wiring-place.js';
import { planFile } from './wiring-plan.js';
import { type PlannedFile, writeWiring } from './wiring-write.js';
import type { Wirings } from './wirings/wirings.js';

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

/** Plans all files; only when none of them is refused is anything written. */
export function changeWiring(place: Place, wirings: Wirings, wish: WiringWish): ChangedFile[] {
  return place.locked(() => {
    const manifest = readManifest(place);
    const files = new Files(place);
    const parts = new Parts(place, files, wirings);
    const agents = agentsAfter(manifest, parts, wish);
    const planned = planFiles({ place, manifest, files, parts, wish, agents });
    writeWiring(place, manifest, agents, planned);
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
  const all = agents.flatMap((agent) => parts.ofKnown(agent, wiredAs(manifest, agent)));
  return unique(all).filter((part) => !kept.has(keyOf(part)));
}
