import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Fault, hasShim, strikeEach } from '../support/faults.js';
import {
  BASE,
  diverge,
  feature,
  findings,
  fix,
  git,
  KEPT,
  MERGED,
  makeConflict,
  OURS,
  stored,
  THEIRS,
  unmerged,
} from '../support/fixes.js';
import { forgeError, runBinary, runForge, startBinary } from '../support/forge.js';
import {
  CONFIG,
  differences,
  featureFile,
  makeForge,
  snapshot,
  storedFeature,
} from '../support/forge-project.js';
import { LEDGER } from '../support/memory.js';
import { type Project, run } from '../support/project.js';
import { typedJson } from '../support/typed.js';

/** The feature that both sides changed. */
const FILE = featureFile('A');

describe('LAY-09 forge doctor --fix', () => {
  it('shows what it would choose and how to undo it, and with --dry-run changes nothing', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const before = snapshot(project.dir);
    const { stdout, exitCode } = await runForge(project, ['doctor', '--fix', '--dry-run']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^would merge both sides of \.forge\S*features\.d\/A\.json, and tell git/);
    expect(stdout).toMatch(/A name +→ ours +ours ours +theirs a +\(ours: only it changed\)/);
    expect(stdout).toContain('undo  git checkout --merge -- .forge/memory/long-term/features.d/A.json');
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const made = await runForge(project, ['doctor', '--fix']);
    expect(made.stdout).toMatch(/^✓ done: merge both sides .*\n.*\n {4}A name +→ ours .*\n/);
    expect(made.exitCode).toBe(0);
  });

  it('fails while memory is halted, with the reason', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    project.write('.git/forge/halt.json', '{"at":"2026-03-01T10:00:00.000Z","reasons":["x"]}');
    const before = project.read(FILE);
    const { fixes, exitCode } = await fix(project);
    const problem = expect.stringContaining('halted');
    expect([exitCode, fixes[0]]).toMatchObject([1, { done: false, problem }]);
    expect(project.read(FILE)).toBe(before);
  });

  it('leaves a file that somebody resolved by hand to git', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    project.write(FILE, JSON.stringify(feature('A', { name: 'mine' })));
    expect(await findings(project)).toEqual([
      expect.stringMatching(
        /^degraded: .*no conflict markers.* → git add -- \.forge\/memory\/long-term\/features\.d\/A\.json$/,
      ),
    ]);
    expect((await fix(project)).fixes).toEqual([]);
    expect(stored(project)).toEqual([feature('A', { name: 'mine' }), feature('C'), feature('D')]);
  });

  it('can be undone: git restores the conflict, and edits between its markers are kept', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const before = project.read(FILE);
    const plain = await fix(project);
    expect(run(project.dir, 'sh', ['-c', plain.fixes[0]?.undo ?? '']).exitCode).toBe(0);
    // The names behind the markers are git's own.
    const bare = (text: string): string => text.replace(/^([<|>]{7}) .*$/gm, '$1');
    expect(bare(project.read(FILE))).toBe(bare(before));
    expect(unmerged(project).split('\n')).toHaveLength(3);
    const text = project.read(FILE).replace('"name": "ours"', '"name": "MINE"');
    project.write(FILE, text);
    const { fixes } = await fix(project);
    expect(fixes[0]?.what).toContain('the current file, with your edits, is kept in .git/forge/conflicts');
    expect(stored(project)).toEqual(MERGED);
    expect(run(project.dir, 'sh', ['-c', fixes[0]?.undo ?? '']).exitCode).toBe(0);
    expect([project.read(FILE), unmerged(project) === '']).toEqual([text, false]);
  });

  it('leaves an invalid side to a person', async () => {
    const project = await diverge(BASE, OURS, [{ id: 'A' }, feature('B')]);
    git(project, 'merge', 'other');
    const before = project.read(FILE);
    const [found] = await findings(project);
    expect(found).toMatch(/\(theirs\)/);
    expect(found).toContain(`git add -- ${FILE}`);
    const { fixes, exitCode } = await fix(project);
    expect([fixes, exitCode, project.read(FILE)]).toEqual([[], 1, before]);
  });

  it('names settings and ledger files with markers, and what to type', async () => {
    const project = await makeForge();
    project.write(CONFIG, `${project.read(CONFIG)}\n<<<<<<< HEAD\n# a\n=======\n# b\n>>>>>>> other\n`);
    expect(await forgeError(project, ['config', 'list'])).toMatchObject({
      exitCode: 4,
      code: 'file.conflict',
      message: expect.stringMatching(/config\.toml:\d+: it has a merge conflict \(lines \d+ to \d+\)/),
      hint: expect.stringMatching(/^cp \S+ \S+ && git restore --source=\w+ -- /),
    });
    const ledger = `${LEDGER}/x.jsonl`;
    project.write(ledger, '<<<<<<< HEAD\n=======\n>>>>>>> other\n');
    project.git('add', '-A');
    const found = await findings(project);
    expect(found.find((text) => text.includes(CONFIG))).toMatch(/lines \d+ to \d+.* → .*EDITOR/);
    expect(found.find((text) => text.includes(ledger))).toMatch(/\(lines 1 to 3\) → forge memory repair$/);
    expect((await fix(project)).fixes).toEqual([]);
  });
});

describe('forge doctor --fix, beside others', () => {
  it('LAY-09 of two concurrent runs one does the work, and both succeed', async () => {
    const project = await makeConflict();
    const start = (): Promise<number | null> =>
      new Promise((done) => startBinary(project.dir, FIX).on('close', done));
    const codes = await Promise.all([start(), start(), start()]);
    expect(codes).toContain(0);
    expect(project.git('ls-files', '-u')).toBe('');
    expect(storedFeature(project, 'A')?.name).toBe('ours');
  });
});

/* `forge doctor --fix`, killed or with a disk error at each call that changes something. */

const FIX = ['doctor', '--fix'];
const kept = (project: Project): string[] =>
  existsSync(project.path(KEPT))
    ? readdirSync(project.path(KEPT))
        .filter((name) => !name.endsWith('.tmp'))
        .map((name) => project.read(`${KEPT}/${name}`))
    : [];

/** After each fault the file is unchanged, or merged with a copy kept; running it again completes the merge. */
async function expectWayOut(fault: Partial<Fault>): Promise<void> {
  const whole = await makeConflict();
  const before = whole.read(FILE);
  expect(runBinary(whole.dir, FIX).exitCode).toBe(0);
  const merged = whole.read(FILE);
  const count = await strikeEach(makeConflict, FIX, { path: 'features.d|conflicts', ...fault }, (project) => {
    const now = project.read(FILE);
    expect([before, merged]).toContain(now);
    if (now === merged) expect(kept(project)).toContain(before);
    const { stdout } = runBinary(project.dir, FIX);
    if (stdout.includes('git considers it unmerged')) project.git('add', '--', FILE);
    expect([project.read(FILE), project.git('ls-files', '-u')]).toEqual([merged, '']);
    expect(kept(project)).toContain(before);
    expect(typedJson(project, ['feature', 'list']).features).toHaveLength(3);
  });
  expect(count).toBeGreaterThan(0);
}

describe.skipIf(!hasShim)('forge doctor --fix, interrupted', () => {
  it.each(['write', 'rename', 'mkdir'])('LAY-09 killed at a %s: the next run completes it', (call) =>
    expectWayOut({ call, kill: true }),
  );

  it('LAY-09 on a full disk it reports that, and nothing is lost', () =>
    expectWayOut({ call: 'write', error: 'ENOSPC' }));
});
