import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import type { BackupList, Recovered, RecoveryPlan, Undone } from '../../src/index.js';
import { forgeJson } from './forge.js';
import { makeForge, prepared, snapshot } from './forge-project.js';
import { commitAll, makeFolder, type Project, projectAt } from './project.js';

/** A feature whose test passes while the project is whole, and a checkpoint of that. */
export const withCheckpoint = (project?: Project): Promise<Project> =>
  project ? addCheckpoint(project) : makeFirst();

const makeFirst = prepared(async () => addCheckpoint(await makeForge()));

async function addCheckpoint(made: Project): Promise<Project> {
  made.write('.gitignore', 'build/\n*.log\n');
  made.write('src/app.js', 'export const answer = 42;\n');
  made.write('lib/deep/one.js', '1\n');
  made.write('lib/deep/two.js', '2\n');
  made.write('run.sh', '#!/bin/sh\n');
  chmodSync(made.path('run.sh'), 0o755);
  symlinkSync('src/app.js', made.path('link'));
  await forgeJson(made, 'feature add --no-run FORGE-001 "The answer" --test "grep -q 42 src/app.js"');
  await forgeJson(made, ['feature', 'verify', 'FORGE-001']);
  commitAll(made, 'The answer works');
  await forgeJson(made, ['checkpoint', 'create', 'APP-1']);
  return made;
}

/** A commit that breaks the feature: reason enough to roll back. */
export function wreck(project: Project): void {
  project.write('src/app.js', 'broken\n');
  project.git('commit', '-qm', 'Wreck it', '--', 'src/app.js');
}

/** A PATH whose git fails when it restores the working tree: before or after it has written the files. */
export function failingGit(when: 'before' | 'after'): { env: NodeJS.ProcessEnv } {
  const shim = projectAt(makeFolder());
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const fail = 'case "$*" in *restore*--worktree*) exit 1;; esac';
  const steps = when === 'before' ? [fail, `exec ${git} "$@"`] : [`${git} "$@" || exit`, fail];
  shim.write('git', `#!/bin/sh\n${steps.join('\n')}\n`);
  chmodSync(shim.path('git'), 0o755);
  return { env: { PATH: `${shim.dir}:${process.env.PATH}` } };
}

/** Commits, staged and unstaged changes, new files, a folder that is gone, a link, a mode, and what git ignores. */
export async function breakThings(project: Project): Promise<void> {
  project.write('src/app.js', 'export const answer = 41;\n');
  project.write('src/more.js', 'more\n');
  project.git('rm', '-rq', 'lib');
  commitAll(project, 'Wrong turn');
  project.write('src/staged.js', 'staged\n');
  project.git('add', 'src/staged.js');
  project.write('src/staged.js', 'staged, then edited\n');
  project.write('src/app.js', 'export const answer = 0;\r\n');
  project.write('lib', 'a file where a folder was\n');
  project.write('new folder/ü\n"x".txt', 'untracked\n');
  project.write('build/out.js', 'ignored\n');
  project.write('bytes.bin', Buffer.from([0, 255, 13, 10, 128]));
  chmodSync(project.path('bytes.bin'), 0o600);
  chmodSync(project.path('run.sh'), 0o644);
  rmSync(project.path('link'));
  symlinkSync('nowhere', project.path('link'));
  await forgeJson(project, ['feature', 'verify', 'FORGE-001']).catch(() => undefined);
}

/** A project with a checkpoint where all of that happened. */
export const makeBroken = prepared(async () => {
  const project = await withCheckpoint();
  await breakThings(project);
  return project;
});

export const plan = (project: Project, ...args: string[]): Promise<RecoveryPlan> =>
  forgeJson(project, ['recover', '--plan', ...args]);
export const recover = (project: Project, ...args: string[]): Promise<Recovered> =>
  forgeJson(project, ['recover', '--yes', ...args]);
export const undo = (project: Project, ...args: string[]): Promise<Undone> =>
  forgeJson(project, ['recover', '--yes', '--undo', ...args]);
export const backups = (project: Project): Promise<BackupList> => forgeJson(project, ['recover', '--list']);

/** What stands outside `.forge/` and git's own folder: kinds, modes, bytes. */
export function files(project: Project): Record<string, string> {
  const all = snapshot(project.dir);
  return Object.fromEntries(
    Object.entries(all).filter(([path]) => !/^(\.git|\.forge)(\/|$)/.test(path) && !isFolder(project, path)),
  );
}

const isFolder = (project: Project, path: string): boolean => lstatSync(project.path(path)).isDirectory();

/** The index outside `.forge/`, whatever times it knows. */
export const staged = (project: Project): string =>
  project.git('ls-files', '-s', '-v', '--', '.', ':!.forge');

export const differsFrom = (project: Project, commit: string): string =>
  project.git('diff', '--name-only', commit, '--', '.', ':!.forge') +
  project.git('ls-files', '-o', '--exclude-standard', '--', '.', ':!.forge');

export const CHECKPOINT = 'checkpoint/APP-1-v1';
