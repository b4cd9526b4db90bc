import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRemovedLines, rootCommit } from '../../src/git/memory.js';
import {
  dropped,
  FIXED,
  FOLDER,
  find,
  gitOf,
  line,
  lines,
  makeMemory,
  partialClone,
  save,
  segment,
  streamOf,
} from '../support/git-memory.js';
import { makeFolder, projectAt } from '../support/project.js';

describe('what the history dropped', () => {
  it('is nothing where records were only added', async () => {
    const project = makeMemory();
    save(project, { [FIXED]: lines(1, 2, 3), [segment('a')]: lines('a') });
    expect(await dropped(project)).toMatchObject({ texts: [], commits: 2, shallow: false, incomplete: null });
  });

  it('names line, file, commit and parent, also for what was deleted as a whole', async () => {
    const project = makeMemory({ [FIXED]: lines(1, 2, 3), [segment('a')]: lines('a') });
    const parent = project.git('rev-parse', 'HEAD');
    const commit = save(project, { [FIXED]: lines(1, 3), [segment('a')]: null });
    const { lines: gone } = await dropped(project);
    expect(gone).toEqual([
      { commit, parent, path: segment('a'), bytes: Buffer.from(line('a')) },
      { commit, parent, path: FIXED, bytes: Buffer.from(line(2)) },
    ]);
  });

  it('reads from a commit on, and everything when that commit is gone', async () => {
    const project = makeMemory();
    const first = save(project, { [FIXED]: lines(2) });
    save(project, { [FIXED]: '' });
    expect((await dropped(project, { from: first })).texts).toEqual([line(2)]);
    expect((await dropped(project, { from: 'HEAD' })).texts).toEqual([]);
    expect((await dropped(project, { from: '1'.repeat(40) })).texts).toEqual([line(2), line(1)]);
    await expect(dropped(project, { from: first, to: '2'.repeat(40) })).rejects.toMatchObject({ exit: 6 });
  });

  it.each([
    ['-s ours', ['-s', 'ours', 'side']],
    ['an octopus of -s ours', ['-s', 'ours', 'side', 'other']],
  ])('sees what a merge by %s left out, against the parent that has it', async (_, args) => {
    const project = makeMemory();
    project.git('checkout', '-qb', 'other');
    const other = save(project, { [segment('other')]: lines('other') });
    project.git('checkout', '-q', 'main');
    project.git('checkout', '-qb', 'side');
    const side = save(project, { [segment('side')]: lines('side') });
    project.git('checkout', '-q', 'main');
    save(project, { [segment('main')]: lines('main') });
    project.git('merge', '-q', '-m', 'Merge', ...args);
    const commit = project.git('rev-parse', 'HEAD');
    const expected = [
      { commit, parent: side, path: segment('side'), bytes: Buffer.from(line('side')) },
      { commit, parent: other, path: segment('other'), bytes: Buffer.from(line('other')) },
    ].slice(0, args.includes('other') ? 2 : 1);
    const { lines: gone, commits } = await dropped(project);
    expect(gone).toEqual(expected);
    expect(commits).toBe(args.includes('other') ? 5 : 4);
  });

  it('sees what a merge dropped against its first parent', async () => {
    const project = makeMemory();
    project.git('checkout', '-qb', 'side');
    save(project, { [segment('side')]: lines('side') });
    project.git('checkout', '-q', 'main');
    const parent = save(project, { [segment('main')]: lines('main') });
    project.git('merge', '-q', '--no-commit', 'side');
    const commit = save(project, { [segment('main')]: null }, 'Merge');
    const { lines: gone } = await dropped(project);
    expect(gone).toEqual([{ commit, parent, path: segment('main'), bytes: Buffer.from(line('main')) }]);
  });

  it('is not misled by records that look like a patch, nor by messages that do', async () => {
    const words = [
      'diff --git a/x b/x',
      '--- a/x',
      '@@ -1 +0,0 @@',
      '-{"v":1}',
      '+++ b',
      '\\ No newline',
      '',
    ];
    const content = [...words, 'commit 1', ' x', '\\', '@@ -1,9 +1,9 @@'].map((word) => `${word}\n`).join('');
    const project = makeMemory({ [FIXED]: content });
    const message = `T\n\n${content}commit ${'1'.repeat(40)}\n\ndiff --git a/x b/x\n--- a/x\n@@ -1 +0,0 @@\n-{"v":1}`;
    save(project, { [FIXED]: '' }, message);
    const { texts, commits } = await dropped(project);
    expect(texts).toEqual(content.split('\n').slice(0, -1));
    expect(commits).toBe(2);
  });

  it('tells what has ended in LF from what was still being written, and keeps every CR', async () => {
    const project = makeMemory({ [FIXED]: `${line(1)}\r\n${line(2)}`, [segment('a')]: line('a') });
    save(project, { [FIXED]: `${line(1)}\r\n${line(2)}\n`, [segment('a')]: `${line('a')}\n${line('b')}` });
    expect((await dropped(project)).texts).toEqual([]);
    save(project, { [FIXED]: line('x'), [segment('a')]: null });
    expect((await dropped(project)).texts).toEqual([line('a'), `${line(1)}\r`, line(2)]);
    expect((await dropped(project, { skipReadded: true })).texts).toEqual([
      line('a'),
      `${line(1)}\r`,
      line(2),
    ]);
  });

  it('reads records of 1 MiB whole, and passes over a longer line', async () => {
    const long = '{'.padEnd(1024 * 1024, 'x');
    const project = makeMemory({ [FIXED]: `${line(1)}\n${long}\n${long}y\n${line(2)}\n` });
    save(project, { [FIXED]: `${line(2)}\n` });
    const { texts } = await dropped(project);
    expect(texts.map((text) => text.length)).toEqual([line(1).length, 1024 * 1024]);
    expect(texts[1] === long).toBe(true);
  });

  it('names files with spaces, quotes, tabs and letters of any script, in a project in a sub-folder', async () => {
    const names = ['with space', 'quo"te', 'back\\slash', 'tab\there', 'süß 日本', 'bell\u0007', '[a]*?'];
    const folder = 'sub [x]*/.forge/memory';
    const project = makeMemory({
      'sub x/.forge/memory/n.jsonl': lines('other'),
      ...Object.fromEntries(names.map((name) => [`${folder}/${name}.jsonl`, lines(1)])),
    });
    rmSync(project.path('sub x'), { recursive: true });
    save(project, Object.fromEntries(names.map((name) => [`${folder}/${name}.jsonl`, null])));
    const { lines: gone } = await dropped(project, { folder });
    expect(gone.map(({ path }) => path).sort()).toEqual(
      names.map((name) => `${folder}/${name}.jsonl`).sort(),
    );
  });

  it('tells a fold from a loss, whichever comes first in the patch', async () => {
    const notes = `${FOLDER}/long-term/notes.jsonl`;
    const project = makeMemory({ [FIXED]: lines(1), [segment('a')]: lines('a', 'b'), [notes]: lines('n') });
    save(project, { [`${FOLDER}/notes.d/x.jsonl`]: lines('x', 'y') });
    save(project, { [FIXED]: lines(1, 'a', 'b'), [segment('a')]: null });
    save(project, { [notes]: lines('n', 'x'), [`${FOLDER}/notes.d/x.jsonl`]: null });
    expect((await dropped(project)).texts).toEqual([line('x'), line('y'), line('a'), line('b')]);
    expect((await dropped(project, { skipReadded: true })).texts).toEqual([line('y')]);
  });

  it('still names a line that one commit moved and a later one dropped', async () => {
    const project = makeMemory({ [segment('a')]: lines('a') });
    save(project, { [FIXED]: lines('a'), [segment('a')]: null });
    const commit = save(project, { [FIXED]: '' });
    const { lines: gone } = await dropped(project, { skipReadded: true });
    expect(gone).toMatchObject([{ commit, path: FIXED }]);
  });

  it('hands on the ledger heads that a commit message names, once for a merge', async () => {
    const project = makeMemory();
    project.git('checkout', '-qb', 'side');
    save(
      project,
      { [segment('s')]: lines('s') },
      'Forge-Ledger: a title\n\nForge-Ledger: prose\n\nNo trailer',
    );
    project.git('checkout', '-q', 'main');
    save(project, { [segment('m')]: lines('m') });
    const message =
      'Merge\n\nForge-Ledger: first\n\nforge-ledger: second\n and more\nForge-Ledger: third\nX: y\n\n';
    project.git('merge', '-q', '--no-ff', '--cleanup=verbatim', '-m', message, 'side');
    const { anchors } = await dropped(project);
    const head = project.git('rev-parse', 'HEAD');
    expect(anchors).toEqual([
      [head, 'second and more'],
      [head, 'third'],
    ]);
  });

  it('hands on none that a picked, rebased or amended commit carries along', async () => {
    const project = makeMemory();
    const message = 'End\n\nForge-Ledger: x';
    save(project, { [segment('s')]: lines('s') });
    project.git('commit', '-q', '--amend', '--date=2026-01-01T10:00:00Z', '-m', message);
    expect((await dropped(project)).anchors).toEqual([]);
    project.git('-c', 'core.editor=true', 'commit', '-q', '--amend', '--reset-author', '--no-edit');
    expect((await dropped(project)).anchors).toEqual([[project.git('rev-parse', 'HEAD'), 'x']]);
  });

  it('is the same whatever the settings of git say about patches and logs', async () => {
    const project = makeMemory({ [FIXED]: lines(1, 2), [segment('a')]: lines('a') });
    const settings = {
      'diff.noprefix': 'true',
      'diff.mnemonicPrefix': 'true',
      'diff.context': '5',
      'diff.interHunkContext': '9',
      'diff.orderFile': '/nowhere',
      'diff.external': 'false',
      'diff.renames': 'copies',
      'diff.relative': 'true',
      'diff.algorithm': 'patience',
      'log.follow': 'true',
      'log.abbrevCommit': 'true',
      'log.decorate': 'full',
      'log.showRoot': 'false',
      'log.diffMerges': 'off',
      'color.diff': 'always',
      'format.pretty': 'oneline',
      'i18n.logOutputEncoding': 'utf-16',
    };
    save(project, { [FIXED]: lines(2), [segment('a')]: null, [segment('b')]: lines('a') });
    const before = await dropped(project);
    for (const [name, value] of Object.entries(settings)) project.git('config', name, value);
    expect(await dropped(project)).toEqual(before);
    expect((await find(project, 'everywhere', ['1'])).size).toBe(1);
  });

  it('ends at the boundary of a shallow clone and says so', async () => {
    const origin = makeMemory();
    save(origin, { [FIXED]: lines(2) });
    save(origin, { [FIXED]: '' });
    const clone = projectAt(join(makeFolder(), 'clone'));
    origin.git('clone', '-q', '--depth=2', `file://${origin.dir}`, clone.dir);
    expect(await dropped(clone)).toMatchObject({ texts: [line(2)], shallow: true, incomplete: null });
    expect(await rootCommit(gitOf(clone))).toBeNull();
  });

  it('is incomplete, not a failure, where a partial clone lacks the files', async () => {
    const origin = makeMemory();
    save(origin, { [FIXED]: lines(2) });
    const clone = partialClone(origin);
    const { incomplete } = await dropped(clone);
    expect(incomplete).toContain('promisor');
    expect((await dropped(clone, { from: 'HEAD' })).incomplete).toBeNull();
  });

  it('stops git when the reader fails, and fails as it did', async () => {
    const project = makeMemory();
    save(project, { [FIXED]: '' });
    const query = { repository: null, folder: FOLDER, from: null, to: 'HEAD' };
    const reading = readRemovedLines(streamOf(project), query, () => {
      throw new Error('enough');
    });
    await expect(reading).rejects.toThrow('enough');
  });
});
