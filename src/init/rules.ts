import { compareText } from '../core/text.js';

export const STACKS = ['node', 'python', 'rust', 'go', 'mixed', 'none'] as const;
export type Stack = (typeof STACKS)[number];
type Toolchain = Exclude<Stack, 'mixed' | 'none'>;

/** One project of a repository. Most repositories have one, at the top. */
export interface Part {
  stack: Toolchain;
  /** Relative to the repository's top, with forward slashes; `.` is the top. */
  folder: string;
  /** The file that identified it. */
  by: string;
}

/** The names of the files in one folder. */
export interface FolderView {
  folder: string;
  files: ReadonlySet<string>;
}

/** `marks` identify a project. A project inside another one is separate only if it has one of the `own` files. */
const MARKS: Record<Toolchain, { marks: readonly string[]; own: readonly string[] }> = {
  node: {
    marks: ['package.json'],
    own: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'],
  },
  python: {
    marks: ['uv.lock', 'poetry.lock', 'pyproject.toml', 'requirements.txt', 'setup.py'],
    own: ['uv.lock', 'poetry.lock'],
  },
  rust: { marks: ['Cargo.toml'], own: ['Cargo.lock'] },
  go: { marks: ['go.work', 'go.mod'], own: ['go.mod'] },
};
export const TOOLCHAINS = Object.keys(MARKS) as Toolchain[];

const MAX_PARTS = 20;

/** Finds the projects in these folders: the top first, then by path. Members of a workspace belong to it. */
export function detectParts(folders: readonly FolderView[]): Part[] {
  const views = [...folders].sort(
    (a, b) => Number(b.folder === '.') - Number(a.folder === '.') || compareText(a.folder, b.folder),
  );
  const parts = views.flatMap(({ folder, files }) => {
    const above = views.filter((outer) => isInside(folder, outer.folder));
    return TOOLCHAINS.flatMap((stack): Part[] => {
      const { marks, own } = MARKS[stack];
      const by = marks.find((name) => files.has(name));
      if (by === undefined) return [];
      const isNested = above.some((outer) => marks.some((name) => outer.files.has(name)));
      const inGoWorkspace = stack === 'go' && above.some((outer) => outer.files.has('go.work'));
      const isSeparate = !inGoWorkspace && own.some((name) => files.has(name));
      return isNested && !isSeparate ? [] : [{ stack, folder, by }];
    });
  });
  return parts.slice(0, MAX_PARTS);
}

const isInside = (folder: string, outer: string): boolean =>
  folder !== outer && (outer === '.' || folder.startsWith(`${outer}/`));

export function stackOf(parts: readonly Part[]): Stack {
  const stacks = new Set(parts.map(({ stack }) => stack));
  const [first = 'none'] = stacks;
  return stacks.size > 1 ? 'mixed' : first;
}

/** The parts of a stack: the detected ones, or one at the top if none was detected. */
export function partsFor(stack: Stack, found: readonly Part[]): Part[] {
  if (stack === 'none') return [];
  if (stack === 'mixed') return [...found];
  const same = found.filter((part) => part.stack === stack);
  return same.length > 0 ? same : [{ stack, folder: '.', by: '' }];
}

