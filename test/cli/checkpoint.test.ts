import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeDocument } from '../../src/domain/document.js';
import { openForge } from '../../src/index.js';
import { fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { changedPaths, makeFolder, type Project, run } from '../support/project.js';
import { fill, seeded } from '../support/secrets.js';
import { check, create, fileOf, gitState, list, type Made, statesOf } from './checkpoints.js';
import { logOf, makeKey, nameKey, record, verify } from './memory.js';
import { CONFIG, makeForge, makePlainForge } from './project.js';

/** Without the last line break. */
const contentsOf = (project: Project, tag: string): string =>
  project.git('for-each-ref', '--format=%(contents)', `refs/tags/${tag}`);

describe('forge checkpoint create', () => {
  it('GIT-05 commits .forge/, runs the commands, makes an annotated tag and the manifest, which say the same', async () => {
    const project = await makeForge();
    const world = { world: fixedClock('2026-03-01T10:00:00.000Z') };
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'node -e 0', '--issue', 'SX9-1']);
    await forgeJson(project, ['feature', 'verify', 'A']);
    await forgeJson(project, ['session', 'start'], world);
    const made = await forgeJson<Made>(
      project,
      [
        'checkpoint',
        'create',
        'SX9-1',
        '--verify',
        'node -e "console.log(1)"',
        '--verify',
        'true',
        '-m',
        '# works\nwell',
      ],
      world,
    );
    const file = project.json<Made>(fileOf('SX9-1-v1'));
    expect(Object.keys(file)).toEqual([
      ...['schema_version', 'tag', 'commit', 'timestamp', 'verified_by', 'features_passing'],
      ...[
        'linear_issues_closed',
        'can_rollback_to',
        'message',
        'tree',
        'branch',
        'session',
        'ledger',
        'evidence',
      ],
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
    expect(made.evidence).toMatchObject([{ exit_code: 0 }, { command: 'true', exit_code: 0 }]);

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
    expect(readdirSync(project.path('.git/forge/checkpoints'))).toEqual([]);
    expect(await check(project)).toMatchObject({ exitCode: 0, findings: [] });
    expect((await verify(project)).status).toBe('intact');
  });

  it('GIT-05 says how others get it where there is a remote, by the name that it has', async () => {
    const project = await makeForge();
    const said = async (): Promise<string> =>
      (await runForge(project, ['checkpoint', 'create', 'X', '--verify', 'true'])).stdout;
    expect(await said()).not.toContain('push');
    project.git('remote', 'add', "it's", 'https://example.com/x.git');
    expect(await said()).toContain("  others get it with: git push 'it'\\''s' checkpoint/X-v2\n");
    project.git('remote', 'add', 'other', 'https://example.com/y.git');
    expect(await said()).not.toContain('push');
    project.git('remote', 'add', 'origin', 'https://example.com/z.git');
    expect(await create(project, 'X')).toMatchObject({ push: 'git push origin checkpoint/X-v4' });
  });

  it('GIT-05 the tested tree is the commit’s without .forge/, by git’s own means', async () => {
    const project = await makeForge();
    const made = await create(project, 'X');
    const entries = project
      .git('ls-tree', made.commit)
      .split('\n')
      .filter((line) => !line.endsWith('\t.forge'));
    const tree = run(project.dir, 'git', ['mktree'], { input: `${entries.join('\n')}\n` }).stdout.trim();
    expect(made.evidence?.map((evidence) => evidence.tree)).toEqual([tree]);
  });

  it('GIT-05 the name comes from the argument, else the focused issue, feature, or the session; numbers go up', async () => {
    const project = await makeForge();
    const world = { world: fixedClock('2026-03-01T10:00:00.000Z') };
    const make = (...args: string[]): Promise<Made> =>
      forgeJson(project, ['checkpoint', 'create', ...args, '--verify', 'true'], world);
    expect(await forgeError(project, ['checkpoint', 'create', '--verify', 'true'])).toMatchObject({
      exitCode: 2,
      code: 'checkpoint.issue',
    });
    await forgeJson(project, ['session', 'start'], world);
    expect((await make()).tag).toBe('checkpoint/2026-03-01-session-001-v1');
    await forgeJson(project, ['session', 'end'], world);
    expect((await make()).tag).toBe('checkpoint/2026-03-01-session-001-v2');
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
    '--force',
    '-d',
    'a\nb',
    'a b',
    'a..b',
    'a/b',
    'a~1',
    'a:b',
    '',
    '.x',
    'x.',
    'é',
    'x'.repeat(65),
    'con',
  ])('B-42 GIT-05 the name %j is refused, and nothing is made', async (name) => {
    const project = await makeForge();
    const before = gitState(project);
    const args = ['--json', 'checkpoint', 'create', '--verify', 'true', '--', name];
    const { exitCode, stderr } = await runForge(project, args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('"code":"id.invalid"')]);
    expect(gitState(project)).toEqual(before);
  });

  it('GIT-05 without --verify: [checkpoint] verify, else the tests of passing features, else exit 2', async () => {
    const project = await makeForge();
    expect(await forgeError(project, ['checkpoint', 'create', 'X'])).toMatchObject({
      exitCode: 2,
      code: 'checkpoint.no_verify',
      hint: expect.stringContaining('--verify'),
    });
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'node -e 0', '--test', 'true']);
    await forgeJson(project, ['feature', 'add', 'B', 'b', '--test', 'node -e 0']);
    await forgeJson(project, ['feature', 'add', 'C', 'c', '--test', 'false']);
    await forgeJson(project, ['feature', 'verify', 'A', 'B']);
    expect((await forgeJson<Made>(project, ['checkpoint', 'create', 'X'])).verified_by).toEqual([
      'node -e 0',
      'true',
    ]);
    project.write(CONFIG, project.read(CONFIG).replace('#verify = []', 'verify = ["node -e 1"]'));
    // It came with the repository, as far as forge knows.
    expect(await forgeError(project, ['checkpoint', 'create', 'X'])).toMatchObject({
      exitCode: 3,
      code: 'trust.needed',
    });
    expect((await runForge(project, ['trust', '--show'])).stdout).toContain('[checkpoint] verify');
    await forgeJson(project, ['trust', '--yes'], { terminal: true });
    expect((await forgeJson<Made>(project, ['checkpoint', 'create', 'X'])).verified_by).toEqual([
      'node -e 1',
    ]);
  });

  it('GIT-05 a failing, missing or slow command refuses with exit 1, and leaves nothing', async () => {
    const project = await makeForge();
    await record(project);
    project.write(CONFIG, project.read(CONFIG).replace('#timeout_seconds = 600', 'timeout_seconds = 1'));
    const before = gitState(project);
    for (const [command, message] of [
      ['false', /^false: exit code 1; no checkpoint was made\.$/],
      ['no-such-program', /not found/],
      ['sleep 30', /stopped after 1 s/],
      ['node -e "process.kill(process.pid)"', /ended by a signal/],
    ] as const) {
      const args = ['checkpoint', 'create', 'X', '--verify', 'true', '--verify', command];
      const error = await forgeError(project, args);
      expect([command, error.exitCode, error.code]).toEqual([command, 1, 'checkpoint.failed']);
      expect(error.message).toMatch(message);
      expect(gitState(project)).toEqual(before);
    }
    expect(readdirSync(project.path('.git/forge/checkpoints'))).toEqual([]);
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

  it('GIT-05 a commit that comes in while the commands run is refused', async () => {
    const project = await makeForge();
    const error = await forgeError(project, [
      ...['checkpoint', 'create', 'X', '--verify'],
      'sh -c \'echo x >other && git add other && git commit -qm "Meanwhile"\'',
    ]);
    expect(error.code).toMatch(/^checkpoint\.(moved|changed)$/);
    expect(project.git('tag')).toBe('');
  });

  it('LTM-12 GIT-05 commands get a cleaned environment and no input', async () => {
    const project = await makeForge();
    const ask = 'sh -c \'test -z "$SECRET_OF_MINE" && test -z "$(cat)"\'';
    const env = { SECRET_OF_MINE: 'x' };
    expect((await runForge(project, ['checkpoint', 'create', 'X', '--verify', ask], { env })).exitCode).toBe(
      0,
    );
  });

  it('LTM-13 GIT-05 a secret in a command or message is refused before anything runs', async () => {
    const project = await makeForge();
    const before = project.git('for-each-ref');
    const secret = fill('ghp_{crc}', seeded(1));
    const error = await forgeError(project, ['checkpoint', 'create', 'X', '--verify', `echo ${secret}`]);
    expect(error.exitCode).toBe(5);
    expect(project.git('for-each-ref')).toBe(before);
  });

  it('LTM-18 GIT-05 seals memory where a supervisor’s key is there', async () => {
    const project = await makeForge();
    await record(project);
    const key = nameKey(project, makeKey(makeFolder()));
    const made = await forgeJson<Made>(project, ['checkpoint', 'create', 'X', '--verify', 'true'], {
      env: { FORGE_SUPERVISOR_KEY: key },
    });
    expect((await logOf(project, 'audit')).map(({ kind }) => kind)).toContain('seal');
    expect(made.ledger?.audit?.records).toBe(2);
  });

  it('GIT-05 without git it is refused', async () => {
    const project = await makePlainForge();
    expect(await forgeError(project, ['checkpoint', 'create', 'X', '--verify', 'true'])).toMatchObject({
      exitCode: 3,
      code: 'checkpoint.place',
    });
    expect(await list(project)).toEqual([]);
  });

  it('GIT-05 tag.gpgSign is honoured, and a signing program that the repository names is not run', async () => {
    const project = await makeForge();
    project.git('config', 'tag.gpgSign', 'true');
    project.write('.git/evil', `#!/bin/sh\ntouch ${project.path('.git/ran')}\nexit 1\n`);
    project.git('config', 'gpg.program', project.path('.git/evil'));
    const { exitCode } = await forgeError(project, ['checkpoint', 'create', 'X', '--verify', 'true']);
    expect([exitCode, project.has('.git/ran'), project.git('tag')]).toEqual([6, false, '']);
    expect(readdirSync(project.path('.git/forge/checkpoints'))).toEqual([]);
  });
});

