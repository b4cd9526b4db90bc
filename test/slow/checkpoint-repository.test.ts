import { once } from 'node:events';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordId } from '../../src/ledger/record.js';
import { check, create, fileOf, gitState, list, type Made, statesOf } from '../support/checkpoints.js';
import { cloneOf } from '../support/ci.js';
import { hasShim, hasStrace, runFaulty, strikeCall, traceCalls } from '../support/faults.js';
import { forgeError, forgeJson, runForge, startBinary, startLibrary } from '../support/forge.js';
import { sample } from '../support/kills.js';
import { LEDGER, verify } from '../support/memory.js';
import {
  commitAll,
  copyOf,
  follow,
  makeFolder,
  type Project,
  projectAt,
  run,
  writeHook,
} from '../support/project.js';
import { makeDiverged, makeForgeRepository, typed } from '../support/typed.js';

const CREATE = ['checkpoint', 'create', 'X', '--verify', 'true'];

describe('during a git operation', () => {
  it('B-39 GIT-05 no checkpoint is made, exit 3; nor on a detached HEAD, an unborn branch and with an index.lock', async () => {
    const project = makeDiverged();
    run(project.dir, 'git', ['merge', 'side']);
    const before = gitState(project);
    const error = await forgeError(project, CREATE);
    expect(error).toMatchObject({ exitCode: 3, code: 'checkpoint.place' });
    expect(error.message).toContain('a merge is in progress');
    expect(gitState(project)).toEqual(before);
    project.git('merge', '--abort');
    writeFileSync(project.path('.git/index.lock'), '');
    expect((await forgeError(project, CREATE)).message).toContain(
      `or was killed (if none runs: rm ${project.path('.git/index.lock')})`,
    );
    rmSync(project.path('.git/index.lock'));
    project.git('checkout', '-q', '--detach');
    expect(await forgeError(project, CREATE)).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('HEAD is detached'),
    });
    project.git('checkout', '-q', '--orphan', 'unborn');
    project.git('rm', '-rqf', '--cached', '.');
    expect(await forgeError(project, CREATE)).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('no commit yet'),
    });
    expect((await runForge(project, ['note', 'add', 'goes on'])).exitCode).toBe(0);
    expect(project.git('tag')).toBe('');
  });
});

