import { expect, it } from 'vitest';
import { runForge } from '../support/forge.js';
import { makeForge } from './project.js';

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
