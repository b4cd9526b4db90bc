import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge, makeStarted } from '../support/forge-project.js';
import { makeFolder, projectAt } from '../support/project.js';

const LOG = '.forge/git/commits.log';
const BRANCHES = '.forge/git/branches.json';

describe('commits.log and branches.json without hooks', () => {
  it('GIT-04 are written when a session starts and ends', async () => {
    const project = await makeForge();
    project.git('commit', '-q', '--allow-empty', '-m', 'Before the session');
    await forgeJson(project, ['session', 'start']);
    expect(project.read(LOG).split('\n')[0]).toMatch(/^[0-9a-f]{7,} \S+ Before the session$/);
    project.git('commit', '-q', '--allow-empty', '-m', 'In the session');
    project.git('branch', 'topic');
    await forgeJson(project, ['progress', 'add', 'done']);
    const { commit } = await forgeJson<{ commit: { short: string } }>(project, ['session', 'end']);
    const lines = project.read(LOG).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${commit.short} \\S+ \\[FORGE\\] Session end`));
    expect(lines[1]).toMatch(/ In the session$/);
    expect(project.json<{ branches: { name: string }[] }>(BRANCHES).branches).toMatchObject([
      { name: 'main', current: true },
      { name: 'topic', current: false },
    ]);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('GIT-04 stay as they are where nothing changed, in a dry run, and without git', async () => {
    const project = await makeStarted();
    const { ino } = statSync(project.path(LOG));
    await forgeJson(project, ['session', 'start']);
    expect(statSync(project.path(LOG)).ino).toBe(ino);
    project.git('commit', '-q', '--allow-empty', '-m', 'More');
    await runForge(project, ['session', 'start', '-n']);
    expect(project.read(LOG)).not.toContain('More');

    const plain = projectAt(makeFolder());
    await runForge(plain, ['init', '--stack', 'none']);
    await forgeJson(plain, ['session', 'start']);
    expect(plain.read(LOG)).toBe('');
  });
});
