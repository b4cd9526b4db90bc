import { createHash } from 'node:crypto';
import { chmodSync, existsSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitIn, streamGit } from '../../../src/adapters/git/git.js';
import {
  changedBetween,
  changedMemory,
  defaultBranch,
  findRecords,
  type HistoryOutcome,
  isAncestor,
  leftOut,
  memoryTree,
  type RemovedLine,
  readBlobs,
  readRemovedLines,
  rootCommit,
} from '../../../src/adapters/git/memory.js';
import { findRepository, type Repository } from '../../../src/adapters/git/repository.js';
import {
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
  projectAt,
} from '../../support/project.js';

const FOLDER = '.forge/memory';
const FIXED = `${FOLDER}/execution.jsonl`;
const segment = (name: string): string => `${FOLDER}/execution.d/${name}.jsonl`;
const line = (word: string | number): string => `{"v":1,"word":"${word}"}`;
const lines = (...words: (string | number)[]): string => words.map((word) => `${line(word)}\n`).join('');
const idOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

const gitOf = ({ dir }: Project) => gitIn(dir, process.env);
const streamOf = ({ dir }: Project) => streamGit(dir, process.env);
const repositoryOf = ({ dir }: Project): Repository => findRepository(dir) as Repository;

/** A repository in which git knows memory files; .gitattributes as forge writes them. */
function makeMemory(files: Record<string, string | Buffer> = { [FIXED]: lines(1, 2) }): Project {
  const project = makeRepository();
  project.write('.gitattributes', '*.jsonl -text -filter merge=union\n');
  save(project, files);
  return project;
}

function save(project: Project, files: Record<string, string | Buffer | null>, message = 'Change'): string {
  for (const [path, content] of Object.entries(files))
    if (content === null) rmSync(project.path(path));
    else project.write(path, content);
  project.git('add', '-A');
  project.git('commit', '-q', '--allow-empty', '-m', message);
  return project.git('rev-parse', 'HEAD');
}

interface Dropped extends HistoryOutcome {
  lines: RemovedLine[];
  texts: string[];
  anchors: [commit: string, value: string][];
}

async function dropped(
  project: Project,
  change: { from?: string | null; to?: string; folder?: string; skipReadded?: boolean } = {},
): Promise<Dropped> {
  const removed: RemovedLine[] = [];
  const anchors: [string, string][] = [];
  const query = { repository: repositoryOf(project), folder: FOLDER, from: null, to: 'HEAD', ...change };
  const outcome = await readRemovedLines(
    streamOf(project),
    query,
    (gone) => removed.push({ ...gone, bytes: Buffer.from(gone.bytes) }),
    (commit, value) => anchors.push([commit, value]),
  );
  return { ...outcome, lines: removed, texts: removed.map(({ bytes }) => bytes.toString()), anchors };
}

const changed = (project: Project, folder = FOLDER) =>
  changedMemory(gitOf(project), { repository: repositoryOf(project), folder });

async function blobLines(project: Project, oids: string[]) {
  const read: [string, string][] = [];
  const missing: string[] = [];
  await readBlobs(
    streamOf(project),
    oids,
    (oid, bytes) => read.push([oid, bytes.toString()]),
    (oid) => missing.push(oid),
  );
  return { read, missing };
}

const find = (project: Project, where: 'refs' | 'everywhere', words: string[], skip = new Set<string>()) =>
  findRecords(gitOf(project), streamOf(project), {
    folder: FOLDER,
    wanted: new Set(words.map((word) => idOf(line(word)))),
    where,
    skip,
  });

/** A partial clone: all commits and trees, and the blobs of what is checked out. */
function partialClone(origin: Project): Project {
  origin.git('config', 'uploadpack.allowFilter', 'true');
  const clone = projectAt(join(makeFolder(), 'clone'));
  origin.git('clone', '-q', '--filter=blob:none', `file://${origin.dir}`, clone.dir);
  return clone;
}

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

