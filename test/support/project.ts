import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of a test's own, gone when the test has finished. The real path: macOS links its temp folder. */
export function makeFolder(prefix = 'forge-test-'): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** A project folder with helpers that read like a terminal session. */
export interface Project {
  dir: string;
  /** git, its stdout trimmed; throws when it fails. */
  git(...args: string[]): string;
  /** Writes a file, folders included. */
  write(path: string, content: string | Buffer): void;
  read(path: string): string;
  json<T = Record<string, unknown>>(path: string): T;
  has(path: string): boolean;
  path(...parts: string[]): string;
}

export function projectAt(dir: string): Project {
  const path = (...parts: string[]): string => join(dir, ...parts);
  return {
    dir,
    path,
    git: (...args) =>
      execFileSync('git', args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd(),
    write: (name, content) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
    },
    read: (name) => readFileSync(path(name), 'utf8'),
    json: (name) => JSON.parse(readFileSync(path(name), 'utf8')),
    has: (name) => existsSync(path(name)),
  };
}

/** A folder without git. */
export function makePlainProject(): Project {
  return projectAt(makeFolder());
}

/** Copies what is in a folder, without a process: several times faster than `cp` and than `fs.cpSync`. */
export function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else copyFileSync(source, target);
  }
}

/** Another project with the same files, their times and modes. */
export function copyOf(project: Pick<Project, 'dir'>): Project {
  const copy = projectAt(makeFolder());
  execFileSync('cp', ['-a', `${project.dir}/.`, copy.dir]);
  return copy;
}

/** Puts a project back as it is now, in its place: a running session belongs to it. */
export function restorer(project: Pick<Project, 'dir'>): () => void {
  const kept = copyOf(project);
  const script = 'find "$1" -mindepth 1 -delete && cp -a "$2/." "$1"';
  return () => void execFileSync('sh', ['-c', script, 'sh', project.dir, kept.dir]);
}

/** A copy of a project that stays when the test has finished, for the others of this worker to copy. */
export function keepFolder({ dir }: Pick<Project, 'dir'>): string {
  const kept = mkdtempSync(join(tmpdir(), 'forge-kept-'));
  copyFolder(dir, kept);
  return kept;
}

function makeFirstRepository(): Project {
  const project = makePlainProject();
  project.git('init', '-q');
  project.write(
    'package.json',
    '{ "name": "sample", "private": true, "scripts": { "test": "node -e 0" } }\n',
  );
  project.write('src/app.js', 'export const answer = 42;\n');
  commitAll(project, 'Begin');
  return project;
}

let repository: string | undefined;

/** A repository with one commit on `main` and a package.json whose test passes. Made once per worker, then copied. */
export function makeRepository(): Project {
  repository ??= keepFolder(makeFirstRepository());
  const project = makePlainProject();
  copyFolder(repository, project.dir);
  return project;
}

/** A hook of git, which is a shell script. */
export function writeHook(project: Project, name: string, script: string): void {
  const path = project.git('rev-parse', '--path-format=absolute', '--git-path', `hooks/${name}`);
  projectAt('/').write(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** Commits all that there is; the answer is the commit. */
export function commitAll(project: Project, message = 'Work'): string {
  project.git('add', '-A');
  project.git('commit', '-q', '--allow-empty', '-m', message);
  return project.git('rev-parse', 'HEAD');
}

/** HEAD with a signature: what git asks `gpg.program` about when it shows such a commit. */
export function signHead(project: Project): void {
  const commit = project.git('cat-file', 'commit', 'HEAD');
  const signature = ['gpgsig -----BEGIN PGP SIGNATURE-----', '', 'c2lnbmVk', '-----END PGP SIGNATURE-----'];
  project.write('.git/signed', `${commit.replace('\n\n', `\n${signature.join('\n ')}\n\n`)}\n`);
  project.git('update-ref', 'HEAD', project.git('hash-object', '-t', 'commit', '-w', '.git/signed'));
}

/** Paths of the working tree that git sees as changed or untracked. */
export function changedPaths(project: Project): string[] {
  return project.git('status', '--porcelain', '--untracked-files=all').split('\n').filter(Boolean);
}

/** Ends a process that hangs, ms. A slow one has time enough. */
export const HANG = 600_000;

/** The tests' PATH without the forge that stands first in it (sealed.ts). */
export const pathWithoutForge = (): string =>
  (process.env.PATH ?? '').split(delimiter).slice(1).join(delimiter);

/** How a process ended, and what it said. */
export interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** What a process in the background has said so far, and how it ends. It ends with the test. */
export function follow(child: ChildProcess): { stdout: string; stderr: string; ended: Promise<Ended> } {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => (said[name] += text));
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([exitCode, signal]) => {
    const { stdout, stderr } = said;
    return { exitCode, signal, stdout, stderr };
  });
  return Object.assign(said, { ended });
}

/** Runs a program to its end; never throws. */
export function run(
  dir: string,
  program: string,
  args: string[],
  options: { input?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const { status, signal, stdout, stderr } = spawnSync(program, args, {
    cwd: dir,
    encoding: 'utf8',
    input: options.input ?? '',
    env: { ...process.env, ...options.env },
    timeout: HANG,
  });
  return { exitCode: status, signal, stdout, stderr };
}
