import { describe, expect, it } from 'vitest';
import { check, create, fileOf, statesOf } from '../support/checkpoints.js';
import { hasShim, hasStrace, runFaulty, strikeCall, traceCalls } from '../support/faults.js';
import { copyOf, sample } from '../support/kills.js';
import { verify } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

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
    for (const call of sample(calls, 12)) {
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
