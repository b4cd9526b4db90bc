import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ABOUT, ENVIRONMENT_HELP, EXITS, TOPICS } from '../../src/cli/about.js';
import { GROUPS } from '../../src/cli/groups.js';
import { helpFor } from '../../src/cli/help.js';
import type { CommandSpec } from '../../src/cli/spec.js';
import { everyCommand } from '../support/commands.js';
import { runForge } from '../support/forge.js';
import { makeStarted } from '../support/forge-project.js';
import { makePlainProject } from '../support/project.js';
import { has } from '../support/terminal.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'templates', 'topics');
const topics = TOPICS.map(([name]) => name);
const textOf = (topic: string): string => readFileSync(join(FOLDER, `${topic}.md`), 'utf8');

/** Every command by its words; a group without a command of its own has none. */
async function specs(): Promise<Map<string, CommandSpec | null>> {
  const found = new Map<string, CommandSpec | null>();
  for (const { words, spec } of await everyCommand()) {
    if (!found.has(words[0] ?? '')) found.set(words[0] ?? '', null);
    found.set(words.join(' '), spec);
  }
  return found;
}

async function helpOf(words: readonly string[], columns: number): Promise<string> {
  const terminal = { terminal: true, columns };
  const { stdout, stderr, exitCode } = await runForge(makePlainProject(), ['help', ...words], terminal);
  expect([words, exitCode, stderr]).toEqual([words, 0, '']);
  return stdout;
}

/** Every page: the first one, commands, topics. */
const pages = async (): Promise<string[][]> => [
  [],
  ['topics'],
  ...[...(await specs()).keys()].map((name) => name.split(' ')),
  ...topics.map((name) => [name]),
];

/** A terminal breaks what cannot be broken here: a word, and a command that a person may copy. */
const isWhole = (line: string): boolean => /^\s*\S+$|^ {2}\S(?:(?! {2}).)*$/.test(line);

describe('pages of help', () => {
  it('fit into 80, 60 and 40 columns, and break no word', async () => {
    for (const words of await pages()) {
      // As they are laid out: a terminal breaks what is wider than itself.
      const wide = await helpFor(words, 100);
      const wordsIn = (page: string): string[] => page.split(/\s+/);
      for (const width of [80, 60, 40]) {
        const page = await helpFor(words, width);
        const tooLong = page.split('\n').filter((line) => line.length > width && !isWhole(line));
        expect([words, width, tooLong]).toEqual([words, width, []]);
        expect(wordsIn(page)).toEqual(wordsIn(wide));
      }
    }
  });

  it('a page is 80 columns wide without a terminal, and at most 100', async () => {
    const project = makePlainProject();
    const none = (await runForge(project, ['help', 'session'])).stdout;
    expect(none).toBe(await helpOf(['session'], 80));
    expect(await helpOf(['session'], 300)).toBe(await helpOf(['session'], 100));
  });

  it('every group has a description, and every reference exists', async () => {
    const known = await specs();
    for (const { name } of GROUPS)
      expect([name, name in ABOUT !== topics.includes(name)]).toEqual([name, true]);
    for (const name of Object.keys({ ...ABOUT, ...EXITS }))
      expect([name, known.has(name)]).toEqual([name, true]);
    for (const words of await pages())
      for (const [, link = ''] of (await helpOf(words, 80)).matchAll(/forge help ([a-z-]+)/g))
        expect([words, [...known.keys(), ...topics, 'topics', '--all']]).toEqual([
          words,
          expect.arrayContaining([link]),
        ]);
  });

  it('a command that the gate stops says so', async () => {
    const project = await makeStarted();
    await runForge(project, ['focus', 'set', '--task', 'one']);
    await runForge(project, ['kfr', 'patch', '--goal', 'g', '--add', 'OpenQuestion:which cookie?']);
    const stopped = ['session end --next x', 'session discard', 'focus set --task other', 'focus clear'];
    for (const line of [...stopped, 'kfr clear']) {
      const { exitCode } = await runForge(project, line);
      const page = await helpOf(line.split(' ').slice(0, 2), 80);
      expect([line, exitCode, page]).toEqual([line, 3, expect.stringMatching(/^ {2}3 {5}\w/m)]);
    }
  });

  it('a command with a special exit code says so', async () => {
    for (const [name, spec] of await specs())
      if (spec?.exit) expect([name, Object.keys(EXITS[name] ?? {})]).not.toEqual([name, []]);
  });
});

