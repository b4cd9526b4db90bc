import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeHome, type } from './console.js';

/** One line of a table in docs/seeds.md. */
export interface Seed {
  document: string;
  section: string;
  statement: string;
  command: string;
  exitCode: number;
  /** Texts that the output contains. One between slashes is a regular expression. */
  shown: string[];
}

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/seeds.md', import.meta.url)), 'utf8');
const HEADER = '| § | statement | command | to see |';

/** The bash script that makes the repository. */
function setupBlock(): string {
  const block = /^```bash\n([\s\S]*?)^```$/m.exec(PAGE)?.[1];
  if (block === undefined) throw new Error('docs/seeds.md has no ```bash block.');
  return block;
}

export function readSeeds(): Seed[] {
  return PAGE.split(/^## /m).flatMap((part) => {
    const [document = ''] = part.split('\n');
    return tablesOf(part).map((line) => parseSeed(document, line));
  });
}

/** The lines of the tables of statements, without their headers. */
function tablesOf(part: string): string[] {
  const lines = part.split('\n');
  return lines.flatMap((line, i) => {
    if (!line.startsWith(HEADER)) return [];
    const rest = lines.slice(i + 2);
    const end = rest.findIndex((each) => !each.startsWith('|'));
    return rest.slice(0, end < 0 ? rest.length : end);
  });
}

function parseSeed(document: string, line: string): Seed {
  const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
  const [, section = '', statement = '', command = '', see = ''] = cells;
  const [code, ...more] = spansOf(command);
  if (code === undefined || more.length > 0 || cells.length !== 6)
    throw new Error(`docs/seeds.md: not a line of the table: ${line}`);
  const exitCode = Number(/^exit (\d+): /.exec(see)?.[1] ?? 0);
  return { document, section, statement, command: code, exitCode, shown: spansOf(see) };
}

const spansOf = (cell: string): string[] =>
  [...cell.matchAll(/(?<!`)(`+)(?!`) ?(.*?) ?(?<!`)\1(?!`)/g)].map(([, , text = '']) => text);

/** The regular expression that a text between slashes is, or null. */
function patternOf(text: string): RegExp | null {
  const pattern = /^\/(.*)\/$/.exec(text)?.[1];
  return pattern === undefined ? null : new RegExp(pattern);
}

/** A person's home with the repository of the page in `shop`, and a copy of both that each command begins with. */
export function makeSeedHome() {
  const home = makeHome();
  const [, status] = type([`(set -e\n${setupBlock()})`, 'echo $?'], home);
  if (status?.trim() !== '0') throw new Error(`The script of docs/seeds.md failed: ${status}`);
  for (const name of ['shop', '.state']) execFileSync('cp', ['-a', name, `${name}.kept`], home);
  return home;
}

/** Why the command does not show its statement, or null. */
export function checkSeed(seed: Seed, home: ReturnType<typeof makeHome>): string | null {
  for (const name of ['shop', '.state']) {
    rmSync(join(home.cwd, name), { recursive: true, force: true });
    execFileSync('cp', ['-a', `${name}.kept`, name], home);
  }
  const [, printed = '', status = 'the shell ended'] = type(['cd shop', seed.command, 'echo $?'], home);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git paints, and forge clears its progress line
  const output = printed.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replace(/\s+/g, ' ');
  const missing = seed.shown.filter((text) => !(patternOf(text)?.test(output) ?? output.includes(text)));
  if (status.trim() === String(seed.exitCode) && missing.length === 0) return null;
  const name = `${seed.document}, ${seed.section}: ${seed.statement}`;
  return [
    name,
    `$ ${seed.command}`,
    `exit ${status.trim()}, not shown: ${missing.join(', ')}`,
    printed.slice(0, 4000),
  ].join('\n');
}
