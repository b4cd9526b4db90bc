import { describe, expect, it } from 'vitest';
import { cycle, sh } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import { FEATURES, makeForge, storedFeature } from '../support/forge-project.js';
import { HUMAN } from '../support/memory.js';
import { makeFolder, type Project } from '../support/project.js';

/** The task A looks for `done`; B passes while `kept` is there. */
async function ready(): Promise<Project> {
  const project = await makeForge();
  project.write('kept', '');
  await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'test -f done']);
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
    const project = await ready();
    const result = await cycle(project, putting([...features(project), claim('C', 'exit 1')]));
    expect(result).toMatchObject({ classification: 'FAILURE', exit: 1 });
    expect(result.report).toMatchObject({ features: 3, features_passing: 1, governance_violations: [] });
    const other = await ready();
    const bare = { ...claim('C', 'x'), tests: [], verified_by: [] };
    const untested = await cycle(other, putting([...features(other), bare]));
    expect(untested.report).toMatchObject({ features: 3, features_passing: 1 });
  });

  it('GOV-01 do not count as an improvement if new, even with an approved test', async () => {
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

  it('GOV-01 count as passing only in forge’s own run', async () => {
    const project = await ready();
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
    const project = await ready();
    const decide = (id: string): Promise<unknown> =>
      runForge(
        project,
        ['feature', 'edit', id, '--status', 'passing', '--reason', 'seen by hand', '--yes'],
        HUMAN,
      );
    await forgeJson(project, ['feature', 'add', '--no-run', 'C', 'c', '--test', 'test -f never']);
    await forgeJson(project, ['feature', 'add', '--no-run', 'D', 'd', '--test', 'test -f never']);
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

  it.each([
    ['ignored by .gitignore', '.gitignore', '/node_modules/\n'],
    ['excluded by .git/info/exclude', '.git/info/exclude', 'node_modules\n'],
  ])('GOV-01 what passed is run again when all that broke it is %s', async (_name, file, text) => {
    const project = await ready();
    project.write('node_modules/dep.js', '');
    project.write(file, text);
    await forgeJson(project, 'feature add --no-run C c --test "test -f node_modules/dep.js"');
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
});