describe('git read as a stream', () => {
  it('fails with exit 6 when git is missing or does not end in time', async () => {
    const { dir } = makeMemory();
    const missing = streamGit(dir, { PATH: makeFolder() });
    await expect(missing(['version'], () => {})).rejects.toMatchObject({ code: 'git.missing', exit: 6 });
    const slow = ['-c', 'alias.slow=!sleep 1', 'slow'];
    const late = streamGit(dir, process.env)(slow, () => {}, { timeout: 50 });
    await expect(late).rejects.toMatchObject({ code: 'git.timeout', exit: 6 });
  });

  it('hands a failure of git on with its words, and sees the surroundings as any other git', async () => {
    const { dir } = makeMemory();
    const stream = streamGit(dir, { ...process.env, GIT_DIR: '/nowhere' });
    const { code, stderr } = await stream(['rev-parse', '--verify', 'nothing'], () => {});
    expect([code, stderr]).toEqual([128, 'fatal: Needed a single revision\n']);
    const chunks: Buffer[] = [];
    await stream(['hash-object', '--stdin'], (chunk) => chunks.push(chunk), { input: Buffer.from('x') });
    expect(Buffer.concat(chunks).toString().trim()).toHaveLength(40);
  });
});

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

describe('reading what commits have', () => {
  it('lists the memory files of a commit, and no others', async () => {
    const project = makeMemory({
      [FIXED]: lines(1),
      [segment('ü "q"')]: lines('a'),
      [`${FOLDER}/x.json`]: '{}',
    });
    symlinkSync('execution.jsonl', project.path(`${FOLDER}/link.jsonl`));
    save(project, { 'sub/.forge/memory/n.jsonl': lines('n') });
    const tree = await memoryTree(gitOf(project), 'HEAD', FOLDER);
    expect([...tree.keys()].sort()).toEqual([segment('ü "q"'), FIXED].sort());
    expect(tree.get(FIXED)).toBe(project.git('rev-parse', `HEAD:${FIXED}`));
    expect((await memoryTree(gitOf(project), 'HEAD', 'sub/.forge/memory')).size).toBe(1);
    expect(await memoryTree(gitOf(project), 'HEAD~2', FOLDER)).toEqual(new Map());
    await expect(memoryTree(gitOf(project), '1'.repeat(40), FOLDER)).rejects.toMatchObject({ exit: 6 });
  });

  it('hands on the whole lines of each file, and says which files are missing', async () => {
    const long = '{'.padEnd(1024 * 1024, 'x');
    const project = makeMemory({
      [FIXED]: `${line(1)}\r\n\n${long}\n${long}y\n${line(2)}`,
      [segment('a')]: lines('a'),
      [segment('empty')]: '',
      [segment('torn')]: 'torn',
    });
    const oid = (path: string): string => project.git('rev-parse', `HEAD:${path}`);
    const none = '1'.repeat(40);
    const order = [oid(segment('torn')), none, oid(FIXED), oid(segment('empty')), oid(segment('a'))];
    const { read, missing } = await blobLines(project, order);
    expect(read.map(([from, text]) => [from, text === long ? 'long' : text])).toEqual([
      [oid(FIXED), `${line(1)}\r`],
      [oid(FIXED), ''],
      [oid(FIXED), 'long'],
      [oid(segment('a')), line('a')],
    ]);
    expect(missing).toEqual([none]);
    expect(await blobLines(project, [])).toEqual({ read: [], missing: [] });
  });

  it('takes a folder that is asked for as a file for missing', async () => {
    const project = makeMemory();
    const [tree = '', blob = ''] = ['HEAD^{tree}', `HEAD:${FIXED}`].map((name) =>
      project.git('rev-parse', name),
    );
    expect(await blobLines(project, [tree, blob])).toEqual({
      read: [
        [blob, line(1)],
        [blob, line(2)],
      ],
      missing: [tree],
    });
  });

  it('is the same however git hands it out, and where ids are SHA-256', async () => {
    const project = makePlainProject();
    project.git('init', '-q', '--object-format=sha256');
    save(project, { [FIXED]: `${lines(1)}\r\n${line('torn')}`, [segment('ü "')]: lines('a', 'b') });
    const commit = save(project, { [FIXED]: lines(1), [segment('ü "')]: null }, 'T\n\nForge-Ledger: x');
    const bytewise: typeof stream = (args, onChunk, options) =>
      stream(
        args,
        (chunk) => {
          for (let at = 0; at < chunk.length; at++) onChunk(chunk.subarray(at, at + 1));
        },
        options,
      );
    const stream = streamOf(project);
    const [gone, found] = [[] as string[], [] as string[]];
    const query = { repository: null, folder: FOLDER, from: null, to: 'HEAD', skipReadded: true };
    await readRemovedLines(
      bytewise,
      query,
      ({ path, bytes }) => gone.push(`${path} ${bytes}`),
      (...anchor) => gone.push(anchor.join(' ')),
    );
    const path = segment('ü "');
    expect(gone.sort()).toEqual(
      [`${path} ${line('a')}`, `${path} ${line('b')}`, `${FIXED} \r`, `${commit} x`].sort(),
    );
    const wanted = new Set(['1', 'a', 'torn'].map((word) => idOf(line(word))));
    const places = await findRecords(gitOf(project), bytewise, {
      folder: FOLDER,
      wanted,
      where: 'everywhere',
    });
    for (const { bytes } of places.values()) found.push(bytes.toString());
    expect(found).toEqual([line(1), line('a')]);
    utimesSync(project.path(FIXED), 1, 1);
    expect(await changed(project)).toEqual([]);
  });

  it('reads what a partial clone has and names the rest', async () => {
    const origin = makeMemory({ [FIXED]: lines(1), [segment('old')]: lines('old') });
    const old = [origin.git('rev-parse', `HEAD:${segment('old')}`), origin.git('rev-parse', `HEAD:${FIXED}`)];
    save(origin, { [FIXED]: lines(2), [segment('old')]: null, [segment('a')]: lines('a') });
    const clone = partialClone(origin);
    const here = [FIXED, segment('a')].map((path) => clone.git('rev-parse', `HEAD:${path}`));
    const { read, missing } = await blobLines(clone, [here[0], old[0], here[1], old[1]] as string[]);
    expect(read.map(([, text]) => text)).toEqual([line(2), line('a')]);
    expect(missing.sort()).toEqual(old.sort());
    expect((await find(clone, 'everywhere', ['a', 'old'])).size).toBe(1);
  });

  it('lists what a commit has and another lacks or has otherwise', async () => {
    const project = makeMemory({ [FIXED]: lines(1), [segment('a')]: lines('a'), [segment('b')]: lines('b') });
    const git = gitOf(project);
    const first = project.git('rev-parse', 'HEAD');
    const tree = await memoryTree(git, first, FOLDER);
    chmodSync(project.path(segment('b')), 0o755);
    const second = save(project, { [FIXED]: lines(2), [segment('a')]: null, [segment('c')]: lines('c') });
    expect(await changedBetween(git, first, second, FOLDER)).toEqual([
      { path: segment('a'), oid: tree.get(segment('a')) },
      { path: FIXED, oid: tree.get(FIXED) },
    ]);
    expect(await isAncestor(git, first, second)).toBe(true);
    expect(await isAncestor(git, second, first)).toBe(false);
    expect(await isAncestor(git, '1'.repeat(40), second)).toBeNull();
    await expect(isAncestor(git, first, '1'.repeat(40))).rejects.toMatchObject({ exit: 6 });
  });
});

