import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { BIN } from '../support/forge.js';
import { makeFolder, makePlainProject, type Project, run } from '../support/project.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Says on stderr which files of the command line were started, and whether what was compiled of them was taken. */
const WATCH = `
  const vm = require('node:vm');
  vm.Script = class extends vm.Script {
    constructor(text, options) {
      super(text, options);
      process._rawDebug(JSON.stringify({ file: options.filename, has: !!options.cachedData, refused: this.cachedDataRejected === true }));
    }
  };`;
/** A Node that keeps what it compiles itself, from 22.1 on. */
const NEWER = "require('node:module').enableCompileCache = () => {};";

interface Started {
  file: string;
  has: boolean;
  refused: boolean;
}

describe('the built command line', () => {
  let project: Project;
  const probe = (code: string): string[] => {
    const path = join(makeFolder(), 'probe.cjs');
    writeFileSync(path, code);
    return ['-r', path];
  };
  const start = (bin: string, args: readonly string[], before: readonly string[] = []) =>
    run(project.dir, process.execPath, [...before, bin, ...args]);
  const started = (args: readonly string[]): Started[] => {
    const { stderr, exitCode } = start(BIN, args, probe(WATCH));
    expect([args, exitCode]).toEqual([args, 0]);
    const lines = stderr.split('\n').filter((line) => line.startsWith('{"file"'));
    return lines.map((line) => JSON.parse(line) as Started);
  };
  /** A copy whose files may be changed. */
  const copy = (): string => {
    const home = makeFolder();
    for (const part of ['bin', 'dist/cli', 'templates', 'package.json']) {
      mkdirSync(join(home, part, '..'), { recursive: true });
      cpSync(join(root, part), join(home, part), { recursive: true });
    }
    return home;
  };
  const compiledOf = (home: string): string[] =>
    readdirSync(join(home, 'dist/cli'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.v8'))
      .map((name) => join(home, 'dist/cli', name));

  beforeEach(() => {
    project = makePlainProject();
    expect(start(BIN, ['init', '--yes']).exitCode).toBe(0);
    expect(start(BIN, ['feature', 'add', 'FORGE-001', 'First']).exitCode).toBe(0);
  });

  it('loads nothing for its version', () => {
    expect(started(['--version'])).toEqual([]);
  });

  it.each([[['next']], [['session', 'status']], [['memory', 'verify']], [['doctor', '--json']]])(
    'takes what was compiled for it: %j',
    (args) => {
      const files = started(args);
      expect(files.length).toBeGreaterThan(0);
      expect(files.filter(({ has, refused }) => !has || refused)).toEqual([]);
    },
  );

  it('reads less for a hook that is called before every prompt than it has', () => {
    const size = (file: string): number => readFileSync(file).length;
    const all = readdirSync(join(root, 'dist/cli'))
      .filter((name) => name.endsWith('.cjs'))
      .reduce((sum, name) => sum + size(join(root, 'dist/cli', name)), 0);
    const { stderr } = run(
      project.dir,
      process.execPath,
      [...probe(WATCH), BIN, 'hook', 'claude', 'user-prompt-submit'],
      { input: JSON.stringify({ session_id: 'x', hook_event_name: 'UserPromptSubmit', prompt: 'Go on' }) },
    );
    const files = stderr.split('\n').filter((line) => line.startsWith('{"file"'));
    const read = files.reduce((sum, line) => sum + size((JSON.parse(line) as Started).file), 0);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(all / 4);
  });

  it('works the same where another Node compiled it, where nothing was compiled, and where that is damaged', () => {
    const right = start(BIN, ['next', '--json']);
    expect(JSON.parse(right.stdout)).toMatchObject({ task: { id: 'FORGE-001' } });
    // Other flags are to V8 as another version is.
    expect(start(BIN, ['next', '--json'], ['--max-lazy'])).toEqual(right);
    const home = copy();
    for (const file of compiledOf(home)) truncateSync(file, 300);
    expect(start(join(home, 'bin/forge.js'), ['next', '--json'])).toEqual(right);
    for (const file of compiledOf(home)) rmSync(file);
    expect(start(join(home, 'bin/forge.js'), ['next', '--json'])).toEqual(right);
  });

  it('says in one line that a file of its own is missing, exit 6', () => {
    const home = copy();
    const kept = join(makeFolder(), 'kept');
    const messages = compiledOf(home).flatMap((compiled) => {
      const file = join(home, 'dist/cli', `${basename(compiled, '.v8')}.cjs`);
      renameSync(file, kept);
      const { exitCode, stderr } = start(join(home, 'bin/forge.js'), ['nosuch']);
      renameSync(kept, file);
      // Those that this call does not need are not missed.
      return exitCode === 2 ? [] : [[exitCode, stderr]];
    });
    expect(messages.length).toBeGreaterThan(1);
    for (const [exitCode, stderr] of messages)
      expect([exitCode, stderr]).toEqual([
        6,
        expect.stringMatching(/^forge: forge is incomplete; npm install [^\n]*: ENOENT[^\n]*\n$/),
      ]);
  });

  it('works the same with the cache of a newer Node', () => {
    const args = ['feature', 'list', '--json'];
    expect(start(BIN, args, probe(NEWER))).toEqual(start(BIN, args));
  });
});
