import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GROUPS } from '../../src/cli/groups.js';
import { BIN, copyForge } from '../support/forge.js';
import {
  commitAll,
  follow,
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
  run,
} from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLES = ['daily', 'full'] as const;

const start = (bin: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  run(makePlainProject().dir, process.execPath, [bin, ...args], { env });

describe('the built command line', () => {
  it('answers --version without a bundle', () => {
    const { home, bin } = copyForge();
    rmSync(join(home, 'dist'), { recursive: true });
    for (const flag of ['--version', '-V'])
      expect(start(bin, [flag])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+/) });
  });

  it('runs the same command from either bundle', () => {
    const { home, bin } = copyForge();
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
    expect(size('daily')).toBeLessThan(650_000);
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
    const { home, bin } = copyForge();
    const file = join(home, 'dist/cli/simple-git.cjs');
    rmSync(join(home, 'dist/cli/execa.cjs'));
    const project = makeForgeRepository();
    typed(project, ['feature', 'add', '--no-run', 'F-1', 'Checked', '--test', 'true']);
    const forge = (...args: string[]) =>
      run(project.dir, process.execPath, [bin, ...args], { env: process.env });
    const bytes = readFileSync(file);
    rmSync(file);
    project.write('.git/message', 'Fix\n');
    const hooks = ['hook git prepare-commit-msg .git/message', 'hook git pre-push origin url'];
    for (const line of ['session start', 'progress add x', 'status', 'where', 'briefing', ...hooks])
      expect(forge(...line.split(' ')), line).toMatchObject({ exitCode: 0 });
    expect(forge('feature', 'verify', 'F-1').stderr).toContain('execa.cjs');
    writeFileSync(file, bytes);
    expect(forge('session', 'end').stdout).toMatch(/commit +[0-9a-f]{7}/);
  });

  it.each(BUNDLES)('reports a missing, empty or truncated %s bundle, exit 6', (name) => {
    const { home, bin } = copyForge();
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
    const { home, bin } = copyForge();
    rmSync(join(home, 'templates'), { recursive: true });
    const { exitCode, stderr } = start(bin, ['help', 'kfr']);
    expect([exitCode, stderr]).toEqual([
      6,
      'forge: forge is incomplete: its templates folder is missing.\n  → npm ci && npm run build   (in your clone of forge)\n',
    ]);
  });

  it.skipIf(!('enableCompileCache' in nodeModule))("keeps compiled code in the user's cache only", () => {
    const home = makeFolder();
    const place = { HOME: home, XDG_CACHE_HOME: '', TMPDIR: makeFolder() };
    expect(start(BIN, ['help'], place).exitCode).toBe(0);
    expect(readdirSync(home)).toEqual(['.cache']);
    expect(readdirSync(join(home, '.cache/forge'))).toEqual(['node']);
    expect(readdirSync(place.TMPDIR)).toEqual([]);
  });

  it('does not contain the path of the folder it was built in', () => {
    const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' });
    const bearing = files
      .filter((name) => /\.(cjs|js|ts|txt|1)$/.test(name))
      .filter((name) => readFileSync(join(root, 'dist', name), 'latin1').includes(root.slice(0, -1)));
    expect(bearing).toEqual([]);
  });
});

const PARTS = ['bin', 'dist', 'scripts', 'src', 'templates', 'LICENSE', 'package.json', 'tsconfig.json'];

/** A checkout that may be built without disturbing the other tests. */
function makeCheckout(): string {
  const home = makeFolder();
  for (const part of PARTS) cpSync(join(root, part), join(home, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  return home;
}

/** A checkout with its own copy of the packages that a build needs, below a path that looks like parts of its own. */
function makeAwkwardCheckout(): string {
  const home = join(makeFolder(), 'node_modules', 'src', 'a b', 'forge');
  for (const part of PARTS.filter((name) => name !== 'dist'))
    cpSync(join(root, part), join(home, part), { recursive: true });
  const unused =
    /^(\.cache|\.vite|@biomejs|@typescript|typescript|@oxc.*|@rolldown|rolldown|vite|vitest|lightningcss.*)$/;
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => !unused.test(name)))
    cpSync(join(root, 'node_modules', name), join(home, 'node_modules', name), { recursive: true });
  return home;
}

async function build(home: string): Promise<[number | null, string]> {
  const child = spawn(process.execPath, [join(home, 'scripts/build.mjs'), '--no-types'], { cwd: home });
  const { exitCode, stderr } = await follow(child).ended;
  return [exitCode, stderr];
}

