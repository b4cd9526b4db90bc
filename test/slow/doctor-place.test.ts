import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { BIN, type RunOptions, runForge } from '../support/forge.js';
import {
  CONFIG,
  FEATURES,
  KNOWLEDGE,
  makeForge,
  makePlainForge,
  SESSIONS,
  snapshot,
} from '../support/forge-project.js';
import {
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
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

describe('forge doctor about the repository', () => {
  it('B-45 reports a shallow clone', async () => {
    const project = await makeForge();
    const clone = cloneOf(project, '--depth', '1');
    expect(await found(clone)).toContain('advisory: this clone is shallow → git fetch --unshallow');
  });
});

describe('forge doctor where something is damaged', () => {
  const damages: [string, (project: Project) => void, RegExp][] = [
    ['settings that are not TOML', (p) => p.write(CONFIG, '[[['), /config\.toml:1.* → cp .* && git restore/],
    ['a folder for settings', (p) => asFolder(p, CONFIG), /config\.toml is a folder.* → Replace it/],
    ['a folder for features', (p) => asFolder(p, FEATURES), /features\.json is a folder.* → Replace it/],
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
    ['a file for the state', (p) => asFile(p, '.git/forge'), /\.git\/forge.*ENOTDIR/],
    ['the index', (p) => p.write('.git/index', 'junk'), /git ls-files: .*index.* → git status/],
    ['a link for .forge', (p) => linked(p), /\.forge is a symbolic link/],
  ];

  it.each(damages)('B-12 reports damage and does not fail: %s', async (_, damage, expected) => {
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

  it('LAY-05 B-38 works in a bare repository, in a git dir and in an empty folder', async () => {
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

  it.runIf(process.getuid?.() === 0)('B-38 reports files that another user may not write', async () => {
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
    expect(told).toContainEqual(expect.stringMatching(/EACCES|permission denied/i));
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
function linked(project: Project): void {
  const folder = makeFolder();
  rmSync(project.path('.forge'), { recursive: true });
  symlinkSync(folder, project.path('.forge'));
}
