import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_HELP, EXIT_CODE_HELP, TOPICS } from '../../src/cli/about.js';
import { GROUPS, inFull, SHORT_WAYS } from '../../src/cli/groups.js';
import { parseArgv } from '../../src/cli/program.js';
import { splitCommand } from '../../src/core/argv.js';
import { EXIT_CODES } from '../../src/core/error.js';
import { everyCommand } from '../support/commands.js';
import { runBinary, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { makePlainProject, makeRepository } from '../support/project.js';

describe('forge --help', () => {
  it('B-01 fits 40 lines: what most people type, each with its purpose', async () => {
    const project = makePlainProject();
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { stdout, stderr, exitCode } = await runForge(project, args);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout.split('\n').length).toBeLessThanOrEqual(41);
      const listed = [...stdout.matchAll(/^ {2}(\w+) {2,}[A-Z]/gm)].map(([, name]) => name);
      expect(listed).toEqual(
        'init start log feature done learn end status recall ui kfr memory checkpoint recover undo commit agent doctor'.split(
          ' ',
        ),
      );
      expect(stdout).toContain('forge prime');
    }
  });

  it('B-01 --all lists every command with its purpose, the short ways, and the topics', async () => {
    const project = makePlainProject();
    for (const args of [
      ['help', '--all'],
      ['--all', 'help'],
    ]) {
      const { stdout, stderr, exitCode } = await runForge(project, args);
      expect([exitCode, stderr]).toEqual([0, '']);
      for (const [name, { words }] of Object.entries(SHORT_WAYS))
        expect(stdout).toMatch(new RegExp(`^ +${name} +forge ${words.join(' ')}$`, 'm'));
      for (const { name, summary, heading } of GROUPS)
        if (heading !== null)
          expect(stdout).toMatch(new RegExp(`^ +${name} +${summary.replace(/[()]/g, '\\$&')}$`, 'm'));
      for (const [name] of TOPICS) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });

  it('B-01 topics have the exit codes and the environment', async () => {
    const project = makePlainProject();
    const codes = (await runForge(project, ['help', 'exit-codes'])).stdout;
    for (const [code, meaning] of EXIT_CODE_HELP)
      expect(codes).toMatch(new RegExp(`^ +${code} +${meaning.replace(/[()]/g, '\\$&')}$`, 'm'));
    expect(EXIT_CODE_HELP.map(([code]) => code).sort()).toEqual(
      ['0', ...Object.values(EXIT_CODES).map(String)].sort(),
    );
    const environment = (await runForge(project, ['help', 'environment'])).stdout;
    for (const [name] of ENVIRONMENT_HELP) expect(environment).toContain(name);
  });

  it('B-93 lists the variables that a test gets, and it gets no others', async () => {
    const project = await makeForge();
    const { stdout } = await runForge(project, ['help', 'environment']);
    const [, list = ''] = /init.sh get only these,.*?:\n\n(.*?)\n\nA test sets/s.exec(stdout) ?? [];
    const listed = new Set(list.match(/\b\w{2,}\b/g));
    const kept = 'DOTNET_ROOT ANDROID_HOME BUNDLE_PATH UV_CACHE_DIR COMPOSER_HOME DENO_DIR CC'.split(' ');
    const others =
      'LD_LIBRARY_PATH MAVEN_OPTS RAILS_ENV DATABASE_URL PGPASSWORD LC_X_TOKEN NODE_OPTIONS npm_config__authToken';
    const names = [...kept, 'LC_TIME', ...others.split(' ')];
    const env = Object.fromEntries(names.map((name) => [name, '']));
    const test = "DATABASE_URL=sqlite sh -c 'env >env.txt; false'";
    await runForge(project, ['feature', 'add', 'A', '--test', test], { env });
    const lines = project.read('env.txt').trim().split('\n');
    const got = new Map(lines.map((line) => line.split('=') as [string, string]));
    expect(names.filter((name) => got.has(name))).toEqual([...kept, 'LC_TIME', 'DATABASE_URL']);
    expect(got.get('DATABASE_URL')).toBe('sqlite');
    for (const name of kept) expect(listed).toContain(name);
    // The shell sets the last four.
    const own = ['DATABASE_URL', 'PWD', 'OLDPWD', 'SHLVL', '_'];
    const hidden = [...got.keys()].filter((name) => !listed.has(name.replace(/^LC_.*/, 'LC_')));
    expect(hidden.filter((name) => !own.includes(name))).toEqual([]);
  });

  it('B-01 shows for each command its purpose, its options and an example; nothing needs a project', async () => {
    const project = makeRepository();
    const before = snapshot(project.dir);
    for (const { words, spec } of await everyCommand()) {
      const { stdout, stderr, exitCode } = await runForge(project, [...words, '--help']);
      expect([words, exitCode, stderr]).toEqual([words, 0, '']);
      expect(spec.summary).toMatch(/^[A-Z][^\n]{8,118}[^.\n]$/);
      const flat = stdout.replace(/\s+/g, ' ');
      expect(flat).toContain(spec.summary);
      for (const { flags, help } of spec.options ?? [])
        expect([words, flat]).toEqual([words, expect.stringContaining(`${flags} ${help}`)]);
      expect(flat).toContain(`Example: ${spec.example.replace(/\s+/g, ' ')} `);
      expect(flat).toContain('Exit codes: 0 done');
      expect(stdout.includes('--dry-run')).toBe(spec.writes === true);
    }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-01 every example parses, and calls the command it belongs to', async () => {
    for (const { words, spec } of await everyCommand()) {
      const [program, ...argv] = splitCommand(spec.example.replace('~/', '/home/ada/'));
      expect(program).toBe('forge');
      const invocation = await parseArgv(words[0] === 'where' ? ['where'] : inFull(argv), { out: () => {} });
      expect([spec.example, invocation?.spec === spec]).toEqual([spec.example, true]);
    }
  });

  it('B-01 with --json the version and help are values', async () => {
    const project = makePlainProject();
    for (const args of ['--version --json', '--json version', 'version --json'])
      expect(await runForge(project, args)).toMatchObject({ stdout: '{"version":"dev"}\n', exitCode: 0 });
    for (const args of ['help feature --json', 'feature --help --json']) {
      const { help } = JSON.parse((await runForge(project, args)).stdout) as { help: string };
      expect(`${help}\n`).toBe((await runForge(project, 'help feature')).stdout);
    }
  });

  it('B-01 --version is one line, by the binary too', () => {
    expect(runBinary('/', ['--version'])).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(runBinary('/', ['--help'])).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
