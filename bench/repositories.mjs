// The repositories that are measured: a small one, one of 1,000 features, and one of 50,000 commits and 20,000 files.
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORGE } from '../scripts/built.mjs';
import { run } from './measure.mjs';

const COMMITS = 50_000;
const FILES = 20_000;

/**
 * Nothing of this machine's settings: PATH, a home and a state folder of the bench's own. With `own`, the caller's
 * variables too: some slow every Node down (NODE_EXTRA_CA_CERTS, NODE_OPTIONS), and the ratio with it.
 */
export function makeEnvironment(scratch, own) {
  const home = join(scratch, 'home');
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, '.gitconfig'),
    '[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch = main\n',
  );
  const sealed = { HOME: home, XDG_STATE_HOME: join(home, 'state'), GIT_CONFIG_NOSYSTEM: '1' };
  return own ? { ...process.env, ...sealed } : { PATH: process.env.PATH, ...sealed };
}

export const forge = (...args) => [process.execPath, FORGE, ...args];

/** Some commits, five features, a little knowledge, one session that ended with a NEXT. */
export function makeSmall(scratch, env) {
  const cwd = join(scratch, 'small');
  mkdirSync(cwd);
  const place = { cwd, env };
  run(['git', 'init', '-q'], place);
  for (let i = 1; i <= 20; i++) {
    writeFileSync(join(cwd, `file-${i}.txt`), `${i}\n`);
    run(['git', 'add', '.'], place);
    run(['git', 'commit', '-q', '-m', `Commit ${i}`], place);
  }
  run(forge('init', '--yes', '--stack', 'none'), place);
  for (let i = 1; i <= 5; i++) run(forge('feature', 'add', `FORGE-00${i}`, `Feature ${i}`), place);
  run(forge('knowledge', 'add', 'invariant', 'Dates are UTC'), place);
  run(forge('session', 'start', '--json'), place);
  run(
    forge('session', 'end', '--learned', 'tests need a port of their own', '--next', 'build the form'),
    place,
  );
  return place;
}

/** Like the small one, with 1,000 features. */
export function makeFeatures(scratch, env) {
  const cwd = join(scratch, 'features');
  mkdirSync(cwd);
  const place = { cwd, env };
  run(['git', 'init', '-q'], place);
  run(forge('init', '--yes', '--stack', 'none'), place);
  const features = Array.from({ length: 1000 }, (_, i) => ({
    id: `FORGE-${String(i + 1).padStart(4, '0')}`,
    name: `Feature ${i + 1} does what its test says`,
    tests: [`npm test -- feature-${i + 1}`],
    priority: (i % 4) + 1,
    ...(i % 5 === 0 && i > 0 ? { blocked_by: `FORGE-${String(i).padStart(4, '0')}` } : {}),
  }));
  run(forge('feature', 'import', '-'), { ...place, input: JSON.stringify(features) });
  return place;
}

/** 50,000 commits, 20,000 files in 200 folders; made once and kept in the temp folder, its `.forge/` made anew. */
export function makeLarge(env) {
  const cache = join(tmpdir(), `forge-bench-${process.getuid?.() ?? 'user'}`);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  // Someone else's folder of that name is not built upon.
  const { uid } = lstatSync(cache);
  if (process.getuid && uid !== process.getuid()) throw new Error(`${cache} belongs to another user.`);
  chmodSync(cache, 0o700);
  const cwd = join(cache, `large-${COMMITS}-${FILES}`);
  const place = { cwd, env };
  if (!existsSync(join(cwd, '.git', 'complete'))) buildLarge(place);
  for (const left of ['.forge', '.git/forge']) rmSync(join(cwd, left), { recursive: true, force: true });
  run(forge('init', '--yes', '--stack', 'none'), place);
  for (let i = 1; i <= 5; i++) run(forge('feature', 'add', `FORGE-00${i}`, `Feature ${i}`), place);
  return place;
}

function buildLarge(place) {
  console.error(`Making a repository of ${COMMITS} commits and ${FILES} files in ${place.cwd} (once) …`);
  rmSync(place.cwd, { recursive: true, force: true });
  mkdirSync(place.cwd);
  run(['git', 'init', '-q', '-b', 'main'], place);
  run(['git', 'fast-import', '--quiet'], { ...place, input: historyStream() });
  run(['git', 'reset', '-q', '--hard'], place);
  writeFileSync(join(place.cwd, '.git', 'complete'), '');
}

/** What `git fast-import` reads: all files in the first commit, then one changed file a commit. */
function historyStream() {
  const path = (i) => `folder-${String(i % 200).padStart(3, '0')}/file-${String(i).padStart(5, '0')}.txt`;
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const change = (i, text) => `M 100644 inline ${path(i)}\n${data(text)}`;
  const parts = [];
  for (let n = 1; n <= COMMITS; n++) {
    const at = `Bench <bench@example.com> ${1_600_000_000 + n * 60} +0000`;
    parts.push(`commit refs/heads/main\ncommitter ${at}\n${data(`Commit ${n}`)}`);
    if (n > 1) parts.push(change((n * 7919) % FILES, `Line ${n}\n`));
    else for (let i = 0; i < FILES; i++) parts.push(change(i, `File ${i}\n`));
  }
  return parts.join('');
}

/** A script of the git calls of a command, one after the other: a `git` in front of PATH notes its arguments and starts the real one. */
export function gitCallsOf(command, scratch, place) {
  const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;
  const lines = spyOn(command, scratch, place).map((call) =>
    ['git', ...call.split('\0').map(quoted)].join(' '),
  );
  const script = join(scratch, 'git-calls.sh');
  writeFileSync(script, `${lines.map((line) => `${line} >/dev/null 2>&1`).join('\n')}\ntrue\n`);
  return ['sh', script];
}

function spyOn(command, scratch, { cwd, env, input }) {
  const folder = join(scratch, 'spy');
  const log = join(scratch, 'git-arguments');
  const real = run(['sh', '-c', 'command -v git'], { cwd, env }).trim();
  mkdirSync(folder, { recursive: true });
  writeFileSync(log, '');
  const script = `#!/bin/sh\nprintf '%s\\0' "$@" >>'${log}'\nprintf '\\n' >>'${log}'\nexec '${real}' "$@"\n`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  run(command, { cwd, env: { ...env, PATH: `${folder}:${env.PATH}` }, input });
  return readFileSync(log, 'utf8').split('\0\n').filter(Boolean);
}
