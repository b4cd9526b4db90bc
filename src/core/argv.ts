import { usage } from './error.js';

/**
 * Splits a command as POSIX quoting has it and refuses what only a shell could do (exit 2), so that no shell is ever
 * needed to run it. A `*` is literal: test filters use it.
 */
export function splitCommand(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let i = 0; i < command.length; i++) {
    const char = command.charAt(i);
    if (char === "'") [word, i] = singleQuoted(command, i, word ?? '');
    else if (char === '"') [word, i] = doubleQuoted(command, i, word ?? '');
    else if (char === '\\') [word, i] = escaped(command, i, word);
    else if (char === ' ' || char === '\t') {
      if (word !== null) words.push(word);
      word = null;
    } else if ('|&;<>()`$\n'.includes(char)) throw needsShell(command, char);
    else word = (word ?? '') + char;
  }
  if (word !== null) words.push(word);
  return checkProgram(words, command);
}

/** A line break after a backslash joins the lines; a backslash at the end is a slip. */
function escaped(command: string, at: number, word: string | null): [string | null, number] {
  const char = command.charAt(at + 1);
  if (char === '') throw usage('command.quote', `A backslash at the end escapes nothing: ${command}`);
  return [char === '\n' ? word : (word ?? '') + char, at + 1];
}

function singleQuoted(command: string, start: number, word: string): [string, number] {
  const end = command.indexOf("'", start + 1);
  if (end < 0) throw notClosed(command);
  return [word + command.slice(start + 1, end), end];
}

function doubleQuoted(command: string, start: number, before: string): [string, number] {
  let word = before;
  for (let i = start + 1; i < command.length; i++) {
    const char = command.charAt(i);
    if (char === '"') return [word, i];
    if (char === '$' || char === '`') throw needsShell(command, char);
    if (char === '\\' && command.charAt(i + 1) === '\n') i++;
    else if (char === '\\' && /["\\$`]/.test(command.charAt(i + 1))) word += command.charAt(++i);
    else word += char;
  }
  throw notClosed(command);
}

function checkProgram(words: string[], command: string): string[] {
  const program = words[0];
  if (program === undefined || program === '') throw usage('command.empty', 'The command is empty.');
  if (/^[A-Za-z_]\w*=/.test(program))
    throw usage('command.shell', `"${program}" sets a variable, which needs a program in front.`, {
      hint: `env ${command}`,
    });
  return words;
}

const notClosed = (command: string): Error => usage('command.quote', `A quote is not closed in: ${command}`);

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
