import { describe, expect, it } from 'vitest';
import { fixConflicts } from '../../src/index.js';
import {
  BASE,
  diverge,
  feature,
  fix,
  git,
  MERGED,
  OURS,
  stored,
  THEIRS,
  unmerged,
} from '../support/fixes.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, featureFile, PASSING_FEATURE, snapshot } from '../support/forge-project.js';
import { run } from '../support/project.js';

/** The feature that both sides changed. */
const FILE = featureFile('A');

describe('LAY-09 forge doctor --fix', () => {
  it('a feature that failed on one side does not pass; valid test runs are kept', async () => {
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

  it('shows everything first, and changes nothing without confirmation', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const before = snapshot(project.dir);
    const asked = await runForge(project, ['doctor', '--fix']);
    expect(asked.exitCode).toBe(3);
    expect(asked.stderr).toMatch(/^will merge both sides of \.forge\S*features\.d\/A\.json, and tell git/);
    expect(asked.stderr).toMatch(/A name +→ ours +ours ours +theirs a +\(ours: only it changed\)/);
    expect(asked.stderr).toContain('undo  git checkout --merge -- .forge/memory/long-term/features.d/A.json');
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

  it('can be undone: git restores the conflict', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const before = project.read(FILE);
    const { fixes } = await fix(project);
    expect(run(project.dir, 'sh', ['-c', fixes[0]?.undo ?? '']).exitCode).toBe(0);
    // The names behind the markers are git's own.
    const bare = (text: string): string => text.replace(/^([<|>]{7}) .*$/gm, '$1');
    expect(bare(project.read(FILE))).toBe(bare(before));
    expect(unmerged(project).split('\n')).toHaveLength(3);
    await fix(project);
    expect(stored(project)).toEqual(MERGED);
  });

  it('does not change a file that changed after it was shown', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const confirm = async (): Promise<void> => project.write(FILE, `${project.read(FILE)}\n`);
    const { fixes } = await fixConflicts(project.dir, { confirm });
    expect(fixes.map(({ done }) => done)).toEqual([false]);
    expect(project.read(FILE)).toContain('<<<<<<<');
    expect((await fixConflicts(project.dir)).fixes.map(({ done }) => done)).toEqual([true]);
  });

  it('fails while memory is halted, with the reason', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    project.write('.git/forge/halt.json', '{"at":"2026-03-01T10:00:00.000Z","reasons":["x"]}');
    const before = project.read(FILE);
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes[0]?.done, fixes[0]?.problem]).toEqual([
      1,
      false,
      expect.stringContaining('halted'),
    ]);
    expect(project.read(FILE)).toBe(before);
  });

  it('every command that reads the file names it', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    expect((await forgeJson(project, [])).next).toEqual([
      'forge doctor --fix',
      'git status   # a merge is in progress',
    ]);
    for (const args of [['feature', 'list'], ['next'], ['briefing'], ['session', 'start']]) {
      const error = await forgeError(project, args);
      expect([args, error.code, error.hint]).toEqual([
        args,
        'file.conflict',
        expect.stringContaining('forge doctor --fix'),
      ]);
    }
  });
});