describe('a build', () => {
  it('replaces dist/ as a whole: forge works while it runs', async () => {
    const home = makeCheckout();
    // A build that was killed; no process has this number.
    mkdirSync(join(home, '.build-99999999', 'dist'), { recursive: true });
    const before = readdirSync(home).filter((name) => !name.startsWith('.build-'));
    const project = makePlainProject();
    const forge = () => run(project.dir, process.execPath, [join(home, 'bin/forge.js'), 'schema']);
    const right = forge();
    expect(right.exitCode).toBe(0);
    let open = true;
    const builds = Promise.all([build(home), build(home)]).finally(() => {
      open = false;
    });
    const tries: unknown[] = [];
    while (open) {
      tries.push(forge());
      await new Promise((done) => setTimeout(done, 20));
    }
    expect(await builds).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(tries.length).toBeGreaterThan(3);
    // Between two renames there is no dist/ for a moment.
    const others = tries.filter((said) => JSON.stringify(said) !== JSON.stringify(right));
    expect(others.length).toBeLessThanOrEqual(2);
    for (const said of others) expect(said).toMatchObject({ exitCode: 6, stdout: '' });
    expect(forge()).toEqual(right);
    expect(readdirSync(home)).toEqual(before);
  });

  it('works below folders named node_modules, src and "a b"', async () => {
    const home = makeAwkwardCheckout();
    expect(await build(home)).toEqual([0, '']);
    const { stdout, exitCode } = run(home, process.execPath, [join(home, 'bin/forge.js'), '--version']);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^\d/)]);
  });

  it('that fails keeps the previous build', async () => {
    const home = makeCheckout();
    const names = () => readdirSync(join(home, 'dist'), { recursive: true });
    const before = names();
    // The first of the source's files that is bundled needs what is not there.
    cpSync(join(home, 'package.json'), join(home, 'src/index.ts'));
    const [code] = await build(home);
    expect(code).not.toBe(0);
    expect(names()).toEqual(before);
    expect(existsSync(join(home, 'dist/cli/full.cjs'))).toBe(true);
    expect(readdirSync(home).filter((name) => name.startsWith('.build-'))).toEqual([]);
  });
});

const SCRIPT = fileURLToPath(new URL('../../scripts/release.mjs', import.meta.url));
const release = (project: Project, ...args: string[]) =>
  run(project.dir, process.execPath, [SCRIPT, ...args, '--no-check']);

function makePackage(): Project {
  const project = makeRepository();
  project.write('package.json', '{"name": "x", "version": "0.1.0"}\n');
  project.write('package-lock.json', '{"version": "0.1.0", "packages": {"": {"version": "0.1.0"}}}\n');
  project.write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- a thing\n');
  commitAll(project, 'All');
  project.git('remote', 'add', 'origin', 'git@github.com:acme/forge.git');
  return project;
}

it('a release has its version, its date and its repository, in one commit with a tag', () => {
  const project = makePackage();
  expect(release(project, '0.2.0')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('git push --follow-tags'),
  });
  expect(project.json('package.json')).toMatchObject({
    version: '0.2.0',
    repository: { url: 'git+https://github.com/acme/forge.git' },
  });
  expect(project.json('package-lock.json')).toMatchObject({
    version: '0.2.0',
    packages: { '': { version: '0.2.0' } },
  });
  expect(project.read('CHANGELOG.md')).toMatch(
    /## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added/,
  );
  expect(project.git('status', '--porcelain')).toBe('');
  expect(project.git('describe', '--exact-match').trim()).toBe('v0.2.0');
});

it('a release that cannot be is refused, and changes nothing', () => {
  const project = makePackage();
  const refuse = (version: string, why: string): void => {
    const before = project.git('rev-parse', 'HEAD');
    const { exitCode, stderr } = release(project, version);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(why)]);
    expect(project.git('rev-parse', 'HEAD')).toBe(before);
  };
  refuse('next', 'which version?');
  refuse('0.0.9', 'older than 0.1.0');
  project.git('tag', 'v0.2.0');
  refuse('0.2.0', 'a tag v0.2.0 already');
  project.write('more.txt', '');
  refuse('0.3.0', 'uncommitted changes');
  rmSync(project.path('more.txt'));
  project.git('remote', 'set-url', 'origin', '/srv/forge');
  refuse('0.3.0', 'origin is no repository on a server');
});
