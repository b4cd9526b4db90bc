import { describe, expect, it } from 'vitest';
import type { MemoryReport } from '../../src/index.js';
import { LATE_WRITE } from '../../src/learning/evaluation.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { containerOf, flipByte, HUMAN } from '../support/memory.js';
import type { Project } from '../support/project.js';

const P = 'Retry the install once';

/** Ten clean cycles that promote it, then ten of which the last contradicts it. */
async function makeStory(): Promise<Project> {
  const project = await makeForge();
  const clean = { exit_code: 0, classification: 'SUCCESS', environment_valid: true };
  const seen = (holds: boolean) => [{ pattern: P, scope: 'execution', holds }];
  const cycles = Array.from({ length: 20 }, (_, i) => ({
    ...clean,
    task_id: `T-${i + 1}`,
    patterns: i < 10 ? seen(true) : [],
    ...(i === 19 ? { exit_code: 1, classification: 'FAILURE', patterns: seen(false) } : {}),
    ...(i === 14 ? { classification: 'GOVERNANCE_VIOLATION', governance_violations: ['wrote memory'] } : {}),
  }));
  for (const part of [cycles.slice(0, 10), cycles.slice(10)])
    await forgeJson(project, 'memory record -', {
      stdin: part.map((cycle) => JSON.stringify(cycle)).join('\n'),
    });
  return project;
}

const reportOf = (project: Project, ...args: string[]): Promise<MemoryReport> =>
  forgeJson(project, ['memory', 'report', ...args]);

describe('forge memory report', () => {
  it('LTM-15 has LTM’s four fields over all cycles, and the effect of each cycle', async () => {
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
    expect(report.cycles.filter(({ promoted }) => promoted.length > 0).map(({ cycle }) => cycle)).toEqual([
      10,
    ]);
    expect(report.cycles.filter(({ contested }) => contested.length > 0).map(({ cycle }) => cycle)).toEqual([
      20,
    ]);
  });

  it('LTM-15 reports a range, and one cycle', async () => {
    const project = await makeStory();
    const early = await reportOf(project, '--from', '1', '--to', '9');
    expect(early).toMatchObject({ knowledge_promoted: false, knowledge_conflict_detected: false });
    expect(early.cycles.map(({ cycle }) => cycle)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const one = await reportOf(project, '--from', '15', '--to', '15');
    expect(one.cycles).toMatchObject([{ task_id: 'T-15', governance_violations: ['wrote memory'] }]);
    const none = await reportOf(project, '--from', '21');
    expect(none).toMatchObject({ memory_write_performed: false, cycles: [] });
  });

  it('LTM-15 prints it for a reader, with human decisions and breaches in order', async () => {
    const project = await makeStory();
    await forgeJson(project, ['memory', 'override', 'freeze', '--reason', 'a bad week'], HUMAN);
    const builder = { env: { FORGE_ROLE: 'builder' } };
    await forgeError(project, ['config', 'set', 'briefing.budget', '900'], builder);
    const { stdout } = await runForge(project, ['memory', 'report']);
    for (const text of [`promoted: ${P}`, `contested: ${P}`, 'violation: wrote memory'])
      expect(stdout).toContain(text);
    expect(stdout).toMatch(/freeze a bad week.*breach/s);
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
    const cycle = { task_id: 'T', exit_code: 1, classification: 'FAILURE' };
    const late = { ...cycle, governance_violations: [LATE_WRITE] };
    await forgeJson(project, 'memory record -', {
      stdin: [cycle, late].map((one) => JSON.stringify(one)).join('\n'),
    });
    const { memory_write_performed, cycles } = await reportOf(project);
    expect([memory_write_performed, cycles.map((one) => one.memory_write_performed)]).toEqual([
      false,
      [true, false],
    ]);
  });

  it('LTM-15 reports memory that is not intact, and still prints the rest', async () => {
    const project = await makeStory();
    flipByte(project, containerOf(project), 900);
    await runForge(project, ['memory', 'verify']);
    expect(await reportOf(project)).toMatchObject({ memory_integrity_status: 'corrupted' });
  });
});
