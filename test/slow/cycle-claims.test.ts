import { describe, expect, it } from 'vitest';
import type { CycleResult } from '../../src/index.js';
import { cycle, sh, storedCycles } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import { FEATURES, makeForge, putFeatures, storedFeature } from '../support/forge-project.js';
import { HUMAN } from '../support/memory.js';
import { makeFolder, type Project } from '../support/project.js';

/** The task A looks for `done`; B passes while `kept` is there. */
async function ready(): Promise<Project> {
  const project = await makeForge();
  project.write('kept', '');
  await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test -f done']);
  await forgeJson(project, ['feature', 'add', 'B', 'b', '--test', 'test -f kept']);
  await forgeJson(project, ['feature', 'verify', 'B']);
  return project;
}

const features = (project: Project): Record<string, unknown>[] =>
  project.json<{ features: Record<string, unknown>[] }>(FEATURES).features;

/** A command that puts another list of features in place, and what more it does. */
function putting(list: object[], more = 'true'): string[] {
  const folder = makeFolder();
  const text = JSON.stringify({ schema_version: '1.0', features: list });
  return sh(`cat > ${folder}/list <<'END'\n${text}\nEND\ncp ${folder}/list ${FEATURES}; ${more}`);
}

const claim = (id: string, test: string): object => ({
  id,
  name: id,
  status: 'passing',
  tests: [test],
  verified_at: '2026-01-01T00:00:00.000Z',
  verified_by: [test],
});

const violations = ({ report }: CycleResult): string[] => report?.governance_violations ?? [];

