import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BIN } from './forge.js';
import { HANG, makeFolder } from './project.js';

/**
 * Pages whose ```console blocks are one session at a terminal: a line that begins with `$ ` is typed, lines with `> ` go on
 * with it, all others are what it prints.
 */
export interface Typed {
  command: string;
  printed: string;
}

/** What stands in the page as it is, and what was typed. */
type Part = { text: string } | Typed;

function partsOf(page: string): Part[] {
  const parts: Part[] = [];
  let inside = false;
  for (const line of page.split('\n')) {
    const last = parts.at(-1);
    if (line.startsWith('```')) {
      inside = line === '```console';
      parts.push({ text: line });
    } else if (!inside) parts.push({ text: line });
    else if (line.startsWith('$ ')) parts.push({ command: line.slice(2), printed: '' });
    else if (last === undefined || 'text' in last) throw new Error(`Nothing was typed before “${line}”.`);
    else if (line.startsWith('> ') && last.printed === '') last.command += `\n${line.slice(2)}`;
    else last.printed += `${line}\n`;
  }
  return parts;
}

const END = '\x1e';

/** A bar, which is drawn only where something takes long: how fast the machine is, is no part of the page. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what takes a line back is one
const TAKEN_BACK = /(?:\r[^\r\n]*)+\r\x1b\[K/g;

/**
 * What each of the commands prints, errors included, in one shell at a terminal to which nobody sits down: a question
 * would find the end of its input. The folder is shown as /home/ada.
 */
export function type(commands: readonly string[], place: { cwd: string; env: NodeJS.ProcessEnv }): string[] {
  const script = join(place.cwd, 'typed.sh');
  const ended = `forge_status=$?; printf '${END}'; (exit $forge_status)`;
  writeFileSync(script, `stty cols 120\n${commands.map((command) => `${command}\n${ended}\n`).join('')}`);
  const { stdout, error } = spawnSync('script', ['-qec', `bash ${script}`, '/dev/null'], {
    ...place,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: HANG,
  });
  if (error) throw error;
  const shown = stdout.replaceAll('\r\n', '\n').replace(TAKEN_BACK, '').replaceAll(place.cwd, '/home/ada');
  return shown.split(END).slice(0, -1);
}

/** What is another one each time: a hash, a session, a time, how long and how large something is. */
const PASSING: readonly [RegExp, string][] = [
  [/\b[0-9a-f]{7,64}\b/g, 'HASH'],
  [/\b\d{4}-\d\d-\d\d-session-(\d{3})(-[0-9a-f]{6})?/g, 'SESSION-$1'],
  [/\b\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} [+-]\d{4}/g, 'TIME'],
  [/\b\d{8}T\d{6}Z-\w+/g, 'BACKUP'],
  [/\b\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d\.\d{3}Z)?)?/g, 'TIME'],
  [/\b\d\d:\d\d\b/g, 'TIME'],
  [/\bjust now\b|\b\d+ (min|h) ago\b/g, 'AGE'],
  [/\b\d+(\.\d+)? (ms|s)\b/g, 'DURATION'],
  [/\b\d+(\.\d+)? (B|KiB|KB)\b/g, 'SIZE'],
  [/\bbyte [1-9]\d*\b/g, 'PLACE'],
];

const blur = (text: string): string =>
  PASSING.reduce((rest, [pattern, word]) => rest.replace(pattern, word), text);
const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** `…` in what is expected stands for anything within a line, and alone in a line for any lines. */
export function isAsPrinted(expected: string, actual: string): boolean {
  const pattern = literally(blur(expected)).replace(/^…\n/gm, '(?:.*\\n)*').replaceAll('…', '.*');
  return new RegExp(`^${pattern}$`).test(blur(actual));
}

/** The page, with what its commands print now in the place of what is no longer so. */
export function retype(page: string, place: { cwd: string; env: NodeJS.ProcessEnv }): string {
  const parts = partsOf(page);
  const typed = parts.filter((part) => 'command' in part);
  const answers = type(
    typed.map(({ command }) => command),
    place,
  );
  const renewed = new Map(typed.map((part, i) => [part, answers[i] ?? '(the shell ended before this)\n']));
  return parts
    .map((part) => {
      if ('text' in part) return `${part.text}\n`;
      const actual = renewed.get(part) ?? '';
      const printed = isAsPrinted(part.printed, actual) ? part.printed : actual;
      return `$ ${part.command.replaceAll('\n', '\n> ')}\n${printed}`;
    })
    .join('')
    .slice(0, -1);
}

/** A person's home with git set up, and `forge` and `node` on their PATH. */
export function makeHome() {
  const home = makeFolder('forge-tutorial-');
  const bin = join(home, '.local', 'bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(BIN, join(bin, 'forge'));
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.com\n');
  const env = {
    ...process.env,
    HOME: home,
    XDG_STATE_HOME: join(home, '.state'),
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    PAGER: 'cat',
    SHELL: '/bin/sh',
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    NO_COLOR: '1',
  };
  return { cwd: home, env };
}

/** A project with one test, `npm test`. */
export function makeShop() {
  const { cwd: home, env } = makeHome();
  const cwd = join(home, 'shop');
  mkdirSync(cwd);
  writeFileSync(
    join(cwd, 'package.json'),
    '{ "name": "shop", "scripts": { "test": "node login.test.js" } }\n',
  );
  // It fails once, as a test does before there is work.
  const fails = "if (!fs.existsSync('.git/tried')) { fs.writeFileSync('.git/tried', ''); process.exit(1); }";
  writeFileSync(
    join(cwd, 'login.test.js'),
    `const fs = require('fs');\n${fails}\nconsole.log('people can log in');\n`,
  );
  writeFileSync(join(cwd, 'README.md'), '# Shop\n');
  // The typed commands are run from a script in this folder.
  const begin =
    'git init -q -b main && echo typed.sh >>.git/info/exclude && git add . && git commit -q -m Shop';
  if (spawnSync('sh', ['-c', begin], { cwd, env }).status !== 0) throw new Error(`It failed: ${begin}`);
  return { cwd, env };
}

/** The first commands of the README, with nobody there to be asked. */
export function firstCommands(readme: string): string[] {
  const [, first = ''] = /^```sh\n(forge init [\s\S]*?)^```$/m.exec(readme) ?? [];
  return first
    .trim()
    .replace(/^forge init/, 'forge init --yes')
    .split('\n');
}
