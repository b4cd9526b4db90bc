import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { check, create, fileOf, statesOf } from '../support/checkpoints.js';
import { type Call, hasShim, hasStrace, runFaulty, strikeCall, traceCalls } from '../support/faults.js';
import { forgeJson, runForge } from '../support/forge.js';
import { kills } from '../support/kills.js';
import { verify } from '../support/memory.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

/*
 * The making of a checkpoint, killed at each call with which it changes forge's files. Before the tag nothing is left of
 * it, after the tag the next command completes it.
 */

const ARGS = ['checkpoint', 'create', 'X', '--verify', 'true', '--json', '--quiet'];

function makeRig(): Project {
  const project = makeForgeRepository();
  typed(project, ['note', 'add', 'known']);
  return project;
}

function copyOf(project: Project): Project {
  const copy = projectAt(makeFolder());
  execFileSync('cp', ['-a', `${project.dir}/.`, copy.dir]);
  return copy;
}

/** What waits to be completed. */
const left = (project: Project): string[] => {
  const folder = project.path('.git/forge/checkpoints');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
};

const hasTag = (project: Project): boolean => project.git('tag', '--list', 'checkpoint/X-v1') !== '';

/** Tag, manifest and its commit: all of them, or none. */
function expectWhole(project: Project, what: string): void {
  const isMade = hasTag(project);
  const committed = project.git('ls-files', fileOf('X-v1')) !== '';
  expect({ what, file: project.has(fileOf('X-v1')), committed, left: left(project) }).toEqual({
    what,
    file: isMade,
    committed: isMade,
    left: [],
  });
}

const sample = (all: readonly Call[], size: number): Call[] => {
  const step = Math.max(1, Math.floor(all.length / kills(size, all.length)));
  return all.filter((_, i) => i % step === 0);
};

describe.skipIf(!hasStrace)('a kill while a checkpoint is made', () => {
  it('B-108 GIT-05 leaves none, or one that the next look completes', async () => {
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
      expectWhole(project, what);
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

  it('B-59 GIT-05 for want of space: the tag stands, and the manifest is written later', async () => {
    const project = makeRig();
    const { exitCode, stderr } = runFaulty(project.dir, ARGS, {
      ...fault,
      call: 'write',
      error: 'ENOSPC',
      lasts: true,
    });
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('ENOSPC'.toLowerCase())]);
    expect([hasTag(project), project.has(fileOf('X-v1'))]).toEqual([true, false]);
    const { stderr: said } = await runForge(project, ['checkpoint', 'list']);
    expect(said).toContain('had been interrupted; its manifest is written now');
    expectWhole(project, 'list');
  });

  it('B-108 GIT-05 for a kill: session start completes it as well, and a dry run does not', async () => {
    const project = makeRig();
    runFaulty(project.dir, ARGS, { ...fault, kill: true });
    expect([hasTag(project), project.has(fileOf('X-v1')), left(project)]).toEqual([
      true,
      false,
      [expect.any(String)],
    ]);
    await runForge(project, [...ARGS, '--dry-run']);
    expect(left(project)).toHaveLength(1);
    const started = await forgeJson<{ session: { head: string } }>(project, ['session', 'start']);
    expectWhole(project, 'start');
    expect(started.session.head).toBe(project.git('rev-parse', 'HEAD'));
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
  });

  it('LTM-05 GIT-05 while memory is halted it waits', async () => {
    const project = makeRig();
    runFaulty(project.dir, ARGS, { ...fault, kill: true });
    project.write('.git/forge/halt.json', '{"at":"2026-03-01T10:00:00.000Z","reasons":["a test"]}\n');
    expect(await statesOf(project)).toEqual(['X-v1 ok']);
    expect([project.has(fileOf('X-v1')), left(project).length]).toEqual([false, 1]);
  });
});
