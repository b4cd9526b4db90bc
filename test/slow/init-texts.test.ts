import { chmodSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runForge } from '../support/forge.js';
import { makeForge, putFeatures } from '../support/forge-project.js';
import { makePlainProject, run } from '../support/project.js';
import { init } from '../support/proposals.js';

describe('text of the repository in forge init', () => {
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

  it('LAY-04 next does not suggest a feature if there are some', async () => {
    const project = await makeForge();
    putFeatures(project, [{ id: 'A-1', name: 'a', status: 'not_implemented' }]);
    expect((await init(project)).next).toEqual(['sh .forge/init.sh', 'forge start']);
  });
});
