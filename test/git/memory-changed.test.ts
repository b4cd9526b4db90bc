import { createHash } from 'node:crypto';
import { chmodSync, existsSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leftOut, memoryTree, rootCommit } from '../../src/git/memory.js';
import {
  changed,
  dropped,
  FIXED,
  FOLDER,
  find,
  gitOf,
  lines,
  makeMemory,
  save,
  segment,
} from '../support/git-memory.js';
import { makeFolder, makePlainProject, type Project } from '../support/project.js';

/** A filter that this repository brings along, and that leaves a mark when it runs. */
function plantFilter(project: Project): { ran(): boolean } {
  const mark = join(makeFolder(), 'ran');
  project.write('.git/info/attributes', '*.jsonl filter=evil diff=evil\n');
  for (const [name, value] of [
    ['filter.evil.clean', `touch '${mark}'; cat`],
    ['filter.evil.smudge', `touch '${mark}'; cat`],
    ['filter.evil.required', 'true'],
    ['diff.evil.command', `touch '${mark}'; true`],
    ['diff.evil.textconv', `touch '${mark}'; cat`],
  ] as const)
    project.git('config', name, value);
  return { ran: () => existsSync(mark) };
}

describe('which memory files are not as HEAD has them', () => {
  it('are those edited or deleted, staged or not; others are not named', async () => {
    const words = ['a', 'b', 'c', 'd', 'e', 'f'];
    const project = makeMemory(Object.fromEntries(words.map((word) => [segment(word), lines(word)])));
    const tree = await memoryTree(gitOf(project), 'HEAD', FOLDER);
    project.write(segment('a'), lines('x'));
    project.write(segment('b'), lines('x'));
    project.git('add', segment('b'));
    rmSync(project.path(segment('c')));
    project.git('rm', '-q', '--cached', segment('d'));
    project.git('rm', '-q', segment('e'));
    project.write(segment('new'), lines('new'));
    project.git('add', segment('new'));
    project.write(`${FOLDER}/notes.txt`, 'x');
    const found = project.git('hash-object', segment('a'));
    expect(await changed(project)).toEqual([
      { path: segment('a'), oid: tree.get(segment('a')), state: 'edited', found },
      { path: segment('b'), oid: tree.get(segment('b')), state: 'edited', found },
      { path: segment('c'), oid: tree.get(segment('c')), state: 'deleted', found: '' },
      { path: segment('e'), oid: tree.get(segment('e')), state: 'deleted', found: '' },
    ]);
  });

  it('are told by content: not by times, modes or what is staged meanwhile', async () => {
    const project = makeMemory({ [segment('a')]: lines('a'), [segment('b')]: lines('b'), [FIXED]: lines(1) });
    utimesSync(project.path(segment('a')), 1, 1);
    chmodSync(project.path(segment('b')), 0o755);
    project.write(FIXED, lines(2));
    project.git('add', FIXED);
    project.write(FIXED, lines(1));
    const before = createHash('sha256').update(project.read('.git/index')).digest('hex');
    expect(await changed(project)).toEqual([]);
    expect(createHash('sha256').update(project.read('.git/index')).digest('hex')).toBe(before);
    // As old as the index: git cannot tell by the times.
    project.write(segment('a'), lines('x'));
    project.git('add', '-A');
    project.write(segment('a'), lines('a'));
    project.git('update-index', '--assume-unchanged', FIXED);
    project.write(FIXED, lines('hidden'));
    expect(await changed(project)).toMatchObject([{ path: FIXED, state: 'edited' }]);
  });

  it('are those behind links too: a link is no ledger', async () => {
    const project = makeMemory({ [segment('a')]: lines('a'), [FIXED]: lines(1) });
    const elsewhere = makeFolder();
    renameSync(project.path(FOLDER, 'execution.d'), join(elsewhere, 'd'));
    symlinkSync(join(elsewhere, 'd'), project.path(FOLDER, 'execution.d'));
    renameSync(project.path(FIXED), join(elsewhere, 'fixed'));
    symlinkSync(join(elsewhere, 'fixed'), project.path(FIXED));
    expect(await changed(project)).toMatchObject([
      { path: segment('a'), state: 'deleted' },
      { path: FIXED, state: 'edited' },
    ]);
  });

  it('are none on an unborn branch', async () => {
    const project = makePlainProject();
    project.git('init', '-q');
    project.write(FIXED, lines(1));
    project.git('add', '.');
    expect(await changed(project)).toEqual([]);
    expect(await rootCommit(gitOf(project))).toBeNull();
    expect(await leftOut(gitOf(project), FOLDER)).toEqual(new Set());
    expect((await find(project, 'everywhere', ['1'])).size).toBe(0);
  });

  it('are named once in the middle of a conflict', async () => {
    const project = makeMemory();
    project.write('.gitattributes', '*.jsonl -text merge=binary\n');
    project.git('commit', '-qam', 'Binary');
    project.git('checkout', '-qb', 'side');
    save(project, { [FIXED]: lines('side') });
    project.git('checkout', '-q', 'main');
    save(project, { [FIXED]: lines('main') });
    const oid = project.git('rev-parse', `HEAD:${FIXED}`);
    expect(() => project.git('merge', 'side')).toThrow();
    expect(await changed(project)).toEqual([{ path: FIXED, oid, state: 'edited', found: oid }]);
  });

  it('are not those that a sparse checkout leaves out, which are listed', async () => {
    const project = makeMemory({ [FIXED]: lines(1), [`${FOLDER}/archive/ü "x".jsonl`]: lines('a') });
    project.git('sparse-checkout', 'set', '--no-cone', '/*', `!/${FOLDER}/archive/`);
    expect(project.has(`${FOLDER}/archive`)).toBe(false);
    expect(await changed(project)).toEqual([]);
    expect(await leftOut(gitOf(project), FOLDER)).toEqual(new Set([`${FOLDER}/archive/ü "x".jsonl`]));
  });

  it('are found without running a filter or a diff program that the repository brings', async () => {
    const project = makeMemory();
    // Newer than the index: git has to read it, whatever it remembers.
    utimesSync(project.path(FIXED), new Date(), new Date(Date.now() + 100_000));
    project.git('update-index', '--refresh', '-q');
    const { ran } = plantFilter(project);
    expect(await changed(project)).toEqual([]);
    project.write(FIXED, lines(1, 3));
    expect(await changed(project)).toMatchObject([{ path: FIXED, state: 'edited' }]);
    project.write(FIXED, lines(1, 2));
    utimesSync(project.path(FIXED), new Date(), new Date(Date.now() + 100_000));
    expect(await changed(project)).toEqual([]);
    expect((await dropped(project)).texts).toEqual([]);
    expect(await find(project, 'everywhere', ['nowhere'])).toEqual(new Map());
    expect(ran()).toBe(false);
    project.git('status');
    expect(ran()).toBe(true);
  });
});
