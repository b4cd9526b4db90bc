// Runs the daily commands as they are used, so that each leaves what V8 compiled for it beside the bundles.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RECORDER = fileURLToPath(new URL('code-cache.cjs', import.meta.url));

const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'build', version: '1' },
};
const REQUESTS = 3;
const MCP_OPENING = [
  { id: 1, method: 'initialize', params: CLIENT },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list', params: {} },
  { id: 3, method: 'tools/call', params: { name: 'briefing', arguments: {} } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  .join('');

/** What an agent's client does first. It keeps stdin open until it has its answers, else there are none. */
function converse(place) {
  return new Promise((done, fail) => {
    const server = spawn(process.execPath, [RECORDER, '', 'mcp'], {
      ...place,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let answers = '';
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      answers += chunk;
      if (answers.split('\n').length > REQUESTS) server.stdin.end();
    });
    server.on('error', fail);
    server.on('exit', (code) =>
      code === 0 ? done() : fail(new Error(`forge mcp ended with ${code} while building`)),
    );
    server.stdin.write(MCP_OPENING);
  });
}

/** Where the commands run: a repository with a commit, a supervisor's key, a name for git. */
function makePlace(scratch) {
  const cwd = join(scratch, 'project');
  const key = join(scratch, 'supervisor.pem');
  const env = {
    PATH: process.env.PATH,
    HOME: scratch,
    XDG_STATE_HOME: scratch,
    GIT_CONFIG_NOSYSTEM: '1',
    FORGE_SUPERVISOR_KEY: key,
  };
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(scratch, '.gitconfig'), '[user]\n\tname = Build\n\temail = build@example.com\n');
  mkdirSync(cwd);
  const git = (...args) => execFileSync('git', args, { cwd, env });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'First');
  return { cwd, env };
}

/** With a question open an agent's stop is blocked, which takes most. */
const QUESTION = ['kfr', 'patch', '--goal', 'it is built', '--add', 'OpenQuestion:is it?'];
const STOP = JSON.stringify({ session_id: 'build', hook_event_name: 'Stop', stop_hook_active: false });
const MESSAGE = `[FORGE] Build

## What
- all of it

## Why
It is to start fast.

## Memory
- Learned: none

## Backtrace
- Parent: none
- Linear: none
- Session: none
`;

const CYCLE = ['cycle', '--quiet', '--task', 'X-1', '--', 'true'];
const RECORD = ['memory', 'record', '--task', 'X-1', '--exit-code', '0', '--classification', 'SUCCESS'];

/**
 * Those that do much besides what a start does have a cache of their own, by their words as bin/forge.js reads them; all
 * others that of `session start`, which uses what nearly all use. Twice: a first time is unlike all later ones.
 */
export async function writeCodeCaches() {
  const scratch = mkdtempSync(join(tmpdir(), 'forge-build-'));
  try {
    const place = makePlace(scratch);
    const run = (name, args, input = '') => {
      const { status, stderr } = spawnSync(process.execPath, [RECORDER, name, ...args], { ...place, input });
      if (status !== 0) throw new Error(`forge ${args.join(' ')} failed while building: ${stderr}`);
    };
    run('', ['init', '--yes']);
    run('', ['supervisor', 'init']);
    run('', ['feature', 'add', 'FORGE-001', 'First']);
    await converse(place);
    for (let time = 0; time < 2; time++) {
      run('', ['session', 'start', '--json']);
      run('', QUESTION);
      run('hook', ['hook', 'claude', 'stop'], STOP);
      run('', ['kfr', 'clear', '--yes', '--dismiss-all', 'built']);
      writeFileSync(join(place.cwd, '.git', 'COMMIT_EDITMSG'), MESSAGE);
      run('hook-commit-msg', ['hook', 'commit-msg', '.git/COMMIT_EDITMSG']);
      run('status', ['status', '--short']);
      run('short-status', []);
      run('memory-record', RECORD);
      run('cycle', CYCLE);
      run('session-end', ['session', 'end']);
    }
    run('', ['session', 'start', '--json']);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