describe('where a record is', () => {
  it('is said for branches, remote branches, tags of tags and a detached HEAD', async () => {
    const project = makeMemory();
    const tips: Record<string, string> = {};
    for (const word of ['branch', 'tag', 'remote', 'detached', 'orphan']) {
      project.git('checkout', '-q', ...(word === 'orphan' ? ['--orphan', 'orphan'] : ['--detach', 'main']));
      tips[word] = save(project, { [segment(word)]: lines(word) });
    }
    project.git('branch', 'feature/x', tips.branch ?? '');
    project.git('tag', '-am', 'Inner', 'inner', tips.tag ?? '');
    project.git('tag', '-am', 'Outer', 'a-outer', 'inner');
    project.git('tag', 'a-blob', `HEAD:${segment('orphan')}`);
    project.git('update-ref', 'refs/remotes/origin/x', tips.remote ?? '');
    project.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/x');
    project.git('checkout', '-q', '--detach', tips.detached ?? '');
    const found = await find(project, 'refs', [...Object.keys(tips), '1', 'nowhere']);
    const refs = {
      branch: 'feature/x',
      tag: 'a-outer',
      remote: 'origin/x',
      detached: 'HEAD',
      orphan: 'orphan',
    };
    for (const [word, ref] of Object.entries(refs))
      expect(found.get(idOf(line(word)))).toEqual({
        commit: tips[word],
        ref,
        path: segment(word),
        bytes: Buffer.from(line(word)),
      });
    expect(found.get(idOf(line(1)))?.ref).toBe('HEAD');
    expect(found.size).toBe(6);
  });

  it('is said for every stash, its index and its untracked files', async () => {
    const project = makeMemory();
    project.write(FIXED, lines(1, 2, 'tracked'));
    project.git('stash', '-q');
    project.write(segment('u'), lines('untracked'));
    project.git('stash', '-qu');
    project.write(FIXED, lines(1, 2, 'staged'));
    project.git('add', FIXED);
    project.write(FIXED, lines(1, 2));
    project.git('stash', '-q');
    const found = await find(project, 'refs', ['tracked', 'untracked', 'staged']);
    const refs = Object.fromEntries([...found.values()].map(({ bytes, ref }) => [bytes.toString(), ref]));
    expect(refs).toEqual({
      [line('tracked')]: 'stash@{2}',
      [line('untracked')]: 'stash@{1}',
      [line('staged')]: 'stash@{0}',
    });
    for (const { commit, path, bytes } of found.values())
      expect(project.git('show', `${commit}:${path}`)).toContain(bytes.toString());
  });

  it('is said for history with the branch, and for what only the reflog has without', async () => {
    const project = makeMemory();
    const passed = save(project, { [segment('p')]: lines('passed') });
    save(project, { [segment('p')]: null });
    project.git('checkout', '-qb', 'side');
    const side = save(project, { [segment('s')]: lines('side') });
    project.git('checkout', '-q', 'main');
    project.git('merge', '-q', '--no-ff', '-s', 'ours', '-m', 'Merge', 'side');
    project.git('branch', '-qD', 'side');
    const reset = save(project, { [segment('r')]: lines('reset') });
    project.git('reset', '-q', '--hard', 'HEAD~1');
    const words = ['passed', 'side', 'reset', 'nowhere'];
    expect((await find(project, 'refs', words)).size).toBe(0);
    const found = await find(project, 'everywhere', words);
    const places = [...found.values()].map(({ bytes, commit, ref }) => [bytes.toString(), commit, ref]);
    expect(places.sort()).toEqual(
      [
        [line('passed'), passed, 'main'],
        [line('reset'), reset, ''],
        [line('side'), side, 'main'],
      ].sort(),
    );
  });

  it('is found in a sub-folder with an odd name, and not in files that were read before', async () => {
    const project = makeMemory();
    const folder = 'sub [x]\n*/.forge/memory';
    save(project, { [`${folder}/ü.jsonl`]: lines('odd'), 'sub x/.forge/memory/y.jsonl': lines('other') });
    const oid = project.git('rev-parse', `HEAD:${folder}/ü.jsonl`);
    const wanted = new Set([idOf(line('odd')), idOf(line('other'))]);
    for (const where of ['refs', 'everywhere'] as const) {
      const query = { folder, wanted, where };
      const found = await findRecords(gitOf(project), streamOf(project), query);
      expect([...found.values()]).toMatchObject([{ path: `${folder}/ü.jsonl`, ref: 'main' }]);
      const again = await findRecords(gitOf(project), streamOf(project), { ...query, skip: new Set([oid]) });
      expect(again.size).toBe(0);
    }
  });
});

