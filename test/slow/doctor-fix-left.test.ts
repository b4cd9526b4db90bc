import { describe, expect, it } from 'vitest';
import {
  BASE,
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
});
