import { isAbsolute, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { SHELL_TOKENS, splitCommand } from '../core/argv.js';
import { unlessFailed } from '../core/error.js';

/** A tool call's question, normalized over agents and spellings. Paths are absolute. Lines count from 1. */
export type Question =
  | { kind: 'read'; path: string; from: number; to: number | null }
  | ({ kind: 'search'; pattern: string; path: string; glob: string } & SearchWay)
  | { kind: 'list'; path: string; glob: string }
  | { kind: 'other' };

interface SearchWay {
  /** Options that change which lines match or surround a match: `i`, `w`, `F`, `-A2`, … sorted. */
  options: string;
  /** 0: counts, 1: names of files, 2: lines. */
  detail: number;
  /** The maximum number of results. Null for all. */
  limit: number | null;
  /** With ripgrep, which skips ignored files. */
  ripgrep: boolean;
}

type ToolKind = 'read' | 'search' | 'list' | 'shell' | 'fetch' | 'answer' | 'edit' | 'other';

/** The tools of Claude Code, Codex, Gemini CLI, Cursor, opencode and Copilot CLI, and those of ADR-0003. */
const TOOLS: readonly (readonly [ToolKind, RegExp])[] = [
  [
    'edit',
    /^(edit|multiedit|write|notebookedit|apply_patch|replace|write_file|strreplace|str_replace|create|patch)$/,
  ],
  ['read', /^(fs:)?(read|read_file|readfile|view|open_file|beforereadfile)$/],
  ['search', /^(fs:)?(grep|search|rg|search_file_content|grep_search|grep_files|ripgrep)$/],
  ['list', /^(fs:)?(glob|ls|list|list_directory|list_dir|listdir|find|glob_files)$/],
  [
    'shell',
    /^(bash|sh|shell|shell_command|exec_command|local_shell|run_shell_command|run_terminal_cmd|powershell)$/,
  ],
  ['fetch', /^(webfetch|web_fetch|fetch|websearch|web_search)$/],
  ['answer', /(^|[:_-])(rag|rag[-_]query|query|recall)$/],
];

export const kindOf = (tool: string): ToolKind =>
  TOOLS.find(([, names]) => names.test(tool.toLowerCase()))?.[0] ?? 'other';

export type ToolInput = Readonly<Record<string, unknown>>;

export const textIn = (input: ToolInput, ...names: string[]): string =>
  names
    .map((name) => input[name])
    .find((value): value is string => typeof value === 'string' && value !== '') ?? '';

const countIn = (input: ToolInput, ...names: string[]): number | null => {
  const found = names.map((name) => Number(input[name] ?? Number.NaN)).find((value) => value >= 0);
  return found === undefined ? null : Math.floor(found);
};

const at = (cwd: string, path: string): string => resolve(cwd, path.replace(/^file:\/\//, '').trim() || '.');

const PATHS = ['file_path', 'filePath', 'path', 'absolute_path', 'target_file', 'dir_path', 'directory'];

export function inputOf(tool: string, query: string): ToolInput {
  const kind = kindOf(tool);
  return kind === 'search' ? { pattern: query } : kind === 'shell' ? { command: query } : { path: query };
}

/** The query of a call, as a person would write it. */
export const queryOf = (input: ToolInput): string =>
  commandIn(input) || textIn(input, 'url', 'query', 'pattern', 'regex', ...PATHS) || JSON.stringify(input);

const OTHER: Question = { kind: 'other' };

/** The question of a tool call made in the folder `from`. */
export function readQuestion(tool: string, input: ToolInput, from: string): Question {
  const kind = kindOf(tool);
  const cwd = resolve(from, textIn(input, 'workdir', 'working_directory', 'cwd') || '.');
  const path = textIn(input, ...PATHS);
  if (kind === 'read' && path !== '') return { kind: 'read', path: at(cwd, path), ...rangeIn(input) };
  if (kind === 'search') {
    const pattern = textIn(input, 'pattern', 'query', 'regex');
    const isFirstPage = (countIn(input, 'offset') ?? 0) === 0;
    if (pattern !== '' && isFirstPage) return { kind, pattern, path: at(cwd, path), ...wayIn(input) };
  }
  // With a depth or as pages it is another listing.
  if (kind === 'list' && !['depth', 'offset', 'limit', 'ignore'].some((name) => name in input))
    return { kind, path: at(cwd, path), glob: textIn(input, 'pattern', 'glob', 'glob_pattern') };
  return kind === 'shell' ? (readCommand(commandIn(input), cwd) ?? OTHER) : OTHER;
}

/** The shell command of a call: a string, or `["bash", "-lc", "cat x"]`. */
export function commandIn(input: ToolInput): string {
  const words = input.command ?? input.cmd;
  return Array.isArray(words) ? String(words.at(-1) ?? '') : typeof words === 'string' ? words : '';
}

function rangeIn(input: ToolInput): { from: number; to: number | null } {
  if (Array.isArray(input.view_range)) {
    const [first, last] = input.view_range.map(Number);
    return { from: Math.max(1, first || 1), to: last !== undefined && last > 0 ? last : null };
  }
  const first = countIn(input, 'offset', 'start_line', 'startLine', 'start_line_one_indexed');
  const from = Math.max(1, first ?? 1);
  const last = countIn(input, 'end_line', 'endLine', 'end_line_one_indexed_inclusive');
  const limit = countIn(input, 'limit');
  return { from, to: last ?? (limit === null ? null : from + limit - 1) };
}

function wayIn(input: ToolInput): SearchWay & { glob: string } {
  const mode = textIn(input, 'output_mode');
  const ignoresCase = input['-i'] === true || input.case_sensitive === false;
  const around = ['-A', '-B', '-C', 'context'].map((name) => (input[name] ? `${name}${input[name]}` : ''));
  const globs = [textIn(input, 'glob', 'include', 'include_pattern'), textIn(input, 'type')];
  return {
    glob: globs.filter(Boolean).join(' '),
    options: around.join('') + (ignoresCase ? 'i' : '') + (input.multiline === true ? 'U' : ''),
    // Without a mode, some tools show lines and some only names.
    detail: mode === 'count' ? 0 : mode === 'content' ? 2 : 1,
    limit: countIn(input, 'head_limit'),
    ripgrep: true,
  };
}

/** The file or folder that a shell command reads. Null if it does more, or is not repeatable. */
function readCommand(command: string, from: string): Question | null {
  const steps = stepsIn(command.replace(/\s*2>\s*(\/dev\/null|&1)/g, ''));
  const moved = steps[0]?.length === 1 ? folderOf(steps[0][0] as string) : null;
  const [[first = '', filter, ...more] = [], ...others] = moved === null ? steps : steps.slice(1);
  if (others.length > 0 || more.length > 0) return null;
  const cwd = moved === null ? from : resolve(from, moved);
  const [program = '', ...args] = wordsIn(first);
  const name = program.split('/').at(-1) ?? '';
  const question = READERS[name]?.(args, cwd, name) ?? null;
  if (question === null || filter === undefined) return question;
  const cut = linesOf(wordsIn(filter));
  if (cut === null) return null;
  if (question.kind === 'read') {
    const start = question.from - 1;
    const to = cut.to === null ? question.to : Math.min(question.to ?? start + cut.to, start + cut.to);
    return { ...question, from: start + cut.from, to };
  }
  if (question.kind !== 'search' || cut.from > 1 || cut.to === null) return null;
  return { ...question, limit: Math.min(cut.to, question.limit ?? cut.to) };
}

/** The commands joined by `&&`, and the parts of each pipe. */
function stepsIn(command: string): string[][] {
  const steps = [['']];
  for (const token of command.match(SHELL_TOKENS) ?? []) {
    const step = steps.at(-1) as string[];
    if (token === '&&') steps.push(['']);
    else if (token === '|') step.push('');
    else step.push((step.pop() ?? '') + token);
  }
  return steps;
}

/** The folder of `cd folder`. Null for any other command. */
function folderOf(command: string): string | null {
  const [program, folder, ...rest] = wordsIn(command);
  const isCd = program === 'cd' && folder !== undefined && rest.length === 0 && !/^[-~]/.test(folder);
  return isCd ? folder : null;
}

const wordsIn = (command: string): string[] => unlessFailed([], () => splitCommand(command));

/** The lines that a filter passes on: `sed -n 3,9p`, `head`, `head -20`, `head -n 20`, `head -n20`. */
function linesOf([program = '', ...args]: string[]): { from: number; to: number | null } | null {
  if (program === 'sed') return args.length === 2 && args[0] === '-n' ? rangeOf(args[1] as string) : null;
  if (program !== 'head') return null;
  const count = args.length === 0 ? '10' : /^-(?:n\s*)?(\d+)$/.exec(args.join(' '))?.[1];
  return count === undefined ? null : { from: 1, to: Number(count) };
}

/** `3p`, `3,9p` or `3,$p`, as sed reads them. */
function rangeOf(script: string): { from: number; to: number | null } | null {
  const [, from, to = from] = /^(\d+)(?:,(\d+|\$))?p$/.exec(script) ?? [];
  return from === undefined ? null : { from: Number(from), to: to === '$' ? null : Number(to) };
}

type Reader = (args: string[], cwd: string, name: string) => Question | null;

/** One file, from the first line. */
const whole: Reader = (args, cwd) => {
  const [path, ...rest] = args.filter((word) => !/^-[nbeAva]+$/.test(word));
  return path === undefined || rest.length > 0 || path.startsWith('-')
    ? null
    : { kind: 'read', path: at(cwd, path), from: 1, to: null };
};

const part: Reader = (args, cwd, name) => {
  const path = args.at(-1) ?? '-';
  const lines = linesOf([name, ...args.slice(0, -1)]);
  return lines === null || path.startsWith('-') ? null : { kind: 'read', path: at(cwd, path), ...lines };
};

const READERS: Readonly<Record<string, Reader>> = {
  cat: whole,
  nl: whole,
  head: part,
  sed: part,
  grep: search,
  rg: search,
  ls: (args, cwd) => {
    const [path = '.', ...rest] = args.filter((word) => !LIST_OPTIONS.test(word));
    return rest.length > 0 || path.startsWith('-')
      ? null
      : { kind: 'list', path: at(cwd, path), glob: args.filter((word) => LIST_OPTIONS.test(word)).join(' ') };
  },
};

const LIST_OPTIONS = /^-[la1AhF]+$/;

/** The options without a value that are compared. Those that follow links, whose changes are not noticed, are not among them. */
const FLAGS: Readonly<Record<string, string>> = { grep: 'nrHshEPIiwxFvolca', rg: 'nHshNPIiwxFvolcaSu' };
/** Of these, the ones that change only the display, or request ripgrep's default. */
const SHOWN = 'nrHshNEPI';
/** Context, files and types. */
const VALUES = ['A', 'B', 'C', 'g', 't', 'glob', 'include', 'type', 'exclude', 'exclude-dir', 'color'];

/** The options of a search, each with all its values. Null with one that is not compared. */
function parseSearch(args: string[], name: string) {
  const option = (type: 'boolean' | 'string') => (word: string) => {
    const short = word.length === 1 ? { short: word } : {};
    return [word, { type, multiple: true, ...short }] as const;
  };
  const flags = [...(FLAGS[name] ?? '')].map(option('boolean'));
  const options = Object.fromEntries([...flags, ...VALUES.map(option('string'))]);
  try {
    const { positionals, values } = parseArgs({ args, options, allowPositionals: true });
    return { plain: positionals, given: values as Record<string, unknown[]> };
  } catch {
    return null;
  }
}

function search(args: string[], cwd: string, name: string): Question | null {
  const parsed = parseSearch(args, name);
  if (!parsed) return null;
  const { plain, given } = parsed;
  const [pattern, path, ...rest] = plain;
  // The second -u adds hidden files, such as those of git, which change all the time.
  if (pattern === undefined || rest.length > 0 || (given['u'] ?? []).length > 1) return null;
  const ripgrep = name === 'rg';
  // Without a folder, grep reads stdin.
  if (!ripgrep && !given['r'] && path === undefined) return null;
  const flags = Object.keys(given).filter((each) => FLAGS[name]?.includes(each));
  const options = flags.filter((letter) => !SHOWN.includes(letter) && !'lc'.includes(letter));
  // The older syntax of grep gives some characters a different meaning.
  if (!ripgrep && !isPlain(pattern) && !flags.some((letter) => 'EPF'.includes(letter))) options.push('G');
  const valuesOf = (...names: string[]): unknown[] => names.flatMap((each) => given[each] ?? []);
  const globs = valuesOf('g', 'glob', 'include', 't', 'type');
  const without = valuesOf('exclude', 'exclude-dir').map((value) => `!${value}`);
  const around = ['A', 'B', 'C'].flatMap((each) => valuesOf(each).map((count) => `-${each}${count}`));
  return {
    kind: 'search',
    pattern,
    path: at(cwd, path ?? '.'),
    glob: [...globs, ...without].join(' '),
    options: [...around, ...options.sort()].join(''),
    detail: given['c'] ? 0 : given['l'] ? 1 : 2,
    limit: null,
    ripgrep,
  };
}

/** Whether a known result answers the question. `isWhole`: all results were shown. */
export function answers(known: Question, asked: Question, isWhole: boolean): boolean {
  if (known.kind === 'read' && asked.kind === 'read')
    return (
      known.path === asked.path &&
      known.from <= asked.from &&
      (known.to === null || (asked.to !== null && asked.to <= known.to))
    );
  if (known.kind === 'search' && asked.kind === 'search') return answersSearch(known, asked, isWhole);
  if (known.kind === 'list' && asked.kind === 'list')
    return isWhole && known.path === asked.path && (known.glob || '*') === (asked.glob || '*');
  return false;
}

type Search = Extract<Question, { kind: 'search' }>;

function answersSearch(known: Search, asked: Search, isWhole: boolean): boolean {
  // grep also searches the files that ripgrep ignores.
  if (known.ripgrep !== asked.ripgrep || known.options !== asked.options) return false;
  if (known.detail < asked.detail) return false;
  const isSame = known.path === asked.path && known.glob === asked.glob && known.pattern === asked.pattern;
  const isAll = isWhole && known.limit === null;
  if (isSame) return isAll || (known.limit !== null && asked.limit !== null && asked.limit <= known.limit);
  if (!isAll || !isInside(asked.path, known.path)) return false;
  if (known.glob !== '' && known.glob !== asked.glob) return false;
  // Matches of a longer plain word are among the matches of its parts, if whole lines were shown.
  // Not with `-w`, `-x`, `-o`, `-v` or context.
  const isPart =
    known.detail === 2 && isPlain(known.pattern) && isPlain(asked.pattern) && /^[iFGu]*$/.test(known.options);
  return known.pattern === asked.pattern || (isPart && asked.pattern.includes(known.pattern));
}

const isPlain = (pattern: string): boolean => /^[\w\s:;,'"=<>/@#-]+$/.test(pattern);

export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Words in the JSON of any call with this question. The shell searches for them before it starts forge. */
export function keyOf(question: Question, root: string): string {
  if (question.kind === 'other') return '';
  const text = question.kind === 'search' ? question.pattern : (question.path.split(sep).at(-1) ?? '');
  if (question.kind === 'list' && question.path === root) return question.glob;
  return isAbsolute(text) ? '' : JSON.stringify(text).slice(1, -1);
}
