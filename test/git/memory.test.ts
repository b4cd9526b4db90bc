import { chmodSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { streamGit } from '../../src/git/client.js';
import {
  changedBetween,
  defaultBranch,
  findRecords,
  isAncestor,
  memoryTree,
  readBlobs,
  readRemovedLines,
  rootCommit,
} from '../../src/git/memory.js';
import {
  changed,
  FIXED,
  FOLDER,
  find,
  gitOf,
  idOf,
  line,
  lines,
  makeMemory,
  partialClone,
  repositoryOf,
  save,
  segment,
  streamOf,
} from '../support/git-memory.js';
import { makeFolder, makePlainProject, makeRepository, type Project } from '../support/project.js';

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

describe('git read as a stream', () => {
  it('fails with exit 6 when git is missing or does not end in time', async () => {
    const { dir } = makeMemory();
    const missing = streamGit(dir, { PATH: makeFolder() });
    await expect(missing(['version'], () => {})).rejects.toMatchObject({ code: 'git.missing', exit: 6 });
    const folder = makeFolder();
    writeFileSync(join(folder, 'git'), '#!/bin/sh\nexec sleep 1000\n', { mode: 0o755 });
    const slow = streamGit(dir, { PATH: `${folder}:${process.env.PATH}` });
    const late = slow(['version'], () => {}, { timeout: 50 });
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
