import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forgeJson, makeLauncher } from '../../support/forge.js';
import { makeForge } from '../../support/forge-project.js';
import { HANG, makeFolder, type Project } from '../../support/project.js';
import { type Asked, type Call, type Model, type Script, startModel } from './model.js';

/** What each client is on npm, at the version that was tried last. */
const PACKAGES = {
  claude: '@anthropic-ai/claude-code@2.1.330',
  codex: '@openai/codex@0.169.0',
  gemini: '@google/gemini-cli@0.61.0',
  opencode: 'opencode-ai@1.18.33',
  copilot: '@github/copilot@1.0.102',
} as const;
export type ClientName = keyof typeof PACKAGES;
export const CLIENT_NAMES = Object.keys(PACKAGES) as ClientName[];

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/clients', import.meta.url));
/** What `npm run clients` prints. */
export const NOTES = join(CACHE, 'seen.jsonl');
const MODULES = join(CACHE, 'node_modules');
const PLATFORM = `${process.platform}-${process.arch}`;

/** Fetches all clients once, without their install scripts. Platform packages carry the programs. */
export function fetchClients(): void {
  const wanted = JSON.stringify(PACKAGES);
  const note = join(CACHE, 'fetched.json');
  if (existsSync(note) && readFileSync(note, 'utf8') === wanted) return;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, 'package.json'), '{ "private": true }\n');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...options, ...Object.values(PACKAGES)], { cwd: CACHE, stdio: 'inherit' });
  writeFileSync(note, wanted);
}

interface Client {
  name: ClientName;
  program: string;
  /** Where its configuration, which names the scripted model, is written: below its home folder. */
  configure(home: string, url: string, dir: string): void;
  env(url: string): NodeJS.ProcessEnv;
  /** One turn without a terminal. `again` goes on with the last conversation. */
  args(prompt: string, again: boolean): string[];
  /** How the model calls a tool of forge, and a shell. */
  forgeTool(name: string): string;
  shell(command: string): Call;
  /** Writes a file as the client's own editing tool does; null where it has none for this model. */
  write: ((path: string, content: string) => Call) | null;
  /** Options with which it refuses forge's tools, or asks a person who is not there. */
  deny: Turn;
}

function put(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

const claude: Client = {
  name: 'claude',
  program: join(MODULES, `@anthropic-ai/claude-code-${PLATFORM}/claude`),
  // The folder is trusted, and its servers are approved, on a screen otherwise.
  configure: (home, _url, dir) => {
    put(join(home, '.claude/settings.json'), { enableAllProjectMcpServers: true });
    put(join(home, '.claude.json'), { projects: { [dir]: { hasTrustDialogAccepted: true } } });
  },
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  args: (prompt, again) => ['-p', prompt, '--model', 'sonnet', ...(again ? ['--continue'] : [])],
  forgeTool: (name) => `mcp__forge__${name}`,
  shell: (command) => ({ name: 'Bash', args: { command, description: 'run' } }),
  write: (file_path, content) => ({ name: 'Write', args: { file_path, content } }),
  deny: { extra: ['--disallowedTools', 'mcp__forge'] },
};

const codex: Client = {
  name: 'codex',
  program: join(MODULES, '.bin/codex'),
  configure: (home, url, dir) =>
    put(
      join(home, '.codex/config.toml'),
      [
        'model = "scripted"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"',
        `base_url = "${url}/v1"\nwire_api = "responses"\n[projects."${dir}"]\ntrust_level = "trusted"\n`,
      ].join('\n'),
    ),
  env: () => ({}),
  // Hooks are trusted on a screen otherwise.
  args: (prompt, again) => [
    'exec',
    '--dangerously-bypass-hook-trust',
    ...(again ? ['resume', '--last'] : []),
    prompt,
  ],
  forgeTool: (name) => `mcp__forge__${name}`,
  shell: (cmd) => ({ name: 'exec_command', args: { cmd } }),
  // The models that Codex does not know get no apply_patch.
  write: null,
  deny: {},
};

const gemini: Client = {
  name: 'gemini',
  program: join(MODULES, '.bin/gemini'),
  configure: (home) =>
    put(join(home, '.gemini/settings.json'), { security: { auth: { selectedType: 'gemini-api-key' } } }),
  env: (url) => ({
    GEMINI_API_KEY: 'scripted',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  args: (prompt, again) => [
    '-p',
    prompt,
    '-m',
    'gemini-2.5-flash',
    '--approval-mode',
    'yolo',
    ...(again ? ['--resume', 'latest'] : []),
  ],
  forgeTool: (name) => `mcp_forge_${name}`,
  shell: (command) => ({ name: 'run_shell_command', args: { command } }),
  write: (file_path, content) => ({ name: 'write_file', args: { file_path, content } }),
  deny: { extra: ['--allowed-mcp-server-names', 'another'] },
};

const opencode: Client = {
  name: 'opencode',
  program: join(MODULES, `opencode-${PLATFORM}/bin/opencode`),
  configure: (home, url) =>
    put(join(home, '.config/opencode/opencode.json'), {
      autoupdate: false,
      share: 'disabled',
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'scripted',
          options: { baseURL: `${url}/v1`, apiKey: 'scripted' },
          models: {
            scripted: { name: 'scripted', tool_call: true, limit: { context: 100_000, output: 8000 } },
          },
        },
      },
    }),
  env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  args: (prompt, again) => ['run', ...(again ? ['--continue'] : []), prompt],
  forgeTool: (name) => `forge_${name}`,
  shell: (command) => ({ name: 'bash', args: { command, description: 'run' } }),
  write: (filePath, content) => ({ name: 'write', args: { filePath, content } }),
  deny: { env: { OPENCODE_PERMISSION: JSON.stringify({ 'forge_*': 'deny' }) } },
};

const copilot: Client = {
  name: 'copilot',
  program: join(MODULES, '.bin/copilot'),
  configure: () => {},
  env: (url) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'scripted',
    COPILOT_MODEL: 'scripted',
    COPILOT_OFFLINE: 'true',
  }),
  args: (prompt, again) => [
    '-p',
    prompt,
    '--trust-folder',
    '--allow-all-tools',
    '--model',
    'scripted',
    ...(again ? ['--continue'] : []),
  ],
  forgeTool: (name) => `forge-${name}`,
  shell: (command) => ({ name: 'bash', args: { command, description: 'run' } }),
  write: (path, file_text) => ({ name: 'create', args: { path, file_text } }),
  deny: { extra: ['--deny-tool', 'forge'] },
};

