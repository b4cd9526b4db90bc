import { chmodSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  block,
  lefthookEntry,
  runtimeOf,
  SHEBANG,
  script,
  withBlock,
  withoutBlock,
} from '../../src/hooks/shim.js';
import type { HooksReport } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commitAll, makeFolder, type Project } from '../support/project.js';

const HOOK = '.git/hooks/commit-msg';

function put(project: Project, text: string, path = HOOK, mode = 0o755): void {
  project.write(path, text);
  chmodSync(project.path(path), mode);
}

const install = (project: Project, ...args: string[]) =>
  forgeJson<HooksReport>(project, ['hooks', 'install', ...args]);
const refusal = (project: Project, ...args: string[]) => forgeError(project, ['hooks', 'install', ...args]);
const stateOf = ({ hooks }: HooksReport) => hooks.find(({ name }) => name === 'commit-msg')?.state;

describe('forge hooks install', () => {
  it('GIT-03 B-46 creates its own files in the git dir', async () => {
    const project = await makeForge();
    expect(stateOf(await install(project))).toBe('new');
    expect(project.read(HOOK)).toBe(SHEBANG + block('commit-msg', true));
    expect(stateOf(await install(project))).toBe('installed');
    project.write(HOOK, project.read(HOOK).replace('exit $?', 'exit 7'));
    expect(stateOf(await install(project))).toBe('installed');
    expect(project.read(HOOK)).toContain('exit $?');
  });

  it('GIT-03 B-46 refuses a hook that is not executable, which git ignores', async () => {
    const project = await makeForge();
    put(project, '#!/bin/sh\n', HOOK, 0o644);
    expect(await refusal(project, '--yes')).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('.git/hooks/commit-msg is not executable'),
      hint: 'chmod +x .git/hooks/commit-msg && forge hooks install',
    });
  });

  it('GIT-03 B-46 accepts lines that were added by hand where forge adds none', async () => {
    const project = await makeForge();
    const text = '#!/usr/bin/env python3\n';
    put(project, text);
    expect(await refusal(project, '--yes')).toMatchObject({
      message: 'Nothing was installed: .git/hooks/commit-msg is not a shell script.',
      hint: expect.stringContaining(block('commit-msg').trimEnd()),
    });
    put(project, `${text}run("sh", dir + "/forge/hook", "commit-msg")\n`);
    expect(stateOf(await install(project))).toBe('installed');
    put(project, `${text}run("/opt/forge/hooks/x")\n`);
    expect(await refusal(project)).toMatchObject({ code: 'hooks.refused' });
  });

  it('GIT-03 B-46 refuses a folder that other repositories share', async () => {
    const project = await makeForge();
    project.git('config', 'core.hooksPath', makeFolder());
    expect(await refusal(project, '--yes')).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('belongs to more than this repository'),
      hint: expect.stringContaining(block('commit-msg').trimEnd()),
    });
    const { stderr } = await runForge(project, ['hooks', 'install', '--yes']);
    expect(stderr).toContain(`# pre-push\n${block('pre-push')}`);
  });

  it('GIT-03 refuses before any question if core.hooksPath is not a folder, so git runs no hooks', async () => {
    const project = await makeForge();
    project.git('config', 'core.hooksPath', '/dev/null');
    const { stdout, stderr, exitCode } = await runForge(project, ['hooks', 'install'], { terminal: true });
    expect([stdout, exitCode]).toEqual(['', 3]);
    expect(stderr).toContain('core.hooksPath (local) is "/dev/null", which is not a folder');
    expect(stderr).toContain('git config --local --unset core.hooksPath');
  });

  it.each(['lefthook-local.yml', '.lefthook.toml'])(
    'GIT-03 B-46 beside lefthook, shows the lines to add, and finds them in %s',
    async (file) => {
      const project = await makeForge();
      put(project, '#!/bin/sh\nif [ "$LEFTHOOK" = 0 ]; then exit 0; fi\ncall_lefthook run commit-msg\n');
      expect(await refusal(project, '--yes')).toMatchObject({
        exitCode: 3,
        message: 'Nothing was installed: lefthook runs the hooks here.',
        hint: expect.stringContaining(lefthookEntry('commit-msg')),
      });
      project.write(file, `${lefthookEntry('commit-msg')}\n`);
      expect(stateOf(await install(project))).toBe('installed');
      project.write(file, `${lefthookEntry('prepare-commit-msg')}\n`);
      expect(await refusal(project)).toMatchObject({ code: 'hooks.refused' });
    },
  );
});

describe('hooks without a script', () => {
  it('GIT-03 a clone in which shared hooks check nothing is told so at each start, until they are installed', async () => {
    const project = await makeForge();
    put(project, 'pnpm lint\n', '.husky/commit-msg');
    put(project, '', '.husky/_/h');
    project.git('config', 'core.hooksPath', '.husky/_');
    await install(project, '--yes');
    commitAll(project, 'Share the hooks');
    const clone = cloneOf(project);
    const warnings = async (): Promise<string> =>
      (await forgeJson<{ warnings: string[] }>(clone, ['session', 'start'])).warnings.join('\n');
    expect(await warnings()).toContain('check nothing in this clone yet. Run: forge hooks install');
    put(clone, '', '.husky/_/h');
    clone.git('config', 'core.hooksPath', '.husky/_');
    expect(stateOf(await install(clone, '--yes'))).toBe('installed');
    expect(await warnings()).not.toContain('hooks');
  });

  it('GIT-03 status approves no hook whose script is gone, as in a clone', async () => {
    const project = await makeForge();
    await install(project);
    rmSync(project.path('.git/forge/hook'));
    const { stdout } = await runForge(project, ['hooks', 'status']);
    expect(stdout).toMatch(/✗ +commit-msg/);
    expect(stdout).not.toContain('✓');
  });
});

describe('withBlock', () => {
  it.each([
    '/bin/sh',
    '/usr/bin/env bash',
    '/usr/bin/env -S bash -eu',
    '/usr/local/bin/bash',
    '/bin/busybox sh',
    '/opt/homebrew/bin/zsh -f',
  ])('GIT-03 B-46 adds the block to a hook of %s, and withoutBlock removes it', (shell) => {
    const text = `#!${shell}\nexit 0\n`;
    const added = withBlock(text, 'pre-push') as string;
    expect(added).toBe(`#!${shell}\n${block('pre-push')}exit 0\n`);
    expect(withoutBlock(added)).toBe(text);
  });

  it.each(['/usr/bin/env python3', '/usr/bin/fish', '/usr/bin/env node', '/usr/bin/pwsh'])(
    'GIT-03 B-46 leaves a hook of %s alone',
    (shell) => expect(withBlock(`#!${shell}\n`, 'pre-push')).toBeNull(),
  );
});

it('GIT-03 a script contains the Node and the forge that it starts', () => {
  const runtime = { node: "/it's/node", forge: '/a b/forge.js' };
  expect(runtimeOf(script(runtime))).toEqual(runtime);
  expect(runtimeOf('#!/bin/sh\n')).toBeNull();
});
