import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * The variables that a command from the repository gets: where programs, homes and caches are, the locale, and how to
 * reach the network. No token is on this list, and addresses lose their password.
 */
const PASSED = new RegExp(
  `^(${[
    'PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|TMPDIR|TMP|TEMP|CI|NO_COLOR|FORCE_COLOR',
    'XDG_(CONFIG|CACHE|DATA|STATE)_HOME|XDG_RUNTIME_DIR',
    'NVM_DIR|NVM_BIN|FNM_DIR|VOLTA_HOME|PNPM_HOME|BUN_INSTALL|COREPACK_HOME|NODE_EXTRA_CA_CERTS|NODE_PATH',
    'npm_config_(cache|prefix|registry|userconfig|globalconfig)',
    'CARGO_HOME|CARGO_TARGET_DIR|RUSTUP_HOME|RUSTUP_TOOLCHAIN|GOPATH|GOROOT|GOCACHE|GOMODCACHE|GOPROXY|GOFLAGS',
    'VIRTUAL_ENV|PYENV_ROOT|PYTHONPATH|CONDA_PREFIX|JAVA_HOME|GRADLE_USER_HOME|M2_HOME|GEM_HOME|RBENV_ROOT',
    'SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy',
    'SystemRoot|SYSTEMROOT|windir|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|ProgramFiles|ProgramData',
  ].join('|')})$`,
);

export function commandEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const passed = Object.entries(env).flatMap(([name, value]) =>
    PASSED.test(name) && value !== undefined
      ? [[name, ADDRESS.test(name) ? withoutPassword(value) : value]]
      : [],
  );
  return Object.fromEntries(passed);
}

const ADDRESS = /_proxy$|^goproxy$|registry$/i;

/** Of `http://ada:secret@proxy:8080`, and of the same without a scheme, as curl takes it. */
const withoutPassword = (value: string): string =>
  value.replace(/((?:^|[\s,|])(?:[a-z][a-z0-9+.-]*:\/\/)?[^\s/:@,|]*):[^\s/,|]*(?=@)/gi, '$1');

/** HOME; the home folder of the account when HOME is not absolute. */
export const homeFolder = (env: NodeJS.ProcessEnv): string =>
  [env.HOME ?? '', homedir()].find(isAbsolute) ?? userInfo().homedir;

/** Where forge keeps its state for a person, outside every repository. */
export const stateHome = (env: NodeJS.ProcessEnv): string =>
  join(absolute(env.XDG_STATE_HOME) ?? join(homeFolder(env), '.local', 'state'), 'forge');

/** Where a person configures forge: the owners of their code. */
const configHome = (env: NodeJS.ProcessEnv): string =>
  join(absolute(env.XDG_CONFIG_HOME) ?? join(homeFolder(env), '.config'), 'forge');

/** The XDG specification makes relative paths invalid. They would lead into the repository. */
const absolute = (path: string | undefined): string | undefined => (path?.startsWith('/') ? path : undefined);

/** The owners that a person names as theirs in `owners`, one a line. Empty without that file, never from a repository. */
export function readOwners(env: NodeJS.ProcessEnv): string[] {
  try {
    const text = readFileSync(join(configHome(env), 'owners'), 'utf8').slice(0, 64 * 1024);
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    return lines.filter((line) => line !== '' && !line.startsWith('#'));
  } catch {
    return [];
  }
}
