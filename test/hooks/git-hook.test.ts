import { describe, expect, it } from 'vitest';
import {
  type HookFile,
  LEFTHOOK_LOCALS,
  lefthookEntry,
  planHooks,
  type Surroundings,
} from '../../src/hooks/place.js';
import {
  ALL_HOOKS,
  block,
  type GitHook,
  newHook,
  runtimeOf,
  script,
  withBlock,
  withoutBlock,
} from '../../src/hooks/shim.js';

const FILE: HookFile = { path: '.git/hooks/x', text: null, owner: 'git', isRun: true };

const around = (file: Partial<HookFile>, more: Partial<Surroundings> = {}): Surroundings => ({
  hooksPath: null,
  files: Object.fromEntries(ALL_HOOKS.map((hook) => [hook, { ...FILE, ...file }])) as Record<
    GitHook,
    HookFile
  >,
  lefthookLocal: null,
  ...more,
});

/** What becomes of commit-msg. */
const plan = (file: Partial<HookFile>, more?: Partial<Surroundings>) =>
  planHooks(around(file, more)).find(({ hook }) => hook === 'commit-msg');

describe('planHooks', () => {
  it('GIT-03 B-46 makes its own file in the git dir alone: from elsewhere it would not find its script', () => {
    expect(plan({})).toMatchObject({ state: 'new', text: newHook('commit-msg') });
    expect(plan({ owner: 'repository' })).toMatchObject({ state: 'added', into: 'scripts' });
    expect(plan({ owner: 'others' })).toMatchObject({ state: 'refused', text: null });
  });

  it('GIT-03 B-46 a file that git passes over is neither called installed nor switched on', () => {
    expect(plan({ text: '#!/bin/sh\n', isRun: false })).toMatchObject({
      state: 'refused',
      why: expect.stringContaining('not executable'),
      fix: expect.stringContaining('chmod +x .git/hooks/x'),
    });
    expect(plan({ text: newHook('commit-msg'), isRun: false })).toMatchObject({ state: 'refused' });
  });

  it('GIT-03 B-46 what is refused is installed once its lines were added by hand', () => {
    for (const owner of ['others', 'repository'] as const) {
      const text = '#!/usr/bin/env python3\n';
      const refusal = plan({ owner, text });
      expect(refusal).toMatchObject({
        state: 'refused',
        fix: expect.stringContaining('forge hooks install'),
      });
      expect(plan({ owner, text: `${text}run("sh", dir + "/forge/hook", "commit-msg")\n` })).toMatchObject({
        state: 'installed',
        text: null,
      });
      expect(plan({ owner, text: `${text}run("/opt/forge/hooks/x")\n` })).toMatchObject({ state: 'refused' });
    }
  });

  it('GIT-03 a core.hooksPath that is not a folder: git runs none', () => {
    const hooksPath = { value: '/dev/null', scope: 'local', isThere: false };
    expect(plan({}, { hooksPath })).toMatchObject({
      state: 'refused',
      why: expect.stringContaining('git runs no hooks'),
      fix: expect.stringContaining('git config --local --unset core.hooksPath'),
    });
  });

  it('GIT-03 B-46 makes no file for lefthook beside another one that it reads', () => {
    const text = '#!/bin/sh\nif [ "$LEFTHOOK" = 0 ]; then exit 0; fi\ncall_lefthook run commit-msg\n';
    const entry = lefthookEntry('commit-msg');
    for (const path of LEFTHOOK_LOCALS) {
      const own = 'pre-commit:\n  commands:\n    own:\n      run: "true"\n';
      const refusal = plan({ text }, { lefthookLocal: { path, text: own } });
      expect(refusal).toMatchObject({ state: 'refused', path, fix: expect.stringContaining(entry) });
      const added = { lefthookLocal: { path, text: own + entry } };
      expect(plan({ text }, added)).toMatchObject({ state: 'installed' });
    }
    expect(plan({ text })).toMatchObject({ state: 'added', into: 'lefthook', path: 'lefthook-local.yml' });
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
  ])('GIT-03 B-46 takes forge into a hook of %s, and out of it', (shell) => {
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

it('GIT-03 a script says which Node and which forge it starts', () => {
  const runtime = { node: "/it's/node", forge: '/a b/forge.js' };
  expect(runtimeOf(script(runtime))).toEqual(runtime);
  expect(runtimeOf('#!/bin/sh\n')).toBeNull();
});
