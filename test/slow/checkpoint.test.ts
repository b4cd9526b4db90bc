import { describe, expect, it } from 'vitest';
import { encodeDocument } from '../../src/core/schema.js';
import { check, contentsOf, create, fileOf, gitState, list, type Made } from '../support/checkpoints.js';
import { expectError, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge, makePlainForge } from '../support/forge-project.js';
import { record, verify } from '../support/memory.js';
import { changedPaths, run } from '../support/project.js';

describe('forge checkpoint create', () => {
  it('GIT-01 GIT-05 its commits name the issue that the checkpoint is for, and no other', async () => {
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Wire the login']);
    const linearOf = (): string[] =>
      project
        .git('log', '-2', '--format=%B')
        .split('\n')
        .filter((line) => line.startsWith('- Linear: '));
    await create(project, 'LOCAL-9528');
    expect(linearOf()).toEqual(['- Linear: LOCAL-9528', '- Linear: LOCAL-9528']);
    await forgeJson(project, ['note', 'add', 'one']);
    await create(project, 'OTHER-1');
    expect(linearOf()).toEqual(['- Linear: none', '- Linear: none']);
  });

  it('GIT-05 commits .forge/, runs the commands, makes an annotated tag and the manifest, which say the same', async () => {
    const project = await makeForge();
    const world = { world: fixedClock('2026-03-01T10:00:00.000Z') };
    await forgeJson(project, 'feature add --no-run A a --test "node -e 0" --issue SX9-1');
    await forgeJson(project, ['feature', 'verify', 'A']);
    await forgeJson(project, ['session', 'start'], world);
    const checks = ['--verify', 'node -e "console.log(1)"', '--verify', 'true'];
    const args = ['checkpoint', 'create', 'SX9-1', ...checks, '-m', '# works\nwell'];
    const made = await forgeJson<Made>(project, args, world);
    const file = project.json<Made>(fileOf('SX9-1-v1'));
    expect(Object.keys(file)).toEqual([
      ...['schema_version', 'tag', 'commit', 'timestamp', 'verified_by', 'features_passing'],
      ...'linear_issues_closed can_rollback_to message tree branch session ledger evidence'.split(' '),
    ]);
    expect({ ...file, manifest_commit: made.manifest_commit }).toEqual(made);
    expect(made).toMatchObject({
      tag: 'checkpoint/SX9-1-v1',
      timestamp: '2026-03-01T10:00:00.000Z',
      verified_by: ["node -e 'console.log(1)'", 'true'],
      features_passing: ['A'],
      linear_issues_closed: ['SX9-1'],
      can_rollback_to: true,
      branch: 'main',
      session: expect.stringMatching(/^2026-03-01-session-001-/),
    });
    expect(made.evidence).toMatchObject([
      { exit_code: 0 },
      { command: 'true', exit_code: 0 },
      { exit_code: 0, features: ['A'] },
    ]);

    // Git itself makes the tree that was tested: the commit's, without .forge/.
    const entries = project.git('ls-tree', made.commit).split('\n');
    const input = `${entries.filter((line) => !line.endsWith('\t.forge')).join('\n')}\n`;
    const tree = run(project.dir, 'git', ['mktree'], { input }).stdout.trim();
    expect(made.evidence?.map((evidence) => evidence.tree)).toEqual([tree, tree, tree]);

    expect(project.git('cat-file', '-t', 'checkpoint/SX9-1-v1')).toBe('tag');
    expect(project.git('rev-parse', 'checkpoint/SX9-1-v1^{commit}')).toBe(made.commit);
    expect(project.git('rev-parse', `${made.commit}^{tree}`)).toBe(made.tree);
    expect(contentsOf(project, made.tag)).toBe(`# works\nwell\n\n${encodeDocument(file)}`.trimEnd());
    expect(project.git('rev-parse', 'HEAD')).toBe(made.manifest_commit);
    expect(project.git('rev-parse', 'HEAD^')).toBe(made.commit);
    expect(project.git('show', '--name-only', '--format=%s', 'HEAD').split('\n').filter(Boolean)).toEqual([
      '[SX9-1] Checkpoint SX9-1-v1',
      fileOf('SX9-1-v1'),
    ]);
    expect(changedPaths(project)).toEqual([]);
    expect(await check(project)).toMatchObject({ exitCode: 0, findings: [] });
    expect((await verify(project)).status).toBe('intact');
  });

  it('GIT-05 says how others get it where there is a remote, by the name that it has', async () => {
    const project = await makeForge();
    const said = async (): Promise<string> =>
      (await runForge(project, ['checkpoint', 'create', 'X', '--verify', 'true'])).stdout;
    expect(await said()).not.toContain('push');
    project.git('remote', 'add', "it's", 'https://example.com/x.git');
    expect(await said()).toMatch(/ {2}to share it: git push 'it'\\''s' checkpoint\/X-v2\.[0-9a-f]{6}\n/);
    project.git('remote', 'add', 'other', 'https://example.com/y.git');
    expect(await said()).not.toContain('push');
    project.git('remote', 'add', 'origin', 'https://example.com/z.git');
    expect(await create(project, 'X')).toMatchObject({
      push: expect.stringMatching(/^git push origin checkpoint\/X-v4\.[0-9a-f]{6}$/),
    });
  });

  it('GIT-05 the name comes from the argument, else the focused issue, feature, the session, or FORGE; numbers go up', async () => {
    const project = await makeForge();
    const world = { world: fixedClock('2026-03-01T10:00:00.000Z') };
    const make = (...args: string[]): Promise<Made> =>
      forgeJson(project, ['checkpoint', 'create', ...args, '--verify', 'true'], world);
    expect((await make()).tag).toBe('checkpoint/FORGE-v1');
    await forgeJson(project, ['session', 'start'], world);
    expect((await make()).tag).toBe('checkpoint/2026-03-01-session-001-v1');
    expect((await make()).tag).toBe('checkpoint/2026-03-01-session-001-v2');
    await forgeJson(project, ['session', 'end'], world);
    expect((await make()).tag).toBe('checkpoint/FORGE-v2');
    await forgeJson(project, ['feature', 'add', 'F-1', 'Login']);
    await forgeJson(project, ['focus', 'set', '--task', 'F-1: Login']);
    expect((await make()).tag).toBe('checkpoint/F-1-v1');
    await forgeJson(project, ['focus', 'set', '--issue', 'SX9-7']);
    expect((await make()).tag).toBe('checkpoint/SX9-7-v1');
    expect((await make()).tag).toBe('checkpoint/SX9-7-v2');
    expect((await make('sx9-7')).tag).toBe('checkpoint/sx9-7-v3');
    project.git('tag', '-d', 'checkpoint/sx9-7-v3');
    project.git('rm', '-q', fileOf('sx9-7-v3'));
    // A number that only a tag, or only a manifest has, is taken too.
    project.git('tag', 'checkpoint/SX9-7-v8');
    expect((await make()).tag).toBe('checkpoint/SX9-7-v9');
    project.git('tag', '-d', 'checkpoint/SX9-7-v9');
    expect((await make()).tag).toBe('checkpoint/SX9-7-v10');
    expect((await list(project)).map(({ tag }) => tag).slice(0, 2)).toEqual([
      'checkpoint/SX9-7-v10',
      'checkpoint/SX9-7-v9',
    ]);
  });

  it.each([
    ...['--force', '-d', 'a\nb', 'a b', 'a..b', 'a/b', 'a~1', 'a:b', '', '.x', 'x.', 'é'],
    ...['x'.repeat(65), 'con'],
  ])('B-42 GIT-05 the name %j is refused, and nothing is made', async (name) => {
    const project = await makeForge();
    const before = gitState(project);
    const args = ['--json', 'checkpoint', 'create', '--verify', 'true', '--', name];
    const { exitCode, stderr } = await runForge(project, args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('"code":"id.invalid"')]);
    expect(gitState(project)).toEqual(before);
  });

  it('GIT-05 without --verify: [checkpoint] verify, else the tests of passing features, else exit 2; without git exit 3', async () => {
    const project = await makeForge();
    expect(await forgeError(project, ['checkpoint', 'create', 'X'])).toMatchObject({
      exitCode: 2,
      code: 'checkpoint.no_verify',
      hint: expect.stringContaining('--verify'),
    });
    await forgeJson(project, 'feature add --no-run A a --test "node -e 0" --test true');
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'node -e 0']);
    await forgeJson(project, ['feature', 'add', '--no-run', 'C', 'c', '--test', 'false']);
    await forgeJson(project, ['feature', 'verify', 'A', 'B']);
    expect((await forgeJson<Made>(project, ['checkpoint', 'create', 'X'])).verified_by).toEqual([
      'node -e 0',
      'true',
    ]);
    project.write(CONFIG, project.read(CONFIG).replace('#verify = []', 'verify = ["node -e 1"]'));
    // It came with the repository, as far as forge knows.
    await expectError(project, ['checkpoint', 'create', 'X'], '3 trust.needed');
    expect((await runForge(project, ['trust', '--show'])).stdout).toContain('[checkpoint] verify');
    await forgeJson(project, ['trust', '--yes'], { terminal: true });
    expect((await forgeJson<Made>(project, 'checkpoint create X')).verified_by).toEqual(['node -e 1']);
    await expectError(
      await makePlainForge(),
      ['checkpoint', 'create', 'X', '--verify', 'true'],
      '3 git.none',
    );
  });

  it('LTM-12 GIT-05 commands get a cleaned environment and no input', async () => {
    const project = await makeForge();
    const ask = 'sh -c \'test -z "$SECRET_OF_MINE" && test -z "$(cat)"\'';
    const env = { SECRET_OF_MINE: 'x' };
    expect((await runForge(project, ['checkpoint', 'create', 'X', '--verify', ask], { env })).exitCode).toBe(
      0,
    );
  });

  it('GIT-05 tag.gpgSign is honoured, and a signing program that the repository names is not run', async () => {
    const project = await makeForge();
    project.git('config', 'tag.gpgSign', 'true');
    project.write('.git/evil', `#!/bin/sh\ntouch ${project.path('.git/ran')}\nexit 1\n`);
    project.git('config', 'gpg.program', project.path('.git/evil'));
    const { exitCode } = await forgeError(project, ['checkpoint', 'create', 'X', '--verify', 'true']);
    expect([exitCode, project.has('.git/ran'), project.git('tag')]).toEqual([6, false, '']);
  });

  it('GIT-05 a failing, missing or slow command refuses with exit 1, and leaves nothing', async () => {
    const project = await makeForge();
    await record(project);
    const config = project.read(CONFIG);
    const before = gitState(project);
    for (const [command, message, seconds = 600] of [
      ['false', /^false: exit code 1; no checkpoint was made\.$/],
      ['no-such-program', /not found/],
      ['sleep 1000', /stopped after 1 s/, 1],
      ['node -e "process.kill(process.pid)"', /ended by a signal/],
    ] as const) {
      project.write(CONFIG, config.replace('#timeout_seconds = 600', `timeout_seconds = ${seconds}`));
      const args = ['checkpoint', 'create', 'X', '--verify', 'true', '--verify', command];
      const error = await forgeError(project, args);
      expect([command, error.exitCode, error.code]).toEqual([command, 1, 'checkpoint.failed']);
      expect(error.message).toMatch(message);
      expect(gitState(project)).toEqual(before);
    }
    expect(project.has('.git/forge/checkpoints')).toBe(false);
    expect(project.has(fileOf('X-v1'))).toBe(false);
  });

  it('GIT-05 a tree that is dirty outside .forge/ is refused with its files: changed, staged, untracked, hidden from git', async () => {
    const project = await makeForge();
    project.write('new file', 'x');
    project.write('src/app.js', 'changed\n');
    project.git('update-index', '--assume-unchanged', 'package.json');
    project.write('package.json', '{}\n');
    const error = await forgeError(project, ['checkpoint', 'create', 'X', '--verify', 'true']);
    expect(error).toMatchObject({
      exitCode: 3,
      code: 'checkpoint.dirty',
      files: ['new file', 'package.json', 'src/app.js'],
    });
    expect(error.message).toContain('new file, package.json, src/app.js');
    expect(project.git('tag')).toBe('');
    // git add and git stash would not see that file.
    expect(error.hint).toContain("git ls-files -v | grep '^[a-zS]'");
  });

  it('GIT-05 a command that changes files judges another state: refused', async () => {
    const project = await makeForge();
    const write = "node -e \"fs.writeFileSync('written', 'x')\"";
    const error = await forgeError(project, ['checkpoint', 'create', 'X', '--verify', write]);
    expect(error).toMatchObject({ exitCode: 1, code: 'checkpoint.changed', files: ['written'] });
    project.write('.gitignore', 'written\n');
    project.git('add', '.gitignore');
    project.git('commit', '-qm', 'Ignore');
    expect((await forgeJson<Made>(project, ['checkpoint', 'create', 'X', '--verify', write])).tag).toBe(
      'checkpoint/X-v1',
    );
  });

  it('GIT-05 records that a rule keeps out of git are refused, and the hint shows them', async () => {
    const project = await makeForge();
    project.write('.gitignore', '*.jsonl\n');
    project.git('add', '.gitignore');
    project.git('commit', '-qm', 'Ignore');
    await record(project);
    const { message, hint } = await forgeError(project, 'checkpoint create X --verify true');
    expect(message).toMatch(/git does not have all records of memory/);
    expect(run(project.dir, 'sh', ['-c', hint ?? '']).stdout).toContain('.forge/memory/ledger/');
  });

  it('GIT-05 a commit that comes in while the commands run is refused', async () => {
    const project = await makeForge();
    const error = await forgeError(project, [
      ...['checkpoint', 'create', 'X', '--verify'],
      'sh -c \'echo x >other && git add other && git commit -qm "Meanwhile"\'',
    ]);
    expect(error.code).toMatch(/^checkpoint\.(moved|changed)$/);
    expect(project.git('tag')).toBe('');
  });
});
