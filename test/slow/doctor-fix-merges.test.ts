import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Issue, IssueList } from '../../src/index.js';
import {
  BASE,
  commit,
  diverge,
  feature,
  findings,
  fix,
  git,
  KEPT,
  MERGED,
  OURS,
  stored,
  THEIRS,
  unmerged,
} from '../support/fixes.js';
import { forgeJson } from '../support/forge.js';
import { featureFile, makeForge, storedFeature } from '../support/forge-project.js';
import { commitAll } from '../support/project.js';

/** The feature that both sides changed. */
const FILE = featureFile('A');

describe('LAY-09 forge doctor --fix, after', () => {
  it.each(['merge', 'diff3', 'zdiff3'])('a merge in the style %s', async (style) => {
    const project = await diverge(BASE, OURS, THEIRS);
    expect(git(project, '-c', `merge.conflictStyle=${style}`, 'merge', 'other')).toBe(1);
    expect(await findings(project)).toEqual([
      expect.stringMatching(
        /^blocking: \.forge\S*features\.d\/A\.json has a merge conflict \(lines \d+ to \d+\) → forge doctor --fix$/,
      ),
    ]);
    const before = project.read(FILE);
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes.map(({ done }) => done)]).toEqual([0, [true]]);
    expect(stored(project)).toEqual(MERGED);
    const sides = { ours: 'ours', theirs: 'a', value: 'ours', why: 'ours: only it changed' };
    expect(fixes[0]?.choices).toContainEqual({ id: 'A', field: 'name', ...sides });
    // The previous file is kept. Finishing the merge is up to the person.
    expect(readdirSync(project.path(KEPT)).map((name) => project.read(`${KEPT}/${name}`))).toEqual([before]);
    expect([unmerged(project), existsSync(project.path('.git/MERGE_HEAD'))]).toEqual(['', true]);
    expect(project.git('diff', '--cached', '--name-only')).toContain('features.d/A.json');
    expect(await findings(project)).toEqual([]);
    expect(git(project, 'commit', '-qm', 'Merge')).toBe(0);
  });

  it('a rebase, where ours is the other branch', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    expect(git(project, 'rebase', 'other')).toBe(1);
    expect((await fix(project)).fixes[0]?.what).toMatch(/"ours" is what you rebase onto/);
    const ids = stored(project).map(({ id }) => id);
    expect(ids.sort()).toEqual(['A', 'C', 'D']);
    expect(storedFeature(project, 'A')).toEqual(MERGED[0]);
    expect(git(project, '-c', 'core.editor=true', 'rebase', '--continue')).toBe(0);
  });

  it('an addition on both branches', async () => {
    const project = await makeForge();
    project.git('switch', '-qc', 'other');
    commit(project, feature('A', { name: 'theirs' }), feature('D'));
    project.git('switch', '-q', '-');
    commit(project, feature('A', { name: 'ours' }), feature('C'));
    expect(git(project, 'merge', 'other')).toBe(1);
    const { fixes } = await fix(project);
    expect(stored(project)).toEqual([feature('A', { name: 'ours' }), feature('C'), feature('D')]);
    expect(fixes[0]?.choices.map(({ id, field }) => [id, field])).toContainEqual(['A', 'name']);
  });

  it('a deletion on one branch is left to a person', async () => {
    const project = await makeForge();
    commit(project, ...BASE);
    project.git('switch', '-qc', 'other');
    project.git('rm', '-q', FILE);
    project.git('commit', '-qm', 'Delete');
    project.git('switch', '-q', '-');
    commit(project, ...OURS);
    expect(git(project, 'merge', 'other')).toBe(1);
    expect((await findings(project))[0]).toContain(`→ git add -- ${FILE}   # keeps it | git rm -- ${FILE} `);
    expect((await fix(project)).fixes).toEqual([]);
    project.git('add', '--', FILE);
    expect([stored(project), unmerged(project)]).toEqual([OURS, '']);
  });

  it('committed conflict markers are left to a person', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const text = project.read(FILE);
    project.git('commit', '-qam', 'Both');
    expect((await fix(project)).fixes).toEqual([]);
    expect(project.read(FILE)).toBe(text);
  });

  it('LIN-01 two branches that change different issues do not conflict', async () => {
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Login fails']);
    commitAll(project, 'Issue');
    project.git('switch', '-qc', 'other');
    await forgeJson(project, ['linear', 'new', 'Types missing']);
    commitAll(project, 'theirs');
    project.git('switch', '-q', '-');
    await forgeJson(project, ['linear', 'start', 'LOCAL-7032']);
    commitAll(project, 'ours');
    expect(git(project, 'merge', '-q', '--no-edit', 'other')).toBe(0);
    const { issues } = await forgeJson<IssueList>(project, ['linear', 'list']);
    expect(issues.map(({ title, state }) => [title, state])).toEqual([
      ['Login fails', 'started'],
      ['Types missing', 'unstarted'],
    ]);
  });

  it('LIN-04 an issue that one side finished stays done', async () => {
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Login fails']);
    commitAll(project, 'Issue');
    project.git('switch', '-qc', 'other');
    await forgeJson(project, ['linear', 'done', 'LOCAL-7032', '--summary', 'fixed']);
    commitAll(project, 'theirs');
    project.git('switch', '-q', '-');
    await forgeJson(project, ['linear', 'start', 'LOCAL-7032']);
    commitAll(project, 'ours');
    expect(git(project, 'merge', 'other')).toBe(1);
    const active = async () => (await forgeJson<IssueList>(project, ['linear', 'list'])).issues;
    expect(await active()).toEqual([]);
    project.git('rm', '-q', '--', '.forge/linear/active.d/LOCAL-7032.json');
    expect([await active(), git(project, 'commit', '-qm', 'Merge')]).toEqual([[], 0]);
    expect((await forgeJson<Issue>(project, ['linear', 'show', 'LOCAL-7032'])).state).toBe('done');
  });
});
