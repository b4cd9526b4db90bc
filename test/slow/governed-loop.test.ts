import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { MemoryReport } from '../../src/index.js';
import { forgeJson, runBinary, runForge } from '../support/forge.js';
import { ISSUES, makeForge } from '../support/forge-project.js';
import { HUMAN, verify } from '../support/memory.js';
import { contest, copyTo, P, promote, recordAll, times } from '../support/patterns.js';
import { commitAll, makeRepository, type Project } from '../support/project.js';

/**
 * Stands in for an agent: makes the test of its task pass, and notes what it saw. What it says of the cache breaks in the
 * fifteenth run; in the seventh it tries to write memory itself.
 */
const AGENT = `#!/bin/sh
n=$(($(cat .count 2>/dev/null || echo 0) + 1)); echo $n > .count
mkdir -p done; : > done/$FORGE_TASK
see() { echo "{\\"pattern\\":\\"$1\\",\\"scope\\":\\"execution\\",\\"holds\\":$2}" >> "$FORGE_OBSERVATIONS"; }
see "write the file first" true
[ $n -le 6 ] && see "the cache is warm" true
[ $n -eq 15 ] && see "the cache is warm" false
[ $n -gt 10 ] && see "ask before deleting" true
[ $n -gt 22 ] && see "too late" true
[ $n -eq 3 ] && see "seen too rarely" true
[ $n -eq 4 ] && see "seen too rarely" true
if [ $n -eq 7 ]; then see "cheating pays" true; forge memory record --task x --exit-code 0; fi
exit 0
`;

async function makeWork(features: number): Promise<Project> {
  const project = makeRepository();
  await forgeJson(project, ['init', '--yes', '--stack', 'none']);
  project.write('agent.sh', AGENT);
  chmodSync(project.path('agent.sh'), 0o755);
  project.write('.gitignore', '.count\ndone/\n');
  for (let i = 1; i <= features; i++)
    await forgeJson(project, `feature add --no-run F-${i} "Feature ${i}" --test "test -f done/F-${i}"`);
  commitAll(project, 'Set up');
  return project;
}

const loopOf = (cycles: number): string => `loop --max-failures 99 --max-cycles ${cycles} -- ./agent.sh`;

describe('a governed loop', () => {
  it('GOV-02 LTM-06 LTM-08 LTM-09 LTM-12 runs 25 cycles with promotions, a contested pattern and a refused builder', async () => {
    const project = await makeWork(25);
    const { exitCode, stderr } = runBinary(project.dir, loopOf(25));
    expect([exitCode, stderr.includes('Error')]).toEqual([0, false]);
    const report = await forgeJson<MemoryReport>(project, ['memory', 'report']);
    const led = report.cycles
      .filter(({ promoted, contested }) => promoted.length + contested.length > 0)
      .map(({ cycle, promoted, contested }) => ({ cycle, promoted, contested }));
    expect(led).toEqual([
      { cycle: 10, promoted: ['write the file first', 'the cache is warm'], contested: [] },
      { cycle: 20, promoted: ['ask before deleting'], contested: ['the cache is warm'] },
    ]);
    expect(report).toMatchObject({
      memory_write_performed: true,
      knowledge_promoted: true,
      knowledge_conflict_detected: true,
      memory_integrity_status: 'intact',
      by_classification: { SUCCESS: 24, GOVERNANCE_VIOLATION: 1 },
      counts: { cycles: 25 },
      breaches: [expect.objectContaining({ kind: 'breach' })],
    });
    expect(report.cycles[6]).toMatchObject({
      classification: 'GOVERNANCE_VIOLATION',
      governance_violations: [expect.stringContaining('builder')],
    });
    const { stdout } = await runForge(project, ['memory', 'report']);
    for (const text of ['promoted: write the file first', 'contested: the cache is warm', 'breach'])
      expect(stdout).toContain(text);
    const log = await runForge(project, ['memory', 'log', '--tier', 'knowledge']);
    expect(log.stdout).toContain('ask before deleting');
    expect((await verify(project)).status).toBe('intact');
  });
});

interface Unit {
  linear_id: string;
  type?: string;
}

const unitsOf = (project: Project): Unit[] => project.json<{ issues: Unit[] }>(ISSUES).issues;
const next = async (project: Project): Promise<string | undefined> =>
  (await forgeJson<{ task: { id: string } | null }>(project, ['next'])).task?.id;

async function contested(): Promise<{ project: Project; unit: Unit; issues: string }> {
  const project = await makeForge();
  await recordAll(project, times(10));
  await contest(project);
  const [unit] = unitsOf(project);
  if (!unit) throw new Error('no investigation was opened');
  expect(await next(project)).toBe(unit.linear_id);
  return { project, unit, issues: project.read(ISSUES) };
}

const isDone = (project: Project, { linear_id }: Unit): void =>
  expect(project.json(`.forge/linear/history/${linear_id}.json`)).toMatchObject({ state: 'done' });

describe('an investigation of knowledge that is no longer contested', () => {
  it('LTM-09 LTM-14 ends with a reset of the knowledge', async () => {
    const { project, unit } = await contested();
    await forgeJson(project, ['memory', 'override', 'reset', 'knowledge', '--reason', 'anew'], HUMAN);
    expect((await promote(project)).known).toEqual([]);
    await forgeJson(project, ['session', 'start']);
    expect(await next(project)).toBeUndefined();
    expect(unitsOf(project)).toEqual([]);
    isDone(project, unit);
  });

  it('LTM-09 is ignored after a merge with a human invalidation', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    commitAll(project);
    const other = copyTo(project, 'other');
    await forgeJson(project, ['memory', 'override', 'invalidate', P, '--reason', 'luck'], HUMAN);
    await contest(other);
    const [unit] = unitsOf(other);
    for (const each of [project, other]) commitAll(each);
    project.git('pull', '-q', '--no-rebase', other.dir, 'other');
    expect((await promote(project, P)).known).toMatchObject([{ status: 'invalid' }]);
    expect(project.has(`.forge/linear/active.d/${unit?.linear_id}.json`)).toBe(true);
    const { briefing } = await forgeJson<{ briefing: { text: string } }>(project, ['session', 'start']);
    expect(briefing.text).not.toContain('INVESTIGATE-');
    expect(await next(project)).toBeUndefined();
    expect(unitsOf(project)).toEqual([]);
    isDone(project, unit as Unit);
    expect((await verify(project)).status).toBe('intact');
  });

  it.each([
    ['the next consolidation', (project: Project) => recordAll(project, times(10, { pattern: 'new' }))],
    [
      'the next override',
      (project: Project) =>
        forgeJson(project, ['memory', 'override', 'append', 'Use it', '--reason', 'so it is'], HUMAN),
    ],
    ['the next session', (project: Project) => forgeJson(project, ['session', 'start'])],
  ])('LTM-09 is ignored after a kill, and %s closes it', async (_, act) => {
    const { project, unit, issues } = await contested();
    expect((await recordAll(project, times(10))).consolidation.reinstated).toMatchObject([{ pattern: P }]);
    // As it stood between the records and the work that they settle.
    const own = { linear_id: 'TEAM-1', title: 'Look into it', type: 'investigation' };
    const left = JSON.parse(issues) as { issues: object[] };
    project.write(ISSUES, JSON.stringify({ ...left, issues: [...left.issues, own] }));
    expect(await next(project)).toBe('TEAM-1');
    await act(project);
    expect(unitsOf(project)).toEqual([own]);
    isDone(project, unit);
  });
});
