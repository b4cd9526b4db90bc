import { describe, expect, it } from 'vitest';
import { findRecords } from '../../src/git/memory.js';
import {
  FIXED,
  find,
  gitOf,
  idOf,
  line,
  lines,
  makeMemory,
  save,
  segment,
  streamOf,
} from '../support/git-memory.js';

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
