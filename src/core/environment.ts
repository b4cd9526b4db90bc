import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type ForgeError, refused } from './error.js';
import { template } from './templates.js';
import { oneOf } from './text.js';
import { readToml } from './toml.js';

/** Variables that commands from the repository get, by what they are of. `forge help environment` shows them. */
export const passedVariables = (): [of: string, names: string][] =>
  Object.entries(readToml(template('passed.toml')) as Record<string, string>);

const ADDRESS = /_proxy$|^goproxy$|registry$/i;

export function commandEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = new Set(passedVariables().flatMap(([, some]) => some.split(' ')));
  const passed = Object.entries(env).flatMap(([name, value]) =>
    names.has(name.replace(/^LC_[A-Z]+$/, 'LC_*')) && value !== undefined
      ? [[name, ADDRESS.test(name) ? withoutPassword(value) : value]]
      : [],
  );
  return Object.fromEntries(passed);
}

/** Removes the password of `http://ada:secret@proxy:8080`, with or without a scheme. */
const withoutPassword = (value: string): string =>
  value.replace(/((?:^|[\s,|])(?:[a-z][a-z0-9+.-]*:\/\/)?[^\s/:@,|]*):[^\s/,|]*(?=@)/gi, '$1');

/** HOME; the home folder of the account when HOME is not absolute. */
export const homeFolder = (env: NodeJS.ProcessEnv): string =>
  [env.HOME ?? '', homedir()].find(isAbsolute) ?? userInfo().homedir;

/** The XDG specification makes relative paths invalid. They would lead into the repository. */
const xdgFolder = (env: NodeJS.ProcessEnv, name: string, home: string): string =>
  join(env[name]?.startsWith('/') ? env[name] : join(homeFolder(env), home), 'forge');

/** Where forge keeps a person's state, outside every repository. */
export const stateHome = (env: NodeJS.ProcessEnv): string => xdgFolder(env, 'XDG_STATE_HOME', '.local/state');

/** The owners of code that a person lists as theirs in `owners`, one per line. Never read from a repository. */
export function readOwners(env: NodeJS.ProcessEnv): string[] {
  try {
    const path = join(xdgFolder(env, 'XDG_CONFIG_HOME', '.config'), 'owners');
    const text = readFileSync(path, 'utf8').slice(0, 64 * 1024);
    const lines = text.split(/\r?\n/);
    return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  } catch {
    return [];
  }
}

/** Unset means supervisor. Exit 2 for a misspelt role, which must not give a builder more rights. */
export function isBuilder(env: NodeJS.ProcessEnv): boolean {
  const role = env.FORGE_ROLE?.trim().toLowerCase() || 'supervisor';
  const field = 'FORGE_ROLE';
  return oneOf(['builder', 'supervisor'], role, field, 'role.unknown', { field }) === 'builder';
}

/** LTM-12. `what` a builder may not change: it works, and its supervisor decides. */
export const deniedToBuilder = (what: string): ForgeError =>
  refused('role.denied', `A builder may not change ${what}; nothing was written.`, {
    hint: 'The supervisor of this work can do it, without FORGE_ROLE=builder.',
    data: { what },
  });

/** Variables that agents set for what they run. Not CODEX_HOME and the like, which people export in their shells. */
const MARKS = 'CLAUDECODE GEMINI_CLI CODEX_THREAD_ID CODEX_SANDBOX OPENCODE AGENT CURSOR_AGENT'.split(' ');

/** The first variable that shows that an agent started this process; null without one. */
export const agentMark = (env: NodeJS.ProcessEnv): string | null => MARKS.find((name) => env[name]) ?? null;
