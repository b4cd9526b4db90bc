import { chmodSync, existsSync, statSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { InitResult } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, differences, FEATURES, KNOWLEDGE, makeForge, snapshot } from '../support/forge-project.js';
import { commitAll, makePlainProject, makeRepository, projectAt, run } from '../support/project.js';

/** RFC-9060 §2.1 and §4.2, as they stand there. */
const TREE = `
memory/long-term/knowledge.json memory/long-term/features.json memory/long-term/architecture.md
memory/short-term/progress.txt memory/short-term/focus.json memory/short-term/scratch/
memory/artifacts/code/ memory/artifacts/docs/ memory/artifacts/reports/
linear/active.json linear/history/ linear/templates/
git/commits.log git/branches.json git/checkpoints/
init.sh
skills/code-generation/skill.toml skills/code-generation/instructions.md skills/code-generation/templates/
skills/qa-review/skill.toml skills/qa-review/instructions.md skills/qa-review/checklists/
skills/linear-integration/skill.toml skills/linear-integration/instructions.md skills/linear-integration/forms/
skills/git-workflow/skill.toml skills/git-workflow/instructions.md skills/git-workflow/hooks/
`
  .split(/\s+/)
  .filter(Boolean);

const listed = (result: InitResult): string[] =>
  [...result.created, ...result.repaired, ...result.kept].sort();

