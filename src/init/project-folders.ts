import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { PythonTests } from './python.js';
import type { FolderView } from './stack.js';

/** Folders whose projects are others', made by a program, or there for tests and reading. */
const ASIDE = new Set(
  `node_modules bower_components vendor third_party thirdparty dist build out target coverage site-packages venv env
  __pycache__ Pods Carthage doc docs example examples sample samples
  demo demos playground playgrounds bench benches benchmark benchmarks test tests testdata fixtures __tests__ __fixtures__
  template templates fuzz tmp temp`.split(/\s+/),
);
const MAX_DEPTH = 3;
/** A look at so many folders takes milliseconds; in a larger repository the upper ones say enough. */
const MAX_FOLDERS = 400;

/** The folders of a project, the upper ones first, with the names of their files. Links and nested repositories are left out. */
export function surveyFolders(root: string): FolderView[] {
  const views: FolderView[] = [];
  let level = ['.'];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const below: string[] = [];
    for (const folder of level.slice(0, MAX_FOLDERS - views.length)) {
      const { files, folders, isRepository } = listFolder(join(root, folder));
      if (isRepository && folder !== '.') continue;
      views.push({ folder, files });
      below.push(...folders.map((name) => (folder === '.' ? name : `${folder}/${name}`)));
    }
    level = below;
  }
  return views;
}

interface Listing {
  files: Set<string>;
  folders: string[];
  isRepository: boolean;
}

function listFolder(path: string): Listing {
  const listing: Listing = { files: new Set(), folders: [], isRepository: false };
  try {
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.name === '.git') listing.isRepository = true;
      else if (entry.isFile()) listing.files.add(entry.name);
      else if (entry.isDirectory() && isLookedAt(entry.name)) listing.folders.push(entry.name);
  } catch {
    // Nothing is known of a folder that may not be read.
  }
  listing.folders.sort();
  return listing;
}

/** A name with controls or quotes in it would have to be written into a script that people read. */
const isLookedAt = (name: string): boolean =>
  !name.startsWith('.') && !ASIDE.has(name) && /^[\p{L}\p{N}\p{M} ._@+=,()-]+$/u.test(name);

/** The text of a file at the top that says something about the project; '' for none, or more than `max` bytes. */
export function readHintFile(root: string, name: string, max = 1024 * 1024): string {
  let file: number | undefined;
  try {
    file = openSync(join(root, name), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > max) return '';
    const bytes = Buffer.alloc(stat.size);
    return bytes
      .subarray(0, readSync(file, bytes))
      .toString('utf8')
      .replace(/^\uFEFF/, '');
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** More tell nothing new. */
const MAX_TESTS = 20;

/** Python's test files at the top, in `tests/` and in `test/`, as far as they are no links: what they import tells how they are run. */
export function readPythonTests(root: string): PythonTests[] {
  return ['.', 'tests', 'test'].flatMap((folder) => {
    if (folder !== '.' && !lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()) return [];
    const { files } = listFolder(join(root, folder));
    const isPackage = folder === '.' || files.has('__init__.py');
    const names = [...files].filter((name) => /^test.*\.py$/.test(name)).sort();
    return names.slice(0, MAX_TESTS).map((name) => {
      const path = folder === '.' ? name : `${folder}/${name}`;
      return { path, text: readHintFile(root, path), isPackage };
    });
  });
}

/** A repository without a working tree. */
export function isBareRepository(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
}

/** Where a manifest at the top of a project says its name. The last part of a path is the name. */
const NAMED_IN: readonly (readonly [file: string, name: RegExp])[] = [
  ['package.json', /^\s*\{[^{}[\]]*?"name"\s*:\s*"([^"\\]+)"/],
  ['pyproject.toml', /^\[(?:project|tool\.poetry)\][^[]*?^name\s*=\s*["']([^"']+)["']/m],
  ['Cargo.toml', /^\[package\][^[]*?^name\s*=\s*"([^"]+)"/m],
  ['go.mod', /^module\s+\S*?([^\s/]+?)(?:\/v\d+)?\s*$/m],
];

/** What the project's manifest calls it; '' when none does. */
export function manifestName(root: string): string {
  for (const [file, pattern] of NAMED_IN) {
    const name = pattern.exec(readHintFile(root, file))?.[1];
    if (name !== undefined) return name;
  }
  return '';
}

/** The folder's name; it may hold anything a file name can. */
export const folderName = (root: string): string => basename(root);