describe.skipIf(run('/', 'ssh-keygen', ['-?']).exitCode === null)('a signed checkpoint', () => {
  it('GIT-05 holds its manifest before the signature, and git verifies it', async () => {
    const project = await makeForge();
    const key = join(makeFolder(), 'key');
    run(project.dir, 'ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    for (const [name, value] of [
      ['tag.gpgSign', 'true'],
      ['gpg.format', 'ssh'],
      ['user.signingKey', key],
      ['gpg.ssh.allowedSignersFile', `${key}.allowed`],
    ] as const)
      project.git('config', name, value);
    const email = project.git('config', 'user.email');
    writeFileSync(`${key}.allowed`, `${email} ${readFileSync(`${key}.pub`, 'utf8')}`);
    await create(project, 'X');
    expect(run(project.dir, 'git', ['tag', '-v', 'checkpoint/X-v1']).stderr).toContain(
      'Good "git" signature',
    );
    expect(await statesOf(project)).toEqual(['X-v1 ok']);
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
  });
});

describe('forge checkpoint list and show', () => {
  it('GIT-05 shows one with or without checkpoint/, and knows what is none', async () => {
    const project = await makeForge();
    const made = await create(project, 'X', '-m', 'It works');
    for (const tag of ['X-v1', 'checkpoint/X-v1'])
      expect(await forgeJson(project, ['checkpoint', 'show', tag])).toMatchObject({
        tag: 'checkpoint/X-v1',
        state: 'ok',
        commit: made.commit,
        file: fileOf('X-v1'),
        ledger: made.ledger,
      });
    expect((await runForge(project, ['checkpoint', 'show', 'X-v1'])).stdout).toContain('It works');
    expect(await forgeError(project, ['checkpoint', 'show', 'x-v1'])).toMatchObject({
      exitCode: 2,
      code: 'checkpoint.unknown',
      hint: 'Did you mean X-v1?',
    });
    for (const tag of ['--', 'X', 'X-v1\n', '../X-v1', '-n'])
      expect((await runForge(project, ['checkpoint', 'show', '--', tag])).exitCode).toBe(2);
  });

  it('GIT-05 a tag that forge did not make is shown as one', async () => {
    const project = await makeForge();
    project.git('tag', '-a', 'checkpoint/SX9-123-v1', '-m', 'Working ATLAS-NATS connection');
    project.git('tag', 'checkpoint/other');
    expect(await statesOf(project)).toEqual(['SX9-123-v1 unverified']);
  });

  it('GIT-05 the latest one that can be gone back to is the library’s to ask for', async () => {
    const project = await makeForge();
    const latest = async (): Promise<string | undefined> =>
      (await openForge(project.dir).checkpoint.latest())?.name;
    expect(await latest()).toBeUndefined();
    await create(project, 'A');
    await create(project, 'B');
    expect(await latest()).toBe('B-v1');
    project.git('tag', '-f', 'checkpoint/B-v1', 'HEAD');
    expect(await latest()).toBe('A-v1');
    // One of a branch that HEAD does not lead to comes behind those of this one.
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['note', 'add', 'there']);
    await create(project, 'C');
    project.git('switch', '-q', 'main');
    expect(await latest()).toBe('A-v1');
  });
});

