import { usage } from '../core/error.js';
import { isBranchName, oneLine } from '../core/text.js';
import { planImport } from '../feature/feature.js';
import { defaultBranch } from '../git/memory.js';
import { readLog } from '../git/read.js';
import { readBranch } from '../git/state.js';
import { type Guard, loadGuard } from '../guard/guard.js';
import type { Context } from '../project/project.js';
import { readHintFile, readPythonTests, surveyFolders } from './project-folders.js';
import {
  type Convention,
  findConvention,
  findTasks,
  MAX_TASKS,
  proposeIdPattern,
  proposeTest,
  type TestFacts,
} from './proposal.js';
import { detectParts, type Part, type Stack, stackOf } from './stack.js';

/** What `init` sees in a repository. All of it comes from there: data, of which nothing has been run. */
export interface Findings {
  parts: Part[];
  stack: Stack;
  test: { command: string; by: string } | null;
  idPattern: string | null;
  /** `known`: git tells it everywhere; else it is only the branch that is checked out. */
  branch: { name: string; known: boolean } | null;
  /** Another convention for commits: `pull requests` squashed with their number, or commitlint. */
  convention: Convention | null;
  features: FoundFeatures | null;
}

export interface FoundFeatures {
  file: string;
  /** As it stands there. */
  text: string;
  /** What of it is to be imported. */
  list: string;
  names: string[];
  /** Tasks that are not among them. */
  leftOut: number;
}

/** Lists that people and agents keep, the most telling first. */
const LISTS = ['feature_list.json', 'features.md', 'todo.md', 'roadmap.md', 'readme.md'];
const COMMITS = 200;

/** Looks at names, and unless forge is set up already (`whole`) at a few files of the top and the last commits. */
export async function lookAround(context: Context, whole: boolean): Promise<Findings> {
  const { root } = context.layout;
  const folders = surveyFolders(root);
  const files = folders[0]?.files ?? new Set<string>();
  const parts = detectParts(folders);
  const found = { parts, stack: stackOf(parts), test: findTest(root, files, parts) };
  if (!whole) return { ...found, idPattern: null, branch: null, convention: null, features: null };
  const asked = Promise.all([recentSubjects(context), proposedBranch(context)]);
  const guard = await loadGuard(context.world.env);
  const [subjects, branch] = await asked;
  const packageJson = files.has('package.json') ? readHintFile(root, 'package.json') : '';
  const convention = findConvention(subjects, files, packageJson);
  const features = findFeatures(root, files, guard);
  return { ...found, idPattern: proposeIdPattern(subjects), branch, convention, features };
}

async function recentSubjects({ git }: Context): Promise<string[]> {
  const commits = git ? await readLog(git, COMMITS) : [];
  return commits.filter(({ parents }) => parents < 2).map(({ subject }) => subject);
}

async function proposedBranch({ git, repository }: Context): Promise<Findings['branch']> {
  if (!git || !repository) return null;
  const [main, current] = await Promise.all([defaultBranch(repository, git), readBranch(repository, git)]);
  const name = main ?? current;
  return name !== null && isBranchName(name) ? { name, known: main !== null } : null;
}

function findTest(root: string, files: ReadonlySet<string>, parts: readonly Part[]): Findings['test'] {
  const text = (name: string): string => (files.has(name) ? readHintFile(root, name) : '');
  return proposeTest(parts, {
    files,
    packageJson: parseOrNull(text('package.json')),
    pyproject: text('pyproject.toml'),
    makefile: text('Makefile'),
    ...(parts.some(({ stack, folder }) => stack === 'python' && folder === '.')
      ? lookAtPython(root, text)
      : {}),
  });
}

/** The requirement files that init.sh installs from, and where pytest may be set up. */
const MAY_NAME_PYTEST = [
  ...['requirements', 'requirements-dev', 'requirements-test', 'dev-requirements', 'test-requirements'].map(
    (name) => `${name}.txt`,
  ),
  'setup.cfg',
  'tox.ini',
];

const lookAtPython = (root: string, text: (name: string) => string): Pick<TestFacts, 'more' | 'tests'> => ({
  more: Object.fromEntries(MAY_NAME_PYTEST.map((name) => [name, text(name)])),
  tests: readPythonTests(root),
});

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The first list that has something in it which may be stored. */
function findFeatures(root: string, files: ReadonlySet<string>, guard: Guard): FoundFeatures | null {
  for (const wanted of LISTS) {
    const file = [...files].sort().find((name) => name.toLowerCase() === wanted);
    const found = file === undefined ? null : tryList(file, readHintFile(root, file), guard);
    if (found) return found;
  }
  return null;
}

function tryList(file: string, text: string, guard: Guard): FoundFeatures | null {
  try {
    const found = readFeatures(file, text, guard);
    return found.names.length > MAX_TASKS * 10 || guard.scanText(found.list).length > 0 ? null : found;
  } catch {
    return null;
  }
}

/**
 * Features in a text: of Markdown the open tasks, those left out that the guard would refuse; of JSON all. Exit 2 when
 * there is none.
 */
export function readFeatures(file: string, text: string, guard: Guard): FoundFeatures {
  const isJson = /^\s*[[{]/.test(text);
  const { tasks, leftOut } = isJson ? { tasks: [], leftOut: 0 } : findTasks(text);
  const stored = tasks.filter((task) => guard.scanText(task).length === 0);
  const list = isJson ? text : stored.map((task) => `- ${task}\n`).join('');
  if (!isJson && stored.length === 0)
    throw usage('init.features', `${oneLine(file, 80)} has no open task that could be a feature.`, {
      field: 'features',
      hint: 'A line for each: - [ ] Login works',
    });
  const names = planImport([], list, '').added.map(({ name }) => name);
  return { file, text, list, names, leftOut: leftOut + tasks.length - stored.length };
}
