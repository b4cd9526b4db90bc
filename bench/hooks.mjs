// Figures of agents' hooks, each as a whole process with a documented payload on stdin (test/fixtures/agents).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withGit } from './commands.mjs';
import { run, wallTimes } from './measure.mjs';
import { forge, gitCallsOf } from './repositories.mjs';

const fixtures = fileURLToPath(new URL('../test/fixtures/agents', import.meta.url));

/** Milliseconds, of every hook but the one that starts a session. */
const LIMIT = 70;

/** The agent's words for the start, the prompt, what follows a tool, a compaction and the stop. */
const EVENTS = {
  claude: ['session-start', 'user-prompt-submit', 'post-tool-use', 'pre-compact-auto', 'stop'],
  codex: ['session-start', 'user-prompt-submit', 'post-tool-use', 'pre-compact', 'stop'],
  gemini: ['session-start', 'before-agent', 'after-tool', 'pre-compress', 'after-agent'],
  cursor: ['session-start', 'before-submit-prompt', 'post-tool-use', 'pre-compact', 'stop'],
  opencode: ['session-start', 'prompt', 'after-tool', 'compacting', 'stop'],
  copilot: ['session-start', 'user-prompt-submitted', 'post-tool-use', 'pre-compact', 'agent-stop'],
};

/** A fixture is named after its event, and may say more: `pre-compact-auto`. */
const eventOf = (name) => name.replace(/-auto$/, '');

/** The payload as text, with this place as the folder that the agent works in. */
function payloadOf(agent, name, { cwd }) {
  const payload = JSON.parse(readFileSync(join(fixtures, agent, `${name}.json`), 'utf8'));
  if ('workspace_roots' in payload) payload.workspace_roots = [cwd];
  if ('cwd' in payload) payload.cwd = cwd;
  return JSON.stringify(payload);
}

const isRunning = (place) => JSON.parse(run(forge('session', 'status', '--json'), place)).active !== null;

function discard(place) {
  if (!isRunning(place)) return;
  run(forge('kfr', 'clear', '--yes', '--dismiss-all', 'measured'), place);
  run(forge('session', 'discard'), place);
}

/** Every measured start is a fresh one: its git calls are measured beside it and added to the limit. */
function measureStart({ agent, event }, small, scratch) {
  const argv = forge('hook', agent, event);
  const place = { ...small, input: payloadOf(agent, event, small) };
  const prepare = () => discard(small);
  // The first start of all verifies memory; what is measured is every later one.
  run(forge('session', 'start', '--json'), small);
  prepare();
  const git = gitCallsOf(argv, scratch, place);
  const times = wallTimes([argv, git], place, prepare);
  discard(small);
  return withGit(times);
}

/** With a question open, so that a stop is blocked, which takes most. */
function measureHook({ agent, event }, small) {
  const place = { ...small, input: payloadOf(agent, event, small) };
  discard(small);
  run(forge('session', 'start', '--json'), small);
  run(forge('kfr', 'patch', '--goal', 'logout works', '--add', 'OpenQuestion:which cookie?'), small);
  const times = wallTimes([forge('hook', agent, eventOf(event))], place);
  discard(small);
  return withGit(times, LIMIT);
}

export const HOOKS = Object.entries(EVENTS).flatMap(([agent, events]) =>
  events.map((event, i) => ({
    name: `hook ${agent} ${eventOf(event)}`,
    where: 'small',
    unit: 'ms',
    agent,
    event,
    measure: i === 0 ? measureStart : measureHook,
  })),
);
