import { usage } from './error.js';

/** Text in single quotes, in double quotes, one escaped character, blanks, or plain text. */
const TOKEN = /'([^']*)'|"((?:[^"\\$`]|\\[\s\S])*)"|\\([\s\S])|([ \t]+)|([^'"\\ \t|&;<>()`$\n]+)/y;

/** Splits by POSIX quoting and refuses what needs a shell (exit 2). A `*` is literal, because test filters use it. */
export function splitCommand(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  const token = new RegExp(TOKEN);
  while (token.lastIndex < command.length) {
    const at = token.lastIndex;
    const match = token.exec(command);
    const [, single, double, escaped, blanks, plain] = match ?? [];
    if (!match || (word === null && plain?.startsWith('~/'))) throw syntaxError(command, at);
    if (blanks !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else if (escaped !== '\n')
      word = (word ?? '') + (single ?? escaped ?? plain ?? unescapeDouble(double as string));
  }
  if (word !== null) words.push(word);
  const [program = ''] = words;
  if (program === '') throw usage('command.empty', 'The command is empty.');
  // `PYTHONPATH=src pytest`, as in a shell.
  return /^[A-Za-z_]\w*=/.test(program) ? ['env', ...words] : words;
}

/** The text in double quotes. An escaped line break joins two lines. */
const unescapeDouble = (text: string): string => text.replace(/\\(?:\n|(["\\$`]))/g, '$1');

function syntaxError(command: string, at: number): Error {
  const char = command.charAt(at);
  if (char === '\\') return usage('command.quote', `Trailing backslash in: ${command}`);
  const expansion = /^"(?:[^"\\$`]|\\[\s\S])*([$`])/.exec(command.slice(at))?.[1];
  if (expansion === undefined && (char === "'" || char === '"'))
    return usage('command.quote', `Unclosed quote in: ${command}`);
  const shown = JSON.stringify(expansion ?? char);
  // A shell would not understand `python -c print(1)` either.
  const piped = PIPED.exec(command)?.[1]?.trimEnd();
  const isText = /[()]/.test(char) && !/[$`|&;<>'"]/.test(command);
  return usage('command.shell', `${shown} outside quotes needs a shell: ${command}`, {
    hint: isText ? formatArgv(command.split(/\s+/)) : (piped ?? formatArgv(['sh', '-c', command])),
  });
}

/** A command whose output is only shortened or kept: its exit code would be lost in the pipe. */
const PIPED =
  /^((?!(?:cat|echo|printf|yes)\b)(?:'[^']*'|"[^"\\$`]*"|[^'"\\|&;<>()`$\n])+)(?:2>&1\s*)?\|(?!\|)/;

/** The argv of one test: the test as a command, or put into `test_command` in place of `{}`. */
export function testArgv(test: string, template: string): string[] {
  if (template === '') return splitCommand(test);
  const words = splitCommand(template);
  if (!words.some((word) => word.includes('{}'))) return [...words, test];
  return words.map((word) => word.replaceAll('{}', () => test));
}

/** An argv as it is shown and recorded, with quotes where a shell needs them. */
export const formatArgv = (argv: readonly string[]): string =>
  argv
    .map((word) => (/^[A-Za-z0-9_@%+=:,./*-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');

/** The first pattern for file names among the words, and the command in a shell, which expands it; null without one. */
export function inShell(argv: readonly string[]): { pattern: string; command: string } | null {
  const isPattern = (word: string): boolean => /^[\w@%+=:,./*?[\]-]*[*?[][\w@%+=:,./*?[\]-]*$/.test(word);
  const pattern = argv.find(isPattern);
  const words = argv.map((word) => (isPattern(word) ? word : formatArgv([word])));
  return pattern === undefined ? null : { pattern, command: formatArgv(['sh', '-c', words.join(' ')]) };
}

/** One word as a person types it in a shell. */
export const quoteWord = (word: string): string => (/["$`\\!]/.test(word) ? formatArgv([word]) : `"${word}"`);

/** Quoted texts, escaped characters and `&&` of a line of shell; anything else is one character. */
export const SHELL_TOKENS = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|&&|[\s\S]/g;
