import { chmodSync } from 'node:fs';
import { expect } from 'vitest';
import { runBinary } from './forge.js';
import { MESSAGE } from './message.js';
import { commitAll, type Project, run } from './project.js';
import { makeForgeRepository } from './typed.js';

export const message = (title: string): string => MESSAGE.replace('Brief description', title);

export interface Flow {
  project: Project;
  /** git with the editor that puts the message in front of what git wrote. */
  git: (...args: string[]) => ReturnType<typeof run>;
  /** With an editor that writes the message alone. */
  write: (...args: string[]) => ReturnType<typeof run>;
  /** With an editor that leaves everything as it is. */
  keep: (...args: string[]) => ReturnType<typeof run>;
}

let count = 0;

export function change({ project }: Flow, name = 'a.txt', text = `${++count}\n`): void {
  project.write(name, text);
  project.git('add', '.');
}

/** A commit in the protocol. */
export function commit(flow: Flow, title = 'One', name = 'a.txt'): void {
  change(flow, name);
  flow.project.write('.git/other', message(title));
  expect(flow.git('commit', '-q', '-F', '.git/other')).toMatchObject({ exitCode: 0, stderr: '' });
}

/** `settings` of git, beside the hooks. */
export function makeFlow(settings: Record<string, string> = {}): Flow {
  const project = makeForgeRepository();
  commitAll(project, 'begin');
  project.git('branch', '-M', 'trunk');
  for (const [name, value] of Object.entries(settings)) project.git('config', name, value);
  runBinary(project.dir, ['hooks', 'install']);
  project.write('.git/message', message('In an editor'));
  project.write('.git/editor', '#!/bin/sh\ncat .git/message "$1" >.git/joined && cat .git/joined >"$1"\n');
  chmodSync(project.path('.git/editor'), 0o755);
  const with_ =
    (editor: string) =>
    (...args: string[]) =>
      run(project.dir, 'git', args, { env: { GIT_EDITOR: editor, GIT_SEQUENCE_EDITOR: undefined } });
  return {
    project,
    git: with_(project.path('.git/editor')),
    write: with_('cp .git/message'),
    keep: with_('true'),
  };
}