/** Prefixes of standards, not of issues. */
const NO_ISSUES = new Set('CVE CWE UTF SHA ISO IEC RFC PEP IEEE AES BASE FORGE'.split(' '));
const ISSUE = /(?<![\w-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?![\w-])/g;
/** At the start or after a keyword. A server appends `(#12)`, so a number at the end says nothing. */
const NUMBER = /(?:^\[?|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see) )(#)(\d{1,6})\b/gi;

/**
 * The pattern of the issue ids in these commit subjects. Null unless a fifth of the subjects have one, with at least
 * three different numbers and at most four prefixes.
 */
export function proposeIdPattern(subjects: readonly string[]): string | null {
  const numbers = new Map<string, Set<string>>();
  let having = 0;
  for (const subject of subjects) {
    const ids = issuesIn(subject.slice(0, 500));
    if (ids.length > 0) having++;
    for (const [prefix, number] of ids) numbers.set(prefix, (numbers.get(prefix) ?? new Set()).add(number));
  }
  const clear = [...numbers].filter(([, seen]) => seen.size >= 3).map(([prefix]) => prefix);
  if (clear.length === 0 || having * 5 < subjects.length) return null;
  const prefixes = clear.filter((prefix) => prefix !== '#').sort();
  if (prefixes.length === 0) return '#\\d+';
  if (prefixes.length > 4) return null;
  return `${prefixes.length === 1 ? prefixes[0] : `(${prefixes.join('|')})`}-\\d+`;
}

/** The prefix and number of each issue id; `#` is the prefix of a bare number. */
function issuesIn(text: string): [prefix: string, number: string][] {
  const pairs = (pattern: RegExp): [string, string][] =>
    [...text.matchAll(pattern)].map(([, prefix = '', number = '']) => [prefix, number]);
  const ids = pairs(ISSUE).filter(([prefix]) => !NO_ISSUES.has(prefix));
  return ids.length > 0 ? ids : pairs(NUMBER);
}

/** The commit convention of a project, and where it was seen. */
export interface Convention {
  name: 'commitlint' | 'conventional commits' | 'pull requests';
  from: string;
}

const CONVENTIONAL = /^(?:build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(?:\([^()]*\))?!?: \S/;

export function findConvention(
  subjects: readonly string[],
  files: ReadonlySet<string>,
  packageJson: string,
): Convention | null {
  const file = [...files].find((name) => /^(?:commitlint\.config\.\w+|\.commitlintrc(?:\.\w+)?)$/.test(name));
  const from = file ?? (/"@?commitlint(?:\/cli)?"\s*:/.test(packageJson) ? 'package.json' : undefined);
  if (from !== undefined) return { name: 'commitlint', from };
  const typed = subjects.filter((subject) => CONVENTIONAL.test(subject)).length;
  if (typed >= 5 && typed * 2 >= subjects.length)
    return { name: 'conventional commits', from: 'recent commits' };
  const squashed = subjects.filter((subject) => / \([#!]\d+\)$/.test(subject)).length;
  const isUsual = squashed >= 3 && squashed * 5 >= subjects.length;
  return isUsual ? { name: 'pull requests', from: 'subjects with (#123)' } : null;
}

/** The files at the top of a project. `read` returns '' for a missing one. */
export interface TopFiles {
  files: ReadonlySet<string>;
  read(name: string): string;
}

/** A command that runs the tests, and the file that names it. */
export interface TestProposal {
  command: string;
  by: string;
}

/** How to run the project's tests. `make test` or `make check` comes first if several stacks are at the top. */
export function proposeTest(parts: readonly Part[], top: TopFiles): TestProposal | null {
  const here = parts.filter(({ folder }) => folder === '.');
  const makefile = top.read('Makefile');
  const target = ['test', 'check'].find((name) => new RegExp(`^${name}[ \\t]*:(?!=)`, 'm').test(makefile));
  const make = target ? { command: `make ${target}`, by: 'Makefile' } : null;
  if (make && here.length > 1) return make;
  // A package.json may be there only for a formatter, so a stack without tests does not count.
  const found = here.flatMap(({ stack, by }) => {
    const test = TESTS[stack](top, by);
    return test ? [test] : [];
  });
  return found.length === 1 ? (found[0] ?? null) : make;
}

const TESTS: Record<Part['stack'], (top: TopFiles, by: string) => TestProposal | null> = {
  node: nodeTest,
  python: pythonTest,
  rust: (_, by) => ({ command: 'cargo test', by }),
  go: ({ files }, by) => (files.has('go.mod') ? { command: 'go test ./...', by } : null),
};

const NODE_LOCKS = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'bun.lock': 'bun', 'bun.lockb': 'bun' };

function nodeTest({ files, read }: TopFiles, by: string): TestProposal | null {
  const manifest = parseOrNull(read('package.json')) as {
    scripts?: { test?: unknown };
    packageManager?: unknown;
  };
  const script = manifest?.scripts?.test;
  if (typeof script !== 'string' || script.trim() === '' || /no test specified/i.test(script)) return null;
  const named = /^(npm|pnpm|yarn|bun)@/.exec(String(manifest.packageManager ?? ''))?.[1];
  const manager = named ?? Object.entries(NODE_LOCKS).find(([lock]) => files.has(lock))?.[1] ?? 'npm';
  // `bun test` would start bun's own test runner instead of the script.
  return { command: manager === 'bun' ? 'bun run test' : `${manager} test`, by };
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Files that name what init.sh installs into `.venv`, and files that only configure pytest. Comments do not count. */
const INSTALLS = ['pyproject.toml', ...['', '-dev', '-test'].map((kind) => `requirements${kind}.txt`)];
const NAMES_PYTEST = /^[^#\n]*["']pytest["'\s[<>=~!;(@]|^[ \t]*["']?pytest["']?[ \t]*(?:[=<>~!;]|$)/m;
const OWN_FILES = ['pytest.ini', 'conftest.py'];
const CONFIGURES = ['pyproject.toml', 'setup.cfg', 'tox.ini'];
const PYTEST_TABLE = /^[ \t]*\[(?:tool[.:])?pytest\b/m;

function pythonTest({ files, read }: TopFiles): TestProposal | null {
  const isIn = (pattern: RegExp) => (name: string) => files.has(name) && pattern.test(read(name));
  const installing = INSTALLS.find(isIn(NAMES_PYTEST));
  const by = installing ?? OWN_FILES.find((name) => files.has(name)) ?? CONFIGURES.find(isIn(PYTEST_TABLE));
  if (by === undefined) return null;
  const tool = files.has('uv.lock') ? 'uv run' : files.has('poetry.lock') ? 'poetry run' : null;
  const python = installing === undefined ? 'python3 -m' : '.venv/bin/python -m';
  return { command: `${tool ?? python} pytest`, by };
}
