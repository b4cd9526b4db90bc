import { spawn } from 'node:child_process';
import { outside } from '../core/error.js';
import { ownEnvironment, type UserGit } from './client.js';

/** Opens git's editor, through a shell like git, because it may be `code --wait`. `hint` is for a failure. */
export async function openEditor(
  git: UserGit,
  file: string,
  env: NodeJS.ProcessEnv,
  hint = 'git config core.editor EDITOR   # another one',
): Promise<void> {
  const { code, stdout, stderr } = await git(['var', 'GIT_EDITOR']);
  const editor = stdout.trim();
  if (code !== 0 || editor === '')
    throw outside('editor.none', `Git names no editor: ${stderr.trim()}`, {
      hint: 'git config --global core.editor EDITOR',
    });
  const status = await new Promise<number | string | null>((done) => {
    const options = { stdio: 'inherit', env: ownEnvironment(env) } as const;
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], options);
    child.on('error', ({ message }) => done(message));
    child.on('close', done);
  });
  if (status !== 0)
    throw outside('editor.failed', `The editor (${editor}) ended with ${status}; nothing was changed.`, {
      hint,
    });
}