describe('kinds of repositories', () => {
  it('B-63 GIT-05 names the folder that must be writable when git cannot write the tag, exit 6', async () => {
    const project = makeForgeRepository();
    symlinkSync('/proc/none', project.path('.git/refs/tags/checkpoint'));
    expect(await forgeError(project, CREATE)).toMatchObject({
      exitCode: 6,
      code: 'git.failed',
      message: expect.stringContaining('unable to create directory'),
      hint: expect.stringMatching(/^ls -la "\$\(git rev-parse --git-common-dir\)" {3}# /),
    });
  });

  it('B-45 GIT-05 works in a shallow clone, and reports earlier checkpoints without their tags', async () => {
    const project = makeForgeRepository();
    await create(project, 'X');
    await forgeJson(project, ['note', 'add', 'more']);
    commitAll(project, 'More');
    const clone = cloneOf(project, '--depth', '1', '--no-tags');
    expect(await statesOf(clone)).toEqual(['X-v1 missing']);
    const { tag } = await create(clone, 'X');
    expect(tag).toMatch(/^checkpoint\/X-v2\.[0-9a-f]{6}$/);
    expect((await verify(clone)).status).toBe('intact');
    expect(await check(clone, ['X-v2'])).toMatchObject({ exitCode: 0, codes: [] });
    clone.git('fetch', '-q', '--depth', '1', 'origin', 'tag', 'checkpoint/X-v1');
    expect(await statesOf(clone)).toEqual([`${tag.replace('checkpoint/', '')} ok`, 'X-v1 ok']);
  });

  it('B-38 GIT-05 in a linked worktree, which sees all tags, and reuses no number', async () => {
    const project = makeForgeRepository();
    await create(project, 'X');
    const worktree = projectAt(join(makeFolder(), 'other'));
    project.git('worktree', 'add', '-q', worktree.dir, '-b', 'other', 'HEAD~1');
    const made = await create(worktree, 'X');
    expect([made.tag, made.branch]).toEqual(['checkpoint/X-v2', 'other']);
    expect(await statesOf(project)).toEqual(['X-v2 ok', 'X-v1 ok']);
    expect(await check(worktree)).toMatchObject({ exitCode: 0, codes: [] });
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
  });

  it('B-38 GIT-05 in a submodule, and around one', async () => {
    const inner = makeForgeRepository();
    commitAll(inner, 'Forge');
    const outer = makeForgeRepository();
    outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'sub');
    outer.git('commit', '-qm', 'Submodule');
    const sub = projectAt(outer.path('sub'));
    const made = await create(sub, 'X');
    expect(await check(sub, ['--run'])).toMatchObject({ exitCode: 0, codes: [] });
    expect(sub.git('rev-parse', 'HEAD')).toBe(made.manifest_commit);
    // The outer one sees another commit there.
    expect(await forgeError(outer, CREATE)).toMatchObject({ code: 'checkpoint.dirty', files: ['sub'] });
    outer.git('commit', '-qam', 'Submodule');
    await create(outer, 'X');
    expect(await check(outer, ['--run'])).toMatchObject({ exitCode: 0, codes: [] });
  });

  it('B-40 GIT-05 runs no hook or filter of the repository, and leaves the index alone', async () => {
    const project = makeForgeRepository();
    const hooks = 'reference-transaction pre-commit commit-msg post-commit post-index-change'.split(' ');
    for (const name of hooks) writeHook(project, name, `touch ${project.path('.git/ran')}`);
    project.git('config', 'filter.evil.clean', `touch ${project.path('.git/ran')}; cat`);
    project.write('.git/info/attributes', '* filter=evil\n');
    await create(project, 'X');
    expect(await check(project, ['--run'])).toMatchObject({ exitCode: 0, codes: [] });
    expect(project.has('.git/ran')).toBe(false);
  });

  it('B-42 GIT-05 on a branch, and beside files, with odd names', async () => {
    const project = makeForgeRepository();
    project.git('switch', '-qc', '$(x)/-n;é');
    project.write('a\nb\t"c"', 'x');
    commitAll(project, 'Odd');
    const made = await create(project, 'X');
    expect(made.branch).toBe('$(x)/-n;é');
    expect(await check(project, ['--run'])).toMatchObject({ exitCode: 0, codes: [] });
    project.write('a\nb\t"c"', 'y');
    expect(await forgeError(project, CREATE)).toMatchObject({ files: ['a\nb\t"c"'] });
  });
});

/** A process of its own that records cycles until it is ended. */
async function startRecorder(project: Project): Promise<() => Promise<unknown>> {
  const script = `
    const forge = open();
    const input = { task_id: 'A', exit_code: 0, started_at: '2026-01-01T00:00:00Z', finished_at: '2026-01-01T00:00:01Z', classification: 'SUCCESS' };
    let on = true;
    process.on('SIGTERM', () => { on = false; });
    process.stdout.write('on');
    while (on) {
      await forge.memory.record(input);
      await new Promise((done) => setTimeout(done, 20));
    }`;
  const child = startLibrary(project.dir, script);
  const { ended } = follow(child);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return () => {
    child.kill('SIGTERM');
    return ended;
  };
}

/** The ids of the records that a commit has of a tier. */
function recordsIn(project: Project, commit: string, tier: string): Set<string> {
  const files = project.git('ls-tree', '-r', '--name-only', commit, `${LEDGER}/`);
  const lines = files
    .split('\n')
    .flatMap((path) => project.git('show', `${commit}:${path}`).split('\n'))
    .map((line) => line.trim())
    .filter(Boolean);
  return new Set(lines.filter((line) => (JSON.parse(line) as { tier: string }).tier === tier).map(recordId));
}

