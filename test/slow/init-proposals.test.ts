import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, differences, makeForge, snapshot } from '../support/forge-project.js';
import { makePlainProject, makeRepository, run } from '../support/project.js';
import { init, makeTelling, settings } from '../support/proposals.js';

const SCRIPT = '.forge/init.sh';

describe('proposals of forge init', () => {
  it('LAY-04 --yes accepts safe proposals, and explains how to accept the rest', async () => {
    const project = makeTelling();
    const result = await init(project, ['--yes']);
    expect(result.proposals).toEqual([
      {
        name: 'stack',
        value: 'mixed',
        from: 'package.json, services/api/go.mod',
        taken: true,
      },
      { name: 'test', value: 'npm test', from: 'package.json', taken: false },
      {
        name: 'id_pattern',
        value: 'SHOP-\\d+',
        from: 'recent commits',
        taken: true,
      },
      { name: 'branch', value: 'main', from: 'git', taken: true },
    ]);
    expect(result.parts.map(({ stack, folder }) => `${stack} ${folder}`)).toEqual([
      'node .',
      'go services/api',
    ]);
    expect(result.next).toEqual([
      'sh .forge/init.sh',
      'forge feature add "First thing to build"',
      'forge start',
    ]);
    expect(settings(project)).toEqual({
      schema_version: 1,
      project: { name: 'sample' },
      ...Object.fromEntries(
        Object.keys(settings(project))
          .filter((name) => !['schema_version', 'project', 'commit'].includes(name))
          .map((name) => [name, {}]),
      ),
      commit: { id_pattern: 'SHOP-\\d+' },
    });
  });

  it('LAY-04 every answer is a flag, and typed commands are approved', async () => {
    const project = makeTelling();
    const flags = ['--stack', 'node', '--test', 'npm test', '--id-pattern', '#\\d+', '--branch', 'develop'];
    const result = await init(project, flags);
    expect(settings(project)).toMatchObject({
      commit: { id_pattern: '#\\d+' },
      git: { default_branch: 'develop' },
      checkpoint: { verify: ['npm test'] },
    });
    expect(result.stack).toBe('node');
    expect(result.proposals.map(({ name, taken }) => [name, taken])).toEqual([
      ['stack', false],
      ['test', true],
      ['id_pattern', false],
      ['branch', false],
    ]);
    expect(await forgeJson(project, ['trust', '--show'])).toMatchObject({ trusted: true });
    // Nothing but what is given.
    const plain = makeTelling();
    await init(plain, ['--id-pattern', '', '--test', '', '--branch', '']);
    expect(settings(plain)).toMatchObject({ commit: {}, git: {}, checkpoint: {} });
    expect(settings(plain).commit).toEqual({});
  });

  it('LAY-04 LTM-12 a wrong answer is exit 2 before anything is written', async () => {
    const project = makeTelling();
    const before = snapshot(project.dir);
    const calls: [args: string[], code: string][] = [
      [['--stack', 'NODE'], 'init.stack'],
      [['--test', 'npm test | tee log'], 'command.shell'],
      [['--id-pattern', '(?=a)'], 'init.id_pattern'],
      [['--branch', '--upload-pack=x'], 'init.branch'],
      [['--branch', 'a..b'], 'init.branch'],
    ];
    for (const [args, code] of calls)
      expect([args, await forgeError(project, ['init', ...args])]).toEqual([
        args,
        expect.objectContaining({ exitCode: 2, code }),
      ]);
    const builder = { env: { FORGE_ROLE: 'builder' } };
    for (const flag of ['--test', '--stack'])
      expect(await forgeError(project, ['init', flag, 'node'], builder)).toMatchObject({
        exitCode: 3,
        code: 'role.denied',
      });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('LAY-04 restores a removed folder, and one line reports the restored records', async () => {
    const project = makeRepository();
    await init(project);
    for (const text of ['one', 'two']) await forgeJson(project, ['note', 'add', text]);
    rmSync(project.path('.forge'), { recursive: true });
    await init(project);
    const { stderr } = await runForge(project, ['session', 'start']);
    expect(stderr.match(/^! restored 2 records that had gone missing$/gm)).toHaveLength(1);
    const { notes } = await forgeJson<{ notes: { text: string }[] }>(project, ['note', 'list']);
    expect(notes.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('LAY-02 in an existing forge, flags for settings change nothing and name the command to use', async () => {
    const project = await makeForge();
    const config = project.read(CONFIG);
    const { skipped, proposals } = await init(project, ['--name', 'x', '--test', 'true', '--branch', 'y']);
    expect(skipped).toEqual([
      '--name: config.toml exists; forge config set project.name NAME',
      '--test: config.toml exists; forge config set checkpoint.verify "COMMAND"',
      '--branch: config.toml exists; forge config set git.default_branch NAME',
    ]);
    expect([proposals, project.read(CONFIG)]).toEqual([[], config]);
  });

  it('LAY-04 damaged, huge, linked or unreadable files do not make it fail', async () => {
    const project = makePlainProject();
    project.write('package.json', `{ "scripts": { "test": "x" }, "x": "${'x'.repeat(5_000_000)}" }`);
    run(project.dir, 'mkfifo', ['Makefile']);
    symlinkSync('/dev/zero', project.path('setup.cfg'));
    project.write('pyproject.toml', 'x');
    chmodSync(project.path('pyproject.toml'), 0);
    const result = await init(project);
    expect([result.stack, result.proposals.map(({ name }) => name)]).toEqual(['mixed', ['stack']]);

    const broken = makePlainProject();
    broken.write('package.json', '\uFEFF{\r\n  "scripts": {\r\n');
    expect((await init(broken)).proposals).toMatchObject([{ name: 'stack', value: 'node' }]);
    broken.write('.forge/memory/long-term/features.json', '{ "features": [');
    expect((await runForge(broken, ['init'])).exitCode).toBe(0);
  });

  it('LAY-02 keeps an init.sh when the project changed; a new one fits it, and is approved', async () => {
    const project = makePlainProject();
    expect((await init(project)).stack).toBe('none');
    const before = project.read(SCRIPT);
    project.write('go.mod', 'module a\n');
    const kept = await init(project, ['--stack', 'go']);
    expect(kept.kept).toContain(SCRIPT);
    expect(kept.skipped).toContainEqual(expect.stringMatching(/^--stack: \.forge\/init\.sh stays as it is/));
    expect(project.read(SCRIPT)).toBe(before);
    rmSync(project.path(SCRIPT));
    expect((await init(project)).repaired).toEqual([SCRIPT]);
    expect(project.read(SCRIPT)).toContain('part go .');
    expect((await forgeJson<{ trusted: boolean }>(project, ['trust', '--show'])).trusted).toBe(true);
  });
});
