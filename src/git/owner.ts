import { statSync } from 'node:fs';
import { outside } from '../core/error.js';
import type { Found } from './repository.js';

/**
 * Exit 6 for a `.forge/` that belongs to another user, as git does for repositories (CVE-2022-24765): in a shared folder
 * anybody could put one above other people's work. Git's `safe.directory` allows it.
 */
export function refuseForeign({ root, dir, repository }: Found, env: NodeJS.ProcessEnv): void {
  const me = process.geteuid?.();
  if (me === undefined) return;
  const { uid } = statSync(dir);
  // With sudo, the folders of the person who called it count as their own.
  if (uid === me || (me === 0 && env.SUDO_UID === String(uid))) return;
  const safe = safeDirectories(env);
  if ([root, repository?.root ?? root].some((folder) => isSafe(folder, safe))) return;
  throw outside('git.unsafe', `detected dubious ownership: ${dir} belongs to another user (${uid}).`, {
    file: dir,
    hint: `git config --global --add safe.directory ${repository?.root ?? root}`,
  });
}

/** As in git: `*` is every folder, `…/*` everything below, and an empty value clears the values before it. */
function isSafe(folder: string, values: readonly string[]): boolean {
  const last = values.lastIndexOf('');
  return values
    .slice(last + 1)
    .some(
      (value) =>
        value === '*' || value === folder || (value.endsWith('/*') && folder.startsWith(value.slice(0, -1))),
    );
}

/** From the user's and the system's settings: a repository cannot declare itself safe. */
function safeDirectories(env: NodeJS.ProcessEnv): string[] {
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, ...rest } = env;
  try {
    const args = ['config', '--show-scope', '-z', '--get-all', 'safe.directory'];
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const parts = execFileSync('git', args, {
      cwd: '/',
      env: rest,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
    }).split('\0');
    return parts.filter((_, i) => i % 2 === 1 && !['local', 'worktree'].includes(parts[i - 1] as string));
  } catch {
    return [];
  }
}
