import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import type { EndedSession } from '../../src/index.js';
import { errorIn, type FailedForge, runBinary, type Words, wordsOf } from './forge.js';
import { copyFolder, keepFolder, makeFolder, makeRepository, type Project, projectAt } from './project.js';

/** The built binary with its surroundings, run as somebody would type it. */
type Place = Pick<Project, 'dir'>;
interface Typed {
  env?: NodeJS.ProcessEnv;
  input?: string;
}

/** stdout of a command that has to work. */
export function typed(place: Place, args: Words, options: Typed = {}): string {
  const { stdout, stderr, exitCode } = runBinary(place.dir, args, options);
  expect({ exitCode, stderr }, `forge ${args}`).toMatchObject({ exitCode: 0 });
  return stdout;
}

/** The JSON value of a command that has to work. */
export function typedJson<T = Record<string, unknown>>(place: Place, args: Words, options: Typed = {}): T {
  return JSON.parse(typed(place, [...wordsOf(args), '--json'], options)) as T;
}

/** The error of a command that has to fail; nothing may stand on stdout. */
export function typedError(place: Place, args: Words, options: Typed = {}): FailedForge {
  return errorIn(runBinary(place.dir, [...wordsOf(args), '--json'], options));
}

export type Ended = EndedSession & { archive: string };

/** A session with one line of progress, ended. */
export function workAndEnd(place: Place, options: Typed = {}): Ended {
  typed(place, ['session', 'start'], options);
  typed(place, ['progress', 'add', 'wired the form'], options);
  return typedJson<Ended>(place, ['session', 'end', '--next', 'wire the logout button'], options);
}

let template: string | undefined;

/** A repository with one commit and an initialised, not yet committed `.forge/`: made once, copied for each test. */
export function makeForgeRepository(): Project {
  if (template === undefined) {
    const first = makeRepository();
    typed(first, ['init', '--yes']);
    rmSync(first.path('.git/forge'), { recursive: true });
    template = keepFolder(first);
  }
  const project = projectAt(makeFolder());
  copyFolder(template, project.dir);
  return project;
}

/** Two branches that change the same line; `main` is checked out, its `.forge/` committed. */
export function makeDiverged(): Project {
  const project = makeForgeRepository();
  project.git('add', '.forge');
  project.git('commit', '-qm', 'Forge');
  project.git('checkout', '-q', '-b', 'side');
  project.write('src/app.js', 'side\n');
  project.git('commit', '-qam', 'Side');
  project.git('checkout', '-q', 'main');
  project.write('src/app.js', 'main\n');
  project.git('commit', '-qam', 'Main');
  return project;
}

/** The paths that a commit changed. */
export function pathsIn(project: Project, commit = 'HEAD'): string[] {
  return project
    .git('show', '--no-renames', '--format=', '--name-only', '-z', commit)
    .split('\0')
    .filter(Boolean);
}

/** That the last commit is the session's, with `.forge/` alone in it (or the folder given). */
export function expectSessionCommit(project: Project, ended: Ended, folder = '.forge'): void {
  expect(ended.commit_skipped).toBeUndefined();
  expect(project.git('rev-parse', 'HEAD')).toBe(ended.commit?.hash);
  const paths = pathsIn(project);
  expect(paths).toContain(`${folder}/${ended.archive.replace(/^.*?\.forge\//, '')}`);
  expect(paths.filter((path) => !path.startsWith(`${folder}/`))).toEqual([]);
}
