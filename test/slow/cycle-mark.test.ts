import { renameSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { identify } from '../../src/core/world.js';
import { cycle, MARK, refusal } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { LEDGER } from '../support/memory.js';
import type { Project } from '../support/project.js';

/** The mark of a cycle whose process was killed before the record. */
function leaveMark(project: Project, change: object = {}): void {
  const gone = { ...identify(process.pid), pid: 4_000_000, started: '1' };
  const mark = {
    schema_version: '1.0',
    key: '0123456789abcdef',
    holder: gone,
    started_at: '2026-03-01T10:00:00.000Z',
    task_id: 'A',
    stage: 'execution',
    stages: [],
    ...change,
  };
  project.write(MARK, JSON.stringify(mark));
}

const violated = { task_id: 'A', exit_code: 0, classification: 'GOVERNANCE_VIOLATION' };

describe('the mark of a cycle', () => {
  it('LTM-16 reports how each interrupted cycle is recorded', async () => {
    const project = await makeForge();
    leaveMark(project);
    expect((await cycle(project, ['--', 'true'])).warnings).toEqual([
      'Cycle 1 was interrupted. It is recorded now, as FAILURE.',
    ]);
    leaveMark(project, { stage: 'memory', key: 'f'.repeat(16), input: violated });
    expect((await cycle(project, ['--', 'true'])).warnings).toEqual([
      'Cycle 3 was interrupted. It is recorded now, as GOVERNANCE_VIOLATION.',
    ]);
  });

  it('B-06 GOV-03 is escaped in messages', async () => {
    const project = await makeForge();
    const holder = identify(process.ppid);
    leaveMark(project, { holder, task_id: `A\n✓ all is well\n${'x'.repeat(300)}` });
    const { stderr } = await runForge(project, ['cycle', '--', 'true']);
    expect(stderr).not.toMatch(/^✓/m);
    expect((await refusal(project, ['cycle', '--', 'true'])).message).toMatch(
      /^A cycle has been running here .*task A ✓ all is well x+…\): .*nothing was run\.$/,
    );
    leaveMark(project, { holder: { ...holder, host: 'far\naway' } });
    expect((await refusal(project, ['cycle', '--', 'true'])).message).toContain('another host (far away)');
  });
});

describe('a record that may not be stored whole', () => {
  it('LTM-16 keeps GOVERNANCE_VIOLATION after a failed write', async () => {
    const project = await makeForge();
    renameSync(project.path(LEDGER), project.path('ledger'));
    project.write(LEDGER, 'a file in place of the folder');
    const flags = ['--classification', 'GOVERNANCE_VIOLATION', '--violation', 'it changed init.sh'];
    const args = ['memory', 'record', '--task', 'A', '--exit-code', '0'];
    const failed = await runForge(project, [...args, ...flags]);
    expect(failed.stderr).toContain('The cycle counts as GOVERNANCE_VIOLATION; it is kept');
    rmSync(project.path(LEDGER));
    renameSync(project.path('ledger'), project.path(LEDGER));
    expect((await runForge(project, args)).stderr).toContain('is recorded now, as GOVERNANCE_VIOLATION.');
    expect(
      (await forgeJson<{ records: { record: object }[] }>(project, ['memory', 'log', '--tier', 'evaluation']))
        .records[0]?.record,
    ).toMatchObject({
      classification: 'GOVERNANCE_VIOLATION',
      governance_violations: ['it changed init.sh', 'memory write failed; recorded by a later command'],
    });
  });
});