describe('forge help TOPIC', () => {
  it('has a text of at most 40 lines of 80 columns for every topic, and no other', async () => {
    expect(readdirSync(FOLDER).sort()).toEqual(topics.map((name) => `${name}.md`).sort());
    for (const [name] of TOPICS) {
      const lines = textOf(name).trimEnd().split('\n');
      const tooLong = lines.filter((line) => [...line].length > 80);
      expect([name, lines.length <= 40, tooLong]).toEqual([name, true, []]);
      expect(lines[0]).toMatch(new RegExp(`^# ${name}: `));
      const page = await helpOf([name], 80);
      const first = lines[2]?.startsWith('{{') ? [] : (lines[2] ?? '').split(' ');
      expect(page.split(/\s+/)).toEqual(expect.arrayContaining(first));
      expect(page).not.toMatch(/\{\{|^#/m);
    }
  });

  it('a topic with the name of a command is on its page; the command alone is shorter', async () => {
    const help = await helpOf(['kfr'], 80);
    const alone = (await runForge(makePlainProject(), ['kfr', '--help'])).stdout;
    for (const part of ['Usage: forge kfr <command>', 'patch [file]', 'The Known Facts Registry']) {
      expect(help).toContain(part);
      expect(alone).toContain(part);
    }
    expect(help).toContain('an unknown that blocks correct work');
    expect(alone).not.toContain('an unknown that blocks correct work');
    expect(alone).toContain('forge help kfr');
  });

  it('B-01 an unknown name gets suggestions', async () => {
    const project = makePlainProject();
    for (const [words, hint] of [
      [['help', 'chekpoint'], 'forge help checkpoint\n  → forge help checkpoints'],
      [['help', 'exit'], 'forge help exit-codes'],
      [['help', 'feature', 'shwo'], 'forge help feature show'],
      [['help', 'kffr'], 'forge help kfr'],
      [['help', 'zzzzzzzz'], 'forge help'],
      [['help', ''], 'forge help'],
      [['featre', '--help'], 'forge help feature'],
    ] as const) {
      const { stdout, stderr, exitCode } = await runForge(project, [...words]);
      expect([words, exitCode, stdout, stderr.replace(/^.*\n/, '')]).toEqual([words, 2, '', `  → ${hint}\n`]);
    }
  });

  it('names every variable that forge reads', () => {
    const listed = ENVIRONMENT_HELP.map(([names]) => names).join(', ') + textOf('environment');
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(ROOT, 'src', file), 'utf8'))
      .join('\n');
    const named = [...sources.matchAll(/\benv\.([A-Z][A-Z_]+)/g)].map(([, name = '']) => name);
    const taken = [...sources.matchAll(/\{([^{}]*)\} = (?:\w+\.)*env\b/g)].flatMap(([, list = '']) =>
      list.split(','),
    );
    // The system's and git's own, and what forge hands to its own children.
    const others =
      /^(HOME|PATH|PWD|TERM|TERM_PROGRAM|WT_SESSION|SUDO_UID|GIT_.*|FORGE_SHIM|FORGE_MESSAGE_SETTINGS|\.\.\..*)$/;
    const names = new Set([...named, ...taken.map((name) => name.split(':')[0]?.trim() ?? '')]);
    for (const name of names) if (others.test(name) || name === '') names.delete(name);
    const isListed = (name: string): boolean =>
      listed.includes(name) || (/^(GITHUB|CI)_/.test(name) && listed.includes('GITHUB_*, CI_*'));
    expect([...names].filter((name) => !isListed(name))).toEqual([]);
    expect(names.size).toBeGreaterThan(8);
  });
});

const canCheck = has('mandoc');
if (!canCheck) process.stderr.write('SKIPPED: the check of forge(1); there is no program "mandoc" here.\n');

describe('forge(1)', () => {
  it('has every command, topic and variable', async () => {
    const page = readFileSync(join(ROOT, 'dist', 'forge.1'), 'utf8').replaceAll('\\-', '-');
    for (const [name, spec] of await specs()) {
      const entry = GROUPS.find(({ name: group }) => group === name.split(' ')[0]);
      if (spec && entry?.heading !== null) expect(page).toContain(`.SS forge ${name}`);
    }
    for (const name of [...topics, ...ENVIRONMENT_HELP.map(([names]) => names)])
      expect(page).toContain(`.B ${name}`);
  });

  it.skipIf(!canCheck)('is a manual page without a fault', () => {
    const { status, stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', join(ROOT, 'dist', 'forge.1')], {
      encoding: 'utf8',
    });
    expect([status, stdout.split('\n').filter((line) => !line.includes('missing date'))]).toEqual([
      expect.any(Number),
      [''],
    ]);
  });
});
