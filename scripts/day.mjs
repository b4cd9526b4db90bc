// npm run day: plays a working day through the built command line, in a repository of its own, and prints what became true.
// Whatever turns out otherwise ends it with exit 1. The pull requests and the recovery decisions are played by their tests.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureBuilt, FORGE, ROOT } from './built.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'forge-day-'));
const PROJECT = join(scratch, 'shop');
const env = {
  PATH: process.env.PATH,
  HOME: scratch,
  XDG_STATE_HOME: join(scratch, 'state'),
  GIT_CONFIG_NOSYSTEM: '1',
  LC_ALL: 'C.UTF-8',
  SHELL: '/bin/sh',
  NO_COLOR: '1',
};

function run(program, args, more = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: PROJECT,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    ...more,
  });
  if (error) throw new Error(`${program}: ${error.message}`);
  return { status, stdout, stderr };
}

function expectThat(is, what) {
  if (!is) throw new Error(what);
}

/** forge with these words; anything but the expected exit ends the day. */
function forge(args, exit = 0) {
  const { status, stdout, stderr } = run(process.execPath, [FORGE, ...args]);
  expectThat(status === exit, `forge ${args.join(' ')}: exit ${status}, not ${exit}\n${stdout}${stderr}`);
  return stdout;
}

const json = (...args) => JSON.parse(forge([...args, '--json']));

/** What only a human decides is typed at a terminal. */
function atTerminal(line) {
  const { status, stdout } = run('script', ['-qec', `node "${FORGE}" ${line}`, '/dev/null']);
  expectThat(status === 0, `forge ${line}: exit ${status}\n${stdout}`);
}

