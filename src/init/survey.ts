import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isBranchName, oneLine } from '../core/text.js';
import { readLog } from '../git/read.js';
import { defaultBranch } from '../git/remote.js';
import { readBranch } from '../git/repository.js';
import { loadGuard } from '../guard/guard.js';
import type { Context } from '../project/project.js';
import {
  detectParts,
  type FolderView,
  findConvention,
  proposeIdPattern,
  proposeTest,
  stackOf,
} from './rules.js';

/** What `init` found in a repository. All of it is data from the repository; nothing was run. */
export type Findings = Awaited<ReturnType<typeof surveyProject>>;

const COMMITS = 200;

/** Reads file names; if `whole`, also a few files at the top and the last commits. */
export async function surveyProject(context: Context, whole: boolean) {
  const { root } = context.layout;
  const folders = listFolders(root);
  const files = folders[0]?.files ?? new Set<string>();
  const read = (name: string): string => readTopFile(root, name);
  const parts = detectParts(folders);
  const [subjects, branch] = whole
    ? await Promise.all([recentSubjects(context), proposedBranch(context)])
    : [[], null];
  return {
    ...{ parts, stack: stackOf(parts), branch },
    test: proposeTest(parts, { files, read }),
    idPattern: proposeIdPattern(subjects),
    convention: whole ? findConvention(subjects, files, read('package.json')) : null,
  };
}

async function recentSubjects({ git }: Context): Promise<string[]> {
  const commits = git ? await readLog(git, COMMITS) : [];
  return commits.filter(({ parents }) => parents < 2).map(({ subject }) => subject);
}

/** `known`: git names the default branch. Otherwise this is the branch that is checked out. */
async function proposedBranch({ git, repository }: Context) {
  if (!git || !repository) return null;
  const [main, current] = await Promise.all([defaultBranch(repository, git), readBranch(repository, git)]);
  const name = main ?? current;
  return name !== null && isBranchName(name) ? { name, known: main !== null } : null;
}

/** Folders of dependencies, build output, tests and documentation. */
const IGNORED = new Set(
  `node_modules bower_components vendor third_party thirdparty dist build out target coverage site-packages venv env
  __pycache__ Pods Carthage doc docs example examples sample samples
  demo demos playground playgrounds bench benches benchmark benchmarks test tests testdata fixtures __tests__ __fixtures__
  template templates fuzz tmp temp`.split(/\s+/),
);
const MAX_DEPTH = 3;
const MAX_FOLDERS = 400;

/** The folders of a project, the upper ones first. Symlinks and nested repositories are left out. */
function listFolders(root: string): FolderView[] {
  const views: FolderView[] = [];
  let level = ['.'];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const below: string[] = [];
    for (const folder of level.slice(0, MAX_FOLDERS - views.length)) {
      const entries = entriesOf(join(root, folder));
      if (folder !== '.' && entries.some(({ name }) => name === '.git')) continue;
      const names = (kind: 'isFile' | 'isDirectory'): string[] =>
        entries.filter((entry) => entry[kind]()).map(({ name }) => name);
      views.push({ folder, files: new Set(names('isFile')) });
      below.push(
        ...names('isDirectory')
          .filter(isSurveyed)
          .map((name) => (folder === '.' ? name : `${folder}/${name}`)),
      );
    }
    level = below.sort();
  }
  return views;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** A name with control characters or quotes must not get into init.sh, which people read. */
const isSurveyed = (name: string): boolean =>
  !name.startsWith('.') && !IGNORED.has(name) && /^[\p{L}\p{N}\p{M} ._@+=,()-]+$/u.test(name);

const MAX_BYTES = 1024 * 1024;

/** The text of a file at the top; '' if it is missing, not a regular file or larger than 1 MiB. */
function readTopFile(root: string, name: string): string {
  try {
    const path = join(root, name);
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path, 'utf8').replace(/^\uFEFF/, '') : '';
  } catch {
    return '';
  }
}

/** Whether prettier would reformat memory, as lint-staged has it do at each commit. */
export function lacksPrettierIgnore(root: string): boolean {
  const isUsed =
    /"prettier"\s*:/.test(readTopFile(root, 'package.json')) ||
    entriesOf(root).some(({ name }) => /^(?:\.prettierrc|prettier\.config\.)/.test(name));
  return isUsed && !readTopFile(root, '.prettierignore').includes('.forge');
}

export const isBareRepository = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));

/** Where a manifest names the project. For a path it is the last part. */
const NAMED_IN: readonly (readonly [file: string, name: RegExp])[] = [
  ['package.json', /^\s*\{[^{}[\]]*?"name"\s*:\s*"([^"\\]+)"/],
  ['pyproject.toml', /^\[(?:project|tool\.poetry)\](?:\n(?!\[).*)*?\nname\s*=\s*["']([^"']+)["']/m],
  ['Cargo.toml', /^\[package\](?:\n(?!\[).*)*?\nname\s*=\s*"([^"]+)"/m],
  ['go.mod', /^module\s+\S*?([^\s/]+?)(?:\/v\d+)?\s*$/m],
];
const NAME_LENGTH = 50;

/** The name in the manifest, else the folder's: the first that is displayable and that the guard accepts. */
export async function projectName({ layout, world }: Context): Promise<string> {
  const guard = await loadGuard(world.env);
  const names = NAMED_IN.map(([file, pattern]) => pattern.exec(readTopFile(layout.root, file))?.[1] ?? '');
  const shown = [...names, basename(layout.root)].map((name) => oneLine(name, NAME_LENGTH));
  return shown.find((name) => name !== '' && guard.scanText(name).length === 0) ?? 'project';
}
