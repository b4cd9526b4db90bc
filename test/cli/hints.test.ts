import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inFull } from '../../src/cli/line.js';
import { parseArgv } from '../../src/cli/program.js';
import { splitCommand } from '../../src/core/argv.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';

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
    [['feature', 'add', 'Login', 'works', '--test', 'test -e a'], 'forge feature add "Login works"'],
    [['feature', 'add', 'Login', 'works', 'now'], 'forge feature add "Login works now"'],
    [['learn', 'a', 'b', '--as', 'success'], 'forge learn "a b" --as success'],
    [['log', 'did', 'it'], 'forge log "did it"'],
    [['end', '--learned', 'a', 'b', '--next', 'c'], 'forge end --learned "a b" --next c'],
    [['start', 'write docs'], 'forge next\nforge start --task "TEXT"'],
    [['strat'], 'forge start\nforge --help'],
    [['stop'], 'forge end\nforge --help'],
    [['test'], 'forge done --all\nforge --help'],
    [['verify', 'LOGIN'], 'forge done LOGIN\nforge --help'],
    [['list'], 'forge ls\nforge --help'],
    [['add', 'Login', 'works'], 'forge feature add "Login works"\nforge --help'],
    [['todo', 'fix it', '--test', 'make'], 'forge feature add "fix it" --test make\nforge --help'],
    [['todo'], 'forge ls\nforge --help'],
    [['resume'], 'forge start --resume latest\nforge --help'],
    [['remember', 'a $b'], "forge learn 'a $b'\nforge --help"],
    [
      ['uninstall'],
      'forge agent uninstall all\nforge hooks uninstall\nrm -r .forge   # the memory itself\nforge --help',
    ],
    [
      ['update'],
      'Update forge: git pull && npm ci && npm run build   (in your clone of forge)\nforge --help',
    ],
    [
      ['upgrade'],
      'Update forge: git pull && npm ci && npm run build   (in your clone of forge)\nforge --help',
    ],
    [['clear'], 'forge --help'],
    [['constructor'], 'forge --help'],
    [
      ['feature', 'constructor', '__proto__'],
      'forge feature add "constructor __proto__"\nforge feature --help',
    ],
    [['fix', 'the', 'login'], 'forge feature add "the login"\nforge --help'],
    [['task', 'fix', 'it'], 'forge start --task "fix it"\nforge --help'],
    [['-q', 'strat'], 'forge -q start\nforge --help'],
    [['fix the login'], 'forge log "fix the login"\nforge feature add "fix the login"\nforge --help'],
    [['F-1'], 'forge feature show F-1\nforge --help'],
    [['feature', 'Login works'], 'forge feature add "Login works"\nforge feature --help'],
    [['feature', 'F-1'], 'forge feature show F-1\nforge feature --help'],
    [['focus', 'the login'], 'forge focus set --task "the login"\nforge focus --help'],
    [['config', 'kfr.tokens', '900'], 'forge config set kfr.tokens 900\nforge config --help'],
    [['config', 'kfr.tokens'], 'forge config get kfr.tokens\nforge config --help'],
    [['agent', 'claude'], 'forge agent install claude\nforge agent --help'],
    [['checkpoint', 'a b'], 'forge checkpoint create -m "a b"\nforge checkpoint --help'],
    [['end', 'did it'], 'forge end --learned "did it"\nforge end --help'],
    [['commit', 'a title', '-a'], 'forge commit -m "a title" -a\nforge commit --help'],
    [['doctor', 'fix'], 'forge doctor --fix\nforge doctor --help'],
    [['import', 'beads'], 'forge import --from beads\nforge import --help'],
    [['status', 'all'], 'forge status\nforge status --help'],
    [
      ['feature', 'add', 'a b', '--tests', 'c d'],
      'forge feature add "a b" --test "c d"\nforge feature add --help',
    ],
    [['--hlep'], 'forge --help'],
    [['recall'], 'forge recall what did we learn about login\nforge recall --help'],
    [['show'], 'forge status\nforge --help'],
    [['feature', 'ls'], 'forge feature list\nforge feature --help'],
    [['feature', 'rm', 'A'], 'forge feature remove A\nforge feature --help'],
    [['kfr', 'show'], 'forge kfr list\nforge kfr --help'],
    [['session', 'strat'], 'forge session start\nforge session --help'],
    [['agent', 'install', 'claude-code', '-n'], 'forge agent install claude -n'],
    [['done', 'logi'], 'forge done LOGIN'],
    [['config', 'get', 'sesion.commit'], 'forge config get session.commit'],
  ])('B-01 %j: what was meant, ready to be typed', async (argv, hint) => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'LOGIN', 'Login works']);
    expect(await forgeError(project, argv)).toMatchObject({ exitCode: 2, hint });
  });

  it('B-01 a command in a hint is never broken into lines', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:Which of them?']);
    const { stderr } = await runForge(project, ['end'], { terminal: true, columns: 40 });
    expect(stderr).toContain('\n  → forge kfr patch --resolve kfr-1="the answer"\n');
    expect(stderr).toContain('\n  → forge kfr patch --dismiss kfr-1="why it no longer matters"\n');
  });
});
