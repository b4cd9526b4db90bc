import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Programs that tests use where they are; `.ci/run` installs those that can be had without a download by hand. */

/** Says loudly what a machine lacks; the tests that need it are skipped. */
export function hasTool(name: string, args: string[] = ['--version']): boolean {
  const works = spawnSync(name, args, { env: toolEnv() }).status === 0;
  if (!works)
    process.stderr.write(`SKIPPED: ${name} does not work on this machine; what needs it is not tested.\n`);
  return works;
}

/** rustup finds its toolchains in the home of whoever installed it, which no test sees otherwise. */
export function toolEnv(): NodeJS.ProcessEnv {
  const home = userInfo().homedir;
  const folders = { RUSTUP_HOME: join(home, '.rustup'), PYENV_ROOT: join(home, '.pyenv') };
  const there = Object.entries(folders).filter(([, folder]) => existsSync(folder));
  return { ...process.env, ...Object.fromEntries(there) };
}

/** The file that a name on PATH leads to; null when there is none. */
export function whichTool(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const path = folders.map((folder) => join(folder, name)).find((candidate) => existsSync(candidate));
  return path === undefined ? null : realpathSync(path);
}

/** Yarn 2 and newer is a file that a project brings along; null where `.ci/run` has not put one beside yarn 1. */
export function berryFile(): string | null {
  const yarn = whichTool('yarn');
  const file = yarn && join(dirname(yarn), '../../@yarnpkg/cli-dist/bin/yarn.js');
  if (file !== null && existsSync(file)) return file;
  process.stderr.write('SKIPPED: no @yarnpkg/cli-dist beside yarn; yarn 2 and newer is not tested.\n');
  return null;
}
