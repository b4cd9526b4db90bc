import { chmodSync, statSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { InitResult } from '../../src/index.js';
import { forgeJson, runForge } from '../support/forge.js';
import { CONFIG, differences, FEATURES, KNOWLEDGE, makeForge, snapshot } from '../support/forge-project.js';
import { makeFolder, makePlainProject, makeRepository, projectAt, run } from '../support/project.js';

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
  });

  it('LAY-03 LAY-04 does not promise tests that were not found', async () => {
    const project = makePlainProject();
    project.write('package.json', '{}');
    const { stdout } = await runForge(project, ['init']);
    expect(stdout).toContain('stack');
    expect(stdout).toContain(
      '  sh .forge/init.sh   # installs dependencies and checks that the project works\n',
    );
    expect(stdout).not.toMatch(/^ +tests /m);
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

  it('LAY-02 the next commands start with a cd to the top of the project from anywhere else', async () => {
    const project = makeRepository();
    const next = async (dir: string, ...args: string[]): Promise<string[]> =>
      (await forgeJson<InitResult>(projectAt(dir), ['init', '-n', ...args])).next;
    const here = await next(project.dir);
    expect(await next(project.path('src'))).toEqual([`cd ${project.dir}`, ...here]);
    expect(await next(makeFolder(), project.dir)).toEqual([`cd ${project.dir}`, ...here]);
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
});