describe('forge checkpoint verify', () => {
  const damages: [what: string, code: string, damage: (project: Project, made: Made) => void][] = [
    [
      'the tag moved',
      'moved',
      (project) =>
        project.git(
          'tag',
          '-f',
          '-a',
          'checkpoint/X-v1',
          '-m',
          contentsOf(project, 'checkpoint/X-v1'),
          '--cleanup=verbatim',
          'HEAD',
        ),
    ],
    ['the tag was deleted', 'missing', (project) => project.git('tag', '-d', 'checkpoint/X-v1')],
    [
      'the tag was made lightweight',
      'moved',
      (project, { commit }) => project.git('tag', '-f', 'checkpoint/X-v1', commit),
    ],
    [
      'the tag was made anew by hand',
      'unverified',
      (project, { commit }) => project.git('tag', '-f', '-a', 'checkpoint/X-v1', '-m', 'x', commit),
    ],
    [
      'the manifest was edited',
      'tampered',
      (project) =>
        project.write(fileOf('X-v1'), project.read(fileOf('X-v1')).replace('"true"', '"npm test"')),
    ],
    [
      'the manifest is half written',
      'damaged',
      (project) => project.write(fileOf('X-v1'), project.read(fileOf('X-v1')).slice(0, 90)),
    ],
    [
      'the manifest is another one’s',
      'tampered',
      (project) => project.write(fileOf('Y-v1'), project.read(fileOf('X-v1'))),
    ],
    [
      'the manifest is of another repository',
      'unknown',
      (project, { commit }) =>
        project.write(
          fileOf('Y-v1'),
          project.read(fileOf('X-v1')).replaceAll('X-v1', 'Y-v1').replaceAll(commit, 'd'.repeat(40)),
        ),
    ],
  ];
  it.each(damages)('B-108 GIT-05 %s: %s, exit 1', async (_what, code, damage) => {
    const project = await makeForge();
    await record(project);
    const made = await create(project, 'X');
    project.write('src/app.js', 'export const answer = 43;\n');
    project.git('commit', '-qam', 'More');
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [], checkpoints: ['checkpoint/X-v1'] });
    damage(project, made);
    const found = await check(project);
    expect([found.exitCode, found.codes]).toEqual([1, [code]]);
    for (const { hint, tag } of found.findings)
      expect([hint.length > 5, tag.startsWith('checkpoint/')]).toEqual([true, true]);
    // None of it hinders the work, or is gone back to.
    expect((await runForge(project, ['note', 'add', 'goes on'])).exitCode).toBe(0);
    const rows = await list(project);
    expect(rows.filter(({ state, can_rollback_to }) => state !== 'ok' && can_rollback_to)).toEqual([]);
  });

  it('B-108 GIT-05 tag and manifest made anew together, for what was never tested: exit 1', async () => {
    const project = await makeForge();
    const made = await create(project, 'X');
    project.write('src/app.js', 'never tested\n');
    project.git('commit', '-qam', 'Untested');
    const { manifest_commit: _, ...manifest } = made;
    const commit = project.git('rev-parse', 'HEAD');
    const forged = encodeDocument({ ...manifest, commit }).toString();
    project.write(fileOf('X-v1'), forged);
    project.git('tag', '-f', '-a', '--cleanup=verbatim', '-m', `x\n\n${forged}`, 'checkpoint/X-v1', commit);
    expect(await check(project, ['X-v1'])).toMatchObject({ exitCode: 1, codes: ['evidence'] });
  });

  it('GIT-05 --run runs the commands again where the files are the checkpoint’s, and only what was approved here', async () => {
    const project = await makeForge();
    project.write('.gitignore', 'switch\n');
    project.git('add', '.gitignore');
    project.git('commit', '-qm', 'Ignore');
    await forgeJson(project, ['checkpoint', 'create', 'X', '--verify', 'test ! -e switch']);
    await forgeJson(project, ['note', 'add', 'memory goes on']);
    expect(await check(project, ['--run'])).toMatchObject({ exitCode: 0, evidence: [{ exit_code: 0 }] });
    project.write('switch', '');
    expect(await check(project, ['X-v1', '--run'])).toMatchObject({ exitCode: 1, codes: ['run'] });
    project.write('src/app.js', 'changed\n');
    expect(await forgeError(project, ['checkpoint', 'verify', '--run'])).toMatchObject({
      exitCode: 3,
      code: 'checkpoint.elsewhere',
      hint: expect.stringContaining('git worktree add'),
    });
    project.git('checkout', '-q', 'src/app.js');
    await forgeJson(project, ['trust', '--revoke'], { terminal: true });
    expect(await forgeError(project, ['checkpoint', 'verify', '--run'])).toMatchObject({
      exitCode: 3,
      code: 'trust.needed',
    });
  });
});
