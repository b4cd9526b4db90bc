import { statSync } from 'node:fs';
import { outside } from '../core/error.js';
import type { Found } from './repository.js';

/**
 * Exit 6 for a `.forge/` of another user, as git refuses such a repository (CVE-2022-24765): in a folder that many can
 * write to, anybody can put one above the others' work. Git's own `safe.directory` lets it pass.
 */
export function refuseForeign({ root, dir, repository }: Found, env: NodeJS.ProcessEnv): void {
  const me = process.geteuid?.();
  if (me === undefined) return;
  const { uid } = statSync(dir);
  // Whoever became root by sudo keeps their own folders.
  if (uid === me || (me === 0 && env.SUDO_UID === String(uid))) return;
  const safe = safeDirectories(env);
  if ([root, repository?.root ?? root].some((folder) => isSafe(folder, safe))) return;
  throw outside('git.unsafe', `detected dubious ownership: ${dir} belongs to another user (${uid}).`, {
    file: dir,
    hint: `git config --global --add safe.directory ${repository?.root ?? root}`,
  });
}

/** As git has it: `*` is every folder, `…/*` what is below, and an empty value forgets what stood before it. */
function isSafe(folder: string, values: readonly string[]): boolean {
  const last = values.lastIndexOf('');
  return values
    .slice(last + 1)
    .some(
      (value) =>
        value === '*' || value === folder || (value.endsWith('/*') && folder.startsWith(value.slice(0, -1))),
    );
}

/** What the user and the system say; a repository cannot call itself safe. */
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
