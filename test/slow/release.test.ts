import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeRepository, type Project, run } from '../support/project.js';

const SCRIPT = fileURLToPath(new URL('../../scripts/release.mjs', import.meta.url));
const release = (project: Project, ...args: string[]) =>
  run(project.dir, process.execPath, [SCRIPT, ...args, '--no-check']);

function makePackage(): Project {
  const project = makeRepository();
  project.write('package.json', '{"name": "x", "version": "0.1.0"}\n');
  project.write('package-lock.json', '{"version": "0.1.0", "packages": {"": {"version": "0.1.0"}}}\n');
  project.write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- a thing\n');
  project.git('add', '.');
  project.git('commit', '-qm', 'All');
  project.git('remote', 'add', 'origin', 'git@github.com:acme/forge.git');
  return project;
}

it('a release has its version, its date and its repository, in one commit with a tag', () => {
  const project = makePackage();
  expect(release(project, '0.2.0')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('git push --follow-tags'),
  });
  expect(project.json('package.json')).toMatchObject({
    version: '0.2.0',
    repository: { url: 'git+https://github.com/acme/forge.git' },
  });
  expect(project.json('package-lock.json')).toMatchObject({
    version: '0.2.0',
    packages: { '': { version: '0.2.0' } },
  });
  expect(project.read('CHANGELOG.md')).toMatch(
    /## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added/,
  );
  expect(project.git('status', '--porcelain')).toBe('');
  expect(project.git('describe', '--exact-match').trim()).toBe('v0.2.0');
});

it('a release that cannot be is refused, and changes nothing', () => {
  const project = makePackage();
  const refuse = (version: string, why: string): void => {
    const before = project.git('rev-parse', 'HEAD');
    const { exitCode, stderr } = release(project, version);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(why)]);
    expect(project.git('rev-parse', 'HEAD')).toBe(before);
  };
  refuse('next', 'which version?');
  refuse('0.0.9', 'older than 0.1.0');
  project.git('tag', 'v0.2.0');
  refuse('0.2.0', 'a tag v0.2.0 already');
  project.write('more.txt', '');
  refuse('0.3.0', 'uncommitted changes');
  rmSync(project.path('more.txt'));
  project.git('remote', 'set-url', 'origin', '/srv/forge');
  refuse('0.3.0', 'origin is no repository on a server');
});
