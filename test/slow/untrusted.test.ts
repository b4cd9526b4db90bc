// biome-ignore-all lint/suspicious/noTemplateCurlyInString: literal text
import { rmSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { expectError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, FEATURES, makeForge, makePlainForge, snapshot } from '../support/forge-project.js';
import { makeFolder, projectAt } from '../support/project.js';

/** Text that a template engine, a shell or a replacement pattern would expand. */
const EXPRESSIONS = [
  ...['$(touch pwned)', '`touch pwned`', '${HOME} $HOME ~', '{{project}} {{7*7}} {}', "$& $1 $` $' $$"],
  ...['%s %n \\n \\0', '<%= 1 %> #{1} {% x %}', '; touch pwned & | > pwned', '"\'\\ " \'', '*.js ?'],
];

describe('values are data', () => {
  it('B-91 in a name, a folder and a setting', async () => {
    for (const name of EXPRESSIONS) {
      const project = projectAt(`${makeFolder()}/${name}`);
      project.write('package.json', '{}');
      const stored = (): unknown =>
        (parse(project.read(CONFIG)) as { project: { name: string } }).project.name;
      await forgeJson(project, ['init']);
      expect(stored()).toBe(name);
      rmSync(project.path(CONFIG));
      await forgeJson(project, ['init', '--name', `${name} given`]);
      expect(stored()).toBe(`${name} given`);
      await forgeJson(project, ['config', 'set', 'project.name', `${name}!`]);
      const { value } = await forgeJson<{ value: string }>(project, ['config', 'get', 'project.name']);
      expect([value, stored()]).toEqual([`${name}!`, `${name}!`]);
      expect(Object.keys(snapshot(project.dir)).filter((path) => path.includes('pwned'))).toEqual([]);
    }
  });

  it('B-91 in a test: each word reaches the program unchanged', async () => {
    const project = await makePlainForge();
    project.write('argv.cjs', 'console.log(JSON.stringify(process.argv.slice(2)))\n');
    for (const [n, value] of EXPRESSIONS.entries()) {
      const test = `node argv.cjs '${value.replaceAll("'", `'\\''`)}' "a b"`;
      await forgeJson(project, ['feature', 'add', '--no-run', `Q-${n}`, 'q', '--test', test]);
      const { stderr, exitCode } = await runForge(project, ['feature', 'verify', `Q-${n}`, '-v']);
      expect([value, exitCode]).toEqual([value, 0]);
      expect(stderr).toContain(`${JSON.stringify([value, 'a b'])}\n`);
    }
    await forgeJson(project, ['config', 'set', 'features.test_command', 'node argv.cjs {} --x={}']);
    for (const [n, value] of EXPRESSIONS.entries()) {
      await forgeJson(project, ['feature', 'add', '--no-run', `T-${n}`, 't', '--test', value]);
      const { stderr } = await runForge(project, ['feature', 'verify', `T-${n}`, '-v']);
      expect(stderr).toContain(`${JSON.stringify([value, `--x=${value}`])}\n`);
    }
    expect(project.has('pwned')).toBe(false);
  });

  it('B-91 in the log and the commit message', async () => {
    const project = await makeForge();
    const all = EXPRESSIONS.join(' ');
    await forgeJson(project, ['session', 'start', '--task', all]);
    await forgeJson(project, ['progress', 'add', all]);
    await forgeJson(project, ['session', 'end', '--learned', all, '--next', all]);
    const message = project.git('log', '-1', '--format=%B');
    expect(message).toContain(`\n- ${all}\n`);
    expect(message).toContain(`- Learned: ${all}\n`);
    expect(project.has('pwned')).toBe(false);
    expect(project.git('status', '--porcelain')).toBe('');
  });
});

describe('permissions that a repository cannot grant itself', () => {
  it('B-94 trust, guard, role and override in config.toml are ignored and warned about; FORGE_TRUST in files counts for nothing', async () => {
    const project = await makeForge();
    const evil = `
[trust]
approved = true
commands = ["touch pwned"]

[role]
name = "supervisor"
[override]
all = true
[supervisor]
key = "abc"
`;
    // The file that init writes has tables of these names.
    project.write(
      CONFIG,
      `${project.read(CONFIG).replace('[guard]\n', '[guard]\noff = true\nenabled = false\n')}${evil}`,
    );
    project.write(
      FEATURES,
      '{"schema_version":"1.0","features":[{"id":"A","name":"a","status":"failing","tests":["touch pwned"],"trusted":true}]}',
    );
    await expectError(project, ['feature', 'verify', 'A'], '3 trust.needed');
    const shown = await forgeJson<{ trusted: boolean; digest: string }>(project, ['trust', '--show']);
    expect(shown.trusted).toBe(false);
    // FORGE_TRUST counts only in the caller's environment.
    for (const name of ['.env', '.forge/.env', '.forge/local/trust.json', '.git/forge/trust.json'])
      project.write(name, `FORGE_TRUST=${shown.digest}\n`);
    project.git('config', 'forge.trust', shown.digest);
    await expectError(project, ['feature', 'verify', 'A'], '3 trust.needed');
    const { stderr, stdout, exitCode } = await runForge(project, ['config', 'list']);
    expect(exitCode).toBe(0);
    const names =
      'trust.approved trust.commands guard.off guard.enabled role.name override.all supervisor.key';
    for (const name of names.split(' ')) {
      expect(stderr).toMatch(
        new RegExp(
          `^! \\.forge/config\\.toml: ${name} is not a setting of this version; it is kept and ignored\\.$`,
          'm',
        ),
      );
      expect(stdout).not.toMatch(new RegExp(`^${name.replace('.', '\\.')} `, 'm'));
      await expectError(project, ['config', 'set', name, 'true'], '2 config.unknown');
    }
    expect(project.has('pwned')).toBe(false);
  });
});
