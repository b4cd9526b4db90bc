import { existsSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applyFixes, type Diagnosis, type Fixed, planFixes } from '../../src/index.js';
import { forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { type Project, run } from '../support/project.js';
import {
  CONFIG,
  differences,
  FEATURES,
  ISSUES,
  KNOWLEDGE,
  makeForge,
  PASSING_FEATURE,
  putFeatures,
  type StoredFeature,
  snapshot,
  storedFeature,
} from './project.js';

type Answer = Diagnosis & Fixed;
const KEPT = '.git/forge/conflicts';

const fix = async (
  project: Project,
  options: RunOptions = {},
): Promise<Answer & { exitCode: number | null }> => {
  const { stdout, exitCode } = await runForge(project, ['doctor', '--fix', '--yes', '--json'], options);
  return { ...(JSON.parse(stdout) as Answer), exitCode };
};
const findings = async (project: Project): Promise<string[]> => {
  const { stdout } = await runForge(project, ['doctor', '--json']);
  return (JSON.parse(stdout) as Diagnosis).findings
    .filter(({ observed }) => /conflict|resolved/.test(observed))
    .map(({ severity, observed, commands }) => `${severity}: ${observed} → ${commands.join(' | ')}`);
};

const feature = (id: string, change: object = {}): StoredFeature => ({
  id,
  name: id.toLowerCase(),
  status: 'not_implemented',
  tests: ['true'],
  ...change,
});

function commit(project: Project, ...features: object[]): void {
  putFeatures(project, features);
  project.git('add', '-A');
  project.git('commit', '-qm', 'Features');
}

/** Two branches; the one that is checked out is `ours`. */
async function diverge(base: object[], ours: object[], theirs: object[]): Promise<Project> {
  const project = await makeForge();
  commit(project, ...base);
  project.git('switch', '-qc', 'other');
  commit(project, ...theirs);
  project.git('switch', '-q', '-');
  commit(project, ...ours);
  return project;
}

const git = (project: Project, ...args: string[]): number | null => run(project.dir, 'git', args).exitCode;

const BASE = [feature('A'), feature('B')];
const OURS = [feature('A', { name: 'ours' }), feature('B'), feature('C')];
const THEIRS = [feature('A', { status: 'blocked' }), feature('D')];
const MERGED = [feature('A', { name: 'ours', status: 'blocked' }), feature('C'), feature('D')];

const stored = (project: Project): StoredFeature[] =>
  project.json<{ features: StoredFeature[] }>(FEATURES).features;
const unmerged = (project: Project): string => project.git('ls-files', '-u');

describe('LAY-09 forge doctor --fix, after', () => {
  it.each(['merge', 'diff3', 'zdiff3'])('a merge in the style %s', async (style) => {
    const project = await diverge(BASE, OURS, THEIRS);
    expect(git(project, '-c', `merge.conflictStyle=${style}`, 'merge', 'other')).toBe(1);
    expect(await findings(project)).toEqual([
      expect.stringMatching(
        /^blocking: \.forge\S*features\.json has a merge conflict \(lines \d+ to \d+\) → forge doctor --fix$/,
      ),
    ]);
    const before = project.read(FEATURES);
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes.map(({ done }) => done)]).toEqual([0, [true]]);
    expect(stored(project)).toEqual(MERGED);
    expect(fixes[0]?.choices).toContainEqual({
      id: 'A',
      field: 'name',
      ours: 'ours',
      theirs: 'a',
      value: 'ours',
      why: 'ours: only it changed',
    });
    // What was there is kept, and the merge is the person's to finish.
    expect(readdirSync(project.path(KEPT)).map((name) => project.read(`${KEPT}/${name}`))).toEqual([before]);
    expect([unmerged(project), existsSync(project.path('.git/MERGE_HEAD'))]).toEqual(['', true]);
    expect(project.git('diff', '--cached', '--name-only')).toContain('features.json');
    expect(await findings(project)).toEqual([]);
    expect(git(project, 'commit', '-qm', 'Merge')).toBe(0);
  });

  it('a rebase, where ours are the others', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    expect(git(project, 'rebase', 'other')).toBe(1);
    expect((await fix(project)).fixes[0]?.what).toMatch(/"ours" is what you rebase onto/);
    expect(
      stored(project)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['A', 'C', 'D']);
    expect(storedFeature(project, 'A')).toEqual(MERGED[0]);
    expect(git(project, '-c', 'core.editor=true', 'rebase', '--continue')).toBe(0);
  });

  it('a cherry-pick, and a stash that is popped', async () => {
    const picked = await diverge(BASE, OURS, THEIRS);
    expect(git(picked, 'cherry-pick', 'other')).toBe(1);
    await fix(picked);
    expect(stored(picked)).toEqual(MERGED);

    const project = await makeForge();
    commit(project, ...BASE);
    putFeatures(project, THEIRS);
    project.git('stash');
    commit(project, ...OURS);
    expect(git(project, 'stash', 'pop')).toBe(1);
    await fix(project);
    expect(stored(project)).toEqual(MERGED);
    expect(project.git('stash', 'list')).not.toBe('');
  });

  it('both branches added the file', async () => {
    const project = await makeForge();
    rmSync(project.path(FEATURES));
    project.git('commit', '-qam', 'Without');
    project.git('switch', '-qc', 'other');
    commit(project, feature('A', { name: 'theirs' }), feature('D'));
    project.git('switch', '-q', '-');
    commit(project, feature('A', { name: 'ours' }), feature('C'));
    expect(git(project, 'merge', 'other')).toBe(1);
    const { fixes } = await fix(project);
    expect(stored(project)).toEqual([feature('A', { name: 'ours' }), feature('C'), feature('D')]);
    expect(fixes[0]?.choices.map(({ id, field }) => [id, field])).toContainEqual(['A', 'name']);
  });

  it('one branch deleted the file: what the other changed stays', async () => {
    const project = await makeForge();
    commit(project, ...BASE);
    project.git('switch', '-qc', 'other');
    project.git('rm', '-q', FEATURES);
    project.git('commit', '-qm', 'Delete');
    project.git('switch', '-q', '-');
    commit(project, ...OURS);
    expect(git(project, 'merge', 'other')).toBe(1);
    expect((await findings(project))[0]).toMatch(/^blocking: .* → forge doctor --fix$/);
    const { fixes } = await fix(project);
    expect(fixes[0]?.choices[0]?.why).toBe('kept: deleted by theirs, changed by ours');
    expect([stored(project), unmerged(project)]).toEqual([OURS, '']);
  });

  it('markers that were committed, or that no git knows of, with CRLF', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, '-c', 'merge.conflictStyle=diff3', 'merge', 'other');
    const text = project.read(FEATURES);
    project.git('commit', '-qam', 'Both');
    project.write(FEATURES, text.replaceAll('\n', '\r\n'));
    const { fixes } = await fix(project);
    // Git had put D where it stands.
    expect(stored(project)).toEqual([MERGED[0], MERGED[2], MERGED[1]]);
    expect(fixes[0]?.what).not.toContain('git add');
    // The way back that it names leads back.
    expect(run(project.dir, 'sh', ['-c', fixes[0]?.undo ?? '']).exitCode).toBe(0);
    expect(project.read(FEATURES)).toBe(text.replaceAll('\n', '\r\n'));
  });

  it('knowledge, issues and archived sessions', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    const { archive } = await forgeJson<{ archive: string }>(project, ['session', 'end', '--learned', 'x']);
    const session = `${archive}/session.json`;
    const write = (word: string, at: string): void => {
      const approach = { context: word, approach: word, learned_at: at };
      project.write(
        KNOWLEDGE,
        JSON.stringify(
          { schema_version: '1.0', patterns: { successful: [approach], failed: [] }, invariants: [word] },
          null,
          2,
        ),
      );
      const issues = [
        { linear_id: 'L-1', title: word, updated_at: at, labels: [word] },
        { linear_id: word, title: word },
      ];
      project.write(ISSUES, JSON.stringify({ schema_version: '1.0', issues }, null, 2));
      const kept = project.json<{ learned: string[] }>(session);
      project.write(
        session,
        JSON.stringify({ ...kept, next: word, learned: [...kept.learned, word] }, null, 2),
      );
      project.git('commit', '-qam', word);
    };
    project.git('switch', '-qc', 'other');
    write('theirs', '2026-02-02T00:00:00Z');
    project.git('switch', '-q', '-');
    write('ours', '2026-02-01T00:00:00Z');
    expect(git(project, 'merge', 'other')).toBe(1);
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes.length, unmerged(project)]).toEqual([0, 3, '']);
    const knowledge = project.json<{ patterns: { successful: { context: string }[] }; invariants: string[] }>(
      KNOWLEDGE,
    );
    expect(knowledge.invariants).toEqual(['ours', 'theirs']);
    expect(knowledge.patterns.successful.map(({ context }) => context)).toEqual(['ours', 'theirs']);
    const { issues } = project.json<{ issues: object[] }>(ISSUES);
    expect(issues[0]).toMatchObject({ title: 'theirs', labels: ['ours', 'theirs'] });
    expect(issues).toHaveLength(3);
    expect(project.json(session)).toMatchObject({ next: 'ours', learned: ['x', 'ours', 'theirs'] });
  });
});

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

  it('leaves to git what somebody has resolved by hand', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    putFeatures(project, [feature('MINE')]);
    expect(await findings(project)).toEqual([
      expect.stringMatching(
        /^degraded: .*no conflict marker.* → git add -- \.forge\/memory\/long-term\/features\.json$/,
      ),
    ]);
    expect((await fix(project)).fixes).toEqual([]);
    expect(stored(project)).toEqual([feature('MINE')]);
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

  it('says that what was edited between the markers is not taken over, and leads back to it', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const text = project.read(FEATURES).replace('"id": "C"', '"id": "MINE"');
    project.write(FEATURES, text);
    const line = text.slice(0, text.indexOf('MINE')).split('\n').length;
    const { stderr } = await runForge(project, ['doctor', '--fix']);
    expect(stderr).toContain(`edited by hand since (line ${line}): that is not taken over`);
    const { fixes } = await fix(project);
    expect(stored(project)).toEqual(MERGED);
    expect(run(project.dir, 'sh', ['-c', fixes[0]?.undo ?? '']).exitCode).toBe(0);
    expect([project.read(FEATURES), unmerged(project) === '']).toEqual([text, false]);
    // One side of a conflict that somebody took out is such an edit as well.
    project.write(FEATURES, project.read(FEATURES).replace(/^.*"id": "(MINE|D)",\n/gm, ''));
    expect((await fix(project)).fixes[0]?.what).toContain('lines are gone');
  });

  it.each<[string, object[], object[], RegExp]>([
    ['ids that differ in case alone', [...BASE, feature('C')], [...BASE, feature('c')], /stands twice/],
    ['a side that breaks the format', [...BASE, feature('C')], [...BASE, { id: 'D' }], /\(theirs\)/],
  ])('leaves to a person %s', async (_, ours, theirs, why) => {
    const project = await diverge(BASE, ours, theirs);
    git(project, 'merge', 'other');
    const before = project.read(FEATURES);
    const [found] = await findings(project);
    expect(found).toMatch(why);
    expect(found).toContain('git add -- .forge/memory/long-term/features.json');
    const { fixes, exitCode } = await fix(project);
    expect([fixes, exitCode, project.read(FEATURES)]).toEqual([[], 1, before]);
  });

  it('names the settings and ledgers that have markers, and what to type', async () => {
    const project = await makeForge();
    project.write(CONFIG, `${project.read(CONFIG)}\n<<<<<<< HEAD\n# a\n=======\n# b\n>>>>>>> other\n`);
    expect(await forgeError(project, ['config', 'list'])).toMatchObject({
      exitCode: 4,
      code: 'file.conflict',
      message: expect.stringMatching(/config\.toml:\d+: it has a merge conflict \(lines \d+ to \d+\)/),
      hint: expect.stringContaining('no marker lines'),
    });
    const ledger = '.forge/memory/notes.d/x.jsonl';
    project.write(ledger, '<<<<<<< HEAD\n=======\n>>>>>>> other\n');
    project.git('add', '-A');
    const found = await findings(project);
    expect(found.find((text) => text.includes(CONFIG))).toMatch(/lines \d+ to \d+.* → .*EDITOR/);
    expect(found.find((text) => text.includes(ledger))).toMatch(/ → sed -i .* then: forge memory verify/);
    expect((await fix(project)).fixes).toEqual([]);
  });

  it('leaves two checkpoints of one name to a person: one of them is to be chosen', async () => {
    const project = await makeForge();
    const path = '.forge/git/checkpoints/X-v1.json';
    const add = (commit: string): void => {
      project.write(path, `{ "commit": "${commit}" }\n`);
      project.git('add', '-A');
      project.git('commit', '-qm', commit);
    };
    project.git('switch', '-qc', 'other');
    add('abc');
    project.git('switch', '-q', '-');
    add('def');
    git(project, 'merge', 'other');
    const [found = ''] = await findings(project);
    expect(found).toContain(`→ git checkout --ours -- ${path} && git add -- ${path} | git checkout --theirs`);
    expect((await fix(project)).fixes).toEqual([]);
    expect(run(project.dir, 'sh', ['-c', found.split(' | ')[1] ?? '']).exitCode).toBe(0);
    expect([project.json(path), await findings(project)]).toEqual([{ commit: 'abc' }, []]);
  });

  it('nested markers are left to a person where git has no sides any more', async () => {
    const project = await makeForge();
    const hunk = (inner: string): string => `<<<<<<< HEAD\n${inner}=======\n2\n>>>>>>> other\n`;
    project.write(FEATURES, hunk(hunk('1\n')));
    expect((await findings(project))[0]).toMatch(/do not pair up/);
    expect((await fix(project)).fixes).toEqual([]);
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

  it('says when git could not be told, and what to type then', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    project.write('.git/index.lock', '');
    const { fixes, exitCode } = await fix(project);
    expect([exitCode, fixes[0]?.done, fixes[0]?.problem]).toEqual([
      1,
      false,
      expect.stringContaining('index.lock'),
    ]);
    expect([stored(project), readdirSync(project.path(KEPT)).length]).toEqual([MERGED, 1]);
    rmSync(project.path('.git/index.lock'));
    expect(await findings(project)).toEqual([expect.stringMatching(/^degraded: .* → git add -- /)]);
    project.git('add', '--', FEATURES);
    expect(await findings(project)).toEqual([]);
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
