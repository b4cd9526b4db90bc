import { describe, expect, it } from 'vitest';
import { encodeDocument } from '../../src/core/schema.js';
import { check, contentsOf, create, fileOf, list, type Made } from '../support/checkpoints.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { record } from '../support/memory.js';
import type { Project } from '../support/project.js';

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
      'unverified',
      (project, { commit }) => project.git('tag', '-f', 'checkpoint/X-v1', commit),
    ],
    [
      'the tag was made anew by hand',
      'unverified',
      (project, { commit }) => project.git('tag', '-f', '-a', 'checkpoint/X-v1', '-m', 'x', commit),
    ],
    [
      'the manifest was edited',
      'damaged',
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
      'damaged',
      (project) => project.write(fileOf('Y-v1'), project.read(fileOf('X-v1'))),
    ],
    [
      'the manifest is of another repository',
      'missing',
      (project, { commit }) =>
        project.write(
          fileOf('Y-v1'),
          project.read(fileOf('X-v1')).replaceAll('X-v1', 'Y-v1').replaceAll(commit, 'd'.repeat(40)),
        ),
    ],
  ];
  it.each(damages)('B-108 GIT-05 %s: %s, exit 1', async (what, code, damage) => {
    const project = await makeForge();
    await record(project);
    const made = await create(project, 'X');
    project.write('src/app.js', 'export const answer = 43;\n');
    project.git('add', '-A');
    project.git('commit', '-qm', 'More');
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
    if (what === 'the manifest is half written')
      expect((await runForge(project, ['doctor'])).stdout).toContain(`git restore --source=`);
  });

  it('B-108 GIT-05 tag and manifest recreated together for an untested commit: exit 1', async () => {
    const project = await makeForge();
    const made = await create(project, 'X');
    project.write('src/app.js', 'never tested\n');
    project.git('add', '-A');
    project.git('commit', '-qm', 'Untested');
    const { manifest_commit: _, ...manifest } = made;
    const commit = project.git('rev-parse', 'HEAD');
    const forged = encodeDocument({ ...manifest, commit }).toString();
    project.write(fileOf('X-v1'), forged);
    project.git('tag', '-f', '-a', '--cleanup=verbatim', '-m', `x\n\n${forged}`, 'checkpoint/X-v1', commit);
    expect(await check(project, ['X-v1'])).toMatchObject({ exitCode: 1, codes: ['evidence'] });
  });

  it('GIT-05 --run reruns approved commands, only if the files are the checkpoint’s', async () => {
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
