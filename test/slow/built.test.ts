import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GROUPS } from '../../src/cli/groups.js';
import { BIN } from '../support/forge.js';
import { makeFolder, makePlainProject, run } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLES = ['daily', 'full'] as const;

const start = (bin: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  run(makePlainProject().dir, process.execPath, [bin, ...args], { env });

/** A copy whose files may be changed. */
function copy(): { home: string; bin: string } {
  const home = makeFolder();
  for (const part of ['bin', 'dist/cli', 'templates', 'package.json']) {
    mkdirSync(join(home, part, '..'), { recursive: true });
    cpSync(join(root, part), join(home, part), { recursive: true });
  }
  return { home, bin: join(home, 'bin/forge.js') };
}

describe('the built command line', () => {
  it('answers --version without a bundle', () => {
    const { home, bin } = copy();
    rmSync(join(home, 'dist'), { recursive: true });
    for (const flag of ['--version', '-V'])
      expect(start(bin, [flag])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+/) });
  });

  it('runs the same command from either bundle', () => {
    const { home, bin } = copy();
    rmSync(join(home, 'dist/cli/full.cjs'));
    // An agent's hook takes every word.
    const daily = GROUPS.filter(
      ({ name }) => name !== 'hook' && !/full\.cjs is missing/.test(start(bin, [name, '--nosuch']).stderr),
    );
    expect(daily.length).toBeGreaterThan(12);
    for (const { name } of daily) {
      const wrong = start(bin, [name, '--nosuch']);
      expect([name, wrong.exitCode]).toEqual([name, 2]);
      expect(wrong.stderr).toContain("Unknown option '--nosuch'");
      expect(wrong.stderr).toBe(start(BIN, ['-C', '.', name, '--nosuch']).stderr);
    }
    for (const name of ['init', 'doctor', 'ci', 'mcp', 'agent', 'hooks', 'trust', 'complete'])
      expect(daily.map((group) => group.name)).not.toContain(name);
  });

  it('keeps the daily bundle small', () => {
    const size = (name: string): number => statSync(join(root, 'dist/cli', `${name}.cjs`)).size;
    expect(size('daily')).toBeLessThan(680_000);
    expect(size('daily')).toBeLessThan(size('full'));
    const text = readFileSync(join(root, 'dist/cli/daily.cjs'), 'utf8');
    expect(text).not.toContain('StdioServerTransport');
  });

  it('completes the options of a command of either bundle', () => {
    for (const group of ['feature', 'doctor'])
      expect(start(BIN, ['complete', '--shell=bash', '--current=--', '--', group]).stdout).toContain(
        '--json',
      );
  });

  it('SKL-02 matches file patterns with the library that is a file of its own', () => {
    const { dir } = makeForgeRepository();
    const { stdout } = start(BIN, ['-C', dir, 'skill', 'match', 'x', '--file', 'src/a.test.ts']);
    expect(stdout).toContain('qa-review');
  });

  it('loads simple-git only to end a session, and execa only to run a command', () => {
    const { home, bin } = copy();
    const file = join(home, 'dist/cli/simple-git.cjs');
    rmSync(join(home, 'dist/cli/execa.cjs'));
    const project = makeForgeRepository();
    typed(project, ['feature', 'add', '--no-run', 'F-1', 'Checked', '--test', 'true']);
    const forge = (...args: string[]) =>
      run(project.dir, process.execPath, [bin, ...args], { env: process.env });
    const bytes = readFileSync(file);
    rmSync(file);
    project.write('.git/message', 'Fix\n');
    for (const args of [
      ['session', 'start'],
      ['progress', 'add', 'x'],
      ['status'],
      ['where'],
      ['briefing'],
      ['hook', 'git', 'prepare-commit-msg', '.git/message'],
      ['hook', 'git', 'pre-push', 'origin', 'url'],
    ])
      expect(forge(...args), args.join(' ')).toMatchObject({ exitCode: 0 });
    expect(forge('feature', 'verify', 'F-1').stderr).toContain('execa.cjs');
    writeFileSync(file, bytes);
    expect(forge('session', 'end').stdout).toMatch(/commit +[0-9a-f]{7}/);
  });

  it.each(BUNDLES)('reports a missing, empty or truncated %s bundle, exit 6', (name) => {
    const { home, bin } = copy();
    const file = join(home, 'dist/cli', `${name}.cjs`);
    const damages: [string, () => void][] = [
      // Valid JavaScript that never starts the command line.
      ['damaged', () => writeFileSync(file, 'function main() {}')],
      ['damaged', () => truncateSync(file, Math.floor(statSync(file).size / 2))],
      ['missing', () => rmSync(file)],
    ];
    for (const [what, damage] of damages) {
      damage();
      const { exitCode, stdout, stderr } = start(bin, name === 'daily' ? ['next'] : ['doctor']);
      expect([exitCode, stdout, stderr]).toEqual([
        6,
        '',
        `forge: forge is incomplete: ${file} is ${what}\n  → npm ci && npm run build   (in your clone of forge)\n`,
      ]);
    }
  });

  it('reports missing templates, exit 6', () => {
    const { home, bin } = copy();
    rmSync(join(home, 'templates'), { recursive: true });
    const { exitCode, stderr } = start(bin, ['help', 'kfr']);
    expect([exitCode, stderr]).toEqual([
      6,
      'forge: forge is incomplete: its templates folder is missing.\n  → npm ci && npm run build   (in your clone of forge)\n',
    ]);
  });

  it.skipIf(!('enableCompileCache' in nodeModule))(
    "keeps compiled code in the user's cache folder only",
    () => {
      const home = makeFolder();
      const place = { HOME: home, XDG_CACHE_HOME: '', TMPDIR: makeFolder() };
      expect(start(BIN, ['help'], place).exitCode).toBe(0);
      expect(readdirSync(home)).toEqual(['.cache']);
      expect(readdirSync(join(home, '.cache/forge'))).toEqual(['node']);
      expect(readdirSync(place.TMPDIR)).toEqual([]);
    },
  );

  it('does not contain the path of the folder it was built in', () => {
    const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' });
    const bearing = files
      .filter((name) => /\.(cjs|js|ts|txt|1)$/.test(name))
      .filter((name) => readFileSync(join(root, 'dist', name), 'latin1').includes(root.slice(0, -1)));
    expect(bearing).toEqual([]);
  });
});
