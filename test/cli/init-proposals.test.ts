import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { InitResult } from '../../src/index.js';
import { atTerminal } from '../e2e/terminal.js';
import { forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { makePlainProject, makeRepository, type Project, run } from '../support/project.js';
import { templates } from '../support/secret-templates.js';
import { fill, seeded } from '../support/secrets.js';
import { CONFIG, differences, FEATURES, makeForge, putFeatures, snapshot } from './project.js';

const init = (project: Project, args: string[] = [], options: RunOptions = {}): Promise<InitResult> =>
  forgeJson<InitResult>(project, ['init', ...args], options);

/** A token as a server gives it. */
const secret = (): string => fill(templates['github-pat'] as string, seeded(7));

const proposed = ({ proposals }: InitResult, name: string): unknown =>
  proposals.find((proposal) => proposal.name === name)?.value;

const settings = (project: Project): Record<string, Record<string, unknown>> =>
  parse(project.read(CONFIG)) as never;

const idsOf = (project: Project): string[] =>
  project
    .json<{ features: { id: string; name: string }[] }>(FEATURES)
    .features.map(({ id, name }) => `${id} ${name}`);

function commitAll(project: Project, ...messages: string[]): void {
  for (const message of messages) project.git('commit', '-q', '--allow-empty', '-m', message);
}

/** With everything in it that init knows how to read. */
function makeTelling(): Project {
  const project = makeRepository();
  project.write('README.md', '# Shop\r\n\r\n- [ ] **Login** works\r\n- [x] Begun\r\n- [ ] Export as CSV\r\n');
  project.write('services/api/go.mod', 'module example.com/api\n');
  project.git('add', '.');
  commitAll(project, 'SHOP-1: a', 'SHOP-2: b', '[SHOP-3] c');
  return project;
}

describe('what forge init proposes', () => {
  it('LAY-04 --yes takes what is safe, and says how the rest is taken', async () => {
    const project = makeTelling();
    const result = await init(project, ['--yes']);
    expect(result.proposals).toEqual([
      {
        name: 'stack',
        value: 'mixed',
        from: 'package.json, services/api/go.mod',
        taken: true,
        flag: '--stack mixed',
      },
      { name: 'test', value: 'npm test', from: 'package.json', taken: false, flag: "--test 'npm test'" },
      {
        name: 'id_pattern',
        value: 'SHOP-\\d+',
        from: 'recent commits',
        taken: true,
        flag: "--id-pattern 'SHOP-\\d+'",
      },
      { name: 'branch', value: 'main', from: 'git', taken: true, flag: '--branch main' },
      {
        name: 'features',
        value: '2 features (Login works; Export as CSV)',
        from: 'README.md',
        taken: false,
        flag: '--features README.md',
      },
    ]);
    expect(result.parts.map(({ stack, folder }) => `${stack} ${folder}`)).toEqual([
      'node .',
      'go services/api',
    ]);
    expect(result.next).toEqual([
      'sh .forge/init.sh',
      'forge init --features README.md',
      'forge session start',
    ]);
    expect(settings(project)).toEqual({
      schema_version: 1,
      project: { name: project.dir.split('/').at(-1) },
      ...Object.fromEntries(
        Object.keys(settings(project))
          .filter((name) => !['schema_version', 'project', 'commit'].includes(name))
          .map((name) => [name, {}]),
      ),
      commit: { id_pattern: 'SHOP-\\d+' },
    });
    expect(idsOf(project)).toEqual([]);
    // What comes next works as it stands.
    expect((await init(project, ['--features', 'README.md'])).features).toEqual(['FORGE-001', 'FORGE-002']);
    expect(idsOf(project)).toEqual(['FORGE-001 Login works', 'FORGE-002 Export as CSV']);
    const again = await init(project, ['--features', 'README.md']);
    expect([again.features, again.next]).toEqual([[], ['sh .forge/init.sh', 'forge session start']]);
    expect(again.skipped).toEqual(['--features README.md: all that it lists is there already']);
    expect((await runForge(project, ['next'])).stdout).toContain('FORGE-001');
  });

  it('LAY-04 every answer is a flag, and what was typed is approved', async () => {
    const project = makeTelling();
    const flags = ['--stack', 'node', '--test', 'npm test', '--id-pattern', '#\\d+', '--branch', 'develop'];
    const result = await init(project, [...flags, '--features', 'README.md']);
    expect(settings(project)).toMatchObject({
      commit: { id_pattern: '#\\d+' },
      git: { default_branch: 'develop' },
      checkpoint: { verify: ['npm test'] },
    });
    expect([result.stack, result.features]).toEqual(['node', ['FORGE-001', 'FORGE-002']]);
    expect(result.proposals.map(({ name, taken }) => [name, taken])).toEqual([
      ['stack', false],
      ['test', true],
      ['id_pattern', false],
      ['branch', false],
      ['features', true],
    ]);
    expect(await forgeJson(project, ['trust', '--show'])).toMatchObject({ trusted: true });
    expect(await forgeError(project, ['memory', 'fold'])).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('the default branch is develop'),
    });
    // Nothing but what is given.
    const plain = makeTelling();
    await init(plain, ['--id-pattern', '', '--test', '', '--branch', '']);
    expect(settings(plain)).toMatchObject({ commit: {}, git: {}, checkpoint: {} });
    expect(settings(plain).commit).toEqual({});
  });

  it('LAY-04 a wrong answer is exit 2 before anything is written', async () => {
    const project = makeTelling();
    project.write('empty.md', '# nothing\n- no task\n');
    project.write('broken.json', '[{ "name": ');
    project.write('twice.json', '[{ "id": "A-1", "name": "a" }, { "id": "A-1", "name": "b" }]');
    const before = snapshot(project.dir);
    const calls: [args: string[], code: string][] = [
      [['--stack', 'NODE'], 'init.stack'],
      [['--test', 'npm test | tee log'], 'command.shell'],
      [['--id-pattern', '(a+)+'], 'init.id_pattern'],
      [['--branch', '--upload-pack=x'], 'init.branch'],
      [['--branch', 'a..b'], 'init.branch'],
      [['--features', 'nowhere.md'], 'file.unreadable'],
      [['--features', 'empty.md'], 'init.features'],
      [['--features', 'broken.json'], 'import.json'],
      [['--features', 'twice.json'], 'import.twice'],
    ];
    for (const [args, code] of calls)
      expect([args, await forgeError(project, ['init', ...args])]).toEqual([
        args,
        expect.objectContaining({ exitCode: 2, code }),
      ]);
    const builder = { env: { FORGE_ROLE: 'builder' } };
    for (const args of [
      ['--test', 'true'],
      ['--features', 'README.md'],
    ])
      expect(await forgeError(project, ['init', ...args], builder)).toMatchObject({
        exitCode: 3,
        code: 'role.denied',
      });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('LAY-04 --dry-run shows the proposals, and what would be made of a list, and writes nothing', async () => {
    const project = makeTelling();
    const before = snapshot(project.dir);
    const planned = await init(project, ['--dry-run', '--features', 'README.md']);
    expect(planned.features).toEqual(['FORGE-001', 'FORGE-002']);
    const { stdout } = await runForge(project, ['init', '-n']);
    for (const line of [
      /^ {2}stack +mixed +package\.json, services\/api\/go\.mod$/m,
      /^ {2}tests +npm test +package\.json; for checkpoints too: \.forge\/config\.toml, verify = \["npm test"\]$/m,
      /^ {2}issue ids +SHOP-\\d\+ +recent commits$/m,
      /^ {2}features +2 features \(Login works; Export as CSV\) +README\.md; to take it: forge init --features README\.md$/m,
    ])
      expect(stdout).toMatch(line);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('LAY-04 what test files import tells the command, unless they are reached by a link', async () => {
    const project = makePlainProject();
    const test = 'import unittest\n';
    project.write('pyproject.toml', '[project]\nname = "shop"\n# pytest, some day\n');
    project.write('elsewhere/test_a.py', test);
    symlinkSync('elsewhere', project.path('tests'));
    expect(proposed(await init(project, ['--dry-run']), 'test')).toBeUndefined();
    rmSync(project.path('tests'));
    project.write('tests/test_a.py', test);
    const { proposals } = await init(project, ['--dry-run']);
    expect(proposals.find(({ name }) => name === 'test')).toMatchObject({
      value: '.venv/bin/python -m unittest discover -s tests',
      from: 'tests/test_a.py',
    });
  });

  it('LAY-04 the first feature that is proposed is called as the project calls its issues', async () => {
    const project = makeRepository();
    commitAll(project, 'ABC-1: a', 'ABC-2: b', 'ABC-3: c');
    const add = 'forge feature add ABC-001 "First thing to build"';
    expect((await init(project)).next.join()).toContain(add);
    expect((await runForge(project, [])).stdout).toContain(add);
    // A second time the commits are not read: the setting says it.
    expect((await init(project)).next.join()).toContain(add);
    expect((await init(project, ['--id-pattern', 'WEB-\\d+'])).next.join()).toContain(add);
    expect((await runForge(project, ['feature', 'list'])).stdout).not.toContain('FORGE-');
    project.write(CONFIG, 'not toml');
    expect((await init(project)).next.join()).toContain('add FORGE-001 ');
    const other = makeRepository();
    expect((await init(other, ['--id-pattern', '(SHOP|WEB)-\\d+'])).next.join()).toContain('add SHOP-001 ');
    const plain = makeRepository();
    expect((await init(plain, ['--id-pattern', '#\\d+'])).next.join()).toContain('add FORGE-001 ');
  });

  it('LAY-04 a folder that was removed comes back, and one line says what of the ledgers did', async () => {
    const project = makeRepository();
    await init(project);
    rmSync(project.path('.forge'), { recursive: true });
    await init(project);
    const { stderr } = await runForge(project, ['session', 'start']);
    expect(stderr.match(/had left the working tree/g)).toHaveLength(1);
    expect(stderr).toMatch(/1 execution record \(number 1\), .*1 notes record \(number 1\)/);
  });

  it('LAY-04 the branch that is checked out is taken where git knows of no other', async () => {
    const project = makeRepository();
    project.git('branch', '-m', 'develop');
    project.git('branch', 'old');
    expect(await init(project)).toMatchObject({
      proposals: expect.arrayContaining([
        { name: 'branch', value: 'develop', from: 'checked out', taken: true, flag: '--branch develop' },
      ]),
    });
    expect(settings(project).git).toEqual({ default_branch: 'develop' });
    await forgeJson(project, ['memory', 'fold']);
  });

  it('LAY-04 a feature list of an agent comes before the README, and its claims are none', async () => {
    const project = makeTelling();
    const list = [
      { description: 'Sign up', passes: true, steps: ['open'] },
      { description: 'Sign out', passes: false },
    ];
    project.write('feature_list.json', JSON.stringify(list));
    expect(proposed(await init(project, ['-n']), 'features')).toBe('2 features (Sign up; Sign out)');
    await init(project, ['--features', 'feature_list.json']);
    const { features } = project.json<{ features: object[] }>(FEATURES);
    expect(features).toMatchObject([
      { name: 'Sign up', status: 'in_progress' },
      { name: 'Sign out', status: 'not_implemented' },
    ]);
  });

  it('LAY-02 when forge is there, flags for settings change nothing and say what would', async () => {
    const project = await makeForge();
    const config = project.read(CONFIG);
    const { skipped, proposals } = await init(project, ['--name', 'x', '--test', 'true', '--branch', 'y']);
    expect(skipped).toEqual([
      '--name: config.toml is there already; forge config set project.name …',
      '--test: config.toml is there already; write it into [checkpoint] verify of .forge/config.toml',
      '--branch: config.toml is there already; forge config set git.default_branch …',
    ]);
    expect([proposals, project.read(CONFIG)]).toEqual([[], config]);
  });
});

describe('init.sh that forge wrote', () => {
  const SCRIPT = '.forge/init.sh';

  it('LAY-02 is renewed when the project changed, stays when somebody changed it, and stays as chosen', async () => {
    const project = makePlainProject();
    expect((await init(project)).stack).toBe('none');
    project.write('go.mod', 'module a\n');
    const renewed = await init(project);
    expect([renewed.renewed, renewed.stack]).toEqual([[SCRIPT], 'go']);
    expect(project.read(SCRIPT)).toContain('part go .');
    expect((await forgeJson<{ trusted: boolean }>(project, ['trust', '--show'])).trusted).toBe(true);
    expect((await init(project)).renewed).toEqual([]);

    expect((await init(project, ['--stack', 'python'])).renewed).toEqual([SCRIPT]);
    expect((await init(project)).renewed).toEqual([]);
    expect(project.read(SCRIPT)).toContain('part python .');

    const edited = `${project.read(SCRIPT)}make db\n`;
    project.write(SCRIPT, edited);
    const kept = await init(project, ['--stack', 'go']);
    expect([kept.renewed, kept.kept.includes(SCRIPT)]).toEqual([[], true]);
    expect(kept.skipped).toContainEqual(
      expect.stringMatching(/^--stack go: init\.sh was changed by hand and stays/),
    );
    expect(project.read(SCRIPT)).toBe(edited);
    const crlf = edited.replaceAll('\n', '\r\n');
    project.write(SCRIPT, crlf);
    await init(project);
    expect(project.read(SCRIPT)).toBe(crlf);
  });

  it('LAY-02 LTM-12 is not for a builder to renew', async () => {
    const project = makePlainProject();
    await init(project);
    const script = project.read(SCRIPT);
    project.write('go.mod', 'module a\n');
    const builder = { env: { FORGE_ROLE: 'builder' } };
    expect(await forgeError(project, ['init', '--stack', 'node'], builder)).toMatchObject({
      exitCode: 3,
      code: 'role.denied',
    });
    expect((await init(project, [], builder)).renewed).toEqual([]);
    expect(project.read(SCRIPT)).toBe(script);
    expect((await init(project)).renewed).toEqual([SCRIPT]);
  });

  it('LAY-02 B-85 is not approved by being renewed where nobody had approved it', async () => {
    const project = makePlainProject();
    await init(project);
    await forgeJson(project, ['trust', '--revoke']);
    project.write('go.mod', 'module a\n');
    expect((await init(project)).renewed).toEqual([SCRIPT]);
    expect((await forgeJson<{ trusted: boolean }>(project, ['trust', '--show'])).trusted).toBe(false);
  });
});

describe('text of the repository in forge init', () => {
  it('LAY-04 B-06 a README with secrets, escapes and thousands of tasks is read as far as it may be', async () => {
    const project = makeRepository();
    const token = secret();
    const tasks = [
      'Fine',
      `Use ${token}`,
      '\u001b]0;owned\u0007',
      'a\u202eb',
      '$(touch x) `touch y`',
      '--help',
    ];
    project.write('README.md', tasks.map((task) => `- [ ] ${task}\n`).join(''));
    const { stdout } = await runForge(project, ['init', '-n']);
    expect(stdout).toMatch(/3 features \(.*\) +README\.md, 3 of it left out/);
    expect(stdout).not.toContain('\u001b');
    const result = await init(project, ['--features', 'README.md']);
    expect(result.features).toEqual(['FORGE-001', 'FORGE-002', 'FORGE-003']);
    expect(idsOf(project)).toEqual(['FORGE-001 Fine', 'FORGE-002 $(touch x) touch y', 'FORGE-003 --help']);
    expect(project.has('x') || project.has('y')).toBe(false);
    expect(JSON.stringify(snapshot(project.path('.forge')))).not.toContain(token);

    const many = makeRepository();
    many.write('README.md', Array.from({ length: 4000 }, (_, i) => `- [ ] Task ${i}\n`).join(''));
    expect((await init(many, ['--features', 'README.md'])).features).toHaveLength(50);
  });

  it('LAY-04 a list with a secret in it is refused whole', async () => {
    const project = makeRepository();
    const token = secret();
    project.write('feature_list.json', JSON.stringify([{ name: `Use ${token}` }, { name: 'Fine' }]));
    expect(proposed(await init(project, ['-n']), 'features')).toBeUndefined();
    const { exitCode, stderr, stdout } = await runForge(project, ['init', '--features', 'feature_list.json']);
    expect([exitCode, stdout]).toEqual([5, '']);
    expect(stderr).not.toContain(token);
    expect(project.has('.forge')).toBe(false);
  });

  it('LAY-04 files that are broken, huge, links, folders or unreadable are no reason to fail', async () => {
    const project = makePlainProject();
    project.write('package.json', `{ "scripts": { "test": "x" }, "x": "${'x'.repeat(5_000_000)}" }`);
    project.write('README.md', Buffer.from([0xff, 0xfe, 0x00, 0x2d]));
    symlinkSync('/dev/zero', project.path('TODO.md'));
    run(project.dir, 'mkfifo', ['ROADMAP.md', 'Makefile']);
    project.write('FEATURES.md/x', '');
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

  it('LAY-04 next never asks for a feature where there are some', async () => {
    const project = await makeForge();
    putFeatures(project, [{ id: 'A-1', name: 'a', status: 'not_implemented' }]);
    expect((await init(project)).next).toEqual(['sh .forge/init.sh', 'forge session start']);
  });
});

const pty = run('/', 'script', ['--version']).exitCode === 0;

describe.skipIf(!pty)('forge init on a terminal', () => {
  it('LAY-04 asks for what it found, one line each, and takes the answers', async () => {
    const project = makeTelling();
    const { shown, exitCode } = await atTerminal(
      project,
      ['init'],
      [
        ['Which stack', '\u001b[B\r'],
        ['Which command runs the tests', '\r'],
        ['ids of issues', '\r'],
        ['Take 2 features from README.md', 'y\r'],
      ],
    );
    expect([exitCode, shown]).toEqual([0, expect.stringContaining('FORGE-001, FORGE-002')]);
    expect(shown).not.toContain('merged into');
    // One down from "mixed".
    expect(project.read('.forge/init.sh')).toMatch(/stack none, chosen/);
    expect(settings(project)).toMatchObject({ checkpoint: { verify: ['npm test'] } });
    expect(idsOf(project)).toHaveLength(2);

    // Nothing is left to ask.
    const again = await atTerminal(project, ['init']);
    expect([again.exitCode, again.shown]).toEqual([0, expect.not.stringContaining('?')]);
  });

  it('LAY-04 what is proposed can be declined', async () => {
    const project = makeTelling();
    const { exitCode } = await atTerminal(
      project,
      ['init'],
      [
        ['Which stack', '\r'],
        ['Which command runs the tests', '\u007f\r'],
        ['ids of issues', '\u007f\r'],
        ['Take 2 features', '\r'],
      ],
    );
    expect([exitCode, idsOf(project)]).toEqual([0, []]);
    expect(settings(project)).toMatchObject({ commit: {}, checkpoint: {} });
    expect(project.read(CONFIG)).not.toMatch(/^(id_pattern|verify) =/m);
    // What was found and confirmed may be found otherwise later.
    project.write('api/pyproject.toml', '');
    expect((await init(project)).renewed).toEqual(['.forge/init.sh']);
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('LAY-04 %s at a question says so and leaves nothing behind', async (_, key) => {
    const project = makeTelling();
    const before = snapshot(project.dir);
    for (const answers of [
      [['Which stack', key]],
      [
        ['Which stack', '\r'],
        ['Which command runs the tests', key],
      ],
    ] as [string, string][][]) {
      const { exitCode, shown } = await atTerminal(project, ['init'], answers);
      expect([exitCode, shown]).toEqual([
        130,
        expect.stringContaining('forge: Interrupted; nothing was changed.'),
      ]);
      expect(differences(before, snapshot(project.dir))).toEqual([]);
    }
  });
});