function git(...args) {
  const { status, stdout, stderr } = run('git', args);
  expectThat(status === 0, `git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function write(path, text) {
  const target = join(PROJECT, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

const told = [];
const tell = (what, how) => told.push([what, how]);

const feature = (id) => json('feature', 'list').features.find((each) => each.id === id);
const shownAs = (id) =>
  forge(['feature', 'list'])
    .split('\n')
    .find((line) => line.includes(id)) ?? '';

function begin() {
  mkdirSync(PROJECT);
  writeFileSync(join(scratch, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.com\n');
  git('init', '-q', '-b', 'main');
  write('test.sh', '#!/bin/sh\ngrep -q "$1" shop.txt\n');
  write('README.md', '# Shop\n');
  git('add', '-A');
  git('commit', '-qm', 'Shop');
  forge(['init', '--yes', '--stack', 'none']);
}

/** Three features, and each label that a feature can have. */
function features() {
  for (const name of ['login', 'search', 'export'])
    forge(['feature', 'add', name.toUpperCase(), `${name} works`, '--test', `sh test.sh ${name}`]);
  write('shop.txt', 'login\n');
  forge(['feature', 'verify', 'LOGIN']);
  git('add', '-A');
  git('commit', '-qm', 'Log in');
  const { status, verified_by: by } = feature('LOGIN');
  expectThat(status === 'passing' && by !== undefined, 'LOGIN is not passing');
  tell('passing', 'LOGIN: its test failed before there was work, and passed when forge ran it');
  tell('verified_by', `LOGIN: ${JSON.stringify(by)}`);

  forge(['feature', 'add', 'README', 'There is a README', '--test', 'test -f README.md']);
  // Exit 1: a test that was never seen to fail shows nothing.
  run(process.execPath, [FORGE, 'feature', 'verify', 'README']);
  expectThat(shownAs('README').includes('unproven'), 'README is not shown as unproven');
  tell('unproven', 'README: its test passed before there was work, so that it was never seen to fail');

  forge(['feature', 'add', 'LEGAL', 'A lawyer has read it', '--no-run']);
  atTerminal('feature edit LEGAL --status passing --reason "the lawyer wrote so" --yes');
  expectThat(shownAs('LEGAL').includes('by hand: the lawyer wrote so'), 'LEGAL is not shown as by hand');
  expectThat(feature('LEGAL').verified_by === undefined, 'LEGAL has verified_by');
  tell('by hand', 'LEGAL: a human said so; it has no verified_by');

  forge(['feature', 'add', 'TOOL', 'A tool that is not here', '--test', 'no-such-tool check', '--no-run']);
  const { stdout } = run(process.execPath, [FORGE, 'feature', 'verify', 'TOOL']);
  expectThat(stdout.includes('not run'), 'TOOL is not reported as not run');
  expectThat(feature('TOOL').status === 'not_implemented', 'TOOL changed its status');
  tell('not run', 'TOOL: no-such-tool is missing; its status stays as it was');
  forge(['feature', 'remove', 'TOOL']);
}

const WORDS = [
  'The search index needs a rebuild',
  'rebuild the index before you search',
  'a stale index finds nothing',
];

/** Ten sessions; three of them learn one thing in words of their own. */
function sessions() {
  let candidate;
  for (let i = 0; i < 10; i++) {
    forge(['session', 'start', '--task', `step ${i}`]);
    write('shop.txt', `login\n${i > 2 ? 'search\n' : ''}step ${i}\n`);
    git('commit', '-qam', `Step ${i}`);
    forge(['feature', 'verify', 'LOGIN', ...(i > 2 ? ['SEARCH'] : [])]);
    const words = i < 3 ? ['--learned', WORDS[i], ...(candidate ? ['--confirm', candidate] : [])] : [];
    const ended = json('session', 'end', ...words);
    candidate ??= ended.candidates[0]?.id;
  }
  const known = json('memory', 'promote').known.find(({ pattern }) => pattern === WORDS[0]);
  expectThat(known?.status === 'valid' && known.tested === 3, `not promoted: ${JSON.stringify(known)}`);
  tell('a lesson promoted from sessions', `“${WORDS[0]}”, confirmed twice as ${candidate} in other words`);
  tell('tested', `in ${known.tested} cycles of which forge ran the tests`);
  expectThat(
    forge(['briefing']).includes(`${WORDS[0]} (execution, tested in 3 cycles)`),
    'not in the briefing',
  );
  const { counts } = json('memory', 'report');
  expectThat(counts.cycles === 10, `the report has ${counts.cycles} cycles`);
}

/** What is only typed is reported, whatever it says; what is contradicted is contested. */
function claims() {
  const record = (...words) =>
    forge([
      'memory',
      'record',
      '--task',
      'LOGIN',
      '--exit-code',
      '0',
      '--classification',
      'SUCCESS',
      ...words,
    ]);
  for (let i = 0; i < 10; i++) record('--environment-valid', 'true', '--pattern', 'the moon is cheese');
  forge(['memory', 'consolidate']);
  const typed = json('memory', 'promote').known.find(({ pattern }) => pattern === 'the moon is cheese');
  expectThat(typed?.tested === 0 && typed.reported > 0, `typed: ${JSON.stringify(typed)}`);
  tell('reported', `“the moon is cheese”: reported ${typed.reported} times, tested in none`);

  const denied = { task_id: 'LOGIN', exit_code: 0, classification: 'SUCCESS', environment_valid: true };
  const patterns = [{ pattern: 'the moon is cheese', scope: 'execution', holds: false }];
  write('denied.jsonl', `${JSON.stringify({ ...denied, patterns })}\n`.repeat(10));
  forge(['memory', 'record', 'denied.jsonl']);
  forge(['memory', 'consolidate']);
  const contested = json('memory', 'promote').known.find(({ pattern }) => pattern === 'the moon is cheese');
  expectThat(contested?.status === 'contested', `contested: ${JSON.stringify(contested)}`);
  tell('contested', '“the moon is cheese”: later cycles contradict it');
  rmSync(join(PROJECT, 'denied.jsonl'));
}

/** An honest agent that edits a file, in a loop of cycles. */
function cycles() {
  write('agent.sh', '#!/bin/sh\necho "more" >> shop.txt\n');
  git('add', '-A');
  git('commit', '-qm', 'An agent');
  const { stdout } = run(process.execPath, [
    FORGE,
    'loop',
    '--max-cycles',
    '10',
    '--max-failures',
    '20',
    '--json',
    '--',
    'sh',
    'agent.sh',
  ]);
  const reports = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ cycle }) => cycle !== undefined);
  const convicted = reports.filter(({ governance_violations: found = [] }) => found.length > 0);
  expectThat(reports.length === 10, `${reports.length} cycles ran: ${stdout.slice(0, 2000)}`);
  expectThat(convicted.length === 0, `convicted: ${JSON.stringify(convicted[0])}`);
  tell('false convictions', `${convicted.length} in ${reports.length} cycles of an honest agent`);
  git('add', '-A');
  git('commit', '-qm', 'What the agent did');
}

function wayBack() {
  forge(['feature', 'verify', 'LOGIN', 'SEARCH']);
  git('add', '-A');
  git('commit', '-qm', 'All of it', '--allow-empty');
  const { tag } = json('checkpoint', 'create', 'DAY');
  const before = readFileSync(join(PROJECT, 'shop.txt'), 'utf8');
  write('shop.txt', 'nothing works\n');
  git('commit', '-qam', 'A bad afternoon');
  forge(['recover', '--yes']);
  expectThat(readFileSync(join(PROJECT, 'shop.txt'), 'utf8') === before, 'the file is not back');
  forge(['undo']);
  expectThat(readFileSync(join(PROJECT, 'shop.txt'), 'utf8') === 'nothing works\n', 'the undo is not done');
  forge(['recover', '--yes']);
  tell(
    'a checkpoint and a recovery',
    `${tag ?? 'checkpoint/DAY-v1'}: broken, rolled back, undone, rolled back again`,
  );
}

function corruption() {
  const folder = join(PROJECT, '.forge', 'memory', 'ledger');
  const file = readdirSync(folder)
    .map((name) => join(folder, name))
    .find((path) => readFileSync(path, 'utf8').includes('"exit_code":0'));
  writeFileSync(file, readFileSync(file, 'utf8').replace('"exit_code":0', '"exit_code":1'));
  const found = forge(['memory', 'verify'], 4);
  expectThat(/edited|unreadable/.test(found), found);
  atTerminal('memory repair --reason "one byte flipped"');
  forge(['memory', 'verify']);
  tell('a corrupted byte', 'found with its line, exit 4, repaired, memory is intact');
}

function pipeline() {
  git('add', '-A');
  git('commit', '-qm', 'The day');
  forge(['feature', 'verify', 'LOGIN', 'SEARCH']);
  const { status, stdout } = run(process.execPath, [FORGE, 'ci', '--json']);
  const checks = JSON.parse(stdout).checks.map(({ name, state: is }) => `${name} ${is}`);
  expectThat(status === 0 || status === 1, `forge ci: exit ${status} ${stdout}`);
  tell('CI', `exit ${status}: ${checks.join(', ')}`);
}

/** Whole test files, with what they count. */
function played(title, files, describe) {
  const report = join(scratch, `${title}.json`);
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      ...files,
      '--reporter=json',
      `--outputFile=${report}`,
    ],
    {
      cwd: ROOT,
      env: { ...process.env, FORGE_SOAK: process.env.FORGE_SOAK ?? '1' },
      encoding: 'utf8',
    },
  );
  expectThat(status === 0, `${files.join(' ')}: ${stdout}`);
  const { numPassedTests: passed, numTotalTests: total } = JSON.parse(readFileSync(report, 'utf8'));
  tell(...describe(passed, total));
}

try {
  ensureBuilt();
  for (const part of [begin, features, sessions, claims, cycles, wayBack, corruption, pipeline]) part();
  if (!process.argv.includes('--day-only')) {
    played('pulls', ['test/slow/pull-requests.test.ts'], (passed, total) => [
      'pull requests',
      `0 conflicts in .forge/ (${passed} of ${total} simulations)`,
    ]);
    played('decisions', ['test/slow/recover-situations.test.ts'], (passed, total) => [
      'recovery decisions',
      `${passed} of ${total}`,
    ]);
  }
  const width = Math.max(...told.map(([what]) => what.length));
  for (const [what, how] of told) console.log(`${what.padEnd(width)}  ${how}`);
} catch (error) {
  console.error(`day: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
