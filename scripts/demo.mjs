// npm run demo: makes a small repository in ./demo-project and does a day's work in it with the real command line.
// Every line of output comes from forge, git or node; anything unexpected ends the demo with exit 1.
// npm run recording: the same, and draws docs/demo.svg from what was printed.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ensureBuilt, FORGE, ROOT } from './built.mjs';
import { drawScenes } from './recording.mjs';

const PROJECT = join(ROOT, 'demo-project');
/** Only a folder that has this is ever removed. */
const MARKER = join(PROJECT, '.git', 'made-by-forge-demo');
const PICTURE = process.argv[2] === '--picture' ? process.argv[3] : undefined;
/** The commands that the picture shows, with their output. */
const scenes = [];
const NEXT = 'throw a RangeError when nothing is left of the title';
const LEARNED = 'match what may stay instead of replacing what may not';
const VERIFY = ['done', 'F-1'];

const FILES = {
  'package.json': `${JSON.stringify({ name: 'demo-project', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/slug.js': `/** Makes "Hello, World!" fit for a web address: "hello-world". */
export const slug = (title) => title.toLowerCase().replaceAll(' ', '-');
`,
  'test/slug.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slug } from '../src/slug.js';

test('punctuation leaves no trace in a slug', () => {
  assert.equal(slug('Hello, World!'), 'hello-world');
});
`,
};

const FIXED = `/** Makes "Hello, World!" fit for a web address: "hello-world". */
export const slug = (title) => (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-');
`;

/** The caller's environment, without what a git that started us would point elsewhere. */
function environment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GIT_') || /^GIT_(CONFIG_(NOSYSTEM|GLOBAL|SYSTEM)|EXEC_PATH)$/.test(name),
  );
  // The output is read as text, here and in logs; only the picture has colours.
  const { FORCE_COLOR: _, ...others } = Object.fromEntries(kept);
  return { ...others, NO_COLOR: '1', XDG_STATE_HOME: join(scratch, 'state') };
}

const scratch = mkdtempSync(join(tmpdir(), 'forge-demo-'));
const env = environment();

