import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create } from '../support/checkpoints.js';
import { ci, cloneOf, commit, failed, GOOD, messages, NOWHERE, ready, text } from '../support/ci.js';
import { expectError, forgeJson, runForge } from '../support/forge.js';
import {
  CONFIG,
  differences,
  FEATURES,
  PASSING_FEATURE,
  putFeatures,
  snapshot,
} from '../support/forge-project.js';
import { containerOf, linesOf, putLines, record, verify } from '../support/memory.js';
import { makeFolder, makePlainProject, makeRepository, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

describe('forge ci', () => {
  it('GIT-07 a builder may run it, and it runs while memory is halted', async () => {
    const project = await ready();
    expect((await ci(project, [], { FORGE_ROLE: 'builder' })).exitCode).toBe(0);
    for (let i = 0; i < 2; i++) await record(project);
    const file = containerOf(project);
    const lines = linesOf(project, file);
    putLines(project, file, lines.slice(1));
    await verify(project);
    putLines(project, file, lines);
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([4, ['memory corrupted']]);
    expect(messages(report)).toEqual([expect.stringMatching(/^memory is halted: /)]);
  });

  it.each([
    ['--format', 'pink'],
    ['--range', '--output=x'],
    ['--range', ''],
  ])('GIT-07 %s %j: exit 2, one line', async (flag, value) => {
    await expectError(await ready(), ['ci', flag, value], '2', { env: NOWHERE });
  });

  it.each([
    ['github', /run: \|\n([\s\S]*?)\n +env:/],
    ['gitlab', /before_script:\n([\s\S]*?)\n +script:/],
  ])('GIT-07 the pipeline for %s builds forge from the given revision', async (system, step) => {
    const { stdout } = await runForge(makePlainProject(), ['ci', '--template', system]);
    const [temp, prefix] = [makeFolder(), makeFolder()];
    const lines = (step.exec(stdout)?.[1] ?? '').replace(/^ +(- )?/gm, '').replaceAll('/tmp/', `${temp}/`);
    const forge = makeRepository();
    const manifest = { name: 'forge-memory', version: '1.0.0', bin: { forge: 'built.sh' } };
    const lock = { ...manifest, lockfileVersion: 3, packages: { '': manifest } };
    const scripts = { build: 'printf "#!/bin/sh\\necho linked" >built.sh' };
    forge.write('package.json', JSON.stringify({ ...manifest, scripts }));
    forge.write('package-lock.json', JSON.stringify(lock));
    const FORGE_REVISION = commit(forge);
    forge.write('package.json', '{}');
    commit(forge);

    const npm = { npm_config_prefix: prefix, npm_config_offline: 'true', npm_config_audit: 'false' };
    const env = { ...npm, RUNNER_TEMP: temp, FORGE_REPOSITORY: forge.dir, FORGE_REVISION };
    expect(run(temp, 'sh', ['-ec', lines], { env })).toMatchObject({ exitCode: 0 });
    expect(run(temp, join(prefix, 'bin/forge'), []).stdout).toBe('linked\n');
    const unset = run(temp, 'sh', ['-ec', lines], { env: { ...env, FORGE_REPOSITORY: '' } });
    expect(unset.exitCode).not.toBe(0);
    expect(unset.stderr).toContain('FORGE_REPOSITORY: is not set');
  });
});

describe('forge ci: each cause alone', () => {
  it('GIT-07 commits that break the protocol exit 1', async () => {
    const project = await ready();
    project.write(CONFIG, "[commit]\nwho = 'all'\n");
    const sha = commit(project, 'Quick fix\n');
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([1, ['commits findings']]);
    expect(report.checks[0]?.findings[0]).toMatchObject({
      commit: sha,
      message: expect.stringMatching(/^"Quick fix": The subject is not .* "## What" is missing\. /),
      fix: `forge commit check --range ${sha.slice(0, 12)}^!   # shows what to write`,
    });
    expect(report.checks[0]?.findings).toHaveLength(1);
    const told = await runForge(project, ['commit', 'check', '--range', `${sha.slice(0, 12)}^!`]);
    expect([told.exitCode, told.stdout]).toEqual([1, expect.stringContaining('Write: [FORGE] Quick fix')]);
    project.write(CONFIG, "[commit]\nenforce = 'off'\n");
    expect((await ci(project)).states[0]).toBe('skipped');
  });

  it('GIT-07 a secret in a file or in a message exits 5, and is never shown', async () => {
    const secret = SAMPLES.secret();
    for (const inMessage of [true, false]) {
      const project = await ready();
      if (!inMessage) project.write('src/key.js', `\nconst key = '${secret}';\n`);
      const sha = commit(project, inMessage ? GOOD.replace('key insight', secret) : GOOD);
      const report = await ci(project);
      expect([report.exitCode, failed(report)]).toEqual([5, ['guard secret']]);
      expect(report.checks[2]?.findings[0]).toMatchObject(
        inMessage ? { commit: sha } : { commit: sha, file: 'src/key.js', line: 2 },
      );
      const { stdout } = await text(project, ['--format', 'github', '--junit', 'ci.xml']);
      expect((stdout + JSON.stringify(report) + project.read('ci.xml')).includes(secret)).toBe(false);
    }
  });

  it('GIT-07 a feature marked passing without a run exits 1', async () => {
    const project = await ready();
    putFeatures(project, [PASSING_FEATURE]);
    await runForge(project, ['trust', '--yes'], { terminal: true });
    expect(messages(await ci(project))).toEqual([
      'A is marked passing, but no recorded run of its tests passed',
    ]);
    await forgeJson(project, ['feature', 'verify', 'A']);
    const swapped = { ...PASSING_FEATURE, tests: ['exit 0'], verified_by: ['exit 0'] };
    putFeatures(project, [swapped]);
    expect(messages(await ci(project))).toEqual([
      'A is marked passing, but not by a run of its current tests',
    ]);
    putFeatures(project, [PASSING_FEATURE, { ...PASSING_FEATURE, id: 'B', tests: ['false'] }]);
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([1, ['features findings']]);
    expect(report.checks[3]).toMatchObject({
      detail: '2 of 2 features passing',
      findings: [
        {
          message: expect.stringMatching(/^B is marked passing/),
          fix: 'forge done B',
          file: '.forge/memory/long-term/features.d/B.json',
        },
      ],
    });
    project.write(FEATURES, '{ "schema_version": "1.0", "features": [');
    const damaged = await ci(project);
    expect([damaged.exitCode, failed(damaged)]).toEqual([4, ['memory corrupted', 'features corrupted']]);
  });

  it.each([
    '.forge/memory/long-term/features.d/A.json',
    '.forge/memory/long-term/architecture.md',
    '.forge/linear/history/APP-1.json',
    '.forge/config.toml',
  ])('GIT-07 B-12 conflict markers that somebody committed exit 4: %s', async (name) => {
    const project = await ready();
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a']);
    project.write('.forge/linear/history/APP-1.json', '{ "linear_id": "APP-1", "title": "x" }\n');
    commit(project);
    project.write('src/code.js', '1\n');
    project.write(name, `\n<<<<<<< HEAD\n${project.read(name)}=======\n>>>>>>> other\n`);
    commit(project);
    const report = await ci(project);
    const finding = report.checks.flatMap(({ findings }) => findings).find(({ file }) => file === name);
    expect([report.exitCode, finding]).toMatchObject([
      4,
      {
        file: name,
        line: 2,
        fix: expect.stringMatching(/^cp \S+ \S+ && git restore --source=\w+ -- \S+ {3}#/m),
      },
    ]);
    const github = await text(project, ['--format', 'github']);
    expect([github.exitCode, github.stdout]).toEqual([
      4,
      expect.stringContaining(`::error file=${name},line=2,title=forge `),
    ]);
    for (const format of ['plain', 'gitlab'])
      expect((await text(project, ['--format', format])).stdout).toContain(
        `${name}:2: it has a merge conflict`,
      );
    const [, side = ''] = /git (restore \S+ -- \S+)/m.exec(finding?.fix ?? '') ?? [];
    project.git(...side.split(' '));
    commit(project);
    expect((await ci(project)).exitCode).toBe(0);
  });

  it('GIT-07 B-12 a file of a session or a skill that cannot be read exits 4', async () => {
    const project = await ready();
    await forgeJson(project, ['start', '--task', 'x']);
    await forgeJson(project, ['log', 'It works']);
    await forgeJson(project, ['end']);
    const [session = ''] = readdirSync(project.path('.forge/memory/sessions'));
    const [skill = ''] = readdirSync(project.path('.forge/skills'));
    const names = [`.forge/memory/sessions/${session}`, `.forge/skills/${skill}/skill.toml`];
    for (const name of names) project.write(name, '{ "a": \n');
    commit(project);
    const report = await ci(project);
    expect([report.exitCode, report.checks[1]?.findings.map(({ file }) => file)]).toEqual([4, names]);
  });

  it('GIT-07 --run runs trusted tests: exit 1 for failures, 3 for untrusted ones; saves nothing', async () => {
    const project = await ready();
    await forgeJson(
      project,
      `feature add --no-run A a --test 'node -e "process.exit(+fs.existsSync('\\''broken'\\''))"'`,
    );
    await forgeJson(project, ['feature', 'verify', 'A']);
    commit(project);
    expect((await ci(project, ['--run'])).checks[3]).toMatchObject({
      state: 'ok',
      detail: '1 of 1 feature passing, the tests of 1 run',
    });
    project.write('broken', '');
    commit(project);
    const before = snapshot(project.dir);
    const broken = await ci(project, ['--run']);
    expect([broken.exitCode, messages(broken)]).toEqual([
      1,
      [expect.stringMatching(/^A is marked passing and fails now: node .*: exit code 1$/)],
    ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const clone = cloneOf(project);
    const refused = await ci(clone, ['--run']);
    expect([refused.exitCode, failed(refused)]).toEqual([3, ['features refused']]);
    const { digest } = await forgeJson<{ digest: string }>(clone, ['trust', '--show']);
    expect((await ci(clone, ['--run'], { FORGE_TRUST: digest })).exitCode).toBe(3);
    expect((await ci(clone, ['--run'], { CI: '1', FORGE_TRUST: digest })).exitCode).toBe(1);
    expect((await ci(clone)).exitCode).toBe(0);
    const fix = refused.checks[3]?.findings.at(-1)?.fix ?? '';
    expect(fix).toContain('that counts only where CI is set');
    const value = /^FORGE_TRUST=(\S+) /.exec(fix)?.[1] as string;
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'node -e 1']);
    commit(project);
    const later = cloneOf(project);
    expect(failed(await ci(later, ['--run'], { CI: 'true', FORGE_TRUST: value }))).toEqual([
      'features findings',
    ]);
    await forgeJson(project, ['feature', 'verify', 'B']);
    commit(project);
    const both = await ci(cloneOf(project), ['--run'], { CI: '1', FORGE_TRUST: value });
    expect(messages(both)).toEqual([
      expect.stringMatching(/^A is marked passing and fails now/),
      'the tests of 1 feature are not approved here and did not run: B',
    ]);
  });

  it('GIT-07 a feature that passed and fails: an error for the range in which it began, later a warning', async () => {
    const project = await ready();
    project.write('code', '');
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'ls code']);
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'false']);
    await forgeJson(project, ['feature', 'verify', 'A']);
    commit(project);
    rmSync(join(project.dir, 'code'));
    await runForge(project, ['feature', 'verify', '--all']);
    commit(project);
    for (const options of [[], ['--run']]) {
      const report = await ci(project, ['--range', 'HEAD~1..HEAD', ...options]);
      expect([report.exitCode, messages(report)]).toEqual([1, ['A passed before and is failing']]);
    }
    project.write('other', '');
    commit(project);
    const later = await ci(project, ['--range', 'HEAD~1..HEAD', '--run']);
    expect([later.exitCode, later.checks[3]?.state, messages(later)]).toEqual([
      0,
      'warned',
      ['A passed before and is failing'],
    ]);
  });

  it('GIT-07 --run reports a passing feature whose tests are skipped now', async () => {
    const project = await ready();
    project.write('output.txt', '1 passed in 0.1s\n');
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'cat output.txt']);
    await forgeJson(project, ['feature', 'verify', 'A']);
    project.write('output.txt', '1 skipped in 0.1s\n');
    commit(project);
    const skipped = await ci(project, ['--run']);
    expect([skipped.exitCode, messages(skipped)]).toEqual([
      1,
      ['A is marked passing and did not run: cat output.txt: no test ran'],
    ]);
  });

  it('GIT-07 --baseline does not report the findings of an earlier scan again', async () => {
    const project = await ready();
    project.write('key.txt', `${SAMPLES.secret()}\n`);
    commit(project);
    const scan = await runForge(project, ['guard', 'scan', '--range', 'HEAD~1..HEAD', '--json']);
    project.write('src/known.json', scan.stdout);
    expect(failed(await ci(project))).toEqual(['guard secret']);
    const report = await ci({ dir: project.path('src') }, ['--baseline', 'known.json']);
    expect([report.exitCode, report.states[2]]).toEqual([0, 'ok']);
  });

  it('GIT-07 reports all causes; the most serious one decides', async () => {
    const project = await ready();
    await create(project, 'X');
    const skipped = ['skipped', 'ok', 'skipped', 'ok', 'ok'];
    expect((await ci(project, ['--range', 'HEAD..HEAD'])).states).toEqual(skipped);
    project.git('tag', '-f', 'checkpoint/X-v1', 'HEAD~1');
    await record(project);
    const file = containerOf(project);
    putLines(
      project,
      file,
      linesOf(project, file).map((line) => line.replace('"exit_code":0', '"exit_code":1')),
    );
    putFeatures(project, [{ ...PASSING_FEATURE, tests: ['false'] }]);
    project.write('key.txt', `${SAMPLES.secret()}\n`);
    commit(project, '[FORGE] Everything\n\n## Why\nx\n');
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([
      4,
      ['commits findings', 'memory corrupted', 'guard secret', 'features findings', 'checkpoints findings'],
    ]);
    expect(report.checks[1]?.findings[0]).toMatchObject({ file, line: expect.any(Number) });
    const { stdout, exitCode } = await text(project, []);
    expect([exitCode, stdout]).toEqual([
      4,
      expect.stringMatching(/forge ci: \d+ findings in commits, memory, guard, features, checkpoints\n$/),
    ]);
  });
});
