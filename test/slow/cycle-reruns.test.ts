import { chmodSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cycle, ready as onlyA, sh } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import { featureFile, storedFeature } from '../support/forge-project.js';
import { HUMAN, logOf } from '../support/memory.js';
import { commitAll, type Project } from '../support/project.js';

/** The task A looks for `done`; B and C pass while `kept` is there. All is committed, but their evidence is older. */
async function ready(): Promise<Project> {
  const project = await onlyA();
  project.write('kept', '');
  for (const id of ['B', 'C'])
    await forgeJson(project, `feature add --no-run ${id} "name of ${id}" --test "sh check.sh ${id}"`);
  project.write('check.sh', 'echo "checked $1"; test -f kept\n');
  await forgeJson(project, ['feature', 'verify', 'B', 'C']);
  commitAll(project);
  return project;
}

const verifications = async (project: Project): Promise<string[][]> =>
  (await logOf(project, 'evaluation')).flatMap(({ record }) =>
    record.kind === 'verification'
      ? [(record.runs as { feature: string }[]).map(({ feature }) => feature)]
      : [],
  );

describe('what passed before', () => {
  it('GOV-01 FEA-02 is run again in one record, and its files stay as they are', async () => {
    const project = await ready();
    const before = ['B', 'C'].map((id) => project.read(featureFile(id)));
    expect(await cycle(project, sh('touch done'))).toMatchObject({ classification: 'SUCCESS' });
    commitAll(project);
    const idle = await cycle(project, ['--task', 'none', '--', 'true']);
    expect(idle.report?.evidence.map(({ feature }) => feature)).toEqual(['A', 'B', 'C']);
    expect((await verifications(project)).slice(-3)).toEqual([['A'], ['B', 'C'], ['A', 'B', 'C']]);
    expect(['B', 'C'].map((id) => project.read(featureFile(id)))).toEqual(before);
    expect(project.git('status', '--porcelain', '.forge/memory/long-term')).toBe('');
  });

  it('GOV-01 is run again beside what cannot be run, which is named', async () => {
    const project = await ready();
    project.write('.forge/own.sh', 'exit 0\n');
    await forgeJson(project, ['feature', 'add', '--no-run', 'D', 'd', '--test', 'sh .forge/own.sh']);
    await runForge(project, ['trust', '--yes'], HUMAN);
    await forgeJson(project, ['feature', 'verify', 'D']);
    project.write('.forge/own.sh', 'exit 0 # changed\n');
    const { warnings, report } = await cycle(project, sh('touch done; rm kept'));
    expect(warnings).toEqual([expect.stringContaining('D: .forge/own.sh changed since it was approved')]);
    expect(report?.regression_flags).toEqual(['B', 'C']);
    expect((await verifications(project)).at(-1)).toEqual(['B', 'C']);
    expect(storedFeature(project, 'D')?.status).toBe('passing');
  });

  it('GOV-01 GOV-04 FEA-05 does not count, and nothing is committed, if its tests cannot run', async () => {
    const project = await ready();
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true'], HUMAN);
    commitAll(project);
    const { stdout, exitCode } = await runForge(project, [
      'cycle',
      ...sh('echo no-such-tool >check.sh; touch done'),
    ]);
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringMatching(/^Cycle 1 FAILURE: A\n {2}exit 0, 1\/3 features passing/),
    ]);
    expect(stdout).toMatch(/sh check\.sh B could not run \(B, .*no-such-tool: not found\)/);
    expect(project.git('log', '-1', '--format=%s')).not.toContain('[A]');
    expect(storedFeature(project, 'B')?.status).toBe('passing');
  });

  it('GOV-01 FEA-05 a program of the project that is gone is a regression', async () => {
    const project = await ready();
    project.write('check.sh', 'echo "checked $1"; set -e; ./tool\n');
    project.write('tool', '#!/bin/sh\n');
    chmodSync(project.path('tool'), 0o755);
    await forgeJson(project, ['feature', 'verify', 'B', 'C']);
    const { classification, report } = await cycle(project, sh('touch done; rm tool'));
    expect([classification, report?.regression_flags]).toEqual(['REGRESSION', ['B', 'C']]);
  });

  it('GOV-01 shows the output of tests that fail under the feature’s name, and with -v of all', async () => {
    const project = await ready();
    project.write('check.sh', 'echo "checked $1"; test -f kept || test $1 != C\n');
    const quiet = await runForge(project, ['cycle', ...sh('echo at work')]);
    expect(quiet.stderr).toMatch(/^ {2}\| at work\nexecution .*\n {2}\| A: a\nevaluation /m);
    expect(quiet.stderr).not.toContain('checked');
    const broke = await runForge(project, ['cycle', ...sh('rm kept')]);
    expect(broke.stderr).toContain('  | C: name of C\n  | checked C\n');
    expect(broke.stderr).not.toContain('checked B');
    const all = await runForge(project, ['cycle', '-v', ...sh('touch kept')]);
    expect(all.stderr).toContain('  | B: name of B\n  | checked B\n');
  });

  it('GOV-04 GIT-01 a cycle’s commit names only features that became passing', async () => {
    const project = await ready();
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true']);
    await runForge(project, ['trust', '--yes'], HUMAN);
    await forgeJson(project, ['feature', 'add', '--no-run', 'D', 'd', '--test', 'test -f d']);
    // git counts seconds: what passed in that of the commit counts as newer.
    await setTimeout(1100);
    commitAll(project);
    const updates: string[][] = [];
    for (const work of ['touch done', 'touch d'])
      expect(await cycle(project, sh(work))).toMatchObject({ classification: 'SUCCESS', warnings: [] });
    for (const commit of ['HEAD~1', 'HEAD'])
      updates.push(project.git('show', '-s', '--format=%B', commit).match(/features\.json \(.*\)/g) ?? []);
    expect(updates).toEqual([['features.json (A now passing)'], ['features.json (D now passing)']]);
  });
});
