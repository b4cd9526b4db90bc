import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import * as nodeModule from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { BIN } from '../support/forge.js';
import { makeFolder, makePlainProject, type Project, run } from '../support/project.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Says on stderr which files of the command line were started, and whether what was compiled of them was taken. */
const WATCH = `
  require('node:module').enableCompileCache = undefined;
  const vm = require('node:vm');
  vm.Script = class extends vm.Script {
    constructor(text, options) {
      super(text, options);
      process._rawDebug(JSON.stringify({ file: options.filename, has: !!options.cachedData, refused: this.cachedDataRejected === true }));
    }
  };`;
/** A Node that keeps what it compiles itself, from 22.1 on: the build leaves nothing for it. */
const keepsOwn = 'enableCompileCache' in nodeModule;
const NEWER = "require('node:module').enableCompileCache = () => {};";

type Exports = Record<string, unknown>;
type Load = (id: string) => Exports;
type Module = (exports: Exports, require: Load, folder: string, onUse: (id: string) => () => Exports) => void;
/** Of which build it is, and its modules. */
type List = readonly [string, ...Module[]];

/** `name=onUse("#file/place")`, `require("#file/place")`: what a module of dist/cli takes of others (scripts/link.mjs). */
const USED = /([\w$]+)=[\w$]+\("(#[\w.-]+\/\d+)"\)/g;
const REQUIRED = /[\w$]+\("(#[\w.-]+\/\d+)"\)/g;
/** Every `name().property` in a module's text. */
const propertiesOf = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}\\(\\)\\.([\\w$]+)`, 'g'))].map(
    ([, property = '']) => property,
  );

const builtin = nodeModule.createRequire(import.meta.url);
const requireBuilt = (name: string): List => builtin(join(root, 'dist/cli', name)) as List;

/** As bin/forge.js does it. */
function makeLoad(lists: ReadonlyMap<string, List>): Load {
  const modules = new Map<string, Exports>();
  return function load(id) {
    const known = modules.get(id);
    if (known) return known;
    if (!id.startsWith('#')) return builtin(id) as Exports;
    const exports: Exports = {};
    modules.set(id, exports);
    const [file = '', place = ''] = id.slice(1).split('/');
    const module = lists.get(file)?.[Number(place)];
    if (typeof module !== 'function') throw new Error(`There is no module ${id}.`);
    module(exports, load, join(root, 'dist/cli'), (used) => () => load(used));
    return exports;
  };
}

function halve(file: string): void {
  truncateSync(file, Math.floor(statSync(file).size / 2));
}

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

  it
    .skipIf(keepsOwn)
    .each([[['next']], [['session', 'status']], [['memory', 'verify']], [['doctor', '--json']]])(
    'takes what was compiled for it: %j',
    (args) => {
      const files = started(args);
      expect(files.length).toBeGreaterThan(0);
      expect(files.filter(({ has, refused }) => !has || refused)).toEqual([]);
    },
  );

  it('reads less for a hook that is called before every prompt than it has', () => {
    const size = (file: string): number => readFileSync(join(root, 'dist/cli', basename(file))).length;
    const all = readdirSync(join(root, 'dist/cli'))
      .filter((name) => name.endsWith('.cjs'))
      .reduce((sum, name) => sum + size(name), 0);
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

  it.each([
    ['a Node that keeps nothing', []],
    ['one that requires them', ['-r', NEWER]],
  ])('says in one line that a file of its own is gone, empty or cut off, exit 6: %s', (_, newer) => {
    const home = copy();
    const before = newer.flatMap((word) => (word === NEWER ? probe(NEWER).slice(1) : [word]));
    const damages: ((file: string) => void)[] = [rmSync, (file) => truncateSync(file, 0), halve];
    // The first is needed to start at all, the other one by the command.
    for (const name of ['main.cjs', 'rest.cjs'])
      for (const damage of damages) {
        damage(join(home, 'dist/cli', name));
        const { exitCode, stderr, stdout } = start(join(home, 'bin/forge.js'), ['guard', 'rules'], before);
        expect([exitCode, stdout, stderr]).toEqual([
          6,
          '',
          expect.stringMatching(
            new RegExp(
              `^forge: forge is incomplete; npm ci && npm run build [^\\n]*${name.replace('.', '\\.')}[^\\n]*\\n$`,
            ),
          ),
        ]);
        cpSync(join(root, 'dist/cli', name), join(home, 'dist/cli', name));
      }
    expect(start(join(home, 'bin/forge.js'), ['guard', 'rules'], before).exitCode).toBe(2);
  });

  it('takes nothing of another build that was put in its place while it ran', () => {
    const home = copy();
    // What was compiled of the old one is gone with it.
    for (const file of compiledOf(home)) rmSync(file);
    const path = join(home, 'dist/cli/rest.cjs');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(/\["[0-9a-f]+"/, '["0000000000000000"'));
    expect(readFileSync(path, 'utf8')).not.toBe(text);
    const { exitCode, stderr, stdout } = start(join(home, 'bin/forge.js'), ['guard', 'rules']);
    expect([exitCode, stdout]).toEqual([6, '']);
    expect(stderr).toMatch(/^forge: [^\n]*rest\.cjs is of another build[^\n]*\n$/);
  });

  it('says that its templates are missing, exit 6', () => {
    const home = copy();
    rmSync(join(home, 'templates'), { recursive: true });
    const { exitCode, stderr } = start(join(home, 'bin/forge.js'), ['help', 'kfr']);
    expect([exitCode, stderr]).toEqual([
      6,
      'forge: forge is incomplete: its templates folder is missing.\n  → npm ci && npm run build   (in your clone of forge)\n',
    ]);
  });

  it('every module of every file finds what it takes of others, and gives what others take', () => {
    const lists = new Map(
      readdirSync(join(root, 'dist/cli'))
        .filter((name) => name.endsWith('.cjs'))
        .map((name) => [basename(name, '.cjs'), requireBuilt(name)] as const),
    );
    const load = makeLoad(lists);
    let used = 0;
    for (const [name, [, ...functions]] of lists)
      for (const [i, module] of functions.entries()) {
        const text = String(module);
        // The command line's start would run this test's own arguments.
        if (name !== 'main' || i !== 0) load(`#${name}/${i + 1}`);
        for (const [, own = '', id = ''] of text.matchAll(USED))
          for (const property of propertiesOf(text, own)) {
            expect([name, i, id, property, property in load(id)]).toContain(true);
            used++;
          }
        for (const [, id = ''] of text.matchAll(REQUIRED)) expect(load(id)).toBeDefined();
      }
    expect(lists.size).toBeGreaterThan(5);
    expect(used).toBeGreaterThan(1000);
    expect(new Set([...lists.values()].map(([build]) => build)).size).toBe(1);
  });

  it('bears nothing of the folder that it was built in', () => {
    const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' });
    const bearing = files
      .filter((name) => /\.(cjs|js|v8|ts|txt|1)$/.test(name))
      .filter((name) => readFileSync(join(root, 'dist', name), 'latin1').includes(root.slice(0, -1)));
    expect(bearing).toEqual([]);
  });

  it('works the same with the cache of a newer Node', () => {
    const args = ['feature', 'list', '--json'];
    expect(start(BIN, args, probe(NEWER))).toEqual(start(BIN, args));
  });
});
