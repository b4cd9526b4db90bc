import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cycle, ready, sh, storedCycles } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import { FEATURES, featureFile, storedFeature } from '../support/forge-project.js';
import { HUMAN, logOf } from '../support/memory.js';
import { commitAll, makeFolder, type Project } from '../support/project.js';

/** The task A looks for `done`; B passes while `kept` is there. */
async function readyBoth(): Promise<Project> {
  const project = await ready();
  project.write('kept', '');
  await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'test -f kept']);
  await forgeJson(project, ['feature', 'verify', 'B']);
  return project;
}

const features = (project: Project): Record<string, unknown>[] =>
  project.json<{ features: Record<string, unknown>[] }>(FEATURES).features;

/** A command that puts another list of features in place, and what more it does. */
function putting(list: object[], more = 'true'): string[] {
  const folder = makeFolder();
  const files = (list as { id: string }[]).map(
    (feature) => `cat > ${folder}/${feature.id}.json <<'END'\n${JSON.stringify(feature)}\nEND`,
  );
  return sh(`${files.join('\n')}\ncp ${folder}/*.json .forge/memory/long-term/features.d/; ${more}`);
}

const claim = (id: string, test: string): object => ({
  id,
  name: id,
  status: 'passing',
  tests: [test],
  verified_at: '2026-01-01T00:00:00.000Z',
  verified_by: [test],
});

describe('features that the command changed', () => {
  it('GOV-01 do not count as passing if new and not approved to run', async () => {
    const project = await readyBoth();
    const result = await cycle(project, putting([...features(project), claim('C', 'exit 1')]));
    expect(result).toMatchObject({ classification: 'FAILURE', exit: 1 });
    expect(result.report).toMatchObject({ features: 3, features_passing: 1, governance_violations: [] });
    const other = await readyBoth();
    const bare = { ...claim('C', 'x'), tests: [], verified_by: [] };
    const untested = await cycle(other, putting([...features(other), bare]));
    expect(untested.report).toMatchObject({ features: 3, features_passing: 1 });
  });

  it('GOV-01 do not count as an improvement if new, even with an approved test', async () => {
    const project = await readyBoth();
    const list = [...features(project), { ...claim('C', 'test -f kept') }];
    const result = await cycle(project, putting(list));
    expect(result).toMatchObject({ task: 'A', classification: 'FAILURE', exit: 1 });
    // Forge ran it itself, so it is no lie.
    expect(result.report?.features_passing).toBe(2);
    const brought = [...features(project), { ...claim('X-9', 'test -f kept'), status: 'in_progress' }];
    expect(await cycle(project, ['--task', 'X-9', ...putting(brought)])).toMatchObject({
      task: 'X-9',
      classification: 'PARTIAL_SUCCESS',
    });
  });

  it('GOV-01 count as passing only in forge’s own run', async () => {
    const project = await readyBoth();
    await forgeJson(project, ['feature', 'add', '--no-run', 'C', 'c', '--test', 'test -f more']);
    const list = [...features(project).filter(({ id }) => id !== 'C'), claim('C', 'test -f more')];
    const lied = await cycle(project, putting(list));
    expect(lied).toMatchObject({ classification: 'FAILURE', report: { features_passing: 1 } });
    expect(storedFeature(project, 'C')?.status).toBe('failing');
    expect(await cycle(project, putting(list, 'touch more'))).toMatchObject({
      task: 'A',
      classification: 'PARTIAL_SUCCESS',
      report: { features_passing: 2 },
    });
  });

  it('GOV-01 FEA-03 are not run if a human overrode them', async () => {
    const project = await readyBoth();
    const decide = (id: string): Promise<unknown> =>
      forgeJson(project, `feature edit ${id} --status passing --reason "seen by hand" --yes`, HUMAN);
    for (const id of ['C', 'D'])
      await forgeJson(project, ['feature', 'add', '--no-run', id, id, '--test', 'test -f never']);
    await decide('C');
    const script = 'touch started; while ! test -f go; do sleep 0.02; done; touch done';
    const running = cycle(project, ['--task', 'A', ...sh(script)]);
    await expect.poll(() => project.has('started')).toBe(true);
    await decide('D');
    project.write('go', '');
    const result = await running;
    expect(result).toMatchObject({ classification: 'SUCCESS', report: { governance_violations: [] } });
    expect(result.report?.evidence.map(({ feature }) => feature)).toEqual(['A', 'B']);
    expect(result.report?.features_passing).toBe(4);
  });

  it('GOV-01 what passed is run again when git ignores all that broke it', async () => {
    const project = await readyBoth();
    project.write('node_modules/dep.js', '');
    project.write('.git/info/exclude', 'node_modules\n');
    await forgeJson(project, 'feature add --no-run C c --test "test -f node_modules/dep.js"');
    await forgeJson(project, ['feature', 'verify', 'C']);
    project.write('done', '');
    commitAll(project, 'All');
    const result = await cycle(project, ['--task', 'A', ...sh('rm node_modules/dep.js')]);
    const report = { regression_flags: ['C'], files_changed: 0 };
    expect(result).toMatchObject({ classification: 'REGRESSION', exit: 1, report });
    expect(storedFeature(project, 'C')?.status).toBe('failing');
    expect((await storedCycles(project))[0]?.evaluation).toMatchObject({ regression_flags: ['C'] });
  });
});

/** The task A looks for `done`; B and C pass while `kept` is there. All is committed, but their evidence is older. */
async function readyRerun(): Promise<Project> {
  const project = await ready();
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
    const project = await readyRerun();
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
    const project = await readyRerun();
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
    const project = await readyRerun();
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true'], HUMAN);
    commitAll(project);
    const args = ['cycle', ...sh('echo no-such-tool >check.sh; touch done')];
    const { stdout, exitCode } = await runForge(project, args);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^Cycle 1 FAILURE: A\n {2}exit 0, 1\/3 features passing/);
    expect(stdout).toMatch(/sh check\.sh B could not run \(B, .*no-such-tool: not found\)/);
    expect(project.git('log', '-1', '--format=%s')).not.toContain('[A]');
    expect(storedFeature(project, 'B')?.status).toBe('passing');
  });

  it('GOV-01 shows the output of tests that fail under the feature’s name', async () => {
    const project = await readyRerun();
    project.write('check.sh', 'echo "checked $1"; test -f kept || test $1 != C\n');
    const quiet = await runForge(project, ['cycle', ...sh('echo at work')]);
    expect(quiet.stderr).toMatch(/^ {2}\| at work\nexecution .*\n {2}\| A: a\nevaluation /m);
    expect(quiet.stderr).not.toContain('checked');
    const broke = await runForge(project, ['cycle', ...sh('rm kept')]);
    expect(broke.stderr).toContain('  | C: name of C\n  | checked C\n');
    expect(broke.stderr).not.toContain('checked B');
  });

  it('GOV-04 GIT-01 a cycle’s commit names only features that became passing', async () => {
    const project = await readyRerun();
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