export const CLIENTS: Record<ClientName, Client> = { claude, codex, gemini, opencode, copilot };

/** A client at work in a project: its home folder, and one model for all its turns. */
export interface Desk {
  client: Client;
  project: Project;
  home: string;
  model: Model;
  /** What starts forge in its hooks. */
  command: string;
  /** Lets the client work in another folder without asking. */
  trust(dir: string): void;
  /** One turn, to its end. The answers of the script are all that the model says. */
  say(prompt: string, script: Script, options?: Turn): Promise<Said>;
}

export interface Turn {
  /** Ends the client after so many ms. */
  patience?: number;
  /** Kills the client, and what it started, at that request to its model. */
  killAt?: number;
  again?: boolean;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  extra?: string[];
}

export interface Said {
  /** From its start to its first request to the model. */
  firstMs: number;
  exitCode: number | null;
  output: string;
  /** What it sent to its model in this turn. */
  asked: Asked[];
}

/** A project that forge is installed in for this client, and a client that knows nothing else. */
export async function openDesk(
  name: ClientName,
  { install = true, options = [] as string[] } = {},
): Promise<Desk> {
  const client = CLIENTS[name];
  const command = makeLauncher();
  const project = await makeForge();
  if (install) {
    await forgeJson(project, ['agent', 'install', name, '--command', command, ...options]);
    project.git('add', '-A');
    project.git('commit', '-qm', 'Install forge');
  }
  const home = makeFolder('home-');
  copyFileSync(join(process.env.HOME ?? '', '.gitconfig'), join(home, '.gitconfig'));
  let script: Script = () => ({ text: 'Nothing to do.' });
  let turn = 0;
  const model = await startModel((asked) => script(asked, ++turn));
  client.configure(home, model.url, project.dir);
  const say = async (prompt: string, next: Script, options: Turn = {}): Promise<Said> => {
    script = next;
    turn = 0;
    const from = model.asked.length;
    const begin = performance.now();
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), options.patience ?? HANG / 5);
    if (options.killAt !== undefined)
      script = (asked, at) => {
        if (at < (options.killAt as number)) return next(asked, at);
        stop.abort();
        return { silent: true };
      };
    const args = [...client.args(prompt, options.again === true), ...(options.extra ?? [])];
    const { exitCode, output } = await runClient(
      client.program,
      args,
      options.cwd ?? project.dir,
      {
        ...client.env(model.url),
        ...environment(home),
        ...options.env,
      },
      stop.signal,
    );
    clearTimeout(timer);
    const asked = model.asked.slice(from);
    return { exitCode, output, asked, firstMs: (asked[0]?.at ?? Number.NaN) - begin };
  };
  const trust = (dir: string): void => client.configure(home, model.url, dir);
  return { client, project, home, model, command, trust, say };
}

/** Nothing of this machine but its programs. */
const environment = (home: string): NodeJS.ProcessEnv => ({
  HOME: home,
  PATH: process.env.PATH,
  XDG_STATE_HOME: join(home, 'state'),
  GIT_CONFIG_NOSYSTEM: '1',
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  NO_COLOR: '1',
  NODE_EXTRA_CA_CERTS: '',
});

function runClient(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<{ exitCode: number | null; output: string }> {
  // A group of its own, so that a kill takes what it started as well.
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const end = (): void => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  signal.addEventListener('abort', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((done) =>
    child.on('close', (exitCode) => {
      done({ exitCode, output });
    }),
  );
}

/** All that the model has read up to a request, as one text. */
export const read = ({ system, messages }: Asked): string =>
  [system, ...messages.map(({ role, text }) => `${role}: ${text}`)].join('\n');
