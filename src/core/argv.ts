import { usage } from './error.js';

/** Text in single quotes, in double quotes, one escaped character, blanks, or plain text. */
const TOKEN = /'([^']*)'|"((?:[^"\\$`]|\\[\s\S])*)"|\\([\s\S])|([ \t]+)|([^'"\\ \t|&;<>()`$\n]+)/y;

/**
 * Splits a command as POSIX quoting has it and refuses what only a shell could do (exit 2), so that no shell is ever
 * needed to run it. A `*` is literal: test filters use it.
 */
export function splitCommand(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  const token = new RegExp(TOKEN);
  while (token.lastIndex < command.length) {
    const at = token.lastIndex;
    const match = token.exec(command);
    if (!match) throw whyNot(command, at);
    const [, single, double, escaped, blanks, plain] = match;
    if (blanks !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else if (escaped !== '\n')
      word = (word ?? '') + (single ?? escaped ?? plain ?? unescaped(double as string));
  }
  if (word !== null) words.push(word);
  return checkProgram(words);
}

/** Within double quotes. A line break after a backslash joins the lines. */
const unescaped = (text: string): string => text.replace(/\\(?:\n|(["\\$`]))/g, '$1');

function whyNot(command: string, at: number): Error {
  const char = command.charAt(at);
  if (char === '\\') return usage('command.quote', `Trailing backslash in: ${command}`);
  const inQuotes = /^"(?:[^"\\$`]|\\[\s\S])*([$`])/.exec(command.slice(at))?.[1];
  if (inQuotes !== undefined) return needsShell(command, inQuotes);
  return char === "'" || char === '"'
    ? usage('command.quote', `Unclosed quote in: ${command}`)
    : needsShell(command, char);
}

function checkProgram(words: string[]): string[] {
  const [program = ''] = words;
  if (program === '') throw usage('command.empty', 'The command is empty.');
  // `PYTHONPATH=src pytest`, as in a shell.
  return /^[A-Za-z_]\w*=/.test(program) ? ['env', ...words] : words;
}

const needsShell = (command: string, char: string): Error =>
  usage('command.shell', `${JSON.stringify(char)} outside quotes needs a shell: ${command}`, {
    hint: `sh -c '${command.replaceAll("'", `'\\''`)}'`,
  });

/** The argv of one test: the test as a command, or put into `test_command` where `{}` stands. */
export function testArgv(test: string, template: string): string[] {
  if (template === '') return splitCommand(test);
  const words = splitCommand(template);
  if (!words.some((word) => word.includes('{}'))) return [...words, test];
  return words.map((word) => word.replaceAll('{}', () => test));
}

/** How an argv is shown and recorded: quoted where a shell would need it. */
export function formatArgv(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[A-Za-z0-9_@%+=:,./*-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
