import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../src/index.js';
import { BIN, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import {
  CONFIG,
  FEATURES,
  KNOWLEDGE,
  makeForge,
  makePlainForge,
  SESSIONS,
  snapshot,
} from '../support/forge-project.js';
import { containerOf } from '../support/memory.js';
import {
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
  pathWithoutForge,
  projectAt,
  run,
} from '../support/project.js';

const UNASKED = /git's hooks are not installed/;

async function look(project: Pick<Project, 'dir'>, options: RunOptions = {}, args: string[] = []) {
  const { stdout, stderr, exitCode } = await runForge(project, ['doctor', ...args, '--json'], options);
  expect(stderr).toBe('');
  const { findings } = JSON.parse(stdout) as Diagnosis;
  for (const { observed, expected, why, commands } of findings)
    for (const text of [observed, expected, why, ...commands]) expect(text).toMatch(/\S/);
  const told = findings.filter(({ observed }) => !UNASKED.test(observed));
  return {
    exitCode,
    found: told.map(({ severity, observed, commands }) => `${severity}: ${observed} → ${commands[0]}`),
  };
}
const found = async (project: Pick<Project, 'dir'>, options: RunOptions = {}): Promise<string[]> =>
  (await look(project, options)).found;

const at = (now: string): RunOptions => ({ world: { now: () => new Date(now) } });

describe('forge doctor, of the clock', () => {
  it('B-67 tells one that is set before all forges, or before what was written here', async () => {
    const project = await makeForge();
    expect(await found(project, at('1970-01-01T00:00:00.000Z'))).toEqual([
      'degraded: the clock says 1970-01-01T00:00:00.000Z → date -u',
    ]);
    rmSync(project.path('.git/forge/activity'), { force: true });
    expect(await found(project, at('2025-06-01T00:00:00.000Z'))).toEqual([
      expect.stringMatching(/^degraded: the clock says 2025-06-01\S+, but (a record|the commit) .* has 20/),
    ]);
    expect(await found(project, at('2100-01-01T00:00:00.000Z'))).toEqual([]);
  });

  it('tells of a record from the future, and believes two clocks a few minutes', async () => {
    const project = await makeForge();
    const noted = (minutes: number): RunOptions => ({
      world: { now: () => new Date(Date.now() + minutes * 60_000) },
    });
    await forgeJson(project, ['note', 'add', 'early'], noted(3));
    project.git('add', '-A');
    project.git('commit', '-qm', 'Note');
    expect(await found(project)).toEqual([]);
    await forgeJson(project, ['note', 'add', 'late'], noted(60));
    project.git('add', '-A');
    project.git('commit', '-qm', 'Note');
    expect(await found(project)).toEqual([
      expect.stringMatching(/^degraded: the clock says \S+, but a record of the tier note has 20/),
    ]);
  });
});

describe('forge doctor, of what was left half-way', () => {
  it('tells of a lock of another host, not of one that the next writer takes over', async () => {
    const project = await makeForge();
    const claim = { pid: 1, started: 'x', boot: null, token: 'a'.repeat(32) };
    project.write('.forge/local/lock', JSON.stringify({ ...claim, host: 'elsewhere' }));
    expect(await found(project)).toEqual([
      expect.stringMatching(/^degraded: \.forge\/local\/lock is held by process 1 on elsewhere, .* → ls -l/),
    ]);
    rmSync(project.path('.forge/local/lock'));
    expect(await found(project)).toEqual([]);
  });

  it('B-39 tells of a lock of git that is old, not of one of this moment', async () => {
    const project = await makeForge();
    project.write('.git/index.lock', '');
    expect(await found(project)).toEqual([]);
    utimesSync(project.path('.git/index.lock'), 1_700_000_000, 1_700_000_000);
    expect(await found(project)).toEqual([
      'degraded: .git/index.lock has been there for minutes → ps -C git',
    ]);
  });

  it('misses no view of the ledger, and any of its files', async () => {
    const project = await makeForge();
    await forgeJson(project, ['note', 'add', 'one']);
    project.git('add', '-A');
    project.git('commit', '-qm', 'Notes');
    const gone = async () => (await found(project)).filter((each) => each.includes('gone'));
    rmSync(project.path('.forge/memory/long-term/notes.jsonl'));
    expect(await gone()).toEqual([]);
    rmSync(project.path(containerOf(project)));
    expect(await gone()).toEqual([
      expect.stringMatching(/^degraded: 1 file of .forge\/ that git has is gone/),
    ]);
  });

  it('tells of the ends of sessions and cycles that were cut off', async () => {
    const project = await makeForge();
    project.write('.git/forge/intent.json', '{}');
    project.write('.git/forge/pending/0123456789abcdef.json', '{}');
    expect(await found(project)).toEqual([
      'degraded: the end of a session was interrupted → forge start',
      'degraded: 1 cycle waits to be recorded → forge memory stats',
    ]);
  });

  it('tells of a merge that is not finished, of files that are gone, and of records in no commit', async () => {
    const project = await makeForge();
    project.write('.git/MERGE_HEAD', `${project.git('rev-parse', 'HEAD')}\n`);
    expect(await found(project)).toEqual(['advisory: a merge is in progress → git status']);
    rmSync(project.path('.git/MERGE_HEAD'));
    rmSync(project.path('.forge/memory/long-term/architecture.md'));
    expect(await found(project)).toEqual([
      'degraded: 1 file of .forge/ that git has is gone: .forge/memory/long-term/architecture.md → git restore -- .forge/memory/long-term/architecture.md',
    ]);
    // With two, what it says to type brings back these, and leaves what was changed since the commit.
    rmSync(project.path('.forge/README.md'));
    await forgeJson(project, ['feature', 'add', '--no-run', 'F-1', 'One', '--test', 'true']);
    const features = project.read(FEATURES);
    const [symptom = ''] = await found(project);
    run(project.dir, 'sh', ['-c', symptom.replace(/^.* → /, '')]);
    expect([project.has('.forge/README.md'), project.read(FEATURES)]).toEqual([true, features]);
    project.git('restore', '.forge');
    await forgeJson(project, ['note', 'add', 'x']);
    expect(await found(project)).toEqual([
      expect.stringMatching(
        /^advisory: records are in no commit yet: \.forge\/memory\/ledger\/solo-\S+ → git add \.forge/,
      ),
    ]);
    await forgeJson(project, ['session', 'start']);
    expect(await found(project)).toEqual([]);
  });

  it('B-45 tells of a clone whose history is cut off', async () => {
    const project = await makeForge();
    const clone = projectAt(makeFolder());
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${project.dir}`, clone.dir]);
    expect(await found(clone)).toContain(
      'advisory: the history of this clone is cut off → git fetch --unshallow',
    );
  });
});

describe('forge doctor, of programs', () => {
  const install = (version: string): string => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'forge-memory', version }));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/forge'), '#!/bin/sh\nexit 9\n');
    chmodSync(join(folder, 'bin/forge'), 0o755);
    return join(folder, 'bin');
  };

  it('tells of several versions on the PATH, and of hooks that start another one, starting none', async () => {
    const project = await makeForge();
    const [old, new_] = [install('0.0.1'), install('9.9.9')];
    const env = { PATH: `${old}:${new_}:${pathWithoutForge()}` };
    expect((await found(project, { env }))[0]).toMatch(
      /^advisory: several versions of forge are on the PATH: \S+ \(0\.0\.1\), \S+ \(9\.9\.9\) → which -a forge$/,
    );
    await forgeJson(project, ['hooks', 'install']);
    const script = project.read('.git/forge/hook');
    project.write('.git/forge/hook', script.replace(/^forge_program=.*$/m, `forge_program='${old}/forge'`));
    expect(await found(project)).toEqual([
      expect.stringMatching(/^advisory: git's hooks start forge 0\.0\.1 .* → forge hooks install$/),
    ]);
  });
});

describe('forge doctor where something is damaged', () => {
  const damages: [string, (project: Project) => void, RegExp][] = [
    ['settings that are no TOML', (p) => p.write(CONFIG, '[[['), /config\.toml:1.* → cp .* && git restore/],
    [
      'a folder for settings',
      (p) => asFolder(p, CONFIG),
      /config\.toml is a folder.* → mv .* && git restore/,
    ],
    [
      'a folder for features',
      (p) => asFolder(p, FEATURES),
      /features\.json is a folder.* → mv \S*features\.json \S*features\.json\.damaged {3}#/,
    ],
    [
      'bytes for features',
      (p) => p.write(FEATURES, Buffer.from([0xff, 0xfe, 0])),
      /UTF-16.* → mv \S*features\.json \S*features\.json\.damaged {3}#/,
    ],
    [
      'features without an end',
      (p) => truncateSync(p.path(FEATURES), 20),
      /features\.json:\d.* → mv \S*features\.json \S*features\.json\.damaged {3}#/,
    ],
    ['huge knowledge', (p) => truncateSync(p.path(KNOWLEDGE), 20 << 20), /knowledge\.json has \d+ bytes/],
    [
      'an archive',
      (p) => p.write(`${SESSIONS}/2026-03-01-session-001-0123ab.json`, '{'),
      /session-001-0123ab\.json:1/,
    ],
    ['a file for memory', (p) => asFile(p, '.forge/memory'), /memory.*ENOTDIR/],
    ['a file for the state', (p) => asFile(p, '.git/forge'), /\.git\/forge cannot be written to/],
    ['the index', (p) => p.write('.git/index', 'junk'), /git ls-files: .*index.* → git status/],
    ['the objects', (p) => emptied(p, '.git/objects'), /git rev-list: bad object .* → git status/],
    ['a link for .forge', (p) => linked(p), /\.forge is a symbolic link/],
  ];

  it.each(damages)('B-12 says so, and does not fail: %s', async (_, damage, expected) => {
    const project = await makeForge();
    damage(project);
    const before = snapshot(project.dir);
    for (const args of [[], ['--agent'], ['--fix', '--yes']]) {
      const { exitCode, found: told } = await look(project, {}, args);
      expect([args, exitCode]).toEqual([args, 1]);
      expect(told.filter((text) => /^blocking/.test(text)).join('\n')).toMatch(expected);
    }
    expect(snapshot(project.dir)).toEqual(before);
  });

  it('LAY-05 B-38 works in a bare repository, in a git dir, and where nothing is', async () => {
    const bare = projectAt(makeFolder());
    bare.git('init', '-q', '--bare');
    for (const place of [bare, { dir: makeRepository().path('.git') }, makePlainProject()])
      expect((await look(place)).found).toEqual([expect.stringMatching(/^blocking: There is no \.forge\//)]);
    const plain = await makePlainForge();
    plain.write(FEATURES, '{');
    expect((await look(plain)).found).toContainEqual(
      expect.stringMatching(/^blocking: \.forge\S*features\.json:1/),
    );
  });

  it.runIf(process.getuid?.() === 0)('B-38 says what another person may not read or write', async () => {
    const project = await makeForge();
    chmodSync(project.dir, 0o755);
    chmodSync(project.path(FEATURES), 0o600);
    const home = makeFolder();
    chownSync(home, 65534, 65534);
    const look = (): string[] => {
      const words = ['--reuid=65534', '--clear-groups', process.execPath, BIN, 'doctor', '--json'];
      const env = { HOME: home, XDG_STATE_HOME: home };
      const { exitCode, stdout } = run(project.dir, 'setpriv', words, { env });
      expect(exitCode).toBe(1);
      const { findings } = JSON.parse(stdout) as Diagnosis;
      return findings.map(({ observed, commands }) => `${observed} → ${commands[0]}`);
    };
    expect(look()).toEqual([
      expect.stringMatching(/dubious ownership.* → git config --global --add safe\.directory/),
    ]);
    writeFileSync(join(home, '.gitconfig'), `[safe]\n\tdirectory = ${project.dir}\n`);
    const told = look();
    expect(told).toContainEqual(expect.stringMatching(/\.forge cannot be written to → ls -ld/));
    expect(told).toContainEqual(expect.stringMatching(/features\.json cannot be read → ls -l/));
  });
});

function asFolder(project: Project, path: string): void {
  rmSync(project.path(path));
  mkdirSync(project.path(path));
}
function asFile(project: Project, path: string): void {
  rmSync(project.path(path), { recursive: true });
  project.write(path, 'x');
}
function emptied(project: Project, path: string): void {
  rmSync(project.path(path), { recursive: true });
  mkdirSync(project.path(path));
}
function linked(project: Project): void {
  const folder = makeFolder();
  rmSync(project.path('.forge'), { recursive: true });
  symlinkSync(folder, project.path('.forge'));
}
