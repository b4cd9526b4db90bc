import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commit, MESSAGE, makeCommitted } from '../support/e2e-hooks.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import { makeFolder, type Project, run } from '../support/project.js';

/** A repository with hooks, these settings in `[commit]`, and a remote. */
async function hooked(settings = ''): Promise<Project> {
  const project = makeCommitted();
  project.write(CONFIG, `${project.read(CONFIG)}\n`.replace('[commit]\n', `[commit]\n${settings}\n`));
  await forgeJson(project, ['hooks', 'install']);
  const remote = makeFolder();
  run(remote, 'git', ['init', '-q', '--bare']);
  project.git('remote', 'add', 'origin', remote);
  project.git('push', '-q', '--no-verify', 'origin', 'HEAD:main');
  return project;
}

const push = ({ dir }: Project, ...refs: string[]) => run(dir, 'git', ['push', '-q', 'origin', ...refs]);

/** A commit that bypasses the hooks. */
function addBad(project: Project, author = '', committer = ''): void {
  const env = {
    ...(author === '' ? {} : { GIT_AUTHOR_EMAIL: author }),
    ...(committer === '' ? {} : { GIT_COMMITTER_EMAIL: committer }),
  };
  project.write('src/bad.js', `${Math.random()}\n`);
  project.git('add', 'src');
  const args = ['commit', '-q', '--no-verify', '-m', 'no protocol'];
  expect(run(project.dir, 'git', args, { env })).toMatchObject({ exitCode: 0 });
}

describe('whose commits the git hooks check', () => {
  it('GIT-08 who = "agents" rejects an agent’s commit, not a person’s', async () => {
    const project = await hooked("who = 'agents'");
    const person = { CLAUDECODE: '', FORGE_ROLE: '' };
    expect(commit(project, person, 'no protocol')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(commit(project, { ...person, CLAUDECODE: '1' }, 'no protocol').exitCode).toBe(1);
    expect(commit(project, { ...person, FORGE_ROLE: 'builder' }, 'no protocol').exitCode).toBe(1);
    expect(commit(project, person, MESSAGE.replace('It was asked for.\n', '')).exitCode).toBe(1);
    expect(push(project, 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('GIT-08 a push does not fail for other people’s commits, nor for commits from before the hooks', async () => {
    const project = await hooked();
    addBad(project, 'bob@example.com', 'bob@example.com');
    addBad(project, 'bob@example.com');
    expect(push(project, 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
    const record = '.git/forge/hooks.json';
    const { installed_at } = project.json<{ installed_at: string }>(record);
    addBad(project);
    project.write(record, project.read(record).replace(installed_at, '2999-01-01T00:00:00.000Z'));
    expect(push(project, 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
    project.write(record, project.read(record).replace('2999-01-01T00:00:00.000Z', installed_at));
    addBad(project);
    const refused = push(project, 'HEAD:main');
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('forge commit --amend')]);
    await forgeJson(project, ['commit', '--amend', '-m', 'As it should be', '--why', 'of the rules']);
    expect(push(project, 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('GIT-08 who = "all" rejects a push for anyone’s commit', async () => {
    const project = await hooked("who = 'all'");
    addBad(project, 'bob@example.com', 'bob@example.com');
    expect(push(project, 'HEAD:main').exitCode).toBe(1);
  });

  it('GIT-01 rejects a parent that is not a commit, and shows the right one', async () => {
    const project = await hooked();
    const head = project.git('rev-parse', 'HEAD');
    const wrong = commit(project, {}, MESSAGE.replace('Parent: none', 'Parent: deadbeef'));
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      1,
      expect.stringContaining(
        `The parent deadbeef is not a commit of this repository.\n    → - Parent: ${head.slice(0, 10)}`,
      ),
    ]);
    expect(commit(project, {}, MESSAGE.replace('Parent: none', `Parent: ${head.slice(0, 7)}`)).exitCode).toBe(
      0,
    );
  });
});

describe('forge hooks install', () => {
  it('GIT-08 shows what git rejects from now on, and saves --who', async () => {
    const project = await makeForge();
    const first = await runForge(project, ['hooks', 'install']);
    expect(first.stdout).toContain(
      'From now on git rejects messages of your commits and your agents’ in this clone that do not follow the protocol, and secrets in any commit (forge help hooks).',
    );
    expect(first.stdout).toContain('forge config set commit.who agents|all');
    expect((await runForge(project, ['hooks', 'install'])).stdout).not.toContain('From now on');
    const report = await forgeJson<object>(project, ['hooks', 'install', '--who', 'agents']);
    expect(report).toMatchObject({ who: 'agents', enforce: 'block' });
    expect(readFileSync(project.path(CONFIG), 'utf8')).toContain('\nwho = "agents"\n');
    expect(await runForge(project, ['hooks', 'install', '--who', 'me'])).toMatchObject({ exitCode: 2 });
  });

  it('GIT-08 asks once, at a terminal, whose commits it may reject', async () => {
    const project = makeCommitted();
    const place = { ...project, env: { CLAUDECODE: '', AGENT: '' } };
    // One word each: the question is wrapped.
    const whose = 'agents’?';
    const answers = [[whose, '\u001b[B\r']] as const;
    expect((await atTerminal(place, ['hooks', 'install'], answers)).exitCode).toBe(0);
    expect(project.read(CONFIG)).toContain('\nwho = "agents"\n');
    project.write(CONFIG, project.read(CONFIG).replace('\nwho = "agents"\n', '\n'));
    const again = await atTerminal(place, ['hooks', 'install']);
    expect([again.exitCode, again.shown.includes(whose)]).toEqual([0, false]);
  });
});
