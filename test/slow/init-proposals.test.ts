import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { InitResult } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { expectError, forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { CONFIG, differences, makeForge, snapshot } from '../support/forge-project.js';
import { commitAll, makePlainProject, makeRepository, type Project, run } from '../support/project.js';

const SCRIPT = '.forge/init.sh';

const init = (project: Project, args: string[] = [], options: RunOptions = {}): Promise<InitResult> =>
  forgeJson<InitResult>(project, ['init', ...args], options);

const settings = (project: Project): Record<string, Record<string, unknown>> =>
  parse(project.read(CONFIG)) as never;

/** With everything in it that init knows how to read. */
function makeTelling(): Project {
  const project = makeRepository();
  project.write('README.md', '# Shop\r\n\r\n- [ ] **Login** works\r\n- [x] Begun\r\n- [ ] Export as CSV\r\n');
  project.write('services/api/go.mod', 'module example.com/api\n');
  for (const message of ['SHOP-1: a', 'SHOP-2: b', '[SHOP-3] c']) commitAll(project, message);
  return project;
}

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
      { name: 'id_pattern', value: 'SHOP-\\d+', from: 'recent commits', taken: true },
      { name: 'branch', value: 'main', from: 'git', taken: true },
    ]);
    const parts = result.parts.map(({ stack, folder }) => `${stack} ${folder}`);
    expect(parts).toEqual(['node .', 'go services/api']);
    const first = 'forge feature add "First thing to build"';
    expect(result.next).toEqual(['sh .forge/init.sh', first, 'forge start']);
    const { schema_version, project: named, commit, ...others } = settings(project);
    expect([schema_version, named, commit]).toEqual([1, { name: 'sample' }, { id_pattern: 'SHOP-\\d+' }]);
    for (const section of Object.values(others)) expect(section).toEqual({});
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
      expect([args, await forgeError(project, ['init', ...args])]).toMatchObject([
        args,
        { exitCode: 2, code },
      ]);
    for (const flag of ['stack', 'agents', 'hooks']) {
      const message = new RegExp(`^--${flag}: found "cluade", allowed: .+ \\| none\\.$`);
      const error = {
        exitCode: 2,
        code: `init.${flag}`,
        field: flag,
        message: expect.stringMatching(message),
      };
      expect(await forgeError(project, ['init', `--${flag}`, 'cluade'])).toMatchObject(error);
    }
    const builder = { env: { FORGE_ROLE: 'builder' } };
    for (const flag of ['--test', '--stack'])
      await expectError(project, ['init', flag, 'node'], '3 role.denied', builder);
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
    expect(skipped).toEqual(['config.toml stays as it is; to change it: forge config set NAME VALUE']);
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

const pty = run('/', 'script', ['--version']).exitCode === 0;

describe.skipIf(!pty)('forge init on a terminal', () => {
  it('LAY-04 asks about what it found, one line each, and uses the answers', async () => {
    const project = makeTelling();
    project.write('.claude/settings.json', '{}\n');
    const { shown, exitCode } = await atTerminal(
      project,
      ['init'],
      [
        ['Which stack', '\u001b[B\r'],
        ['Which command runs the tests', '\r'],
        ['issue ids', '\r'],
        ['Add forge to Claude Code', 'y\r'],
        ['without asking each time', '\r'],
        ['Install git hooks', 'y\r'],
        ['Whose commits', '\u001b[B\r'],
      ],
    );
    expect(exitCode).toBe(0);
    expect(settings(project)).toMatchObject({ commit: { who: 'agents' } });
    expect(shown).not.toContain('merged into');
    // One down from "mixed".
    expect(project.read('.forge/init.sh')).not.toMatch(/^part /m);
    expect(settings(project)).toMatchObject({ checkpoint: { verify: ['npm test'] } });
    expect(project.read('.forge/config.toml')).not.toMatch(/^enforce/m);

    // Nothing is left to ask.
    const again = await atTerminal(project, ['init']);
    expect([again.exitCode, again.shown]).toEqual([0, expect.not.stringContaining('?')]);
  });

  it('LAY-04 proposals can be declined', async () => {
    const project = makeTelling();
    const { exitCode } = await atTerminal(
      project,
      ['init'],
      [
        ['Which stack', '\r'],
        ['Which command runs the tests', '\u007f\r'],
        ['issue ids', '\u007f\r'],
        ['Install git hooks', '\r'],
      ],
    );
    expect(exitCode).toBe(0);
    expect(settings(project)).toMatchObject({ commit: {}, checkpoint: {} });
    expect(project.read(CONFIG)).not.toMatch(/^(id_pattern|verify) =/m);
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
      expect(exitCode).toBe(130);
      expect(shown).toContain('forge: Interrupted; nothing was changed.');
      expect(differences(before, snapshot(project.dir))).toEqual([]);
    }
  });
});

