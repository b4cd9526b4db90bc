// Somebody who has just installed Node: PATH, an empty home, and nothing of this machine's settings.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export function check(condition, what) {
  if (!condition) throw new Error(what);
}

/** `folder` is theirs; `node`: a folder with the Node that they have, when it is not the one that runs this. */
export function makePerson(folder, node) {
  const home = join(folder, 'home');
  const global = join(folder, 'global');
  const temp = join(folder, 'tmp');
  for (const needed of [home, temp]) mkdirSync(needed, { recursive: true });
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.com\n');
  const path = [join(global, 'bin'), node, process.env.PATH].filter((part) => part !== undefined);
  const env = {
    PATH: path.join(delimiter),
    HOME: home,
    TMPDIR: temp,
    XDG_STATE_HOME: join(home, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
    npm_config_userconfig: join(home, '.npmrc'),
    // What a coming Node will refuse counts as broken today.
    NODE_PENDING_DEPRECATION: '1',
  };
  return { folder, home, global, temp, start: (program, args, cwd) => start(program, args, cwd, env) };
}

function start(program, args, cwd, env) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    encoding: 'utf8',
    input: '',
  });
  if (error) throw new Error(`${program} could not be started: ${error.message}`);
  return { status, stdout, stderr, what: `${program} ${args.join(' ')}` };
}

function finish(person, program, args, cwd) {
  const ended = person.start(program, args, cwd);
  check(ended.status === 0, `${ended.what}: exit ${ended.status}\n${ended.stdout}${ended.stderr}`);
  return ended;
}

/** Runs to a good end and returns stdout; throws when it fails. */
export const run = (person, program, args, cwd) => finish(person, program, args, cwd).stdout;

/** What is ours gives Node nothing to warn of. */
export function checkSilent({ what, stderr }) {
  check(!/warning|deprecat/i.test(stderr), `${what} warns:\n${stderr}`);
}

/** The same as `run` for what is ours. */
export function runSilently(person, program, args, cwd) {
  const ended = finish(person, program, args, cwd);
  checkSilent(ended);
  return ended.stdout;
}
