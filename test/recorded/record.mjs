// node test/recorded/record.mjs [--forge PATH/bin/forge.js] [--story NAME] [--out FILE]
// Types the steps of scenario.mjs in temporary repositories and writes what each of them printed, normalised.
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { normaliseStory } from './normalise.mjs';
import { ADDRESS, EMAIL, SECRET, STORIES } from './scenario.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const SLOW_MOTION = JSON.stringify(join(HERE, '../support/slow-motion.cjs'));
const AT_ONCE = 2;
/** Ends a step that hangs, ms. */
const HANG = 120_000;

const { values: options } = parseArgs({
  options: {
    forge: { type: 'string', default: join(HERE, '../../bin/forge.js') },
    story: { type: 'string' },
    out: { type: 'string', default: join(HERE, 'recorded.json') },
    keep: { type: 'boolean', default: false },
  },
});
const FORGE = realpathSync(resolve(options.forge));
const FORGE_ROOT = dirname(dirname(FORGE));
const VERSION = JSON.parse(readFileSync(join(FORGE_ROOT, 'package.json'), 'utf8')).version;

/** Words as a shell would split them; quotes keep a word together. */
const wordsOf = (line) =>
  [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single),
  );

const withJson = (argv) => {
  const end = argv.indexOf('--');
  return end < 0 ? [...argv, '--json'] : [...argv.slice(0, end), '--json', ...argv.slice(end)];
};

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** Runs a program to its end. */
function run(program, argv, { cwd, env, stdin = '' }) {
  return new Promise((done, fail) => {
    const child = spawn(program, argv, { cwd, env, timeout: HANG, killSignal: 'SIGKILL' });
    const [stdout, stderr] = [[], []];
    child.stdout.on('data', (chunk) => stdout.push(chunk));
    child.stderr.on('data', (chunk) => stderr.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    child.on('error', fail);
    child.on('close', (exit) =>
      done({ exit, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}

/** One story in a folder of its own. */
class Play {
  constructor(story) {
    this.story = story;
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'forge-recorded-')));
    this.home = join(this.root, 'home');
    this.repo = join(this.root, 'sample');
    this.values = { repo: this.repo, home: this.home, root: this.root };
    this.results = [];
    this.others = [];
    for (const folder of [this.repo, join(this.home, 'bin'), join(this.root, 'tmp')])
      mkdirSync(folder, { recursive: true });
    symlinkSync(FORGE, join(this.home, 'bin/forge'));
    writeFileSync(
      join(this.home, '.gitconfig'),
      '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n',
    );
    writeFileSync(join(this.home, '.npmrc'), 'update-notifier=false\n');
    this.env = {
      PATH: `${join(this.home, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: this.home,
      XDG_CONFIG_HOME: join(this.home, '.config'),
      XDG_STATE_HOME: join(this.home, '.state'),
      XDG_CACHE_HOME: join(this.home, '.cache'),
      TMPDIR: join(this.root, 'tmp'),
      GIT_CONFIG_GLOBAL: join(this.home, '.gitconfig'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      SHELL: '/bin/sh',
      TERM: 'dumb',
      TZ: 'UTC',
    };
  }

  async play() {
    for (const step of this.story.steps) {
      try {
        await this.step(typeof step === 'string' ? { forge: step } : step);
      } catch (error) {
        process.stderr.write(`${this.story.name}: ${JSON.stringify(step)}: ${error.message}\n`);
        process.exitCode = 1;
      }
    }
    for (const other of this.others) other.kill();
    const places = [
      [this.repo, '<repo>'],
      [this.home, '<home>'],
      [this.root, '<root>'],
      [FORGE_ROOT, '<forge>'],
      [process.execPath, '<node>'],
      [hostname(), '<host>'],
      [SECRET, '<the secret>'],
      [EMAIL, '<the e-mail>'],
      [ADDRESS, '<the address>'],
    ];
    const objects = 'git cat-file --batch-all-objects --batch-check 2>/dev/null; true';
    const git = await run('sh', ['-c', objects], this.place({}));
    const story = normaliseStory(
      { steps: this.results, files: this.files() },
      { places, version: VERSION, objects: git.stdout, ledgers: this.ledgers() },
    );
    if (options.keep) process.stderr.write(`${this.story.name}: ${this.root}\n`);
    else rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
    return story;
  }

  place({ cwd = '.', env = {}, stdin }) {
    const changes = JSON.parse(this.fill(JSON.stringify(env)));
    const text = stdin === undefined || typeof stdin === 'string' ? stdin : JSON.stringify(stdin);
    return { cwd: resolve(this.repo, cwd), env: { ...this.env, ...changes }, stdin: text && this.fill(text) };
  }

  /** What was kept stands in for its `{name}`. */
  fill(text) {
    return text.replace(/\{(\w+)\}/g, (all, name) => this.values[name] ?? all);
  }

  async step(step) {
    if (step.write) return this.write(step.write);
    if (step.copy)
      return cpSync(join(this.root, step.copy[0]), join(this.root, step.copy[1]), { recursive: true });
    if (step.leave) return this.leave();
    if (step.sh) return this.shell(step);
    if (step.mcp) return this.serve(step);
    const argv = wordsOf(step.forge ?? step.text ?? step.other ?? step.terminal).map((word) =>
      this.fill(word),
    );
    const words = step.text === undefined ? withJson(argv) : argv;
    const start = step.other ? this.startOther : step.terminal ? this.atTerminal : this.runForge;
    this.keep(step, words, await start.call(this, words, this.place(step)));
  }

  keep({ keep, quiet, ...step }, argv, result) {
    for (const [name, path] of Object.entries(keep ?? {})) {
      const value = path.split('.').reduce((part, key) => part?.[key], JSON.parse(result.stdout));
      if (typeof value !== 'string') throw new Error(`no ${path} in ${result.stdout}${result.stderr}`);
      this.values[name] = value;
    }
    if (quiet && result.exit !== 0) throw new Error(`exit ${result.exit}: ${result.stdout}${result.stderr}`);
    const how = step.terminal ? { at: 'a terminal' } : step.other ? { at: 'another process' } : {};
    if (!quiet) this.results.push({ argv, ...how, ...(step.env ? { env: step.env } : {}), ...result });
  }

  /** Hooks and completion end themselves early where a machine is slow. */
  runForge(words, place) {
    if (['hook', 'complete'].includes(words[0])) place.env.NODE_OPTIONS = `--require ${SLOW_MOTION}`;
    return run(process.execPath, [FORGE, ...words], place);
  }

  write(files) {
    for (const [path, content] of Object.entries(files)) {
      const target = resolve(this.repo, this.fill(path));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, this.fill(typeof content === 'string' ? content : JSON.stringify(content)));
    }
  }

  /** Git, and what changes files; recorded only where the step says so. */
  async shell({ sh, keep, record, ...step }) {
    const result = await run('sh', ['-c', this.fill(sh)], this.place(step));
    if (record) this.results.push({ argv: ['sh', '-c', this.fill(sh)], ...result });
    else if (result.exit !== 0) throw new Error(`exit ${result.exit}: ${result.stdout}${result.stderr}`);
    if (keep) this.values[keep] = result.stdout.trim();
  }

  /** A person sits there: stdin and stderr are a terminal. */
  async atTerminal(words, place) {
    const out = join(this.root, 'stdout');
    const command = [process.execPath, FORGE, ...words].map(quoted).join(' ');
    const typed = ['-qec', `${command} > ${quoted(out)}`, '/dev/null'];
    const { exit, stdout: screen } = await run('script', typed, place);
    return { exit, stdout: readFileSync(out, 'utf8'), stderr: screen.replaceAll('\r\n', '\n') };
  }

  /** Below a process that stays, so that somebody else holds what is started. */
  async startOther(words, { cwd, env }) {
    const [out, err] = [join(this.root, 'stdout'), join(this.root, 'stderr')];
    const command = [process.execPath, FORGE, ...words].map(quoted).join(' ');
    const script = `${command} > ${quoted(out)} 2> ${quoted(err)}; echo $?`;
    const stay = `require('node:child_process').spawnSync('sh', ['-c', ${JSON.stringify(script)}], { stdio: 'inherit' });
process.stdin.resume();`;
    const child = spawn(process.execPath, ['-e', stay], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.others.push(child);
    const [line] = await once(child.stdout);
    return { exit: Number(line), stdout: readFileSync(out, 'utf8'), stderr: readFileSync(err, 'utf8') };
  }

  /** The other ones end, without a word to forge. */
  async leave() {
    for (const child of this.others.splice(0))
      await new Promise((done) => {
        child.on('close', done);
        child.stdin.end();
      });
  }

  /** Hands each message over once the one before was answered; everything that the server says is recorded. */
  async serve(step) {
    const child = spawn(process.execPath, [FORGE, 'mcp'], { ...this.place(step), timeout: HANG });
    const [said, stderr] = [[], []];
    child.stderr.on('data', (chunk) => stderr.push(chunk));
    const waiting = new Map();
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line);
      waiting.get(JSON.parse(line).id)?.();
    });
    const closed = new Promise((done) => child.on('close', done));
    for (const [i, message] of step.mcp.entries()) {
      const isNote = typeof message === 'object' && message.method.startsWith('notifications/');
      const id = typeof message === 'string' ? null : i;
      const answered = isNote || new Promise((done) => waiting.set(id, done));
      const sent = isNote ? { jsonrpc: '2.0', ...message } : { jsonrpc: '2.0', id: i, ...message };
      child.stdin.write(`${this.fill(typeof message === 'string' ? message : JSON.stringify(sent))}\n`);
      await Promise.race([answered, closed]);
    }
    child.stdin.end();
    const exit = await closed;
    this.results.push({
      argv: ['mcp'],
      sent: step.mcp.map(titleOf),
      exit,
      stdout: said.join('\n'),
      stderr: Buffer.concat(stderr).toString(),
    });
  }

  files() {
    const walk = (folder) =>
      readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? walk(path) : [relative(this.repo, path)];
      });
    try {
      return walk(join(this.repo, '.forge'));
    } catch {
      return [];
    }
  }

  /** The lines of all ledgers: their digests are the ids of records. */
  ledgers() {
    const ledgers = this.files().filter((path) => path.endsWith('.jsonl'));
    return ledgers.flatMap((path) => readFileSync(join(this.repo, path), 'utf8').split('\n'));
  }
}

const titleOf = (message) =>
  typeof message === 'string'
    ? message
    : [message.method, message.params?.name ?? message.params?.uri].filter(Boolean).join(' ');

const once = (stream) =>
  new Promise((done) => createInterface({ input: stream }).once('line', (line) => done([line])));

const chosen = STORIES.filter(({ name }) => options.story === undefined || name === options.story);
if (chosen.length === 0) throw new Error(`There is no story ${options.story}.`);
const recorded = {};
const queue = [...chosen];
const worker = async () => {
  for (let story = queue.shift(); story; story = queue.shift()) {
    const started = Date.now();
    recorded[story.name] = await new Play(story).play();
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    process.stderr.write(`${story.name}: ${recorded[story.name].steps.length} steps, ${seconds} s\n`);
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
const ordered = Object.fromEntries(chosen.map(({ name }) => [name, recorded[name]]));
/** A line for each step, so that a diff shows which one changed. */
const lines = Object.entries(ordered).map(([name, { steps, ...rest }]) =>
  [
    ` ${JSON.stringify(name)}: {"steps": [`,
    steps.map((step) => `  ${JSON.stringify(step)}`).join(',\n'),
    ` ], ${JSON.stringify(rest).slice(1)}`,
  ].join('\n'),
);
writeFileSync(options.out, `{\n${lines.join(',\n')}\n}\n`);