describe('forge init', () => {
  it('LAY-02 writes missing views of the ledger in a clone, and reports it once', async () => {
    const project = await makeForge();
    await forgeJson(project, ['note', 'add', 'one']);
    commitAll(project, 'Note');
    const clone = cloneOf(project);
    const notes = '.forge/memory/long-term/notes.jsonl';
    expect((await forgeJson<InitResult>(clone, ['init'])).repaired).toContain(notes);
    expect(clone.read(notes)).toBe(project.read(notes));
    expect((await forgeJson<InitResult>(clone, ['init'])).repaired).toEqual([]);
  });

  it('LAY-02 does not put back a skill that was removed by a commit', async () => {
    const project = await makeForge();
    project.git('rm', '-rq', '.forge/skills/linear-integration');
    project.git('commit', '-qm', 'Retire a skill');
    run(project.dir, 'rm', ['-r', '.forge/skills/qa-review']);
    const { repaired } = await forgeJson<InitResult>(project, ['init']);
    expect(repaired.every((path) => path.includes('skills/qa-review'))).toBe(true);
    expect(project.has('.forge/skills/qa-review/skill.toml')).toBe(true);
    expect(project.has('.forge/skills/linear-integration')).toBe(false);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('LAY-04 GIT-03 AGT-01 --agents and --hooks wire forge, and nothing is wired without them', async () => {
    const project = makeRepository();
    const plain = await forgeJson<InitResult & { commit: string[] }>(project, ['init']);
    expect(plain).toMatchObject({ agents: [], hooks: [], commit: [] });
    expect(existsSync(project.path('.git/hooks/commit-msg'))).toBe(false);
    const wired = await forgeJson<InitResult & { commit: string[] }>(project, [
      ...['init', '--agents', 'claude', '--hooks', 'warn'],
    ]);
    expect(wired).toMatchObject({ agents: ['claude'], commit: ['.claude/settings.json', '.mcp.json'] });
    expect(existsSync(project.path('.git/hooks/commit-msg'))).toBe(true);
    expect(wired.skipped.join()).toContain('forge config set');

    const fresh = makeRepository();
    fresh.write('.git/info/exclude', '.claude/\n');
    const { stdout } = await runForge(fresh, ['init', '--agents', 'claude', '--hooks', 'warn']);
    expect(stdout).toContain('git ignores .claude/settings.json: install in each clone');
    expect(parse(fresh.read(CONFIG))).toMatchObject({ commit: { enforce: 'warn' } });
    // The lines it prints work as they stand.
    const [, commit = ''] = /together: (.*)/.exec(stdout) ?? [];
    run(fresh.dir, 'sh', ['-ec', commit]);
    expect(fresh.git('status', '--porcelain')).toBe('');
    const [, remove = ''] = /take this back: (.*)/.exec(stdout) ?? [];
    run(fresh.dir, 'sh', ['-ec', remove]);
    expect(existsSync(fresh.path('.forge'))).toBe(false);
    expect(existsSync(fresh.path('.git/hooks/commit-msg'))).toBe(false);
    expect(existsSync(fresh.path('.mcp.json'))).toBe(false);
  });

  it('LAY-04 AGT-05 names forge import where another tool keeps something', async () => {
    const project = makeRepository();
    project.write('CLAUDE.md', '# Style\n\nTabs.\n');
    expect((await runForge(project, ['init'])).stdout).toMatch(
      /Next:\n(?: .*\n)* {2}forge import {3}# take over/,
    );
    // A file that forge wrote has nothing to import.
    const own = makeRepository();
    expect((await runForge(own, ['init', '--agents', 'codex'])).stdout).not.toContain('forge import');
  });

  it('LAY-04 names the line that keeps prettier from memory, until it is typed', async () => {
    const project = makeRepository();
    project.write('package.json', '{"devDependencies":{"prettier":"3"}}');
    project.write('.prettierignore', 'dist');
    const line = String.raw`printf '\n.forge/\n' >> .prettierignore`;
    expect((await runForge(project, ['init'])).stdout).toContain(`\n  ${line}   # prettier would`);
    run(project.dir, 'sh', ['-ec', line]);
    expect(project.read('.prettierignore')).toBe('dist\n.forge/\n');
    expect((await runForge(project, ['init'])).stdout).not.toContain(line);
  });

  it('LAY-04 if a hook cannot be installed, .forge/ is still created, with the command to type', async () => {
    const project = makePlainProject();
    const result = await forgeJson<InitResult>(project, ['init', '--hooks', 'block', '--agents', 'none']);
    expect(result.created).toContain('.forge/config.toml');
    expect(result.skipped.join('\n')).toMatch(/^hooks: /m);
  });

  it('LAY-04 never asks without a terminal, and accepts every answer as a flag', async () => {
    const project = makeRepository();
    // A question would read this test's stdin and hang.
    const { exitCode, stderr } = await runForge(project, ['init']);
    expect([exitCode, stderr]).toEqual([0, '']);
    const all = ['--stack', 'none', '--test', '', '--name', 'a', '--agents', 'none', '--hooks', 'none'];
    for (const flags of [['--yes'], ['--no-input'], all]) {
      const other = makeRepository();
      expect((await runForge(other, ['init', ...flags], { terminal: true })).exitCode).toBe(0);
    }
    const named = makePlainProject();
    await forgeJson(named, ['init', '--stack', 'node', '--name', 'A "quoted" \\ name']);
    expect(parse(named.read(CONFIG))).toMatchObject({ project: { name: 'A "quoted" \\ name' } });
    expect(named.read('.forge/init.sh')).toContain('package.json');
  });
});