describe('at the same time', () => {
  it('B-57 GIT-05 two in one worktree and one in another: each gets a different number', async () => {
    const project = makeForgeRepository();
    await create(project, 'X');
    const worktree = join(makeFolder(), 'other');
    project.git('worktree', 'add', '-q', worktree, '-b', 'other', 'HEAD');
    const flags = ['--verify', 'sleep 0.2', '--json'];
    const children = [project.dir, project.dir, worktree].map((dir) =>
      startBinary(dir, ['checkpoint', 'create', 'X', ...flags]),
    );
    const made = await Promise.all(
      children.map(async (child) => {
        const { stdout, stderr } = await follow(child).ended;
        return stdout === '' ? stderr : (JSON.parse(stdout) as Made).tag;
      }),
    );
    expect(made.sort()).toEqual(['checkpoint/X-v2', 'checkpoint/X-v3', 'checkpoint/X-v4']);
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
    expect(await check({ dir: worktree })).toMatchObject({ exitCode: 0, codes: [] });
    expect((await verify(project)).status).toBe('intact');
  });

  it('B-57 GIT-05 while others append: the manifest is a snapshot of the ledger, and the commit has it', async () => {
    const project = makeForgeRepository();
    await create(project, 'X');
    const stop = await startRecorder(project);
    for (let i = 0; i < 4; i++) await create(project, 'X');
    await stop();
    expect((await verify(project)).status).toBe('intact');
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
    expect(await list(project)).toHaveLength(5);
    for (const { tag, commit } of (await list(project)).slice(0, -1)) {
      const { ledger } = project.json<Made>(fileOf(tag.replace('checkpoint/', '')));
      const execution = recordsIn(project, commit ?? '', 'execution');
      const evaluation = recordsIn(project, commit ?? '', 'evaluation');
      for (const head of ledger?.execution?.heads ?? []) expect(execution.has(head)).toBe(true);
      for (const head of ledger?.evaluation?.heads ?? []) expect(evaluation.has(head)).toBe(true);
      // An evaluation comes after its execution: no cut has more of them.
      const counts = [ledger?.execution?.records, ledger?.evaluation?.records] as [number, number];
      expect(counts[1]).toBeLessThanOrEqual(counts[0]);
      expect(counts[0]).toBeLessThanOrEqual(execution.size);
    }
  });
});

/*
 * The making of a checkpoint, killed at each call with which it changes forge's files. Before the tag nothing is left of
 * it, after the tag the next checkpoint writes its manifest.
 */

const ARGS = ['checkpoint', 'create', 'X', '--verify', 'true', '--json', '--quiet'];

function makeRig(): Project {
  const project = makeForgeRepository();
  typed(project, ['note', 'add', 'known']);
  return project;
}

const hasTag = (project: Project): boolean => project.git('tag', '--list', 'checkpoint/X-v1') !== '';

describe.skipIf(!hasStrace)('a kill while a checkpoint is made', () => {
  it('B-108 GIT-05 leaves none, or a whole one', async () => {
    const rig = makeRig();
    const calls = traceCalls(copyOf(rig), ARGS);
    expect(calls.length).toBeGreaterThan(20);
    const seen = new Set<boolean>();
    // The last one too: the tag is there by then, wherever the sample ends.
    for (const call of new Set([...sample(calls, 12), ...calls.slice(-1)])) {
      const project = copyOf(rig);
      const what = call.line.slice(0, 160);
      strikeCall(project.dir, ARGS, calls, call, 'signal=KILL');
      const isMade = hasTag(project);
      seen.add(isMade);
      expect({ what, states: await statesOf(project) }).toEqual({ what, states: isMade ? ['X-v1 ok'] : [] });
      expect((await verify(project)).status, what).toBe('intact');
      const next = await create(project, 'X');
      expect([what, next.tag]).toEqual([what, isMade ? 'checkpoint/X-v2' : 'checkpoint/X-v1']);
      expect(await check(project), what).toMatchObject({ exitCode: 0, codes: [] });
    }
    expect([...seen].sort()).toEqual([false, true]);
  });
});

describe.skipIf(!hasShim)('a manifest that cannot be written', () => {
  const fault = { path: '/git/checkpoints/', call: 'fsync', nth: 1 };

  it('B-59 GIT-05 on a full disk: the tag is the checkpoint', async () => {
    const project = makeRig();
    const { exitCode, stderr } = runFaulty(project.dir, ARGS, {
      ...fault,
      call: 'write',
      error: 'ENOSPC',
      lasts: true,
    });
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('ENOSPC'.toLowerCase())]);
    expect([hasTag(project), project.has(fileOf('X-v1'))]).toEqual([true, false]);
    expect(await statesOf(project)).toEqual(['X-v1 ok']);
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
    expect((await create(project, 'X')).tag).toBe('checkpoint/X-v2');
  });
});