describe('which repository and branch this is', () => {
  it('is told by the smallest root commit', async () => {
    const project = makeRepository();
    const first = project.git('rev-parse', 'HEAD');
    project.git('checkout', '-q', '--orphan', 'other');
    const second = save(project, { x: 'x' });
    expect(await rootCommit(gitOf(project))).toBe(second);
    project.git('merge', '-q', '--allow-unrelated-histories', '-X', 'ours', '-m', 'Join', 'main');
    expect(await rootCommit(gitOf(project))).toBe([first, second].sort()[0]);
  });

  it("is the remote's branch, else a usual name, else the only branch", async () => {
    const project = makeRepository();
    const answer = () => defaultBranch(repositoryOf(project), gitOf(project));
    project.git('branch', '-m', 'work');
    expect(await answer()).toBe('work');
    project.git('branch', 'more');
    expect(await answer()).toBeNull();
    project.git('branch', 'trunk');
    project.git('branch', 'master');
    expect(await answer()).toBe('master');
    project.git('config', 'init.defaultBranch', 'more');
    expect(await answer()).toBe('more');
    project.git('update-ref', 'refs/remotes/origin/deep/main', 'HEAD');
    project.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/deep/main');
    expect(await answer()).toBe('deep/main');
    const unborn = makePlainProject();
    unborn.git('init', '-q', '-b', 'first');
    expect(await defaultBranch(repositoryOf(unborn), gitOf(unborn))).toBe('first');
    const single = makeRepository();
    single.git('branch', '-m', 'only');
    single.git('checkout', '-q', '--detach');
    expect(await defaultBranch(repositoryOf(single), gitOf(single))).toBeNull();
  });
});
