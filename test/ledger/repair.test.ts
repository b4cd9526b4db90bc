import { expect, it } from 'vitest';
import { expectError, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { commit, record, verify } from '../support/memory.js';

it('LTM-14 LTM-21 a dry run shows what --discard accepts, without a terminal and a reason', async () => {
  const project = await makeForge();
  commit(project);
  const { execution } = await record(project);
  commit(project);
  project.git('revert', '--no-edit', 'HEAD');
  await verify(project);
  const before = snapshot(project.dir);
  const repair = ['memory', 'repair', '--discard', project.git('rev-parse', 'HEAD')];
  const dry = await runForge(project, [...repair, '-n']);
  expect(dry).toMatchObject({
    exitCode: 0,
    stdout: `1 record missing: ${execution.id.slice(0, 12)} → accept that they are gone\n`,
  });
  await expectError(project, ['memory', 'repair', '-n', '--discard', 'nowhere'], '2 discard.unknown');
  await expectError(project, repair, '3 human.required');
  expect(differences(before, snapshot(project.dir))).toEqual([]);
});
