import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  canMount,
  hasShim,
  hasStrace,
  onSmallDisk,
  runFaulty,
  strikeCall,
  traceCalls,
} from '../support/faults.js';
import { startBinary } from '../support/forge.js';
import { differences, snapshot } from '../support/forge-project.js';
import { kills } from '../support/kills.js';
import {
  follow,
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
  projectAt,
  run,
} from '../support/project.js';
import { typed, typedError, typedJson } from '../support/typed.js';

interface Init {
  root: string;
  created: string[];
  repaired: string[];
  kept: string[];
  skipped: string[];
}

const INIT = ['init', '--yes'];
const init = (place: Pick<Project, 'dir'>): Init => typedJson<Init>(place, INIT);

/** A repository whose first commit, name and so all that init writes are the same each time. */
function makeSame(): Project {
  const project = projectAt(`${makeFolder()}/same`);
  mkdirSync(project.dir);
  project.git('init', '-q');
  project.write('package.json', '{ "scripts": { "test": "x" } }\n');
  project.git('add', '.');
  const at = '2026-01-01T00:00:00Z';
  const { exitCode } = run(project.dir, 'git', ['commit', '-q', '-m', 'Begin'], {
    env: { GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at },
  });
  expect(exitCode).toBe(0);
  return project;
}

const forgeIn = (project: Project): Record<string, string> => snapshot(project.path('.forge'));

