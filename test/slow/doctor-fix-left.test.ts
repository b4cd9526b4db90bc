import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  BASE,
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
import { forgeError, runForge } from '../support/forge.js';
import { CONFIG, featureFile, makeForge } from '../support/forge-project.js';
import { LEDGER } from '../support/memory.js';
import { run } from '../support/project.js';

/** The feature that both sides changed. */
const FILE = featureFile('A');

describe('LAY-09 forge doctor --fix', () => {
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

  it('keeps edits between the markers, and can restore them', async () => {
    const project = await diverge(BASE, OURS, THEIRS);
    git(project, 'merge', 'other');
    const text = project.read(FILE).replace('"name": "ours"', '"name": "MINE"');
    project.write(FILE, text);
    const { stderr } = await runForge(project, ['doctor', '--fix']);
    expect(stderr).toContain('the current file, with your edits, is kept in .git/forge/conflicts');
    const { fixes } = await fix(project);
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

  it('leaves ids that differ only in case to a person', async () => {
    const project = await diverge(BASE, [...BASE, feature('C')], [...BASE, feature('c')]);
    git(project, 'merge', 'other');
    const { fixes, exitCode, findings: found } = await fix(project);
    expect([fixes, exitCode, stored(project).length]).toEqual([[], 1, 4]);
    const told = found.map(({ observed, commands }) => `${observed} → ${commands[0]}`);
    expect(told).toContainEqual(
      expect.stringMatching(/^Two features have the id c .* → git rm \S+\/c\.json /),
    );
  });

  it('names settings and ledger files with markers, and what to type', async () => {
    const project = await makeForge();
    project.write(CONFIG, `${project.read(CONFIG)}\n<<<<<<< HEAD\n# a\n=======\n# b\n>>>>>>> other\n`);
    expect(await forgeError(project, ['config', 'list'])).toMatchObject({
      exitCode: 4,
      code: 'file.conflict',
      message: expect.stringMatching(/config\.toml:\d+: it has a merge conflict \(lines \d+ to \d+\)/),
      hint: expect.stringContaining('no marker lines'),
    });
    const ledger = `${LEDGER}/x.jsonl`;
    project.write(ledger, '<<<<<<< HEAD\n=======\n>>>>>>> other\n');
    project.git('add', '-A');
    const found = await findings(project);
    expect(found.find((text) => text.includes(CONFIG))).toMatch(/lines \d+ to \d+.* → .*EDITOR/);
    expect(found.find((text) => text.includes(ledger))).toMatch(/\(lines 1 to 3\) → forge memory repair$/);
    expect((await fix(project)).fixes).toEqual([]);
  });

  it('leaves two checkpoints of the same name to a person', async () => {
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
    expect(found).toContain(`→ git checkout --ours -- ${path} && git add -- ${path}   (or --theirs)`);
    expect((await fix(project)).fixes).toEqual([]);
    expect(
      run(project.dir, 'sh', ['-c', `git checkout --theirs -- ${path} && git add -- ${path}`]).exitCode,
    ).toBe(0);
    expect([project.json(path), await findings(project)]).toEqual([{ commit: 'abc' }, []]);
  });

  it('reports that git add failed, and what to type then', async () => {
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
    project.git('add', '--', FILE);
    expect(await findings(project)).toEqual([]);
  });
});