describe('forge init', () => {
  it('LAY-01 creates the whole tree of the RFC', async () => {
    const project = makeRepository();
    const result = await forgeJson<InitResult>(project, ['init']);
    expect(result.root).toBe(project.dir);
    for (const path of TREE) {
      const stat = statSync(project.path('.forge', path));
      expect([path, stat.isDirectory()]).toEqual([path, path.endsWith('/')]);
    }
    expect(statSync(project.path('.forge/init.sh')).mode & 0o111).toBe(0o111);
    // What it says it made is what is there.
    const files = Object.keys(snapshot(project.path('.forge'))).filter(
      (path) => !statSync(project.path('.forge', path)).isDirectory(),
    );
    expect(result.created.sort()).toEqual(files.map((path) => `.forge/${path}`).sort());
  });

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

  it('LAY-01 starts with valid content in every file', async () => {
    const project = await makeForge();
    expect(project.json(KNOWLEDGE)).toEqual({
      schema_version: '1.0',
      patterns: { successful: [], failed: [] },
      invariants: [],
    });
    expect(project.json(FEATURES)).toEqual({ schema_version: '1.0', features: [] });
    const focus = project.json('.forge/memory/short-term/focus.json');
    expect(focus).toMatchObject({ task: null, linear_issue: null, files: [], phase: null, blockers: [] });
    expect(project.json('.forge/linear/active.json')).toMatchObject({ issues: [] });
    expect(project.json('.forge/git/branches.json')).toMatchObject({ schema_version: '1.0' });
    expect(parse(project.read(CONFIG))).toMatchObject({ schema_version: 1 });
    for (const skill of ['code-generation', 'qa-review', 'linear-integration', 'git-workflow']) {
      const manifest = parse(project.read(`.forge/skills/${skill}/skill.toml`)) as Record<string, never>;
      expect(manifest).toMatchObject({
        skill: {
          name: skill,
          description: expect.stringMatching(/\w/),
          version: expect.stringMatching(/^\d+\.\d+/),
        },
        triggers: {
          keywords: expect.any(Array),
          file_patterns: expect.any(Array),
          linear_labels: expect.any(Array),
        },
        resources: { instructions: 'instructions.md' },
        dependencies: { requires: expect.any(Array) },
      });
    }
    for (const [name, words] of [
      [
        'feature',
        ['title', 'description', 'parent_rfc', 'affected_crates', 'acceptance_criteria', 'qa_requirements'],
      ],
      ['bug', ['title', 'reproduction_steps', 'expected_behavior', 'actual_behavior', 'git_bisect_range']],
    ] as const)
      for (const word of words)
        expect(project.read(`.forge/linear/templates/${name}.yaml`)).toMatch(new RegExp(`name: ${word}\\b`));
    // Everything that reads these files takes them.
    for (const command of [
      ['where'],
      ['next'],
      ['briefing'],
      ['feature', 'list'],
      ['knowledge', 'list'],
      ['config', 'list'],
    ])
      await forgeJson(project, command);
  });

  it('LAY-02 a second run keeps edited files, restores missing ones, and lists both', async () => {
    const project = await makeForge();
    const edited = `${project.read('.forge/memory/long-term/architecture.md')}\n- ours\r\n`;
    project.write('.forge/memory/long-term/architecture.md', edited);
    chmodSync(project.path('.forge/init.sh'), 0o700);
    const readme = project.read('.forge/README.md');
    run(project.dir, 'rm', ['-r', '.forge/README.md', '.forge/skills/qa-review']);
    const before = snapshot(project.dir);

    const result = await forgeJson<InitResult>(project, ['init']);
    expect(result.created).toEqual([]);
    expect(result.repaired).toContain('.forge/README.md');
    expect(result.repaired.every((path) => /README|skills\/qa-review/.test(path))).toBe(true);
    expect(result.kept).toContain('.forge/memory/long-term/architecture.md');
    expect(project.read('.forge/README.md')).toBe(readme);
    expect(project.read('.forge/memory/long-term/architecture.md')).toBe(edited);
    const changed = differences(before, snapshot(project.dir));
    expect(changed.filter((path) => !/README|skills\/qa-review/.test(path))).toEqual([]);

    const third = snapshot(project.dir);
    const again = await forgeJson<InitResult>(project, ['init']);
    expect([again.created, again.repaired, again.kept.length]).toEqual([[], [], listed(result).length]);
    expect(differences(third, snapshot(project.dir))).toEqual([]);
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

  it('LAY-02 --dry-run lists the files it would create and writes nothing, not even in the git dir', async () => {
    const project = makeRepository();
    const before = [snapshot(project.dir), snapshot(process.env.HOME as string)];
    const planned = await forgeJson<InitResult>(project, ['init', '--dry-run']);
    const text = await runForge(project, ['init', '-n']);
    expect(text.exitCode).toBe(0);
    expect(text.stderr).toMatch(/nothing was written/);
    const fixed = await runForge(project, ['doctor', '--fix', '-n']);
    for (const { stderr } of [text, fixed]) expect(stderr.match(/dry run/gi)).toHaveLength(1);
    expect([snapshot(project.dir), snapshot(process.env.HOME as string)]).toEqual(before);
    expect((await forgeJson<InitResult>(project, ['init'])).created).toEqual(planned.created);

    run(project.dir, 'rm', ['.forge/README.md']);
    const repair = snapshot(project.dir);
    expect((await forgeJson<InitResult>(project, ['init', '-n'])).repaired).toEqual(['.forge/README.md']);
    expect(differences(repair, snapshot(project.dir))).toEqual([]);
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
    expect(wired.skipped.join()).toContain('forge config set commit.enforce warn');

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
    for (const flag of ['agents', 'hooks'])
      expect(await forgeError(makePlainProject(), ['init', `--${flag}`, 'cluade'])).toMatchObject({
        exit: 2,
        message: expect.stringContaining(`--${flag}: found "cluade", allowed: `),
      });
  });

  it.each([
    ['package.json', '{"version": "1.0.0", "name": "@shop/till"}', '@shop/till'],
    ['pyproject.toml', '[build-system]\nrequires = []\n\n[project]\nversion = "1"\nname = "till"\n', 'till'],
    ['Cargo.toml', '[package]\nauthors = ["Ada"]\nname = "till-rs"\n', 'till-rs'],
    ['go.mod', 'module example.com/shop/till/v2\n\ngo 1.22\n', 'till'],
  ])('LAY-04 the project is named as %s says', async (file, text, name) => {
    const project = makePlainProject();
    project.write(file, text);
    await forgeJson(project, ['init']);
    expect(parse(project.read(CONFIG))).toMatchObject({ project: { name } });
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
    const error = await forgeError(named, ['init', '--stack', 'cobol']);
    expect(error).toMatchObject({ exitCode: 2, code: 'init.stack', field: 'stack' });
    expect(error.message).toMatch(/"cobol".*node \| python \| rust \| go \| mixed \| none/);
  });

  it('LAY-05 from a subfolder works at the top of the repository', async () => {
    const project = makeRepository();
    const result = await forgeJson<InitResult>(projectAt(project.path('src')), ['init']);
    expect(result.root).toBe(project.dir);
    expect(project.has('src/.forge')).toBe(false);
    expect(project.has(CONFIG)).toBe(true);
  });
});