/** Runs a program; stdout and stderr come as one text, in the order in which they were written. */
function run(program, args) {
  const file = join(scratch, 'output');
  const output = openSync(file, 'w');
  const { status, error } = spawnSync(program, args, {
    cwd: PROJECT,
    env,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  if (error) throw new Error(`${program} could not be started: ${error.message}`);
  return { status, output: readFileSync(file, 'utf8').trimEnd() };
}

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `"${word}"`);

/** Shows a command as one would type it, runs it, and shows what it said. */
function show(name, args, { exit = 0, contains = '', scene } = {}) {
  const line = [name, ...args].map(quoted).join(' ');
  console.log(`$ ${line}`);
  const shown =
    name === 'forge' ? run(process.execPath, [FORGE, ...colour(scene), ...args]) : run(name, args);
  // The picture must not show a path of this machine.
  if (scene) scenes.push({ line, text: shown.output.replaceAll(PROJECT, '~/demo-project'), ...scene });
  const { status } = shown;
  const output = stripVTControlCharacters(shown.output);
  if (output !== '') console.log(output);
  if (status !== 0) console.log(`(exit ${status})`);
  console.log('');
  if (status !== exit) throw new Error(`${name} ${args.join(' ')}: exit ${status}, expected ${exit}.`);
  if (!output.includes(contains))
    throw new Error(`${name} ${args.join(' ')} was expected to say "${contains}".`);
  return output;
}

const colour = (scene) => (scene && PICTURE ? ['--color', 'always'] : []);
const forge = (args, expected) => show('forge', args, expected);
const say = (sentence) => console.log(`# ${sentence}`);

/** Like the commands above, but not worth showing. */
function quietly(program, args) {
  const { status, output } = run(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: exit ${status}: ${output}`);
}

function write(path, content) {
  const target = join(PROJECT, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
}

/** An empty repository with an identity of its own; nothing of the machine's git settings is needed or changed. */
function makeRepository() {
  if (lstatSync(PROJECT, { throwIfNoEntry: false })) {
    if (!existsSync(MARKER)) throw new Error(`${PROJECT} was not made by the demo; move it away first.`);
    rmSync(PROJECT, { recursive: true, force: true, maxRetries: 3 });
  }
  mkdirSync(PROJECT);
  quietly('git', ['init', '-q']);
  writeFileSync(MARKER, '');
  quietly('git', ['symbolic-ref', 'HEAD', 'refs/heads/main']);
  const settings = {
    'user.name': 'Demo Person',
    'user.email': 'demo@example.com',
    'commit.gpgSign': 'false',
    'core.hooksPath': '.git/hooks',
    'core.autocrlf': 'false',
    'core.excludesFile': '',
  };
  for (const [name, value] of Object.entries(settings)) quietly('git', ['config', name, value]);
  for (const [path, content] of Object.entries(FILES)) write(path, content);
  quietly('git', ['add', '.']);
  quietly('git', ['commit', '-q', '-m', 'A slug function and its test']);
}

function firstSession() {
  say('init creates the .forge/ folder, and overwrites nothing.');
  forge(['init', '--yes'], { contains: 'created', scene: {} });

  say('A feature has a test: a command that proves it. The second feature is blocked by the first.');
  const test = 'node --test --test-reporter=dot';
  forge(['feature', 'add', 'F-1', 'Slugs hold no punctuation', '--test', test], { scene: {} });
  forge(['feature', 'add', 'F-2', 'Empty slugs are refused', '--blocked-by', 'F-1']);

  say('A session starts with a briefing and the next task.');
  forge(['start'], { contains: 'Task: F-1', scene: { from: 'Focus' } });

  say('One line for the next session.');
  forge(['log', 'Read src/slug.js: only spaces are replaced']);

  say('verify runs the test itself. It fails, so the feature is "failing" now, and the exit code is 1.');
  forge(VERIFY, { exit: 1, contains: 'failing', scene: { from: '✗' } });

  say('The fix, committed as usual.');
  write('src/slug.js', FIXED);
  show('git', ['commit', '-a', '-m', 'Keep letters and digits only'], { contains: '1 file changed' });

  say(
    'Only a test that forge ran makes a feature "passing"; the commit and the command are kept as evidence.',
  );
  forge(VERIFY, { contains: 'failing → passing', scene: {} });

  recordAndCheck();

  say('The end: what was learned, what comes next, and a commit of .forge/ alone.');
  forge(['end', '--learned', LEARNED, '--next', NEXT], { contains: 'commit', scene: {} });

  say('The message of that commit.');
  show('git', ['log', '-1', '--shortstat'], { contains: '## Backtrace' });
}

/** Two records, their removal, and the way back. */
function recordAndCheck() {
  say('Each run and its result go into an append-only ledger.');
  forge(['memory', 'record', '--task', 'F-1', '--exit-code', '1', '--classification', 'FAILURE']);
  forge(['memory', 'record', '--task', 'F-1', '--exit-code', '0', '--classification', 'SUCCESS']);
  forge(['memory', 'verify', '--tier', 'execution'], { contains: 'memory is intact' });

  say(
    'git clean removes the records, which are not committed yet. verify restores them from the journal in .git.',
  );
  show('git', ['clean', '-f', '-d', '-q', '.forge/memory/ledger']);
  forge(['memory', 'verify', '--tier', 'execution'], { contains: 'memory is intact' });
  forge(['memory', 'log', '--tier', 'execution'], { contains: 'exit 1' });
}

function nextSession() {
  say('The next session starts with all of it: see "Next step" and "Candidates".');
  const briefing = forge(['start'], { contains: NEXT, scene: { from: 'Focus' } });
  for (const part of ['Task: F-2', '1 passing', LEARNED])
    if (!briefing.includes(part)) throw new Error(`The last briefing does not contain "${part}".`);
  const { output } = run('git', ['status', '--porcelain']);
  if (output !== '') throw new Error(`The session left changes behind: ${output}`);
}

const FAREWELL = `left behind in demo-project/: look around with
  cd demo-project
  node ../bin/forge.js                               the second session is still open
  node ../bin/forge.js session list
  node ../bin/forge.js progress add "looked around"
  node ../bin/forge.js session end --next "go on"
  git log`;

try {
  ensureBuilt();
  makeRepository();
  firstSession();
  nextSession();
  if (PICTURE) writeFileSync(PICTURE, drawScenes(scenes));
  console.log(FAREWELL);
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