describe('where forge init works', () => {
  it.each(['it\'s "a" $(touch x) `y` \\', 'two\nlines', 'Überschrift 日本 🙂', ' a ', '-n', '#%'])(
    'LAY-05 in a path with %j, and what it says next works there',
    (name) => {
      const project = projectAt(join(makeFolder(), name));
      mkdirSync(project.path('src'), { recursive: true });
      project.git('init', '-q');
      project.write('package.json', '{ "scripts": { "test": "node -e 0" } }');
      expect(init(projectAt(project.path('src'))).root).toBe(project.dir);
      expect(run('/', 'sh', [project.path('.forge/init.sh')])).toMatchObject({ exitCode: 0, stderr: '' });
      typed(project, 'feature add --no-run FORGE-001 "First thing to build" --test "npm test"');
      typed(project, ['session', 'start']);
      typed(project, ['session', 'end']);
      expect(project.git('status', '--porcelain')).toBe('?? package.json');
    },
  );

  it.each([
    ['\u001b[31m', '<U+001B>[31m'],
    ['zero\u200bwidth', 'zero<U+200B>width'],
    ['jo.doe@corp-mail.com', 'project'],
    ['漢'.repeat(80), `${'漢'.repeat(49)}…`],
  ])('LAY-05 B-06 LTM-13 works in a folder named %j, from init to the end of a session', (name, known) => {
    const project = projectAt(join(makeFolder(), name));
    mkdirSync(project.dir);
    project.git('init', '-q');
    const shown = typed(project, INIT);
    expect(['\u001b', '\u200b'].filter((char) => shown.includes(char))).toEqual([]);
    expect(project.read('.forge/config.toml')).toContain(`\nname = "${known}"\n`);
    typed(project, ['session', 'start']);
    expect(typed(project, ['guard', 'scan', project.path('.forge')])).toContain('nothing found');
    typed(project, ['session', 'end']);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('LAY-05 LTM-13 refuses forbidden text before any file is written', () => {
    const project = makePlainProject();
    project.git('init', '-q');
    for (const folder of ['web', 'jo.doe@corp-mail.com'])
      project.write(`${folder}/package.json`, '{ "scripts": { "test": "x" } }');
    expect(typedError(project, INIT)).toMatchObject({ exit: 5, code: 'guard.email', file: '.forge/init.sh' });
    expect(project.git('status', '--porcelain', '.forge')).toBe('');
  });

  it('LAY-05 B-38 in a linked worktree and in a submodule, each with its own', () => {
    const project = makeRepository();
    const linked = projectAt(`${makeFolder()}/linked`);
    project.git('worktree', 'add', '-q', linked.dir, '-b', 'side');
    expect(init(projectAt(linked.path('src'))).root).toBe(linked.dir);
    const library = makeRepository();
    project.git('submodule', '--quiet', 'add', library.dir, 'lib');
    const inner = projectAt(project.path('lib'));
    expect(init(projectAt(inner.path('src'))).root).toBe(inner.dir);
    expect(project.has('.forge')).toBe(false);
    for (const place of [linked, inner]) {
      typed(place, ['session', 'start']);
      typed(place, ['session', 'end']);
      expect(place.git('log', '-1', '--format=%s')).toMatch(/Save memory/);
    }
    // A submodule is a project of its own: nothing of it is set up from outside.
    expect(
      typedJson<{ parts: { folder: string }[] }>(project, INIT).parts.map(({ folder }) => folder),
    ).toEqual(['.']);
  });

  it('LAY-05 below a home folder that is a repository: a project without that git, with a note', () => {
    const home = projectAt(makeFolder());
    home.git('init', '-q');
    home.write('.bashrc', '');
    const project = projectAt(home.path('code/shop'));
    mkdirSync(project.path('src'), { recursive: true });
    const before = snapshot(home.path('.git'));
    const env = { HOME: home.dir };
    const result = typedJson<Init>(project, INIT, { env });
    expect([result.root, result.skipped]).toEqual([
      project.dir,
      [expect.stringMatching(/^git: .*home folder.*left alone; .*: git init$/)],
    ]);
    typed(projectAt(project.path('src')), ['session', 'start'], { env });
    expect(typed(project, ['session', 'end'], { env })).toContain('not a git repository');
    expect(typedError(projectAt(home.path('code')), ['next'], { env }).code).toBe('not_a_forge');
    expect(typedError(home, INIT, { env }).code).toBe('init.folder');
    expect(differences(before, snapshot(home.path('.git')))).toEqual([]);
    // With a repository of its own it is as anywhere.
    project.git('init', '-q');
    expect(typedJson<Init>(project, INIT, { env }).skipped).toEqual([]);
  });

  it('LAY-05 B-20 refuses a .forge that is a symlink or a file, or leads out: nothing is written', () => {
    const elsewhere = makeFolder();
    const cases: [make: (project: Project) => void, exitCode: number, code: string][] = [
      [({ path }) => symlinkSync(elsewhere, path('.forge')), 2, 'forge.link'],
      [({ path }) => symlinkSync('/nowhere', path('.forge')), 2, 'forge.link'],
      [({ write }) => write('.forge', 'mine'), 2, 'init.taken'],
      [
        ({ path, write }) => {
          write('.forge/x', '');
          symlinkSync(elsewhere, path('.forge/skills'));
        },
        4,
        'file.outside',
      ],
      [
        ({ path, write }) => {
          write('.forge/x', '');
          symlinkSync('/etc/passwd', path('.forge/init.sh'));
        },
        4,
        'file.kind',
      ],
      [({ write }) => write('.forge/init.sh/x', ''), 4, 'file.kind'],
    ];
    for (const [make, exitCode, code] of cases) {
      const project = makePlainProject();
      make(project);
      const before = snapshot(project.path('.forge'));
      expect(typedError(project, INIT)).toMatchObject({
        exitCode,
        code,
        message: expect.stringContaining('.forge'),
      });
      const after = snapshot(project.path('.forge'));
      expect(Object.keys(after).filter((path) => before[path] === undefined && !/^local/.test(path))).toEqual(
        [],
      );
      expect(readdirSync(elsewhere)).toEqual([]);
    }
  });

  it.skipIf(!canMount)('LAY-05 B-63 on a read-only disk: exit 6 that says so', () => {
    const said = onSmallDisk(
      makeRepository(),
      'size=8m',
      'mount -o remount,ro . && { forge init --yes 2>&1 || echo "exit $?"; }',
    );
    expect(said).toMatch(/^forge: [^\n]*read-only[^\n]*\n( {2}→[^\n]*\n)?exit 6\n$/);
  });
});

describe('forge init under concurrency and interruption', () => {
  it('LAY-02 four concurrent runs create one complete tree', async () => {
    const wanted = makeSame();
    init(wanted);
    const project = makeSame();
    const results = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { exitCode, stdout } = await follow(startBinary(project.dir, [...INIT, '--json'])).ended;
        expect(exitCode).toBe(0);
        return JSON.parse(stdout) as Init;
      }),
    );
    const made = results.flatMap(({ created, repaired }) => [...created, ...repaired]);
    expect(new Set(made).size).toBe(made.length);
    expect(forgeIn(project)).toEqual(forgeIn(wanted));
  });

  it.skipIf(!hasStrace)('LAY-02 killed at any call, run again: the same tree, and nothing beside it', () => {
    const wanted = makeSame();
    const { created } = init(wanted);
    const calls = traceCalls(makeSame(), INIT);
    expect(calls.length).toBeGreaterThan(100);
    const count = kills(10, 60);
    for (let n = 0; n < count; n++) {
      const i = Math.floor((n * calls.length) / count);
      const project = makeSame();
      const struck = strikeCall(project.dir, INIT, calls, calls[i] as never, 'signal=KILL');
      expect(struck.hit, `call ${i}`).toBeDefined();
      const again = init(project);
      expect(again.created.length + again.repaired.length + again.kept.length).toBe(created.length);
      expect([i, forgeIn(project)]).toEqual([i, forgeIn(wanted)]);
      typed(project, ['session', 'start']);
    }
  });

  it.skipIf(!hasShim)('LAY-02 B-59 on a disk full at any byte: exit 6, no half file, the rest later', () => {
    const wanted = makeSame();
    init(wanted);
    const whole = forgeIn(wanted);
    for (const budget of [0, 1, 700, 5_000, 12_000, 20_000, 30_000]) {
      const project = makeSame();
      const { exitCode, stdout, stderr } = runFaulty(project.dir, INIT, { path: '/.forge/', budget });
      expect([budget, exitCode, stdout, stderr]).toEqual([
        budget,
        6,
        '',
        expect.stringMatching(/^forge: [^\n]*(full|no space)[^\n]*\n( {2}→[^\n]*\n)?$/i),
      ]);
      const there = project.has('.forge') ? forgeIn(project) : {};
      for (const [path, what] of Object.entries(there)) expect([path, what]).toEqual([path, whole[path]]);
      init(project);
      expect(forgeIn(project)).toEqual(whole);
    }
  });
});
