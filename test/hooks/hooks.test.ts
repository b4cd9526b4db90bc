import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';

describe('forge hooks install beside lefthook', () => {
  it('GIT-03 names the file that two hooks go into once, and does not have it committed: it is of this checkout', async () => {
    const project = await makeForge();
    for (const hook of ['commit-msg', 'prepare-commit-msg']) {
      project.write(`.git/hooks/${hook}`, '#!/bin/sh\ncall_lefthook() { lefthook "$@"; }\n');
      chmodSync(join(project.dir, '.git/hooks', hook), 0o755);
    }
    const install = (...args: string[]) => runForge(project, ['hooks', 'install', '--prepare', ...args]);

    expect((await install()).stderr).toContain(
      "Nothing was installed: lefthook-local.yml would get a marked block of forge's.",
    );
    const { stdout } = await install('--into', 'lefthook');
    expect(stdout.match(/added now +lefthook-local.yml/g)).toHaveLength(2);
    expect(stdout).not.toContain('commit them');
    expect(project.git('status', '--short')).not.toContain('lefthook-local');
  });
});

it('GIT-03 hooks that cannot be installed are refused before anybody is asked about them', async () => {
  const project = await makeForge();
  project.git('config', 'core.hooksPath', 'nowhere');
  const { stdout, stderr, exitCode } = await runForge(project, ['hooks', 'install'], { terminal: true });
  expect([stdout, exitCode]).toEqual(['', 3]);
  expect(stderr).toMatch(/^forge: Nothing was installed: core\.hooksPath \(local\) is "nowhere"/);
  expect(project.git('config', '--get-regexp', '^core\\.(comment|hooks)').trim()).toBe(
    'core.hookspath nowhere',
  );
});
