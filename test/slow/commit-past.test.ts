import { describe, expect, it } from 'vitest';
import type { CommitCheck, StartedSession } from '../../src/index.js';
import { create } from '../support/checkpoints.js';
import { forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

/** Hooks, and a session that began where HEAD is. */
async function hooked(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['hooks', 'install']);
  await again(project);
  return project;
}

/** What a start says, once its session is ended again. */
async function again(project: Project, options: RunOptions = {}): Promise<string[]> {
  const { warnings } = await forgeJson<StartedSession>(project, ['session', 'start'], options);
  await forgeJson(project, ['session', 'end'], options);
  return warnings;
}

function commit(project: Project, subject: string, ...flags: string[]): string {
  project.git('commit', '-q', '--allow-empty', '--no-verify', '-m', subject, ...flags);
  return project.git('rev-parse', '--short', 'HEAD');
}

const ONE = /1 commit since the last session does not follow the commit protocol \(the first: (\w+)\)/;

describe('commits that bypassed the hooks', () => {
  it('B-50 does not report a commit whose feature was removed since', async () => {
    const project = await hooked();
    await forgeJson(project, ['feature', 'add', 'login', 'Log in']);
    commit(project, '[login] Log in');
    await forgeJson(project, ['feature', 'remove', 'login', '--yes']);
    expect(await again(project)).toEqual([]);
  });

  it('B-50 reports a commit made with --no-verify once, at the next start', async () => {
    const project = await hooked();
    commit(project, '[FORGE] As it should be');
    const first = commit(project, 'no protocol');
    commit(project, 'none either');
    const [told, ...more] = await again(project);
    expect(more).toEqual([]);
    expect(told).toContain(
      `2 commits since the last session do not follow the commit protocol (the first: ${first})`,
    );
    const args = told?.replace(/^.*More: forge /, '').split(' ') as string[];
    const { stdout, exitCode } = await runForge(project, [...args, '--json']);
    expect(exitCode).toBe(1);
    const { commits } = JSON.parse(stdout) as CommitCheck;
    expect(commits.filter(({ problems }) => problems[0]?.rule === 'subject').length).toBe(2);
    expect(await again(project)).toEqual([]);
    commit(project, 'one more');
    const { warnings } = await forgeJson<StartedSession>(project, ['session', 'start']);
    expect(warnings.join()).toMatch(ONE);
    // The same session, started once more by its agent.
    expect((await forgeJson<StartedSession>(project, ['session', 'start'])).warnings).toEqual([]);
  });

  it('B-50 ignores merges, reverts, fixups, exempt commits, and forge’s own', async () => {
    const project = await hooked();
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true']);
    project.write(CONFIG, `${project.read(CONFIG)}\n`.replace('#exempt = []', 'exempt = ["Bump .*"]'));
    await create(project, 'Some-name');
    project.git('switch', '-qc', 'side');
    commit(project, '[FORGE] Side');
    project.git('switch', '-q', '-');
    commit(project, '[A] Trunk');
    project.git('merge', '-q', '--no-ff', '--no-verify', 'side', '-m', 'Whatever they call it');
    commit(project, 'fixup! [A] Trunk');
    commit(project, 'Revert "[A] Trunk"', '-m', 'This reverts commit 0123456.');
    commit(project, 'Bump x');
    expect(await again(project)).toEqual([]);
  });

  it('B-50 GIT-08 ignores commits that others made and a pull brought', async () => {
    const project = await hooked();
    const theirs = project.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'no protocol');
    project.git('merge', '-q', '--ff-only', theirs);
    expect(await again(project)).toEqual([]);
  });

  it('B-50 reports nothing without the hooks, or with enforce = "off"', async () => {
    const project = await makeForge();
    await again(project);
    commit(project, 'no protocol');
    expect(await again(project)).toEqual([]);
    await forgeJson(project, ['hooks', 'install']);
    await forgeJson(project, ['config', 'set', 'commit.enforce', 'off']);
    commit(project, 'no protocol');
    expect(await again(project)).toEqual([]);
  });
});
