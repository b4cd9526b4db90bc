import { spawn } from 'node:child_process';
import { outside } from '../core/error.js';
import { cannotStart, type GitResult } from './client.js';

/**
 * Git as the person would start it: for a commit that is theirs, with their hooks, signing, filters and settings, and
 * without a time limit. Only what says that the repository is another one is left out.
 */
const ELSEWHERE =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|GRAFT_FILE|SHALLOW_FILE|QUARANTINE_PATH|IMPLICIT_WORK_TREE|INTERNAL_SUPER_PREFIX)$/;

const ownEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ELSEWHERE.test(name)));

export interface UserGitOptions {
  input?: string;
  /** What hooks and git say, as it comes. */
  onOutput?: (chunk: string) => void;
  /** Ends git, which takes back what it began. */
  signal?: AbortSignal;
}

export type UserGit = (args: readonly string[], options?: UserGitOptions) => Promise<GitResult>;

export function userGit(cwd: string, env: NodeJS.ProcessEnv): UserGit {
  return (args, { input, onOutput, signal } = {}) =>
    new Promise((done, fail) => {
      const child = spawn('git', ['--no-pager', ...args], {
        cwd,
        env: ownEnvironment(env),
        windowsHide: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        ...(signal ? { signal } : {}),
      });
      const said = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const)
        child[name].setEncoding('utf8').on('data', (chunk: string) => {
          said[name] += chunk;
          if (name === 'stderr') onOutput?.(chunk);
        });
      child.on('error', (error) => fail(signal?.aborted ? stopped() : cannotStart(error)));
      child.on('close', (code) => done({ code: code ?? 1, ...said }));
      // A hook that fails ends git before it reads.
      child.stdin.on('error', () => {});
      child.stdin.end(input ?? '');
    });
}

/** The editor that git would open, on that file. Like git by a shell: it may be `code --wait`. `hint`: when it fails. */
export async function openEditor(
  git: UserGit,
  file: string,
  env: NodeJS.ProcessEnv,
  hint?: string,
): Promise<void> {
  const { code, stdout, stderr } = await git(['var', 'GIT_EDITOR']);
  const editor = stdout.trim();
  if (code !== 0 || editor === '')
    throw outside('editor.none', `Git names no editor: ${stderr.trim()}`, {
      hint: 'git config --global core.editor …',
    });
  const status = await new Promise<number | null>((done, fail) => {
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], {
      stdio: 'inherit',
      env: ownEnvironment(env),
    });
    child.on('error', (error) => fail(noShell(editor, error)));
    child.on('close', done);
  });
  if (status !== 0)
    throw outside('editor.failed', `The editor (${editor}) ended with ${status}; nothing was changed.`, {
      hint: hint ?? 'git config core.editor …  (another editor)',
    });
}

const noShell = (editor: string, error: Error): Error =>
  outside('editor.shell', `The editor (${editor}) needs sh, which cannot be started: ${error.message}`, {
    hint: 'put sh in PATH   or give the text another way: --help says how',
    cause: error,
  });

const stopped = (): Error =>
  outside('git.stopped', 'git was ended: it took too long, or somebody stopped it.');
