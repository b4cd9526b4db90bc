import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type ForgeError, refused } from './error.js';
import { oneOf } from './text.js';

/**
 * Variables that commands from the repository get: homes, tools, caches, flags of compilers, locale, network. None of them
 * holds a token, or makes every program load code (`LD_PRELOAD`, `NODE_OPTIONS`). `forge help environment` shows them.
 */
export const PASSED: readonly (readonly [of: string, names: string])[] = [
  [
    'system',
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM TMPDIR TMP TEMP CI NO_COLOR FORCE_COLOR',
  ],
  ['XDG', 'XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR'],
  [
    'network',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE',
  ],
  [
    'Node',
    'NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR COREPACK_HOME NODE_EXTRA_CA_CERTS NODE_PATH npm_config_cache npm_config_prefix npm_config_registry npm_config_userconfig npm_config_globalconfig PLAYWRIGHT_BROWSERS_PATH',
  ],
  ['Python', 'VIRTUAL_ENV PYENV_ROOT PYTHONPATH CONDA_PREFIX UV_CACHE_DIR PIP_CACHE_DIR POETRY_CACHE_DIR'],
  [
    'Rust, Go',
    'CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN GOPATH GOROOT GOCACHE GOMODCACHE GOPROXY GOFLAGS',
  ],
  ['C, Swift', 'CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH DEVELOPER_DIR SDKROOT'],
  [
    'JVM, .NET',
    'JAVA_HOME GRADLE_USER_HOME GRADLE_HOME MAVEN_HOME M2_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT DOTNET_CLI_HOME NUGET_PACKAGES',
  ],
  [
    'Ruby, PHP, Elixir',
    'GEM_HOME GEM_PATH RBENV_ROOT BUNDLE_PATH COMPOSER_HOME COMPOSER_CACHE_DIR MIX_HOME HEX_HOME ASDF_DIR ASDF_DATA_DIR',
  ],
  [
    'Windows',
    'SystemRoot SYSTEMROOT windir COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA ProgramFiles ProgramData',
  ],
];
const NAMES = new Set(PASSED.flatMap(([, names]) => names.split(' ')));
const isPassed = (name: string): boolean => NAMES.has(name.replace(/^LC_[A-Z]+$/, 'LC_*'));
const ADDRESS = /_proxy$|^goproxy$|registry$/i;

export function commandEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const passed = Object.entries(env).flatMap(([name, value]) =>
    isPassed(name) && value !== undefined
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
