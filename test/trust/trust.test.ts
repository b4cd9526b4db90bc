import { chmodSync, renameSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TrustReport } from '../../src/index.js';
import type { Where } from '../../src/status/where.js';
import { cloneOf } from '../support/ci.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, featureFile, makeForge, snapshot } from '../support/forge-project.js';
import { commitAll, copyOf, makeFolder, type Project, projectAt } from '../support/project.js';

/** A fresh clone of a project with a test that leaves a file when it runs. */
async function cloned(test = 'touch ran'): Promise<Project> {
  const origin = await makeForge();
  await forgeJson(origin, ['feature', 'add', 'A', 'a', '--test', test, '--no-run']);
  commitAll(origin, 'Feature');
  const clone = cloneOf(origin);
  await runForge(clone, ['init']);
  return clone;
}

const PERSON = { terminal: true } as const;

async function expectRefused(project: Project): Promise<void> {
  const error = await forgeError(project, ['feature', 'verify', 'A']);
  expect(error).toMatchObject({ exitCode: 3, code: 'trust.needed', hint: 'forge trust' });
  expect(project.has('ran')).toBe(false);
}

describe('forge trust', () => {
  it('B-85 in a folder that was moved nothing is approved, and forge begins with forge trust', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'touch ran', '--no-run']);
    const next = async (place: Project): Promise<string | undefined> =>
      (await forgeJson<{ next: string[] }>(place, [])).next[0];
    expect(await next(project)).not.toBe('forge trust');
    const moved = projectAt(`${makeFolder()}/moved`);
    renameSync(project.dir, moved.dir);
    await expectRefused(moved);
    const { message } = await forgeError(moved, ['feature', 'verify', 'A']);
    expect(message).toContain('was not approved here');
    expect(await next(moved)).toBe('forge trust');
  });

  it('B-85 runs nothing of a fresh clone; --show prints everything with visible escapes', async () => {
    const project = await cloned();
    project.write(
      '.forge/init.sh',
      `${project.read('.forge/init.sh')}# \u001b[8mhidden\u001b[0m \u202egnp.exe\n`,
    );
    await expectRefused(project);
    const before = [snapshot(project.dir), snapshot(process.env.HOME as string)];
    const { stdout, exitCode } = await runForge(project, ['trust', '--show']);
    expect(exitCode).toBe(0);
    const script = project.read('.forge/init.sh').split('\n');
    for (const line of script.slice(0, 10)) expect(stdout).toContain(line);
    expect(stdout).toContain('# <U+001B>[8mhidden<U+001B>[0m <U+202E>gnp.exe');
    expect(stdout).toMatch(/feature A {2}not approved\n {2}touch ran\n/);
    // Without CI the value approves nothing.
    expect(stdout).toMatch(/\nFor CI, to approve exactly this: CI=1 FORGE_TRUST=[0-9a-f]{64}\n$/);
    expect([snapshot(project.dir), snapshot(process.env.HOME as string)]).toEqual(before);
  });

  it('B-85 an agent is not sent to forge trust, and gets no value for CI', async () => {
    const project = await cloned();
    const agent = { world: { isAgent: true } };
    const { next, waiting } = await forgeJson<Where>(project, [], agent);
    expect(next.join()).not.toContain('trust');
    expect(waiting).toEqual([expect.stringMatching(/to approve: forge trust$/)]);
    expect((await forgeError(project, ['done', 'A'], agent)).hint).toBe(
      'ask a human to run forge trust at a terminal',
    );
    for (const words of [['trust'], ['trust', '--show']]) {
      const { stdout, stderr } = await runForge(project, words, agent);
      expect(stdout + stderr).toContain('Not all of it is approved');
      expect(stdout + stderr).not.toMatch(/FORGE_TRUST|[0-9a-f]{64}/);
    }
  });

  it('B-85 asks without the parts of init.sh that forge itself wrote, unless they were changed', async () => {
    const project = await cloned();
    const asked = async () => (await runForge(project, ['trust', '--yes'])).stderr;
    const [first = ''] = project.read('.forge/init.sh').split('\n').slice(1);
    const whole = await asked();
    expect(whole).toMatch(/^ {2}# … \d+ lines as forge init writes them; forge trust --show has them$/m);
    expect(whole).not.toContain(first);
    project.write('.forge/init.sh', project.read('.forge/init.sh').replaceAll('say ', 'echo '));
    expect(await asked()).toContain(first);
  });

  it('B-85 approves tests that were entered through forge here', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true']);
    await forgeJson(project, ['feature', 'edit', 'A', '--no-run', '--test', 'true', '--test', 'node -e 0']);
    expect((await forgeJson<TrustReport>(project, ['trust', '--show'])).trusted).toBe(true);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
    project.write(featureFile('A'), project.read(featureFile('A')).replace('node -e 0', 'touch ran'));
    await expectRefused(project);
  });

  it('KNO-01 VIS-01 a yes on an older branch keeps the approval of what only a newer one states', async () => {
    const project = await makeForge();
    commitAll(project, 'Begin');
    project.git('branch', 'release');
    await runForge(project, ['knowledge', 'add', 'invariant', 'Amounts are in cents'], PERSON);
    commitAll(project, 'Add a rule');
    const show = async (branch: string): Promise<string> => {
      project.git('switch', '-q', branch);
      return (await runForge(project, ['trust', '--show'])).stdout;
    };
    const before = await show('main');
    expect(await show('release')).toMatch(
      /^All that is here is approved\. Restore the missing invariants, .*: forge trust$/m,
    );
    project.write('.forge/init.sh', '#!/bin/sh\n');
    expect((await atTerminal(project, ['trust'], [['Approve this on this machine?', 'y\r']])).exitCode).toBe(
      0,
    );
    const asked = 'Withdraw your approval of the missing invariant, for every branch?';
    const { shown, exitCode } = await atTerminal(project, ['trust'], [[asked, 'n\r']]);
    expect(shown).toMatch(/approved, and missing now.*\s+Amounts are in cents/);
    expect(exitCode).toBe(3);
    project.git('restore', '.forge/init.sh');
    expect(await show('main')).toBe(before);
    project.git('switch', '-q', 'release');
    await atTerminal(project, ['trust'], [[asked, 'y\r']]);
    expect(await show('main')).toMatch(/^invariant {2}not approved$/m);
  });

  it('B-86 distrusts one changed byte and shows the change', async () => {
    const project = await cloned('sh .forge/check.sh');
    project.write('.forge/check.sh', 'touch ran\n');
    await runForge(project, ['trust', '--yes'], PERSON);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
    project.git('clean', '-fdq', 'ran');
    project.write('.forge/check.sh', 'touch ran # more\n');
    await expectRefused(project);
    const { stdout } = await runForge(project, ['trust', '--show']);
    expect(stdout).toMatch(
      /check\.sh {2}changed since it was approved\n {2}-touch ran\n {2}\+touch ran # more\n/,
    );
    await runForge(project, ['trust', '--yes'], PERSON);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
  });

  it('B-87 checks the target of a symlink, and a script whose name needs quotes', async () => {
    const project = await cloned("sh '.forge/my check.sh'");
    const outside = `${makeFolder()}/target.sh`;
    projectAt('/').write(outside, 'true\n');
    symlinkSync(outside, project.path('.forge/my check.sh'));
    await runForge(project, ['trust', '--yes'], PERSON);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
    projectAt('/').write(outside, `touch ${project.path('ran')}\n`);
    await expectRefused(project);
  });

  it('B-87 runs no script that is too large to show and store', async () => {
    const project = await cloned('sh .forge/check.sh');
    project.write('.forge/check.sh', 'true\n');
    await runForge(project, ['trust', '--yes'], PERSON);
    project.write('.forge/check.sh', `touch ran\n#${'x'.repeat(9 * 1024 * 1024)}\n`);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).not.toBe(0);
    expect(project.has('ran')).toBe(false);
  });

  it('B-38 approvals hold in linked worktrees, and in no other clone or copy', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true']);
    commitAll(project, 'Feature');
    const tree = projectAt(`${makeFolder()}/tree`);
    project.git('worktree', 'add', '-q', tree.dir);
    for (const place of [project, tree]) await forgeJson(place, ['feature', 'verify', 'A']);
    for (const place of [cloneOf(project), copyOf(project)]) await expectRefused(place);
  });

  it('B-87 lists a skill whose links form loops, and follows none of them', async () => {
    const project = await cloned();
    project.write('.forge/skills/loop/instructions.md', 'Do it.\n');
    for (const name of ['a', 'b', 'c']) symlinkSync('.', project.path(`.forge/skills/loop/${name}`));
    symlinkSync('/', project.path('.forge/skills/loop/root'));
    const { items } = await forgeJson<TrustReport>(project, ['trust', '--show']);
    const names = items.flatMap(({ name }) => (name.includes('skills/loop') ? [name] : []));
    expect(names).toEqual(['.forge/skills/loop/instructions.md']);
  });

  it('B-88 approves nothing without a terminal; CI sets the digest', async () => {
    const project = await cloned();
    const before = snapshot(process.env.HOME as string);
    for (const args of [['trust'], ['trust', '--yes'], ['trust', '--yes', '--no-input']])
      for (const env of [{}, { CI: 'true' }])
        await expectError(project, args, '3 trust.no_terminal', { env });
    // "Never ask" does not mean yes at a terminal either.
    for (const args of [
      ['trust', '--no-input'],
      ['trust', '--json'],
    ])
      expect((await runForge(project, args, PERSON)).exitCode).toBe(3);
    expect(differences(before, snapshot(process.env.HOME as string))).toEqual([]);

    const { digest = '' } = await forgeJson<TrustReport>(project, ['trust', '--show']);
    for (const wrong of ['', '1', 'true', digest.slice(1), digest.toUpperCase()])
      expect(
        (await forgeError(project, 'feature verify A', { env: { CI: '1', FORGE_TRUST: wrong } })).code,
      ).toBe('trust.needed');
    for (const CI of ['', 'false'])
      expect(
        (await forgeError(project, ['feature', 'verify', 'A'], { env: { CI, FORGE_TRUST: digest } })).code,
      ).toBe('trust.needed');
    const inCi = { env: { CI: '1', FORGE_TRUST: digest } };
    expect((await runForge(project, ['feature', 'verify', 'A'], inCi)).exitCode).toBe(0);
    project.git('clean', '-fdq', 'ran');
    project.write(featureFile('A'), project.read(featureFile('A')).replace('touch ran', 'touch ran again'));
    expect((await forgeError(project, ['feature', 'verify', 'A'], inCi)).code).toBe('trust.needed');
    expect(project.has('ran')).toBe(false);
  });

  it('B-88 --revoke revokes every approval, --dry-run none', async () => {
    const project = await cloned();
    await runForge(project, ['trust', '--yes'], PERSON);
    await runForge(project, ['trust', '--revoke', '-n']);
    expect((await forgeJson<TrustReport>(project, ['trust', '--show'])).trusted).toBe(true);
    const { items } = await forgeJson<TrustReport>(project, ['trust', '--revoke']);
    expect(items.map(({ state }) => state)).toEqual(['new', 'new']);
    await expectRefused(project);
    const before = snapshot(process.env.HOME as string);
    await runForge(project, ['trust', '--yes', '-n'], PERSON);
    expect(differences(before, snapshot(process.env.HOME as string))).toEqual([]);
  });

  it('B-85 keeps approvals in the person’s own folder, readable by no other user', async () => {
    const project = await makeForge();
    const state = snapshot(process.env.XDG_STATE_HOME as string);
    const files = Object.entries(state).filter(([path]) => path.endsWith('.json'));
    expect(files.length).toBeGreaterThan(0);
    for (const [path, what] of files)
      expect([path, what]).toEqual([path, expect.stringMatching(/^file 600 /)]);
    expect(Object.keys(snapshot(project.dir)).filter((path) => path.includes('trust'))).toEqual([]);
    chmodSync(project.path('.forge/init.sh'), 0o755);
    const stateIn = async (env: NodeJS.ProcessEnv = {}) =>
      (await forgeJson<TrustReport>(project, ['trust', '--show'], { env })).items.map((item) => item.state);
    expect(await stateIn()).toEqual(['trusted']);
    expect(await stateIn({ XDG_STATE_HOME: makeFolder() })).toEqual(['new']);
  });
});
