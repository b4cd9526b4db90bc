import { describe, expect, it } from 'vitest';
import type { Setting, TrustReport } from '../../src/index.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, differences, FEATURES, featureFile, makeForge, snapshot } from '../support/forge-project.js';

describe('forge config', () => {
  it('LAY-06 lists every setting with its default, and gets one', async () => {
    const project = await makeForge();
    const { settings } = await forgeJson<{ settings: Setting[] }>(project, ['config', 'list']);
    const values = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
    expect(values).toMatchObject({
      'session.commit': true,
      'briefing.budget': 2000,
      'features.test_command': '',
    });
    const { stdout } = await runForge(project, ['config', 'list']);
    for (const { name } of settings) expect(stdout).toMatch(new RegExp(`^${name} `, 'm'));
    expect((await runForge(project, ['config', 'get', 'briefing.budget'])).stdout).toBe('2000\n');
    const tests = '["npm test","npm run lint"]';
    await forgeJson(project, ['config', 'set', 'checkpoint.verify', tests]);
    expect((await runForge(project, ['config', 'get', 'checkpoint.verify'])).stdout).toBe(`${tests}\n`);
  });

  it('LAY-06 sets one line and keeps every other byte', async () => {
    const project = await makeForge();
    const table = '# ours\n[briefing]  # kept\ncolour = "green"\n';
    const before = project.read(CONFIG).replace('[briefing]', table);
    project.write(CONFIG, before);
    expect(await forgeJson<Setting>(project, ['config', 'set', 'briefing.budget', '900'])).toEqual({
      name: 'briefing.budget',
      value: 900,
    });
    const lines = project.read(CONFIG).split('\n');
    expect(lines.filter((line) => !before.split('\n').includes(line))).toEqual(['budget = 900']);
    expect(lines.filter((line) => line !== 'budget = 900').join('\n')).toBe(before);
    expect((await runForge(project, ['config', 'get', 'briefing.budget'])).stdout).toBe('900\n');
  });

  it('LAY-06 refuses an invalid name of the default branch', async () => {
    const project = await makeForge();
    const good = project.read(CONFIG);
    for (const name of '-x|--upload-pack=x|a\nb|../../heads/x|a..b|a b|a.lock|@|\u202e'.split('|')) {
      const words = ['config', 'set', 'git.default_branch', name];
      expect((await forgeError(project, words)).exitCode).toBe(2);
      const text = `default_branch = ${JSON.stringify(name)}`;
      const damaged = good.replace(/^#default_branch = .*$/m, () => text);
      project.write(CONFIG, damaged);
      expect(await forgeError(project, ['config', 'list'])).toMatchObject({
        exitCode: 4,
        message: expect.stringMatching(/config\.toml:\d+: git\.default_branch: ".*" is not a branch name\.$/),
      });
      project.write(CONFIG, good);
    }
    for (const name of ['release/1.x', 'größe', ''])
      await forgeJson(project, ['config', 'set', 'git.default_branch', name]);
  });

  it('LAY-06 config set refuses invalid values and changes nothing', async () => {
    const project = await makeForge();
    const before = snapshot(project.dir);
    for (const [name, value, words] of [
      ['briefing.budget', '50', /budget.*50.*at least 200/],
      ['briefing.budget', '-1', /-1/],
      ['briefing.budget', '1e3', /1e3.*whole number/],
      ['session.reverify', '1001', /1001.*at most 1000/],
      ['session.commit', 'yes', /"yes".*true \| false/],
      ['project.name', 'a\nb', /one line/],
      ['features.test_command', 'a | b', /needs a shell/],
      ['no.such', '1', /no setting "no\.such"/],
      ['session.__proto__', '1', /no setting/],
    ] as const) {
      const error = await forgeError(project, ['config', 'set', name, value]);
      expect([name, error.exitCode, error.kind]).toEqual([name, 2, 'usage']);
      expect(error.message).toMatch(words);
    }
    expect((await forgeError(project, ['config', 'get', 'briefing'])).hint).toContain('briefing.budget');
    expect((await forgeError(project, ['config', 'set', 'sesion.commit', 'true'])).hint).toBe(
      'forge config set session.commit true',
    );
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('LAY-06 takes a list as one item or JSON, and approves a typed command', async () => {
    const project = await makeForge();
    const set = async (value: string) =>
      (await forgeJson<{ value: unknown }>(project, ['config', 'set', 'checkpoint.verify', value])).value;
    expect([await set('npm test'), await set('["true", "npm test"]')]).toEqual([
      ['npm test'],
      ['true', 'npm test'],
    ]);
    expect(project.read('.forge/config.toml')).toMatch(/^verify = \["true", ?"npm test"\]$/m);
    expect((await runForge(project, ['trust', '--show'])).stdout).toContain('All of it is approved');
    const before = project.read('.forge/config.toml');
    for (const value of ['[1]', '["a"', '["a | b"]'])
      await expectError(project, ['config', 'set', 'checkpoint.verify', value], '2');
    expect(project.read('.forge/config.toml')).toBe(before);
    expect(await set('')).toEqual([]);
  });

  it('LAY-06 sets a value although an unrelated file is damaged', async () => {
    const project = await makeForge();
    project.write(FEATURES, '{');
    expect((await runForge(project, ['config', 'set', 'briefing.budget', '900'])).exitCode).toBe(0);
  });

  it('LAY-06 keeps tests approved under another test_command', async () => {
    const project = await makeForge();
    project.write('check.mjs', 'process.exit(process.argv[2] === "one" ? 0 : 1)\n');
    await forgeJson(project, ['config', 'set', 'features.test_command', 'node check.mjs {}']);
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'one']);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
    await forgeJson(project, ['config', 'set', 'features.test_command', 'node ./check.mjs {}']);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
    // Another test of the same feature, as from a clone, is not approved by it.
    project.write(featureFile('A'), project.read(featureFile('A')).replace('["one"]', '["one","two"]'));
    await forgeJson(project, ['config', 'set', 'features.test_command', 'node check.mjs {}']);
    const { items } = await forgeJson<TrustReport>(project, ['trust', '--show']);
    expect(items.filter(({ state }) => state !== 'trusted').map(({ content }) => content)).toEqual([
      'node check.mjs two',
    ]);
    await forgeJson(project, ['config', 'set', 'features.test_command', 'node ./check.mjs {}']);
    project.write(featureFile('A'), project.read(featureFile('A')).replace(',"two"', ''));
    // The same change by hand approves nothing.
    project.write(CONFIG, project.read(CONFIG).replace('node ./check.mjs', 'node ././check.mjs'));
    await expectError(project, ['feature', 'verify', 'A'], '3 trust.needed');
  });
});
