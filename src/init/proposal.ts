import { escapeControls } from '../core/text.js';
import { type PythonFacts, pythonTest } from './python.js';
import type { Part } from './stack.js';

/** What commits call issues with: ids, and how many commits were looked at. */
interface Counted {
  /** The different numbers of each prefix (`ABC`), or of `#`. */
  numbers: Map<string, Set<string>>;
  /** How many subjects have an id. */
  having: number;
}

/** Names of standards and the like that have a number behind them. */
const NO_ISSUES = new Set([
  'CVE',
  'CWE',
  'UTF',
  'SHA',
  'ISO',
  'IEC',
  'RFC',
  'PEP',
  'IEEE',
  'AES',
  'BASE',
  'FORGE',
]);
const ISSUE = /(?<![\w-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?![\w-])/g;
/** At the beginning or after a word; what a server puts at the end, `(#12)`, nobody could have written before. */
const NUMBER = /(?:^\[?|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see) )#(\d{1,6})\b/gi;

/**
 * The pattern that ids of issues follow in these subjects; null when none is clear (three different numbers, in a fifth of
 * the subjects, at least), or when there are more prefixes than anybody would write down.
 */
export function proposeIdPattern(subjects: readonly string[]): string | null {
  const { numbers, having } = countIds(subjects);
  const clear = [...numbers].filter(([, seen]) => seen.size >= 3).map(([prefix]) => prefix);
  if (clear.length === 0 || having * 5 < subjects.length) return null;
  const prefixes = clear.filter((prefix) => prefix !== '#').sort();
  if (prefixes.length === 0) return '#\\d+';
  if (prefixes.length > 4) return null;
  return `${prefixes.length === 1 ? prefixes[0] : `(${prefixes.join('|')})`}-\\d+`;
}

/** How a project writes its commits already, and what shows it. */
export interface Convention {
  name: 'commitlint' | 'pull requests';
  from: string;
}

/** Beside these only agents follow the protocol, and beside commitlint the subject is left to it. */
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

function countIds(subjects: readonly string[]): Counted {
  const counted: Counted = { numbers: new Map(), having: 0 };
  for (const subject of subjects) {
    const text = subject.slice(0, 500);
    const issues = [...text.matchAll(ISSUE)].map(([, prefix = '', number = '']) => [prefix, number] as const);
    const ids = issues.filter(([prefix]) => !NO_ISSUES.has(prefix));
    if (ids.length === 0)
      ids.push(...[...text.matchAll(NUMBER)].map(([, number = '']) => ['#', number] as const));
    if (ids.length > 0) counted.having++;
    for (const [prefix, number] of ids) {
      const seen = counted.numbers.get(prefix) ?? new Set();
      counted.numbers.set(prefix, seen.add(number));
    }
  }
  return counted;
}

interface TaskList {
  tasks: string[];
  /** Tasks that were not taken: too many, too long, or with characters that nobody sees. */
  leftOut: number;
}

export const MAX_TASKS = 50;
const MAX_TASK = 200;
const TASK = /^\s{0,12}(?:[-*+]|\d{1,3}[.)])\s+\[ \]\s+(.*\S)\s*$/;

/** The open tasks (`- [ ] …`) of a Markdown text, code blocks left out; each once, without marks of bold and links. */
export function findTasks(text: string): TaskList {
  const list: TaskList = { tasks: [], leftOut: 0 };
  const seen = new Set<string>();
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
    const given = fence === null && mark === undefined ? TASK.exec(line)?.[1] : undefined;
    if (given === undefined) continue;
    const task = plainText(given);
    if (task === '' || seen.has(task.toLowerCase())) continue;
    seen.add(task.toLowerCase());
    const fits = task.length <= MAX_TASK && escapeControls(task) === task && task.isWellFormed();
    if (fits && list.tasks.length < MAX_TASKS) list.tasks.push(task);
    else list.leftOut++;
  }
  return list;
}

/** Without what is there for the looks. */
const plainText = (markdown: string): string =>
  markdown
    .slice(0, 2000)
    .replace(/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1')
    .replace(/(\*\*|__|~~|`)(\S[^*_~`]*)\1/g, '$2')
    .replace(/<!--[^>]*-->/g, '')
    .trim();

/** What the files at the top say about how tests are run. */
export interface TestFacts extends PythonFacts {
  /** package.json as it is; null when there is none that can be read. */
  packageJson: unknown;
  makefile: string;
}

/** The command that runs the project's tests, and the file that told it. */
interface TestProposal {
  command: string;
  by: string;
}

/**
 * How the project's tests are run; null when no file tells. With several stacks at the top it is `make test`, else what
 * the only one that has tests says: a package.json may be there for a formatter alone.
 */
export function proposeTest(parts: readonly Part[], facts: TestFacts): TestProposal | null {
  const top = parts.filter(({ folder }) => folder === '.');
  const make = /^test[ \t]*:(?!=)/m.test(facts.makefile) ? { command: 'make test', by: 'Makefile' } : null;
  const told = top.flatMap((part) => testOf(part, facts) ?? []);
  const [only = null] = told;
  if (top.length > 1) return make ?? (told.length === 1 ? only : null);
  return only ?? make;
}

function testOf({ stack, by }: Part, facts: TestFacts): TestProposal | null {
  const told = (command: string | null): TestProposal | null => (command === null ? null : { command, by });
  if (stack === 'rust') return told('cargo test');
  if (stack === 'go') return told(facts.files.has('go.mod') ? 'go test ./...' : null);
  if (stack === 'node') return told(nodeTest(facts));
  return pythonTest(facts);
}

function nodeTest({ files, packageJson }: TestFacts): string | null {
  const script = field(field(packageJson, 'scripts'), 'test');
  if (typeof script !== 'string' || script.trim() === '' || /no test specified/i.test(script)) return null;
  const named = /^(npm|pnpm|yarn|bun)@/.exec(String(field(packageJson, 'packageManager') ?? ''))?.[1];
  const locks = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'bun.lock': 'bun', 'bun.lockb': 'bun' };
  const manager = named ?? Object.entries(locks).find(([lock]) => files.has(lock))?.[1] ?? 'npm';
  // `bun test` is bun's own runner, whatever the script says.
  return manager === 'bun' ? 'bun run test' : `${manager} test`;
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
