import { chmodSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cycle, loop, ready, sh, trust } from '../support/cycles.js';
import { forgeJson } from '../support/forge.js';
import { FEATURES, featureFile, storedFeature } from '../support/forge-project.js';
import { verify } from '../support/memory.js';
import { commitAll, type Project } from '../support/project.js';

const CONFIG = '.forge/config.toml';
const FOLDER = '.forge/memory/long-term/features.d';

/** Runs a cycle that breaks a rule, and returns its violations. */
async function violate(project: Project, script: string, exit = 1): Promise<string[]> {
  const { classification, report, ...result } = await cycle(project, sh(script));
  expect([classification, result.exit]).toEqual(['GOVERNANCE_VIOLATION', exit]);
  return report?.governance_violations ?? [];
}

describe('what the command may not change', () => {
  it('GOV-01 config.toml and scripts are put back, with their mode, and a new init.sh is removed', async () => {
    const project = await ready('.forge/check.sh');
    project.write('.forge/check.sh', '#!/bin/sh\ntest -f done\n');
    chmodSync(project.path('.forge/check.sh'), 0o755);
    await trust(project);
    const config = project.read(CONFIG);
    const init = project.has('.forge/init.sh') ? project.read('.forge/init.sh') : null;
    const script = `echo '[cycle]\ncommit = true' >> ${CONFIG}; rm .forge/check.sh; echo 'exit 1' > .forge/init.sh`;
    expect((await violate(project, script)).sort()).toEqual([
      '.forge/check.sh was changed by the command, and put back',
      `${CONFIG} was changed by the command, and put back`,
      `.forge/init.sh was ${init === null ? 'added by the command, and removed' : 'changed by the command, and put back'}`,
    ]);
    expect(project.read(CONFIG)).toBe(config);
    expect(project.read('.forge/check.sh')).toBe('#!/bin/sh\ntest -f done\n');
    expect(statSync(project.path('.forge/check.sh')).mode & 0o777).toBe(0o755);
    expect(project.has('.forge/init.sh') ? project.read('.forge/init.sh') : null).toBe(init);
    expect(await cycle(project, sh('touch done'))).toMatchObject({ classification: 'SUCCESS' });
  });

  it('GOV-01 GOV-02 a broken config.toml does not end the loop', async () => {
    const project = await ready();
    const config = project.read(CONFIG);
    const script = `if [ -f tried ]; then touch done; else touch tried; echo '[[[' > ${CONFIG}; fi`;
    const { results, exit } = await loop(project, sh(script));
    expect(results.map(({ classification }) => classification)).toEqual(['GOVERNANCE_VIOLATION', 'SUCCESS']);
    expect([exit, project.read(CONFIG)]).toEqual([0, config]);
  });

  it.each([
    ['conftest.py', 'conftest.py', 'echo "pass" > conftest.py'],
    ['a test that is gone', 'test/a.test.js', 'rm -r test'],
  ])('GOV-05 a change of %s makes no SUCCESS', async (_file, named, script) => {
    const project = await ready();
    project.write('test/a.test.js', '');
    commitAll(project);
    const result = await cycle(project, sh(`${script}; touch done`));
    expect(result).toMatchObject({ classification: 'PARTIAL_SUCCESS', report: { tests_changed: [named] } });
  });

  it.each([
    ['removed', 'rm -rf .forge'],
    ['removed and committed', 'git rm -rqf .forge && git commit -qm x --no-verify && rm -rf .forge'],
  ])('GOV-01 GOV-04 what is in HEAD of .forge/ and was %s is put back', async (_name, script) => {
    const project = await ready();
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true']);
    await trust(project);
    commitAll(project);
    const files = project.git('ls-files', '.forge').split('\n');
    const found = await violate(project, script);
    expect(found).toContainEqual(
      expect.stringMatching(
        /^\.forge\/\.gitattributes, \.forge\/\.gitignore, .* and \d+ more were removed by the command, and put back$/,
      ),
    );
    const rest = project.git('status', '--porcelain', '--no-renames');
    expect(rest).not.toMatch(/^.?D|\.forge\/local/m);
    const result = await cycle(project, sh('touch done'));
    expect(result).toMatchObject({ classification: 'SUCCESS', report: { commit: expect.anything() } });
    expect(project.git('ls-files', '.forge').split('\n')).toEqual(expect.arrayContaining(files));
    expect(project.git('ls-files', '.forge/local')).toBe('');
    expect(await verify(project)).toMatchObject({ status: 'intact' });
  });

  it('GOV-01 changed tests and removed features are put back, and can pass again', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'test -f b']);
    const files = ['A', 'B'].map((id) => project.read(featureFile(id)));
    const script = `sed -i 's/test -f done/true/' ${FOLDER}/A.json; rm ${FOLDER}/B.json`;
    expect(await violate(project, script)).toEqual([
      'the tests of A were changed by the command, and put back',
      'B was removed by the command, and put back',
    ]);
    expect(project.read(featureFile('B'))).toBe(files[1]);
    expect(storedFeature(project, 'A')).toMatchObject({ tests: ['test -f done'], status: 'failing' });
    const next = await cycle(project, ['--task', 'A', ...sh('touch done')]);
    expect(next.classification).toBe('SUCCESS');
  });

  it.each([
    ['edited in features.json', `sed -i 's/test -f done/true/' ${FEATURES}`, 'the tests of A were changed'],
    [
      'moved to another file',
      `sed 's/test -f done/true/' ${FOLDER}/A.json > ${FOLDER}/Z.json; rm ${FOLDER}/A.json`,
      'the tests of A were changed',
    ],
    ['not JSON', `echo '{' > ${FOLDER}/A.json`, 'the list of features ('],
    ['beside a new file that is not JSON', `echo '{' > ${FOLDER}/Z.json`, 'the list of features ('],
    ['with a view that is not JSON', `echo '{' > ${FEATURES}`, 'the list of features ('],
  ])('GOV-01 a feature is put back that was %s', async (_name, script, violation) => {
    const project = await ready();
    await forgeJson(project, ['feature', 'list']);
    const found = await violate(project, script);
    expect(found).toEqual([expect.stringContaining(', and put back')]);
    expect(found[0]?.startsWith(violation)).toBe(true);
    const tests = ['test -f done'];
    expect(storedFeature(project, 'A')).toMatchObject({ tests });
    expect(project.has(`${FOLDER}/Z.json`)).toBe(false);
    expect(await forgeJson(project, 'feature list')).toMatchObject({ features: [{ id: 'A', tests }] });
    expect(await cycle(project, sh('touch done'))).toMatchObject({ classification: 'SUCCESS' });
  });

  it('GOV-01 names a breach of the builder, and leaves a new feature', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    const script = `forge memory record --task x --exit-code 0; forge feature add C c
      forge progress add 'ask bob@corp-mail.org'`;
    expect(await violate(project, script)).toEqual([
      expect.stringContaining('(rule email)'),
      expect.stringContaining('A builder may not'),
    ]);
    expect(storedFeature(project, 'C')).toMatchObject({ name: 'c' });
    // An older breach is nobody's any more.
    expect((await cycle(project, sh('touch done'))).classification).toBe('SUCCESS');
  });

  it('GOV-01 names a new script, which no person approved, and removes no file that a new test names', async () => {
    const project = await ready();
    const config = project.read(CONFIG);
    const script = 'mkdir -p .forge/skills/x; echo text > .forge/skills/x/instructions.md';
    const added = '.forge/skills/x/instructions.md';
    expect(await violate(project, script)).toEqual([`${added} was added by the command`]);
    expect(project.read(added)).toBe('text\n');
    const feature = { id: 'Z', name: 'z', status: 'in_progress', tests: [`cat ${CONFIG} .forge/README.md`] };
    await violate(project, `echo '${JSON.stringify(feature)}' > ${FOLDER}/Z.json`);
    expect([project.read(CONFIG), project.has('.forge/README.md')]).toEqual([config, true]);
  });

  it('GOV-01 a person’s own edit of features.json from before the cycle stays', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'list']);
    project.write(FEATURES, project.read(FEATURES).replace('"name": "a"', '"name": "renamed"'));
    expect(await cycle(project, sh('touch done'))).toMatchObject({ classification: 'SUCCESS' });
    expect(storedFeature(project, 'A')?.name).toBe('renamed');
  });
});

describe('a ledger file that the command deleted', () => {
  it.each([
    ['removed', 'rm .forge/memory/ledger/*'],
    ['removed from the index too', 'git rm -q .forge/memory/ledger/*'],
  ])('GOV-04 LTM-04 is %s, and in the cycle’s commit as before', async (_name, script) => {
    const project = await ready();
    await forgeJson(project, ['memory', 'record', '--task', 'A', '--exit-code', '0']);
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true']);
    await trust(project);
    commitAll(project);
    const kept = project.git('ls-tree', '-r', 'HEAD', '.forge/memory/ledger').split('\n');
    const result = await cycle(project, sh(`${script}; touch done`));
    expect([result.classification, result.report?.memory_integrity_status]).toEqual(['SUCCESS', 'intact']);
    expect(result.warnings).toContainEqual(expect.stringMatching(/^Memory: restored \d files? from HEAD\.$/));
    expect(result.report?.commit).not.toBeNull();
    expect(project.git('ls-tree', '-r', 'HEAD', '.forge/memory/ledger').split('\n')).toEqual(
      expect.arrayContaining(kept),
    );
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
  });
});
