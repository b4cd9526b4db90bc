import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inFull } from '../../src/cli/groups.js';
import { parseArgv } from '../../src/cli/program.js';
import { splitCommand } from '../../src/core/argv.js';
import { forgeError, forgeJson, runForge, wordsOf } from '../support/forge.js';
import { makeForge, makeStarted } from '../support/forge-project.js';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** What the source gives to a reader as a command: hints of errors and fixes of reports, with X for each value. */
function hintsInSource(): { file: string; hint: string }[] {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files.flatMap((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    const literals = text.matchAll(
      /\b(?:hint|fix)(?: =|:|\()\s*(?:[\w.?!= ]+\? )?('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/g,
    );
    return [...literals].map(([, literal = '']) => ({ file, hint: textOfLiteral(literal) }));
  });
}

const textOfLiteral = (literal: string): string =>
  literal
    .slice(1, -1)
    .replace(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, 'X')
    .replaceAll('\\n', '\n')
    .replace(/\\(.)/g, '$1');

/** The command of a line, without the remark behind it. */
const commandOf = (line: string): string => line.replace(/ {2,}#.*/, '').trim();

describe('hints', () => {
  const hints = hintsInSource();

  it('B-01 have one command per line, with at most one comment after #', () => {
    expect(hints.length).toBeGreaterThan(150);
    const wrong = hints.flatMap(({ file, hint }) =>
      hint
        .split('\n')
        .map(commandOf)
        .filter((line) => /^(?:forge|git) /.test(line) && / {2}|…| or: | \(/.test(line))
        .map((line) => `${file}: ${line}`),
    );
    expect(wrong).toEqual([]);
  });

  it('B-01 name existing commands and options, with all required arguments', async () => {
    const wrong: string[] = [];
    for (const { file, hint } of hints)
      for (const line of hint.split('\n').map(commandOf)) {
        const [, command] = /(?:^|&& )(forge (?!X|--help).*)$/.exec(line) ?? [];
        if (command === undefined || /[|<>]|\$\{|forge trustX|forge \S+ X$/.test(command)) continue;
        try {
          const [, ...argv] = splitCommand(command);
          await parseArgv(inFull(argv), { out: () => {} });
        } catch (error) {
          // A value stands in for another.
          if (!/found "?X|is no number/.test(String(error))) wrong.push(`${file}: ${line}: ${error}`);
        }
      }
    expect(wrong).toEqual([]);
  });

  it.each([
    [['strat'], 'forge start\nforge --help'],
    [['clear'], 'forge --help'],
    [['constructor'], 'forge --help'],
    [['status', 'all'], 'forge status\nforge status --help'],
    [['feature', 'add', 'a b', '--tests', 'c d'], 'forge feature add --help'],
    [['feature', 'add', 'a b', 'c d'], 'forge feature add "a b" --test "COMMAND"'],
    [['--hlep'], 'forge --help'],
    [['recall'], 'forge recall what did we learn about login\nforge recall --help'],
    [['session', 'strat'], 'forge session start\nforge session --help'],
    [['focus', 'LOGIN'], 'forge focus set LOGIN\nforge focus --help'],
    [['note', 'Dates are UTC'], 'forge note add "Dates are UTC"\nforge note --help'],
    [['agent', 'install', 'claude-code', '-n'], 'forge agent install claude -n'],
    [['done', 'logi'], 'forge done LOGIN'],
    [['init', '--test', 'npm ci && npm test', '-n'], `forge init --test "sh -c 'npm ci && npm test'" -n`],
    [['config', 'get', 'sesion.commit'], 'forge config get session.commit'],
  ])('B-01 %j: the nearest command, or an example', async (argv, hint) => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'LOGIN', 'Login works']);
    expect(await forgeError(project, argv)).toMatchObject({ exitCode: 2, hint });
  });

  it.each([
    [['feature', 'add', 'Login', 'works'], 'forge feature add "Login works"'],
    [['feature', 'add', 'Login', 'works', 'now', '--no-run'], 'forge feature add "Login works now" --no-run'],
    [['feature', 'add', 'A', 'a', '$b'], "forge feature add A 'a $b'"],
    [['learn', 'a', 'b', '--as', 'success'], 'forge learn "a b" --as success'],
    [['-q', 'log', 'did', 'it'], 'forge -q log "did it"'],
    [['progress', 'add', 'did', 'it'], 'forge progress add "did it"'],
    [
      wordsOf('checkpoint create v1 --verify python3 -m unittest'),
      'forge checkpoint create v1 --verify "python3 -m unittest"',
    ],
    [wordsOf('checkpoint create --verify=npm test -n'), 'forge checkpoint create --verify "npm test" -n'],
    [wordsOf('feature add LOGIN --test npm test'), 'forge feature add LOGIN --test "npm test"'],
    [
      wordsOf('feature add "It works" --test pytest -k "a b" tests'),
      `forge feature add "It works" --test "pytest -k 'a b' tests"`,
    ],
    [wordsOf('init --test cargo test'), 'forge init --test "cargo test"'],
  ])('B-01 %j: the same call with quotes', async (argv, call) => {
    const { message, hint } = await forgeError(await makeForge(), argv);
    expect([message, hint]).toEqual([`Put quotes around it: ${call}`, expect.stringMatching(/ --help$/)]);
  });

  it('B-01 an option, a quoted text or a word after -- is no part of a command of one word', async () => {
    const project = await makeForge();
    await forgeJson(project, 'feature add LOGIN "Login works" --test false --issue LOGIN');
    expect((await runForge(project, 'feature add --test false -- Logout')).exitCode).toBe(0);
    await forgeJson(project, 'feature add --test false "Users can register"');
    const { features } = await forgeJson<{ features: { tests: string[] }[] }>(project, 'ls');
    expect(features.map(({ tests }) => tests)).toEqual([['false'], ['false'], ['false']]);
  });

  it('B-01 a command in a hint is never broken into lines', async () => {
    const project = await makeStarted();
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:Which of them?']);
    const { stderr } = await runForge(project, ['end'], { terminal: true, columns: 40 });
    expect(stderr).toContain('\n  → forge kfr patch --resolve kfr-1="the answer"\n');
    expect(stderr).toContain('\n  → forge kfr patch --dismiss kfr-1="why it no longer matters"\n');
  });
});
