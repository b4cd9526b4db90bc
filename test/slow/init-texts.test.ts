import { chmodSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runForge } from '../support/forge.js';
import { makeForge, putFeatures, snapshot } from '../support/forge-project.js';
import { makePlainProject, makeRepository, run } from '../support/project.js';
import { idsOf, init, proposed } from '../support/proposals.js';
import { templates } from '../support/secret-templates.js';
import { fill, seeded } from '../support/secrets.js';

/** A token as a server gives it. */
const secret = (): string => fill(templates['github-pat'] as string, seeded(7));

describe('text of the repository in forge init', () => {
  it('LAY-04 B-06 reads a README with secrets, escapes and thousands of tasks, as far as allowed', async () => {
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
    expect(stdout).toMatch(/3 features \(.*\) +README\.md, 3 left out/);
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

  it('LAY-04 refuses a list that contains a secret', async () => {
    const project = makeRepository();
    const token = secret();
    project.write('feature_list.json', JSON.stringify([{ name: `Use ${token}` }, { name: 'Fine' }]));
    expect(proposed(await init(project, ['-n']), 'features')).toBeUndefined();
    const { exitCode, stderr, stdout } = await runForge(project, ['init', '--features', 'feature_list.json']);
    expect([exitCode, stdout]).toEqual([5, '']);
    expect(stderr).not.toContain(token);
    expect(project.has('.forge')).toBe(false);
  });

  it('LAY-04 damaged, huge, linked or unreadable files do not make it fail', async () => {
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

  it('LAY-04 next does not suggest a feature if there are some', async () => {
    const project = await makeForge();
    putFeatures(project, [{ id: 'A-1', name: 'a', status: 'not_implemented' }]);
    expect((await init(project)).next).toEqual(['sh .forge/init.sh', 'forge start']);
  });
});
