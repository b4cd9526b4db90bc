import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FEATURES,
  featureFile,
  makeForge,
  PASSING_FEATURE,
  putFeatures,
  type StoredFeature,
  snapshot,
  storedFeature,
} from '../support/forge-project.js';
import { commitAll } from '../support/project.js';

const KEPT = { owner: { team: ['x'] }, näme: 1.5 };

describe('the evidence of a feature', () => {
  it('FEA-03 a claim never makes a feature passing', async () => {
    const project = await makeForge();
    putFeatures(project, [{ ...PASSING_FEATURE, status: 'failing' }]);
    const before = project.read(featureFile('A'));
    expect(await forgeError(project, ['feature', 'edit', 'A', '--status', 'passing'])).toMatchObject({
      exitCode: 3,
      code: 'feature.unproven',
      hint: 'forge done A\nforge feature edit A --status passing --reason "TEXT"   # for a person',
    });
    expect(project.read(featureFile('A'))).toBe(before);
    const list =
      '[{"id":"B","name":"b","status":"passing","verified_at":"2026-01-01T00:00:00Z"},{"name":"c","passes":true}]';
    await forgeJson(project, ['feature', 'import', '-'], { stdin: list });
    await forgeJson(project, ['feature', 'import', '-'], { stdin: '- [x] FORGE-077: ticked\n' });
    const { features } = await forgeJson<{ features: StoredFeature[] }>(project, ['feature', 'list']);
    expect(
      features.filter(({ id }) => id !== 'A').map(({ status, verified_at }) => [status, verified_at]),
    ).toEqual([
      ['in_progress', undefined],
      ['in_progress', undefined],
    ]);
  });

  it('FEA-02 shows how the last run of a failing feature ended', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test -e ok', '--no-run']);
    const show = async () => (await runForge(project, ['feature', 'show', 'A'])).stdout;
    await runForge(project, ['done', 'A']);
    expect(await show()).toMatch(/^last run +\S+ at [0-9a-f]{12}: test -e ok: exit code 1$/m);
    project.write('ok', '');
    await runForge(project, ['done', 'A']);
    const passed = /^last run +\S+ with uncommitted changes after [0-9a-f]{12}: passed$/m;
    expect(await show()).toMatch(passed);
    rmSync(project.path('ok'));
    await runForge(project, ['done', 'A']);
    expect(await show()).toMatch(new RegExp(passed.source.replace('last run', 'last pass'), 'm'));
  });

  it('FEA-02 LAY-09 another pass changes no file, so that two branches never conflict, and is the last run', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'true', '--no-run']);
    const verified = async (): Promise<string[]> => {
      await runForge(project, ['feature', 'verify', 'A']);
      const { stdout } = await runForge(project, ['feature', 'show', 'A']);
      return [...stdout.matchAll(/^(?:passes since|last run) +\S+ (.*?) \w{12}/gm)].map(
        ([, text = '']) => text,
      );
    };
    project.write('src/app.js', 'changed\n');
    const changed = 'with uncommitted changes after';
    expect(await verified()).toEqual([changed, changed]);
    commitAll(project, 'Change it');
    const at = storedFeature(project, 'A');
    expect(await verified()).toEqual([changed, 'at']);
    expect(storedFeature(project, 'A')).toEqual(at);
  });

  it('FEA-02 shows the last 80 lines of a test that failed, and all with --verbose', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'sh -c "seq 100; exit 1"', '--no-run']);
    const shown = async (...flags: string[]): Promise<string[]> =>
      (await runForge(project, ['feature', 'verify', 'A', ...flags])).stderr.split('\n');
    const all = await shown('--verbose');
    expect(all.slice(-101, -1)).toEqual(Array.from({ length: 100 }, (_, i) => String(i + 1)));
    const end = await shown();
    expect(end.slice(-82, -1)).toEqual(['… (--verbose shows all)', ...all.slice(-81, -1)]);
  });

  it('FEA-02 --all does not fail for a feature that was not begun and whose test is missing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'true', '--no-run']);
    await forgeJson(project, ['feature', 'add', 'B', 'b', '--test', 'no-such-program', '--no-run']);
    const { exitCode, stdout } = await runForge(project, ['feature', 'verify', '--all']);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/B .*not run/)]);
    expect((await runForge(project, ['feature', 'verify', 'B'])).exitCode).toBe(6);
    await forgeJson(project, ['feature', 'edit', 'B', '--status', 'in_progress']);
    expect((await runForge(project, ['feature', 'verify', '--all'])).exitCode).toBe(6);
  });

  it('FEA-03 changed tests void the evidence of a passing feature; other edits do not', async () => {
    const project = await makeForge();
    putFeatures(project, [PASSING_FEATURE]);
    await forgeJson(project, ['feature', 'edit', 'A', '--name', 'better', '--test', 'true']);
    expect(storedFeature(project, 'A')).toEqual({ ...PASSING_FEATURE, name: 'better' });
    // The same tests in another order are no other tests.
    const two = { ...PASSING_FEATURE, tests: ['true', 'ls'], verified_by: ['true', 'ls'] };
    putFeatures(project, [two]);
    await forgeJson(project, ['feature', 'edit', 'A', '--test', 'ls', '--test', 'true']);
    expect(storedFeature(project, 'A')).toEqual({ ...two, tests: ['ls', 'true'] });
    putFeatures(project, [{ ...PASSING_FEATURE, name: 'better' }]);
    await forgeJson(project, ['feature', 'edit', 'A', '--test', 'false']);
    const { verified_at: _a, verified_commit: _c, verified_by: _b, ...rest } = PASSING_FEATURE;
    expect(storedFeature(project, 'A')).toEqual({
      ...rest,
      name: 'better',
      status: 'in_progress',
      tests: ['false'],
    });
    putFeatures(project, [PASSING_FEATURE]);
    await forgeJson(project, ['feature', 'edit', 'A', '--status', 'failing']);
    expect(storedFeature(project, 'A')).toEqual({ ...rest, status: 'failing' });
  });

  it('FEA-04 unknown fields survive every write, at every level', async () => {
    const project = await makeForge();
    const extra = { id: 'A', name: 'a', status: 'failing', tests: ['true'], ...KEPT };
    putFeatures(project, [extra, { ...extra, id: 'B' }], { team: { colour: 'blue' }, z: null });
    const view = { schema_version: '1.0', list: 'mine', features: [] };
    project.write(FEATURES, JSON.stringify(view));
    await forgeJson(project, 'feature edit A --status in_progress --no-run --test "node -e 0"');
    await forgeJson(project, ['feature', 'add', 'C', 'c']);
    await forgeJson(project, ['feature', 'verify', 'A']);
    await forgeJson(project, ['feature', 'remove', 'C']);
    await forgeJson(project, ['feature', 'import', '-'], { stdin: '- d\n' });
    expect(project.json(FEATURES)).toMatchObject({
      list: 'mine',
      features: [{ name: 'd' }, { team: { colour: 'blue' } }, { team: { colour: 'blue' } }],
    });
    for (const id of ['A', 'B'])
      expect(project.json(featureFile(id))).toMatchObject({ ...KEPT, team: { colour: 'blue' }, z: null });
    expect(storedFeature(project, 'A')?.status).toBe('passing');
  });

  it('FEA-02 tests that were edited during the run prove nothing', async () => {
    const project = await makeForge();
    project.write(
      'edit.mjs',
      `import fs from 'node:fs';\nconst path = '${FEATURES}';\nconst all = JSON.parse(fs.readFileSync(path));\nall.features[0].tests = ['false'];\nfs.writeFileSync(path, JSON.stringify(all));\n`,
    );
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'node edit.mjs', '--no-run']);
    await expectError(project, ['feature', 'verify', 'A'], '3 feature.changed');
    const shown = await forgeJson(project, ['feature', 'show', 'A']);
    expect(shown).toMatchObject({ status: 'not_implemented', tests: ['false'] });
    expect(storedFeature(project, 'A')).not.toHaveProperty('verified_at');
  });

  it('FEA-02 --dry-run shows what it would run, and runs nothing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'touch ran', '--no-run']);
    const before = snapshot(project.dir);
    const { stdout, exitCode } = await runForge(project, ['feature', 'verify', '--all', '-n']);
    expect([exitCode, stdout]).toEqual([0, 'would run A  touch ran\n']);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('FEA-03 passing without evidence counts as in_progress, with a warning', async () => {
    const project = await makeForge();
    const { verified_at: _at, verified_by: _by, ...claimed } = PASSING_FEATURE;
    for (const forged of [claimed, { ...PASSING_FEATURE, tests: ['false'] }]) {
      putFeatures(project, [forged]);
      const { stdout, stderr, exitCode } = await runForge(project, ['feature', 'list']);
      expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^A +in_progress/)]);
      expect(stderr).toMatch(/A: marked passing, .* forge done A/);
      expect((await forgeJson<{ task: { id: string } }>(project, ['next'])).task.id).toBe('A');
    }
    putFeatures(project, [PASSING_FEATURE]);
    expect((await runForge(project, ['feature', 'list'])).stdout).toMatch(/^A +passing/);
  });
});
