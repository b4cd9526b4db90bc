import { describe, expect, it } from 'vitest';
import { openForge } from '../../src/index.js';
import { create, fileOf, statesOf } from '../support/checkpoints.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';

describe('forge checkpoint list and show', () => {
  it('GIT-05 shows one with or without checkpoint/, and rejects an invalid name', async () => {
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
    const colored = await runForge(project, ['checkpoint', 'show', 'X-v1', '--color', 'always']);
    expect(colored.stdout).toContain('\u001b[32mok\u001b');
    expect(await forgeError(project, ['checkpoint', 'show', 'x-v1'])).toMatchObject({
      exitCode: 2,
      code: 'checkpoint.unknown',
      hint: 'forge checkpoint list',
    });
    for (const tag of ['--', 'X', 'X-v1\n', '../X-v1', '-n'])
      expect((await runForge(project, ['checkpoint', 'show', '--', tag])).exitCode).toBe(2);
  });

  it('GIT-05 marks a tag that forge did not make', async () => {
    const project = await makeForge();
    project.git('tag', '-a', 'checkpoint/SX9-123-v1', '-m', 'Working ATLAS-NATS connection');
    project.git('tag', 'checkpoint/other');
    expect(await statesOf(project)).toEqual(['SX9-123-v1 unverified']);
  });

  it('GIT-05 the library returns the latest usable checkpoint', async () => {
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
