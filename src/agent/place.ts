import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { homeFolder, stateHome } from '../core/environment.js';
import { type ForgeError, refused } from '../core/error.js';
import { makeFolder, PRIVATE, readPlain, removePath, replaceFiles } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { layoutOf, userWiringFile, wiringFile } from '../core/paths.js';
import { type ProjectFile, readProjectFile } from '../core/project-file.js';
import { decodeDocument, encodeDocument, firstInvalidByte } from '../core/schema.js';
import { opencodePlugin } from '../core/templates.js';
import { lineAt } from '../core/text.js';
import type { World } from '../core/world.js';
import { findRepository } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { type Part, partsOf, SettingsProblem, type Wish } from './parts.js';
import { MANIFEST, type Manifest } from './plan.js';

/** Where agents are wired: a project, or a person's home folder. */
export interface Place {
  top: string;
  isUser: boolean;
  /** PATH. */
  path: string | undefined;
  /** The file that records what forge wrote. */
  manifest: string;
  dryRun: boolean;
  warn(text: string): void;
  /** Reports a file that is, or would be, written. */
  note(name: string): void;
}

export const projectPlace = ({ layout, disk, warnings, world }: Context): Place => ({
  top: layout.root,
  isUser: false,
  path: world.env.PATH,
  manifest: wiringFile(layout),
  dryRun: disk.dryRun,
  warn: (text) => warnings.push(text),
  note: (name) => disk.note(join(layout.root, name)),
});

/** A project for reading, which needs no `.forge/`. */
export const readOnlyPlace = (root: string): Place => ({
  top: root,
  isUser: false,
  path: undefined,
  manifest: wiringFile(layoutOf(root, findRepository(root))),
  dryRun: true,
  warn: () => {},
  note: () => {},
});

export function userPlace(
  world: World,
  { dryRun, warn, note = () => {} }: Pick<Place, 'dryRun' | 'warn'> & Partial<Pick<Place, 'note'>>,
): Place {
  const top = homeFolder(world.env);
  const manifest = userWiringFile(stateHome(world.env), top);
  return { top, isUser: true, path: world.env.PATH, manifest, dryRun, warn, note };
}

/** What an agent gets at a place. */
export const partsAt = ({ isUser, top }: Place, wish: Wish): Part[] =>
  partsOf(wish, isUser, opencodePlugin()).map((part) => {
    const isMissing = part.file.endsWith('opencode.json') && !existsSync(join(top, part.file));
    return isMissing && existsSync(join(top, `${part.file}c`)) ? { ...part, file: `${part.file}c` } : part;
  });

/** The name of a file as people see it. */
export const shownAt = ({ isUser }: Place, name: string): string =>
  isUser && !name.startsWith('/') ? `~/${name}` : name;

/**
 * Without a readable manifest, forge recognizes its entries by their content. The manifest of a newer forge stops a change,
 * but not a status (`isStatus`).
 */
export function readManifest({ manifest, warn }: Place, isStatus = false): Manifest {
  const none: Manifest = { schema_version: MANIFEST.version, agents: [], files: {} };
  try {
    const bytes = readPlain(manifest, MAX_STATE_BYTES);
    return bytes === null ? none : decodeDocument(MANIFEST, bytes, manifest);
  } catch (error) {
    const { code, message } = error as ForgeError;
    if (code === 'file.newer' && !isStatus) throw error;
    warn(`${message} forge recognizes its entries by their content instead.`);
    return none;
  }
}

export function writeManifest({ manifest: path, isUser }: Place, manifest: Manifest): void {
  if (manifest.agents.length === 0 && Object.keys(manifest.files).length === 0) {
    removePath(path);
    return;
  }
  if (isUser) makeFolder(dirname(path), PRIVATE);
  replaceFiles([{ path, bytes: encodeDocument(manifest), mode: 0o600 }]);
}

/** A file of an agent as text. */
export interface TextFile extends ProjectFile {
  text: string | null;
}

/** Reads each file once. Two names may lead to one file: CLAUDE.md is often a link to AGENTS.md. */
export class Files {
  private readonly known = new Map<string, TextFile>();

  constructor(private readonly place: Place) {}

  /** The `name` of the result is the path with links resolved. */
  read(given: string): TextFile {
    const known = this.known.get(given);
    if (known) return known;
    const { top, isUser } = this.place;
    const file = readProjectFile(top, given, isUser);
    const { name, bytes } = file;
    const read = this.known.get(name) ?? { ...file, text: decodeText(bytes, shownAt(this.place, name)) };
    this.known.set(name, read).set(given, read);
    return read;
  }

  /** The parts for an agent, by file name with links resolved. `withBlock`: includes a block that nobody asked for. */
  locate(wish: Wish, withBlock = false): Part[] {
    return partsAt(this.place, { ...wish, instructions: wish.instructions || withBlock }).flatMap((part) => {
      try {
        return [{ ...part, file: this.read(part.file).name }];
      } catch (error) {
        if (part.kind === 'block' && !wish.instructions) return [];
        throw error;
      }
    });
  }
}

function decodeText(bytes: Buffer | null, name: string): string | null {
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const line = lineAt((bytes as Buffer).toString('latin1'), firstInvalidByte(bytes as Buffer));
    throw settingsError(name, line, 'it is not valid UTF-8', 'Save it as UTF-8.');
  }
}

/** Turns a problem with a file's text into an error with the file's name and line: exit 3. */
export function withFile<T>(name: string, text: string | null, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    const line = error.offset === null ? undefined : lineAt(text ?? '', error.offset);
    throw settingsError(name, line, error.message, error.hint);
  }
}

const settingsError = (name: string, line: number | undefined, what: string, hint?: string): ForgeError =>
  refused('agent.settings', `${name}${line ? `:${line}` : ''}: ${what}; nothing was written.`, {
    file: name,
    line,
    hint,
  });
