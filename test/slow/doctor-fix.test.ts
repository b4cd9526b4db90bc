import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applyFixes, type Diagnosis, planFixes } from '../../src/index.js';
import {
  BASE,
  commit,
  diverge,
  feature,
  findings,
  fix,
  git,
  MERGED,
  OURS,
  stored,
  THEIRS,
  unmerged,
} from '../support/fixes.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FEATURES,
  makeForge,
  PASSING_FEATURE,
  snapshot,
  storedFeature,
} from '../support/forge-project.js';
import { run } from '../support/project.js';

describe('LAY-09 forge doctor --fix', () => {
  it('makes no feature pass that failed on one side, and no test run is lost that still counts', async () => {
    const proven = { ...PASSING_FEATURE };
    const [open, failed] = [{ status: 'in_progress' }, { status: 'failing', verified_at: null }];
    const project = await diverge(
      [feature('A', open), feature('B', open), feature('C', open)],
      [proven, { ...proven, id: 'B' }, { ...proven, id: 'C' }],
      [feature('A', failed), feature('B', open), feature('C', { ...open, tests: ['other'] })],
    );
    git(project, 'merge', 'other');
    await fix(project);
    expect(stored(project).map(({ status, verified_by }) => [status, verified_by])).toEqual([
      ['failing', undefined],
      ['passing', ['true']],
      ['in_progress', undefined],
    ]);
  });

  it('shows all of it first, and does nothing unless somebody agrees', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const before = snapshot(project.dir);
    const asked = await runForge(project, ['doctor', '--fix']);
    expect(asked.exitCode).toBe(3);
    expect(asked.stderr).toMatch(/^will merge both sides of \.forge\S*features\.json, and tell git/);
    expect(asked.stderr).toMatch(/A name +→ ours +ours ours +theirs a +\(ours: only it changed\)/);
    expect(asked.stderr).toContain('undo  git checkout --merge -- .forge/memory/long-term/features.json');
    const error = await forgeError(project, ['doctor', '--fix']);
    expect(error).toMatchObject({
      exitCode: 3,
      code: 'doctor.unconfirmed',
      fixes: [{ choices: expect.anything() }],
    });
    const dry = await runForge(project, ['doctor', '--fix', '--dry-run']);
    expect([dry.exitCode, dry.stdout]).toEqual([1, expect.stringContaining('would merge')]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('can be taken back: git brings the conflict back', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const before = project.read(FEATURES);
    const { fixes } = await fix(project);
    expect(run(project.dir, 'sh', ['-c', fixes[0]?.undo ?? '']).exitCode).toBe(0);
    // The names behind the markers are git's own.
    const bare = (text: string): string => text.replace(/^([<|>]{7}) .*$/gm, '$1');
    expect(bare(project.read(FEATURES))).toBe(bare(before));
    expect(unmerged(project).split('\n')).toHaveLength(3);
    await fix(project);
    expect(stored(project)).toEqual(MERGED);
  });

  it('makes one record of an id that git merged in twice without a conflict', async () => {
    const project = await makeForge();
    const [up, down] = [
      { status: 'blocked', name: 'up' },
      { ...PASSING_FEATURE, id: 'NEW', tests: ['other'] },
    ];
    const features = [feature('A'), feature('NEW', up), feature('B'), down];
    commit(project, ...features);
    const text = project.read(FEATURES);
    expect(await forgeError(project, ['feature', 'list'])).toMatchObject({
      exitCode: 4,
      hint: expect.stringContaining('forge doctor --fix'),
    });
    const { stdout } = await runForge(project, ['doctor', '--json']);
    const told = (JSON.parse(stdout) as Diagnosis).findings.filter(({ severity }) => severity === 'blocking');
    expect(told.map(({ observed, commands }) => [observed, ...commands])).toEqual([
      [`${FEATURES} has ids that stand twice: NEW`, 'forge doctor --fix'],
    ]);
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes[0]?.choices.map(({ id }) => id).includes('A')]).toEqual([0, false]);
    expect(stored(project).map(({ id }) => id)).toEqual(['A', 'NEW', 'B']);
    expect(storedFeature(project, 'NEW')).toMatchObject({ status: 'blocked', tests: ['true', 'other'] });
    expect(storedFeature(project, 'NEW')).not.toHaveProperty('verified_commit');
    expect(run(project.dir, 'sh', ['-c', fixes[0]?.undo ?? '']).exitCode).toBe(0);
    expect(project.read(FEATURES)).toBe(text);
  });

  it.each([
    ['-merge', /has what ours has, and no more/],
    ['conflict-marker-size=12', /has a merge conflict \(lines/],
  ])('loses no side where the attribute %s has git mark it otherwise', async (attribute, said) => {
    const project = await diverge(BASE, OURS, THEIRS);
    project.write('.git/info/attributes', `*.json ${attribute}\n`);
    git(project, 'merge', 'other');
    expect((await findings(project))[0]).toMatch(said);
    expect((await findings(project))[0]).toMatch(/^blocking: .* → forge doctor --fix$/);
    await fix(project);
    expect([stored(project), unmerged(project)]).toEqual([MERGED, '']);
  });

  it('merges ten thousand features, and shows a part', async () => {
    const many = (name: string): object[] =>
      Array.from({ length: 10_000 }, (_, i) => feature(`F-${i}`, { name }));
    const project = await diverge(many('base'), many('ours'), many('theirs'));
    git(project, 'merge', 'other');
    const { stdout, exitCode } = await runForge(project, ['doctor', '--fix', '--yes']);
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').length).toBeLessThan(60);
    expect(stdout).toContain('9960 more choices');
    expect(stored(project)).toEqual(many('ours'));
  });

  it('does not do what is not as it was when it was shown', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const { fixes } = await planFixes(project.dir);
    const agreed = fixes.map(({ token }) => token);
    project.write(FEATURES, `${project.read(FEATURES)}\n`);
    expect(await applyFixes(project.dir, { agreed })).toMatchObject({ fixes: [] });
    expect(project.read(FEATURES)).toContain('<<<<<<<');
    const again = await planFixes(project.dir);
    const made = await applyFixes(project.dir, { agreed: again.fixes.map(({ token }) => token) });
    expect(made.fixes.map(({ done }) => done)).toEqual([true]);
  });

  it('waits while memory is halted, and says so', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    project.write('.git/forge/halt.json', '{"at":"2026-03-01T10:00:00.000Z","reasons":["x"]}');
    const before = project.read(FEATURES);
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes[0]?.done, fixes[0]?.problem]).toEqual([
      1,
      false,
      expect.stringContaining('halted'),
    ]);
    expect(project.read(FEATURES)).toBe(before);
  });

  it('every command that reads the file names it', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    expect((await forgeJson(project, [])).next).toEqual(['forge doctor --fix']);
    for (const args of [['feature', 'list'], ['next'], ['briefing'], ['session', 'start']]) {
      const error = await forgeError(project, args);
      expect([args, error.code, error.hint]).toEqual([
        args,
        'file.conflict',
        expect.stringContaining('forge doctor --fix'),
      ]);
    }
  });

  it('GIT-03 puts back hooks that somebody had installed, and installs none', async () => {
    const project = await makeForge();
    expect((await fix(project)).fixes).toEqual([]);
    await forgeJson(project, ['hooks', 'install']);
    rmSync(project.path('.git/hooks/commit-msg'));
    // Not for a builder, who may not change them.
    expect((await fix(project, { env: { FORGE_ROLE: 'BUILDER' } })).fixes).toEqual([]);
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes[0]]).toMatchObject([0, { done: true, undo: 'forge hooks uninstall' }]);
    expect(existsSync(project.path('.git/hooks/commit-msg'))).toBe(true);
  });
});

describe('LAY-09 git hooks', () => {
  it('say in one line when a merge or a checkout brought a conflict along', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    await forgeJson(project, ['hooks', 'install']);
    const said = (...args: string[]): string[] =>
      run(project.dir, 'git', args)
        .stderr.split('\n')
        .filter((line) => line.startsWith('forge:'));
    git(project, 'merge', 'other');
    const line = `forge: ${FEATURES} has a merge conflict; to merge both sides: forge doctor --fix`;
    // Somebody commits the markers.
    expect(said('commit', '-qanm', 'Both')).toEqual([line]);
    expect(said('checkout', '-q', 'HEAD~1')).toEqual([]);
    expect(said('checkout', '-q', '-')).toEqual([line]);
    project.git('checkout', '-q', 'HEAD~1', '-b', 'behind');
    expect(said('merge', '-q', '@{-1}')).toEqual([line]);
    await fix(project);
    expect(said('commit', '-qanm', 'Merged')).toEqual([]);
  });
});