describe('what a command says of features', () => {
  it('GOV-01 a new feature marked as passing that forge may not run is a violation, and improves nothing', async () => {
    const project = await ready();
    const result = await cycle(project, putting([...features(project), claim('C', 'exit 1')]));
    expect(result).toMatchObject({ classification: 'GOVERNANCE_VIOLATION', exit: 1 });
    expect(violations(result)).toEqual([
      'C was marked as passing by the command; no run of its tests shows that',
    ]);
    expect(result.report).toMatchObject({ features: 3, features_passing: 1 });
  });

  it('GOV-01 so is one without tests, and one that its tests mark while forge runs them', async () => {
    const project = await ready();
    const bare = { ...claim('C', 'x'), tests: [], verified_by: [] };
    expect(violations(await cycle(project, putting([...features(project), bare])))).toEqual([
      expect.stringMatching(/^C was marked as passing/),
    ]);
    const other = await makeForge();
    other.write('test.sh', 'test -f done\n');
    await forgeJson(other, ['feature', 'add', 'A', 'a', '--test', 'sh test.sh']);
    await forgeJson(other, ['feature', 'add', 'C', 'c']);
    const mark = `sed -i 's/"name": "c",/"name": "c", "verified_at": "2026-01-01T00:00:00.000Z",/; s/not_implemented/passing/' ${FEATURES}`;
    const result = await cycle(other, sh(`cat > test.sh <<'END'\n${mark}\nexit 0\nEND`));
    expect(violations(result)).toEqual([expect.stringMatching(/^C was marked as passing/)]);
  });

  it('GOV-01 a new feature with a test that was approved for another improves nothing, nor is it the task', async () => {
    const project = await ready();
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

  it('GOV-01 a feature of before that comes to pass counts once forge ran it, and not when its test fails', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'add', 'C', 'c', '--test', 'test -f more']);
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

  it('GOV-01 an override that the command made up hides no regression, and is a violation', async () => {
    const project = await ready();
    const list = features(project).map((feature) =>
      feature.id === 'B' ? { ...feature, override: 'a'.repeat(64) } : feature,
    );
    const result = await cycle(project, putting(list, 'touch done; rm kept'));
    expect(result).toMatchObject({
      classification: 'GOVERNANCE_VIOLATION',
      report: { regression_flags: ['B'], features_passing: 1 },
    });
    expect(violations(result)).toEqual(['the override of B was set by the command; no human decided it']);
    expect((await storedCycles(project))[0]?.evaluation).toMatchObject({ regression_flags: ['B'] });
  });

  it('GOV-01 an override that no audit record is behind, from before, hides none either', async () => {
    const project = await ready();
    putFeatures(
      project,
      features(project).map((feature) => ({ ...feature, override: 'b'.repeat(64) })),
    );
    expect(await cycle(project, sh('touch done; rm kept'))).toMatchObject({
      classification: 'REGRESSION',
      report: { regression_flags: ['B'], governance_violations: [] },
    });
  });

  it('GOV-01 FEA-03 a human’s override stands: its tests are not run, before the command or while it runs', async () => {
    const project = await ready();
    const decide = (id: string): Promise<unknown> =>
      runForge(project, ['feature', 'edit', id, '--status', 'passing', '--reason', 'seen by hand'], HUMAN);
    await forgeJson(project, ['feature', 'add', 'C', 'c', '--test', 'test -f never']);
    await forgeJson(project, ['feature', 'add', 'D', 'd', '--test', 'test -f never']);
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
    // A word that was taken back is not to be set again by hand.
    const word = storedFeature(project, 'D') as object;
    await forgeJson(project, ['feature', 'edit', 'D', '--status', 'in_progress']);
    const list = features(project).map((feature) => (feature.id === 'D' ? word : feature));
    const again = await cycle(project, ['--task', 'A', ...putting(list)]);
    expect(violations(again)).toEqual(['the override of D was set by the command; no human decided it']);
  });

  it.each([
    ['ignored by .gitignore', '.gitignore', '/node_modules/\n'],
    ['excluded by .git/info/exclude', '.git/info/exclude', 'node_modules\n'],
  ])('GOV-01 what passed is run again when all that broke it is %s', async (_name, file, text) => {
    const project = await ready();
    project.write('node_modules/dep.js', '');
    project.write(file, text);
    await forgeJson(project, ['feature', 'add', 'C', 'c', '--test', 'test -f node_modules/dep.js']);
    await forgeJson(project, ['feature', 'verify', 'C']);
    project.write('done', '');
    project.git('add', '-A');
    project.git('commit', '-qm', 'All');
    const result = await cycle(project, ['--task', 'A', ...sh('rm node_modules/dep.js')]);
    expect(result).toMatchObject({
      classification: 'REGRESSION',
      report: { regression_flags: ['C'], files_changed: 0 },
    });
  });

  it('GOV-01 GOV-03 of more runs than a record can hold it has the failures first; the cycle is recorded as judged', async () => {
    const project = await makeForge();
    const tests = [...Array.from({ length: 1050 }, () => 'test -f kept'), 'test -f done'];
    putFeatures(project, [{ id: 'A', name: 'a', status: 'in_progress', tests }]);
    project.write('kept', '');
    await runForge(project, ['trust', '--yes'], HUMAN);
    const result = await cycle(project, ['--', 'true']);
    expect(result).toMatchObject({ cycle: 1, classification: 'FAILURE', exit: 1 });
    expect(result.memory_error).toBeUndefined();
    const [stored] = await storedCycles(project);
    expect(stored?.evaluation.evidence.length).toBe(500);
    expect(stored?.evaluation.evidence[0]).toMatchObject({ argv: ['test', '-f', 'done'], exit_code: 1 });
    expect(stored?.evaluation.evidence_left_out).toEqual({
      runs: 551,
      failed: 0,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(result.report?.evidence_left_out).toEqual(stored?.evaluation.evidence_left_out);
  });

  it('GOV-01 GOV-03 of more violations than a record can hold it has the first', async () => {
    const project = await makeForge();
    const list = Array.from({ length: 1100 }, (_, i) => ({ id: `F${i}`, name: 'f', status: 'in_progress' }));
    putFeatures(project, list);
    const result = await cycle(project, putting([]));
    expect(result).toMatchObject({ cycle: 1, classification: 'GOVERNANCE_VIOLATION', exit: 1 });
    const [stored] = await storedCycles(project);
    expect(stored?.evaluation.governance_violations.slice(-2)).toEqual([
      'F499 was removed by the command',
      'and 600 more',
    ]);
  });
});
