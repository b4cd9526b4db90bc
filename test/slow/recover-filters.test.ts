import { chmodSync, existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create } from '../support/checkpoints.js';
import { forgeError, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { makeFolder, type Project } from '../support/project.js';
import { files, recover, staged } from '../support/recovery.js';

/** A filter like git-crypt's, in the repository's own config alone; `mark` is there once it ran. */
async function makeFiltered(): Promise<{
  project: Project;
  run: (home: boolean) => { env: NodeJS.ProcessEnv };
  ran: () => boolean;
}> {
  const project = await makeForge();
  const place = makeFolder();
  const [script, mark, home] = [join(place, 'rot'), join(place, 'ran'), join(place, 'gitconfig')];
  writeFileSync(script, `#!/bin/sh\n: >'${mark}'\ntr a-z n-za-m\n`);
  chmodSync(script, 0o755);
  const settings = ['clean', 'smudge'].map((name) => [`filter.crypt.${name}`, script] as const);
  for (const [name, value] of settings) project.git('config', name, value);
  project.write('.gitattributes', '*.key filter=crypt\n');
  project.write('a.key', 'secret\n');
  project.write('app.txt', 'works\n');
  // Git trusts the time of a file only once it is older than the index.
  utimesSync(project.path('a.key'), 1e9, 1e9);
  project.git('add', '.');
  project.git('commit', '-qm', 'A filtered file');
  expect(project.git('show', 'HEAD:a.key')).toBe('frperg');
  writeFileSync(
    home,
    `[user]\n\tname = x\n\temail = x@example.com\n[filter "crypt"]\n\tclean = ${script}\n\tsmudge = ${script}\n`,
  );
  const run = (isOwn: boolean) => ({ env: isOwn ? { GIT_CONFIG_GLOBAL: home } : {} });
  return { project, run, ran: () => existsSync(mark) };
}

describe("filters of the repository's own config", () => {
  it('GIT-05 GIT-06 a checkpoint reports files it cannot compare and the setup, and compares them after it', async () => {
    const { project, run } = await makeFiltered();
    await create(project, 'A');
    project.write('a.key', 'secret\n');
    expect(await forgeError(project, ['checkpoint', 'create', 'B', '--verify', 'true'])).toMatchObject({
      exitCode: 3,
      code: 'checkpoint.filter',
      message: expect.stringMatching(
        /^1 file \(a\.key\) needs the filter "crypt", which only this repository's own/,
      ),
      hint: expect.stringMatching(/^git config --global --edit/),
    });
    const args = ['checkpoint', 'create', 'B', '--verify', 'true'];
    expect((await runForge(project, args, run(true))).exitCode).toBe(0);
  });

  it('GIT-06 a rollback never writes git’s stored form of a file; with the filter set up it completes', async () => {
    const { project, run } = await makeFiltered();
    await create(project, 'A', '--verify', 'grep -q works app.txt');
    project.write('a.key', 'newer\n');
    project.write('app.txt', 'broken\n');
    project.git('commit', '-qam', 'Break both');
    project.write('b.key', 'third\n');
    project.write('a.key', 'newest\n');
    expect((await runForge(project, ['recover', '--plan'])).stderr).toMatch(
      /1 file \(a\.key\) needs the filter "crypt".*so it cannot compare them.*git config --global --edit/,
    );
    project.write('a.key', 'newer\n');
    const before = [files(project), staged(project)];
    const { stderr, exitCode } = await runForge(project, ['recover', '--yes']);
    expect([exitCode, files(project), staged(project)]).toEqual([3, ...before]);
    expect(stderr).toMatch(/1 file \(a\.key\) needs the filter "crypt".*nothing was changed/);
    const done = await runForge(project, ['recover', '--yes', '--json'], run(true));
    expect([done.exitCode, JSON.parse(done.stdout).decision]).toEqual([0, 'rollback']);
    expect([project.read('a.key'), project.read('app.txt')]).toEqual(['secret\n', 'works\n']);
    expect((await runForge(project, ['recover', '--undo', '--yes'], run(true))).exitCode).toBe(0);
    expect([files(project), staged(project)]).toEqual(before);
  });

  it('GIT-06 filtered files that a rollback does not touch do not block it, and no filter runs', async () => {
    const { project, ran } = await makeFiltered();
    await create(project, 'A', '--verify', 'grep -q works app.txt');
    project.write('app.txt', 'broken\n');
    project.git('commit', '-qam', 'Break it');
    expect(ran()).toBe(true);
    rmSync(join(project.git('config', 'filter.crypt.clean'), '..', 'ran'));
    expect(await recover(project)).toMatchObject({ decision: 'rollback' });
    expect([project.read('a.key'), project.read('app.txt'), ran()]).toEqual(['secret\n', 'works\n', false]);
  });
});
