import { describe, expect, it } from 'vitest';
import type { MemoryReport } from '../../src/index.js';
import { LATE_WRITE } from '../../src/learning/evaluation.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { containerOf, flipByte, HUMAN } from '../support/memory.js';
import { cycle, P, recordAll, times } from '../support/patterns.js';
import { commitAll, type Project } from '../support/project.js';

/** Ten clean cycles that promote it, then ten of which the last contradicts it. */
async function makeStory(): Promise<Project> {
  const project = await makeForge();
  await recordAll(project, times(10));
  const broken = { classification: 'GOVERNANCE_VIOLATION', governance_violations: ['wrote memory'] };
  const plain = { ...cycle(), patterns: [] };
  const later = Array.from({ length: 9 }, (_, i) =>
    i === 4 ? { ...plain, ...broken, task_id: 'T-15' } : plain,
  );
  await recordAll(project, [...later, cycle({ holds: false, classification: 'FAILURE' })]);
  return project;
}

const reportOf = (project: Project, ...args: string[]): Promise<MemoryReport> =>
  forgeJson(project, ['memory', 'report', ...args]);

describe('forge memory report', () => {
  it('LTM-15 has LTM’s four fields over all cycles or a range, and the effect of each cycle', async () => {
    const project = await makeStory();
    const report = await reportOf(project);
    expect(report).toMatchObject({
      memory_write_performed: true,
      knowledge_promoted: true,
      knowledge_conflict_detected: true,
      memory_integrity_status: 'intact',
      counts: { cycles: 20, evaluated: 20, promoted: 1, contested: 1, reinstated: 0 },
      by_classification: { SUCCESS: 18, GOVERNANCE_VIOLATION: 1, FAILURE: 1 },
      knowledge: [{ pattern: P, status: 'contested' }],
      consolidation: { due_in: 10, waits: null },
    });
    const cyclesWith = (effect: 'promoted' | 'contested'): number[] =>
      report.cycles.filter((one) => one[effect].length > 0).map(({ cycle }) => cycle);
    expect([cyclesWith('promoted'), cyclesWith('contested')]).toEqual([[10], [20]]);
    const early = await reportOf(project, '--from', '1', '--to', '9');
    expect(early).toMatchObject({ knowledge_promoted: false, knowledge_conflict_detected: false });
    expect(early.cycles.map(({ cycle }) => cycle)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const one = await reportOf(project, '--from', '15', '--to', '15');
    expect(one.cycles).toMatchObject([{ task_id: 'T-15', governance_violations: ['wrote memory'] }]);
    const none = await reportOf(project, '--from', '21');
    expect(none).toMatchObject({ memory_write_performed: false, cycles: [] });
  });

  it('LTM-15 two cycles with one number, of two branches, are listed with their ids', async () => {
    const project = await makeForge();
    commitAll(project, 'Add forge');
    project.git('switch', '-qc', 'side');
    await recordAll(project, times(1));
    commitAll(project, 'Theirs');
    project.git('switch', '-q', 'main');
    await recordAll(project, times(2));
    commitAll(project, 'Ours');
    project.git('merge', '-q', 'side');
    const { cycles } = await reportOf(project);
    const { stdout } = await runForge(project, ['memory', 'report']);
    expect(cycles.map(({ cycle }) => cycle)).toEqual([1, 1, 2]);
    for (const { execution } of cycles.slice(0, 2))
      expect(stdout).toContain(`  1 ${execution.slice(0, 12)}  `);
    expect(stdout).toMatch(/^ {2}2 {2,}\d/m);
  });

  it('LTM-15 prints it for a reader, with decisions and breaches in order, also while memory is damaged', async () => {
    const project = await makeStory();
    await forgeJson(project, ['memory', 'override', 'freeze', '--reason', 'a bad week'], HUMAN);
    const builder = { env: { FORGE_ROLE: 'builder' } };
    await forgeError(project, ['config', 'set', 'briefing.budget', '900'], builder);
    const { stdout } = await runForge(project, ['memory', 'report']);
    for (const text of [`promoted: ${P}`, `contested: ${P}`, 'violation: wrote memory'])
      expect(stdout).toContain(text);
    expect(stdout).toMatch(/freeze a bad week.*breach/s);
    flipByte(project, containerOf(project), 900);
    await runForge(project, ['memory', 'verify']);
    expect(await reportOf(project)).toMatchObject({ memory_integrity_status: 'corrupted' });
  });

  it('LTM-15 a range has the breaches that happened in its cycles', async () => {
    const project = await makeForge();
    const breach = (id: string): Promise<unknown> =>
      forgeError(project, ['memory', 'record', '--task', id, '--exit-code', '0'], {
        env: { FORGE_ROLE: 'builder' },
      });
    for (const task of ['T-1', 'T-2', 'T-3']) {
      await breach(task);
      await forgeJson(project, ['memory', 'record', '--task', task, '--exit-code', '0']);
    }
    await breach('T-4');
    const count = async (...args: string[]): Promise<number> =>
      (await reportOf(project, ...args)).breaches.length;
    expect(await count()).toBe(4);
    expect(await count('--to', '1')).toBe(1);
    expect(await count('--from', '2', '--to', '3')).toBe(2);
    expect(await count('--from', '3')).toBe(2);
    expect(await count('--from', '4')).toBe(0);
  });

  it('LTM-15 reports a cycle that a later command recorded as not written in time', async () => {
    const project = await makeForge();
    await recordAll(project, [cycle(), { ...cycle(), governance_violations: [LATE_WRITE] }]);
    const { memory_write_performed, cycles } = await reportOf(project);
    expect([memory_write_performed, cycles.map((one) => one.memory_write_performed)]).toEqual([
      false,
      [true, false],
    ]);
  });
});
