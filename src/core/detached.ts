import { spawn } from 'node:child_process';

/** Starts a program that lives on by itself, such as a browser. False if it could not be started. */
export function startDetached(
  argv: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const [program = '', ...args] = argv;
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: 'ignore' });
    child.once('error', () => done(false));
    child.once('spawn', () => {
      child.unref();
      done(true);
    });
  });
}
