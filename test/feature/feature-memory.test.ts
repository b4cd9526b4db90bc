import { describe, expect, it } from 'vitest';
import { expectError, forgeJson, runForge, wordsOf } from '../support/forge.js';
import { differences, FEATURES, makeForge, snapshot, storedFeature } from '../support/forge-project.js';
import { containerOf, HUMAN, linesOf, logOf, putLines, record, verify } from '../support/memory.js';
import { commitAll, type Project } from '../support/project.js';

const OVERRIDE = wordsOf('feature edit A --status passing --yes --reason "the device is at the customer"');

/** A repository with feature A, whose test is whether a file is there. */
async function withFeature(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'ls here']);
  return project;
}

const regressionsOf = async (project: Project) =>
  (await logOf(project, 'evaluation'))
    .filter(({ kind }) => kind === 'regression')
    .map(({ record }) => record);

describe('a regression', () => {
  it('FEA-02 LTM-02 a regression is recorded once in the evaluation tier', async () => {
    const project = await withFeature();
    project.write('here', '');
    const commit = commitAll(project, 'Here');
    await forgeJson(project, ['feature', 'verify', 'A']);
    const verified_at = storedFeature(project, 'A')?.verified_at;
    expect(await regressionsOf(project)).toEqual([]);
    project.git('rm', '-q', 'here');
    project.git('commit', '-qm', 'Gone');
    const { exitCode, stdout } = await runForge(project, ['feature', 'verify', 'A']);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^✗ A {2}passing → failing/)]);
    const [first, ...more] = await regressionsOf(project);
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      tier: 'evaluation',
      actor: 'forge',
      feature: 'A',
      passed_at: verified_at,
      passed_commit: commit,
      commit: project.git('rev-parse', 'HEAD'),
      command: 'ls here',
      commands: ['ls here'],
      exit_code: expect.any(Number),
    });
    expect(first?.exit_code).not.toBe(0);
    // A second failure is no regression.
    await runForge(project, ['feature', 'verify', 'A']);
    expect(await regressionsOf(project)).toHaveLength(1);
    expect((await runForge(project, 'memory log --tier evaluation')).stdout).toMatch(/regression {2}.*A/);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('FEA-02 is not recorded when nothing passed before, or in a dry run', async () => {
    const project = await withFeature();
    await runForge(project, ['feature', 'verify', 'A']);
    expect(storedFeature(project, 'A')?.status).toBe('failing');
    await runForge(project, OVERRIDE, HUMAN);
    await runForge(project, ['feature', 'verify', 'A', '-n']);
    expect(await regressionsOf(project)).toEqual([]);
    await runForge(project, ['feature', 'verify', 'A']);
    expect(await regressionsOf(project)).toHaveLength(1);
  });

  it('FEA-02 the feature stays unchanged while memory is damaged', async () => {
    const project = await withFeature();
    project.write('here', '');
    await forgeJson(project, ['feature', 'verify', 'A']);
    await record(project);
    await record(project);
    const file = containerOf(project);
    putLines(project, file, linesOf(project, file).slice(1));
    project.git('clean', '-fq', 'here');
    await expectError(project, ['feature', 'verify', 'A'], '4 memory.corrupted');
    expect(storedFeature(project, 'A')?.status).toBe('passing');
  });
});

describe('a human override', () => {
  it('FEA-03 B-103 at a terminal makes a feature passing; the audit tier records who, why and what', async () => {
    const project = await withFeature();
    await runForge(project, ['feature', 'verify', 'A']);
    const before = snapshot(project.dir);
    const dry = await runForge(project, [...OVERRIDE, '-n'], HUMAN);
    expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining('passing')]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const { features } = await forgeJson<{ features: { status: string }[] }>(project, OVERRIDE, HUMAN);
    expect(features).toMatchObject([{ id: 'A', status: 'passing' }]);
    const [entry, ...more] = await logOf(project, 'audit');
    expect(more).toEqual([]);
    expect(entry?.record).toMatchObject({
      kind: 'feature_override',
      feature: 'A',
      before: 'failing',
      tests: ['ls here'],
      by: 'terminal',
      reason: 'the device is at the customer',
    });
    expect(JSON.stringify(storedFeature(project, 'A'))).toContain(entry?.id);
    // It counts like a test run until the tests change.
    expect(
      (await forgeJson<{ features: { status: string }[] }>(project, ['feature', 'list'])).features[0]?.status,
    ).toBe('passing');
    expect((await runForge(project, ['feature', 'show', 'A'])).exitCode).toBe(0);
    await forgeJson(project, ['feature', 'edit', 'A', '--name', 'better']);
    expect(storedFeature(project, 'A')?.status).toBe('passing');
    await forgeJson(project, ['feature', 'edit', 'A', '--test', 'true']);
    const dropped = storedFeature(project, 'A') ?? { id: '' };
    expect(dropped).toMatchObject({ status: 'in_progress' });
    expect(JSON.stringify(dropped)).not.toContain(entry?.id);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it.each([
    ['without a terminal', OVERRIDE, '3 human.required', {}],
    ['with an empty reason', [...OVERRIDE.slice(0, -1), ''], '2', HUMAN],
    ['with another status', 'feature edit A --status failing --reason r', '2 feature.override', HUMAN],
    ['with another change', [...OVERRIDE, '--priority', '1'], '2 feature.override', HUMAN],
    ['to wait for somebody', 'feature edit A --status blocked --reason r', '2 feature.override', HUMAN],
    ['without a status', 'feature edit A --reason r', '2 feature.override', HUMAN],
    ['of no feature', OVERRIDE.map((word) => (word === 'A' ? 'Z' : word)), '2 feature.unknown', HUMAN],
  ])('FEA-03 B-103 is refused %s, and nothing is written', async (_, call, error, options) => {
    const project = await withFeature();
    await verify(project);
    const before = snapshot(project.dir);
    await expectError(project, call, error, options);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-104 the removed audit record of an override is restored', async () => {
    const project = await withFeature();
    await forgeJson(project, OVERRIDE, HUMAN);
    const text = project.read(FEATURES);
    putLines(project, containerOf(project), []);
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems]).toEqual([0, []]);
    expect((await logOf(project, 'audit')).map(({ kind }) => kind)).toEqual(['feature_override', 'restored']);
    expect(project.read(FEATURES)).toBe(text);
  });
});
