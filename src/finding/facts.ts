import { oneLine, plural } from '../core/text.js';
import { kindOf, type Question, textIn } from './question.js';

/** In characters, for content that forge does not recognize. */
const MAX_FACT = 200;
const MAX_NAMES = 14;

/** A language's file extensions, and the pattern of its declarations. The first group is the name. */
const LANGUAGES: readonly (readonly [ends: RegExp, exported: RegExp | null, declared: RegExp])[] = [
  [
    /\.[cm]?[jt]sx?$/,
    /^\s*export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?((?:class|interface|type|enum|namespace)\s+[\w$]+|(?:function\*?|const|let|var)\s+[\w$]+)|^(?:module\.)?exports\.([\w$]+)\s*=/,
    // A method's line ends with its brace and holds no string, unlike a call that is given a function.
    /^(?:async\s+)?((?:class|interface|enum)\s+[\w$]+|function\*?\s+[\w$]+)|^(?:\t| {2}| {4})(?:(?:public|private|protected|static|override|async|get|set)\s+)*(?!(?:if|for|while|switch|catch|with|function)\b)([\w$#]+)\s*\([^;'"`]*\)[^;=]*\{$/,
  ],
  [
    /\.pyi?$/,
    /^(?:async\s+)?((?:def|class)\s+[A-Za-z]\w*)/,
    /^(?:\t| {2}| {4})?(?:async\s+)?((?:def|class)\s+\w+)/,
  ],
  [
    /\.go$/,
    /^((?:func\s+(?:\([^)]*\)\s*)?|type\s+)[A-Z]\w*)/,
    /^((?:func\s+(?:\([^)]*\)\s*)?|type\s+)[a-z_]\w*)/,
  ],
  [
    /\.rs$/,
    /^\s*pub(?:\([^)]*\))?\s+(?:async\s+|unsafe\s+|const\s+)*((?:fn|struct|enum|trait|type|mod|union|static|const)\s+\w+)/,
    /^(?:async\s+|unsafe\s+)*((?:fn|struct|enum|trait|mod)\s+\w+)/,
  ],
  [
    /\.(java|cs|kts?|swift|scala)$/,
    /^\s*(?:@\w+\s+)*(?:(?:public|open|export|internal|final|abstract|static|sealed|data|partial|override|async)\s+)+((?:class|interface|enum|record|struct|protocol|trait|object|fun|func)\s+\w+|[\w<>[\],?.]+\s+\w+\s*(?=\())/,
    /^\s*((?:class|interface|enum|record|struct|protocol|extension|object|fun|func)\s+\w+)/,
  ],
  [
    /\.(c|h|cc|cpp|cxx|hpp|hh|m)$/,
    /^((?:typedef\s+)?(?:struct|class|enum|union|namespace)\s+\w+)|^(?!static\b)(?:[\w:<>,*&]+\s+)+[*&]*([\w:~]+)\s*\([^;]*$/,
    /^(#define\s+\w+)/,
  ],
  [/\.rb$/, /^\s*((?:class|module)\s+[\w:]+|def\s+[\w.?!=]+)/, /^\s*(attr_\w+\s+:\w+)/],
  [
    /\.php$/,
    /^\s*(?:(?:abstract|final|readonly)\s+)*((?:class|interface|trait|enum)\s+\w+)|^\s*(?:(?:public|static|abstract|final)\s+)+(function\s+\w+)/,
    /^\s*(function\s+\w+)/,
  ],
  [/(\.(sh|bash|zsh)|rc|profile)$/, /^(?:function\s+)?([\w:.-]+)\s*\(\)\s*\{?/, /^function\s+([\w-]+)/],
  [
    /\.sql$/i,
    /^\s*create\s+(?:or\s+replace\s+)?(?:unique\s+)?((?:table|view|function|procedure|index|trigger|type)\s+(?:if\s+not\s+exists\s+)?[\w."`]+)/i,
    /^\s*(alter\s+table\s+[\w."`]+)/i,
  ],
  [/\.(md|markdown|mdx)$/, /^#{1,3}\s+(.+?)\s*#*$/, /^#{4,6}\s+(.+)/],
  [/\.jsonc?$/, /^ {0,2}"([^"]+)"\s*:/, /^\t"([^"]+)"\s*:/],
  [/\.(toml|ini|cfg)$/, /^\s*\[+([^\]]+)\]+/, /^([\w.-]+)\s*=/],
  [/\.ya?ml$/, /^([\w.-]+):/, /^- name:\s*(.+)/],
];

/** Numbers that tools put before lines: `  12→`, `12\t`, `12:`. */
const NUMBERED = /^\s*(\d+)(?:→|\t|:\s?)/;

/** The text of each line, with its number in the file. */
export function numbered(output: string, from: number): (readonly [number, string])[] {
  return output.split('\n').map((line, i) => {
    const number = NUMBERED.exec(line);
    return number ? [Number(number[1]), line.slice(number[0].length)] : [from + i, line];
  });
}

/** The declarations in a file, or in lines of it, exported names first. */
function readFact({ path, from, to }: Extract<Question, { kind: 'read' }>, output: string): string {
  if (output.trim() === '') return 'Nothing was shown';
  const lines = numbered(output.trimEnd(), from);
  const isPart = from > 1 || to !== null;
  const language = LANGUAGES.find(([ends]) => ends.test(path));
  const named = (pattern: RegExp | null | undefined): string[] =>
    lines.flatMap(([number, line]) => {
      const found = pattern?.exec(line.length > 400 ? line.slice(0, 400) : line);
      const name = found?.slice(1).find((group) => group !== undefined);
      return name === undefined
        ? []
        : [`${oneLine(name.replace(/^(function\*?|const|let|var|def|fn|func)\s+/, ''), 60)} (${number})`];
    });
  const names = [...new Set([...named(language?.[1]), ...named(language?.[2])])];
  const range = `Lines ${lines[0]?.[0]} to ${lines.at(-1)?.[0]}`;
  if (names.length === 0)
    return `${isPart ? range : plural(lines.length, 'line')}: ${cut(lines.map(([, line]) => line).join(' '))}`;
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  return `${isPart ? `${range} contain` : 'File contains'}: ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}

const cut = (text: string): string => oneLine(text.replace(/\s+/g, ' ').trim(), MAX_FACT);

/** Paths in a search's results: of `path:12:text`, `path-12-text` and plain lists. */
function pathsIn(output: string): string[] {
  const found = output.split('\n').flatMap((line) => {
    const path =
      /^\s*(?:\.\/)?((?:[\w@.+ -]+\/)*[\w@.+-]+\.\w+|(?:[\w@.+-]+\/)+[\w@.+-]+)(?=:|-\d+-|\s*$)/.exec(
        line,
      )?.[1];
    return path === undefined ? [] : [path];
  });
  return [...new Set(found)];
}

/** Without forge's record of findings, which quotes the search. */
function searchFact(all: string): string {
  const output = all.replace(/^ *(?:\.\/)?\.forge\/local\/.*\n?/gm, '');
  const paths = pathsIn(output);
  const lines = output.split('\n').filter((line) => line.trim() !== '').length;
  if (/^(no (files|matches|results)|found 0\b)/i.test(output.trim()) || output.trim() === '')
    return 'Found nothing';
  if (paths.length === 0) return `Found ${plural(lines, 'line')}: ${cut(output)}`;
  const sample = paths.slice(0, 5).map((path) => oneLine(path, 80));
  return `Found ${plural(paths.length, 'file')}: ${sample.join(', ')}${paths.length > 5 ? ', …' : ''}`;
}

const listFact = (output: string): string => {
  const names = output.split('\n').filter((line) => line.trim() !== '' && !/^total \d+$/.test(line));
  return `${plural(names.length, 'entry', 'entries')}: ${cut(names.slice(0, 12).join(', '))}`;
};

function answerFact(output: string): string {
  try {
    return cut(textIn(JSON.parse(output), 'answer', 'response', 'result', 'summary', 'text') || output);
  } catch {
    return cut(output);
  }
}

/** The summary lines of test runners, those about failures first. */
const TOTALS: readonly RegExp[] = [
  /^\s*Tests:?\s+.*\b\d+ (?:passed|failed|total).*$/m,
  /^(?:=+ )?((?:\d+ \w+, )*\d+ (?:passed|failed|errors?|skipped|deselected)\b.* in [\d.]+s.*?)(?: =+)?$/m,
  /^test result: .*$/m,
  /^\s*\d+ failing\b.*$/m,
  /^[#ℹ] fail [1-9]\d*$/m,
  /^\s*not ok \d+.*$/m,
  /^(?:FAIL(?:ED)?|---\s*FAIL:?)\s+\S+.*$/m,
  /^\s*\d+ passing\b.*$/m,
  /^[#ℹ] pass \d+$/m,
  /^ok\s+\S+.*$/m,
  /^Ran \d+ tests? in .*$/m,
];
const ERROR =
  /^.*(?:\berror(?:\[\w+\]| TS\d+)?:|\bError:|^E {3}|: fatal |\bCould not find\b|: No such file or directory).*$/m;

function shellFact(output: string, exit: number | null): string {
  const ended = exit === null ? '' : `exit ${exit}: `;
  const error = exit === 0 ? null : ERROR.exec(output);
  const totals = TOTALS.flatMap((pattern) => pattern.exec(output)?.slice(-1) ?? []).slice(0, 2);
  const said = [...totals, ...(error ?? [])].slice(0, 2).map((line) => oneLine(line.trim(), 150));
  if (said.length > 0) return `${ended}${[...new Set(said)].join('; ')}`;
  return `${ended}${cut(output) || 'no output'}`;
}

function fetchFact(output: string): string {
  const title = /<title[^>]*>([^<]+)<\/title>/i.exec(output)?.[1] ?? /^#\s+(.+)$/m.exec(output)?.[1];
  return title === undefined
    ? cut(output)
    : `"${oneLine(title.trim(), 100)}": ${cut(output.replace(/<[^>]+>/g, ' '))}`;
}

/** EXM-02: the fact in a tool's output. */
export function factOf(tool: string, question: Question, result: string, exit: number | null = null): string {
  const kind = kindOf(tool);
  // Claude Code puts the exit code of a failed command above its output.
  const output = kind === 'shell' ? result.replace(/^Exit code \d+\n?/, '') : result;
  const isFailed = kind === 'shell' && output !== result;
  if (question.kind === 'search') return searchFact(output);
  if (question.kind === 'read' && !isFailed) return readFact(question, output);
  if (question.kind === 'list' && !isFailed) return listFact(output);
  if (kind === 'shell') return shellFact(output, exit);
  if (kind === 'fetch') return fetchFact(output);
  return kind === 'answer' ? answerFact(output) : cut(output);
}
