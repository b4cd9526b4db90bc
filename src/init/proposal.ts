import { escapeControls } from '../core/text.js';
import type { Part } from './stack.js';

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
  name: 'commitlint' | 'pull requests';
  from: string;
}

export function findConvention(
  subjects: readonly string[],
  files: ReadonlySet<string>,
  packageJson: string,
): Convention | null {
  const file = [...files].find((name) => /^(?:commitlint\.config\.\w+|\.commitlintrc(?:\.\w+)?)$/.test(name));
  const from = file ?? (/"@?commitlint(?:\/cli)?"\s*:/.test(packageJson) ? 'package.json' : undefined);
  if (from !== undefined) return { name: 'commitlint', from };
  const squashed = subjects.filter((subject) => / \([#!]\d+\)$/.test(subject)).length;
  const isUsual = squashed >= 3 && squashed * 5 >= subjects.length;
  return isUsual ? { name: 'pull requests', from: 'subjects with (#123)' } : null;
}

export const MAX_TASKS = 50;
const MAX_TASK = 200;
const TASK = /^\s{0,12}(?:[-*+]|\d{1,3}[.)])\s+\[ \]\s+(.*\S)\s*$/;

/**
 * The open tasks (`- [ ] …`) of a Markdown text outside code blocks, without markup and duplicates. `leftOut` counts
 * those that are too many, too long or contain control characters.
 */
export function findTasks(text: string): { tasks: string[]; leftOut: number } {
  const found = new Map<string, string>();
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
    const given = fence === null && mark === undefined ? TASK.exec(line)?.[1] : undefined;
    const task = given === undefined ? '' : plainText(given);
    if (task !== '' && !found.has(task.toLowerCase())) found.set(task.toLowerCase(), task);
  }
  const tasks = [...found.values()]
    .filter((task) => task.length <= MAX_TASK && escapeControls(task) === task && task.isWellFormed())
    .slice(0, MAX_TASKS);
  return { tasks, leftOut: found.size - tasks.length };
}

/** Without links, bold, code and comments. */
const plainText = (markdown: string): string =>
  markdown
    .slice(0, 2000)
    .replace(/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1')
    .replace(/(\*\*|__|~~|`)(\S[^*_~`]*)\1/g, '$2')
    .replace(/<!--[^>]*-->/g, '')
    .trim();

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

/** How to run the project's tests. `make test` comes first if several stacks are at the top. */
export function proposeTest(parts: readonly Part[], top: TopFiles): TestProposal | null {
  const here = parts.filter(({ folder }) => folder === '.');
  const make = /^test[ \t]*:(?!=)/m.test(top.read('Makefile'))
    ? { command: 'make test', by: 'Makefile' }
    : null;
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

const IN_REQUIREMENTS = /^[ \t]*pytest(?![\w.-])/m;
const IN_SETTINGS = /^[ \t]*\[(?:tool[.:])?pytest\b/m;
/** Where a project names pytest. `installs`: init.sh installs it from there. Comments do not count. */
const PYTEST: readonly { file: string; pattern: RegExp; installs?: true }[] = [
  {
    file: 'pyproject.toml',
    pattern: /^[^#\n]*["']pytest["'\s[<>=~!;(@]|^[ \t]*["']?pytest["']?[ \t]*=/m,
    installs: true,
  },
  ...['requirements', 'requirements-dev', 'requirements-test', 'dev-requirements', 'test-requirements'].map(
    (name) => ({ file: `${name}.txt`, pattern: IN_REQUIREMENTS, installs: true as const }),
  ),
  ...['pytest.ini', '.pytest.ini', 'conftest.py'].map((file) => ({ file, pattern: /^/ })),
  ...['pyproject.toml', 'setup.cfg', 'tox.ini'].map((file) => ({ file, pattern: IN_SETTINGS })),
];

function pythonTest({ files, read }: TopFiles): TestProposal | null {
  const source = PYTEST.find(({ file, pattern }) => files.has(file) && pattern.test(read(file)));
  if (!source) return null;
  const tool = files.has('uv.lock') ? 'uv run' : files.has('poetry.lock') ? 'poetry run' : null;
  const python = source.installs ? '.venv/bin/python -m' : 'python3 -m';
  return { command: `${tool ?? python} pytest`, by: source.file };
}
