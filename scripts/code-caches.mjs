// Runs the daily commands as they are used: to see which modules each of them needs, and to leave beside the bundles what
// V8 compiled for them.
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RECORDER = fileURLToPath(new URL('code-cache.cjs', import.meta.url));
/** A first time is unlike all later ones. */
const ROUNDS = 2;

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

/** With a question open an agent's stop is blocked, which takes most. */
const QUESTION = ['kfr', 'patch', '--goal', 'it is built', '--add', 'OpenQuestion:is it?'];
const event = (name) => JSON.stringify({ session_id: 'build', hook_event_name: name, prompt: 'Go on' });
const AGENTS = ['claude', 'codex', 'gemini', 'cursor', 'opencode', 'copilot'];

/**
 * Of files that others use as well, what only these need is compiled when they run: a hook or a start would read it for
 * nothing each time, and these take longer anyway.
 */
const REST = 'rest';
const SELDOM = ['cycle', 'end', 'record', REST];

/** Whose file is read when a text needs a rule: it has what none of the others needs, and is small enough as it is. */
const GUARD = 'guard';
const TEXTS = 'texts.txt';

/** One round: who runs it (null: it only prepares the next one), the command, what is on stdin. */
const DAILY = [
  ['start', ['session', 'start', '--json']],
  ['daily', QUESTION],
  ...AGENTS.map((agent) => ['hook', ['hook', agent, 'unknown'], '{}']),
  ['hook', ['hook', 'claude', 'user-prompt-submit'], event('UserPromptSubmit')],
  ['hook', ['hook', 'claude', 'post-tool-use'], event('PostToolUse')],
  ['hook', ['hook', 'claude', 'stop'], event('Stop')],
  [null, ['kfr', 'clear', '--yes', '--dismiss-all', 'built']],
  ['message', ['hook', 'commit-msg', '.git/COMMIT_EDITMSG']],
  ['daily', ['focus', 'show']],
  ['status', ['status', '--json']],
  // Its file is its own; the one before remembered what it says.
  ['prompt', ['status', '--short']],
  ['daily', ['next']],
  ['daily', ['feature', 'list']],
  ['daily', ['progress', 'add', 'one line']],
  ['record', ['memory', 'record', '--task', 'X-1', '--exit-code', '0', '--classification', 'SUCCESS']],
  ['cycle', ['cycle', '--quiet', '--task', 'X-1', '--', 'true']],
  ['end', ['session', 'end']],
  // HEAD has moved: git is asked.
  ['start', ['hook', 'claude', 'session-start'], event('SessionStart')],
  [null, ['session', 'discard']],
  [GUARD, ['guard', 'scan', TEXTS]],
  // Of all that none of these needs, the outline: what of it is used is compiled then.
  [REST, ['session', 'status']],
];

/**
 * Which of the daily commands need which file of dist/cli: its name → theirs. `forge`: the path of bin/forge.js; `texts`:
 * what the guard needs all its rules for, and finds nothing in.
 */
export function findUsers(forge, texts) {
  const users = new Map();
  inProject(forge, texts, (place) => {
    const log = join(place.env.HOME, 'loaded');
    for (let round = 0; round < ROUNDS; round++)
      runDaily({ ...place, env: { ...place.env, RECORD_NAMES: log } });
    for (const line of readFileSync(log, 'utf8').trim().split('\n')) {
      const { user, files } = JSON.parse(line);
      if (user === REST) continue;
      for (const file of files) {
        const name = basename(file, '.cjs');
        users.set(name, new Set([...(users.get(name) ?? []), user]));
      }
    }
  });
  for (const names of users.values()) if (names.size > 1) names.delete(GUARD);
  return users;
}

export function writeCodeCaches(forge, texts) {
  inProject(forge, texts, (place) => {
    for (let round = 0; round < ROUNDS; round++) runDaily(place);
  });
}

function runDaily(place) {
  writeFileSync(join(place.cwd, '.git', 'COMMIT_EDITMSG'), MESSAGE);
  for (const [user, args, input = ''] of DAILY) {
    const program = user === null ? [place.forge] : ['-r', RECORDER, place.forge];
    run([...program, ...args], { cwd: place.cwd, env: recording(place.env, user ?? ''), input });
  }
}

const recording = (env, user) => ({
  ...env,
  RECORD_USER: user,
  ...([...SELDOM, GUARD].includes(user) ? { RECORD_ONLY: SELDOM.join('.') } : {}),
});

function run(args, options) {
  const { status, stderr } = spawnSync(process.execPath, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed while building: ${stderr}`);
}

/** `work` in a repository with a commit, a supervisor's key, a name for git, a feature. */
function inProject(forge, texts, work) {
  const scratch = mkdtempSync(join(tmpdir(), 'forge-build-'));
  try {
    const place = { forge, ...makePlace(scratch) };
    const prepare = (...args) => run([forge, ...args], place);
    prepare('init', '--yes');
    prepare('supervisor', 'init');
    prepare('feature', 'add', 'FORGE-001', 'First');
    prepare('knowledge', 'add', 'invariant', 'It is built');
    prepare('session', 'start');
    prepare('session', 'end', '--learned', 'what was learned', '--next', 'what is next');
    writeFileSync(join(place.cwd, TEXTS), texts);
    work(place);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

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
