import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CommitCheck } from '../../src/index.js';
import { addRemote, commit, makeCommitted } from '../support/e2e-hooks.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { forgeFound, forgeJson, runBinary, runForge } from '../support/forge.js';
import { CONFIG, differences, makeForge, snapshot } from '../support/forge-project.js';
import { HALT, record } from '../support/memory.js';
import { MESSAGE } from '../support/message.js';
import { commitAll, makeFolder, type Project, run, writeHook } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { makeForgeRepository } from '../support/typed.js';

/** A repository with a commit from before its hooks, and an empty remote. */
function makePushable(): Project & { remote: string } {
  const project = makeForgeRepository();
  // All commits are older than the hooks, whose time has seconds only.
  project.git('update-ref', '-d', 'HEAD');
  project.git('add', '-A');
  const env = { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' };
  run(project.dir, 'git', ['commit', '-q', '-m', 'forge'], { env });
  expect(runBinary(project.dir, ['hooks', 'install'])).toMatchObject({ exitCode: 0 });
  return { ...project, remote: addRemote(project) };
}

const push = ({ dir }: Project, ...args: string[]) => run(dir, 'git', ['push', '-q', ...args]);

const refused = { exitCode: 1, stderr: expect.stringContaining('nothing was pushed') };
const passed = { exitCode: 0, stderr: '' };

describe('pre-push', () => {
  it('GIT-03 GIT-01 ignores commits from before the hooks, or on another remote', () => {
    const project = makePushable();
    expect(push(project, 'origin', 'HEAD:first')).toMatchObject(passed);
    addBad(project);
    expect(push(project, 'origin', 'HEAD:second')).toMatchObject(refused);
    expect(push(project, project.remote, 'HEAD:second')).toMatchObject(refused);
    push(project, '--no-verify', 'origin', 'HEAD:second');
    const fork = makeFolder();
    run(fork, 'git', ['init', '-q', '--bare']);
    expect(push(project, fork, 'HEAD:second')).toMatchObject(passed);
  });

  it('GIT-03 LTM-05 while memory is halted shows the remedy, and names no commit', () => {
    const project = makePushable();
    project.write(HALT, '{"at":"2026-03-01T10:00:00.000Z","reasons":["a test"],"isDamage":false}');
    const { exitCode, stderr } = push(project, 'origin', 'HEAD');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^forge: nothing was pushed\n {2}memory: Memory is halted: [^\n]*\n {4}→ forge memory verify {3}# shows[^\n]*\n {2}To skip all hooks: --no-verify\n/,
    );
    // The hint is of use: nothing is wrong, so the halt ends.
    expect(runBinary(project.dir, ['memory', 'verify'])).toMatchObject({ exitCode: 0 });
    expect(push(project, 'origin', 'HEAD')).toMatchObject({ exitCode: 0 });
  });

  it('GIT-03 LTM-05 LTM-21 a branch that was pushed and rejected does not come back by itself', () => {
    const project = makePushable();
    push(project, 'origin', 'HEAD');
    project.git('switch', '-qc', 'side');
    runBinary(project.dir, ['start', '--task', 'try redis']);
    runBinary(project.dir, ['learn', 'redis is slow', '--as', 'note']);
    runBinary(project.dir, ['feature', 'add', 'R-1', 'Redis']);
    expect(runBinary(project.dir, ['end'])).toMatchObject({ exitCode: 0 });
    expect(push(project, 'origin', 'HEAD')).toMatchObject({ exitCode: 0 });
    project.git('switch', '-q', 'main');
    project.git('push', '-q', 'origin', ':side');
    project.git('branch', '-qD', 'side');
    const { stdout } = runBinary(project.dir, ['memory', 'verify']);
    expect(stdout).toMatch(/records? written here disappeared; none was restored: forge memory repair/);
    expect(stdout).not.toContain('put back');
    expect(runBinary(project.dir, ['ls']).stdout).not.toContain('Redis');
    // A branch that was never pushed comes back.
    project.git('switch', '-qc', 'own');
    runBinary(project.dir, ['feature', 'add', 'O-1', 'Own']);
    project.git('add', '-A');
    project.git('commit', '-qnm', 'Own');
    project.git('switch', '-q', 'main');
    project.git('branch', '-qD', 'own');
    runBinary(project.dir, ['memory', 'verify']);
    expect(runBinary(project.dir, ['ls']).stdout).toContain('Own');
  });

  it('GIT-03 B-42 escapes file names, and counts the omitted ones', () => {
    const project = makePushable();
    for (let i = 0; i < 12; i++) project.write(`\u001b[31m${i}`, `${SAMPLES.secret()}\n`);
    project.git('add', '-A');
    project.git('commit', '-q', '--no-verify', '-m', 'x');
    const { exitCode, stderr } = push(project, 'origin', 'HEAD');
    expect([exitCode, stderr.includes('\u001b')]).toEqual([1, false]);
    expect(stderr).toContain('\\033[31m0:1: ');
    expect(stderr).toContain('  … 2 more secrets\n');
  });

  it('GIT-01 B-50 checks a push during a rebase too', () => {
    const project = makePushable();
    addBad(project);
    const env = { GIT_SEQUENCE_EDITOR: 'sed -i 1s/pick/edit/' };
    run(project.dir, 'git', ['rebase', '-q', '-i', 'HEAD~1'], { env });
    expect(project.has('.git/rebase-merge')).toBe(true);
    expect(push(project, 'origin', 'HEAD:refs/heads/main')).toMatchObject(refused);
  });

  it('GIT-03 LTM-13 refuses secrets even if the settings were deleted', () => {
    const project = makePushable();
    project.write('key.txt', `${SAMPLES.secret()}\n`);
    project.git('add', 'key.txt');
    project.git('commit', '-q', '--no-verify', '-m', 'x');
    rmSync(project.path(CONFIG));
    const { exitCode, stderr } = push(project, 'origin', 'HEAD');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/config\.toml is missing[\s\S]*key\.txt:1: /),
    ]);
    const commit = run(project.dir, 'git', ['commit', '-q', '--allow-empty', '-m', `x ${SAMPLES.secret()}`]);
    expect([commit.exitCode, commit.stderr]).toEqual([1, expect.stringContaining('contains a secret')]);
    project.git('rm', '-q', '--cached', '.forge/config.toml');
    expect(run(project.dir, 'git', ['commit', '-q', '-m', 'Leave forge'])).toMatchObject(passed);
  });

  it('GIT-03 B-46 in an existing hook: checks the pushed refs, not HEAD, and both hooks can read stdin', () => {
    const project = makePushable();
    runBinary(project.dir, ['hooks', 'uninstall']);
    writeHook(project, 'pre-push', 'set -e\ncat >.git/seen');
    runBinary(project.dir, ['hooks', 'install', '--yes']);
    const seen = () => project.read('.git/seen');
    expect(push(project, 'origin', 'HEAD:a', 'HEAD:b')).toMatchObject(passed);
    expect(seen()).toMatch(/^HEAD \w+ refs\/heads\/a 0+\nHEAD \w+ refs\/heads\/b 0+\n$/);
    project.git('switch', '-q', '-c', 'bad');
    addBad(project);
    // A deletion brings nothing, whatever HEAD is.
    expect(push(project, 'origin', ':b')).toMatchObject(passed);
    project.git('switch', '-q', '-');
    expect(push(project, 'origin', 'bad')).toMatchObject(refused);
    expect(push(project, 'origin', 'HEAD:a')).toMatchObject(passed);
    expect(seen()).toBe('');
  });
});

/** A repository with hooks, these settings in `[commit]`, and a remote. */
async function hooked(settings = ''): Promise<Project> {
  const project = makeCommitted();
  project.write(CONFIG, `${project.read(CONFIG)}\n`.replace('[commit]\n', `[commit]\n${settings}\n`));
  await forgeJson(project, ['hooks', 'install']);
  addRemote(project);
  project.git('push', '-q', '--no-verify', 'origin', 'HEAD:main');
  return project;
}

/** A commit that bypasses the hooks. */
function addBad(project: Project, author?: string, committer?: string): void {
  const env = { GIT_AUTHOR_EMAIL: author, GIT_COMMITTER_EMAIL: committer };
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
    const refused = commit(project, { ...person, CLAUDECODE: '1' }, 'no protocol');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/→ forge commit --why "TEXT" {3}# writes the message\n$/);
    expect(commit(project, { ...person, FORGE_ROLE: 'builder' }, 'no protocol').exitCode).toBe(1);
    expect(commit(project, person, MESSAGE.replace('Rationale for the change\n', '')).exitCode).toBe(1);
    expect(push(project, 'origin', 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('GIT-08 a push fails for other people’s commits only with who = "all", and never for commits from before the hooks', async () => {
    const project = await hooked();
    addBad(project, 'bob@example.com', 'bob@example.com');
    addBad(project, 'bob@example.com');
    const mine = project.read(CONFIG);
    project.write(CONFIG, mine.replace('[commit]\n', "[commit]\nwho = 'all'\n"));
    expect(push(project, 'origin', 'HEAD:main').exitCode).toBe(1);
    project.write(CONFIG, mine);
    expect(push(project, 'origin', 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
    const record = '.git/forge/hooks.json';
    const { installed_at } = project.json<{ installed_at: string }>(record);
    addBad(project);
    project.write(record, project.read(record).replace(installed_at, '2999-01-01T00:00:00.000Z'));
    expect(push(project, 'origin', 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
    project.write(record, project.read(record).replace('2999-01-01T00:00:00.000Z', installed_at));
    addBad(project);
    const refused = push(project, 'origin', 'HEAD:main');
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('forge commit --amend')]);
    await forgeJson(project, ['commit', '--amend', '-m', 'As it should be', '--why', 'of the rules']);
    expect(push(project, 'origin', 'HEAD:main')).toMatchObject({ exitCode: 0, stderr: '' });
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
    const right = MESSAGE.replace('Parent: none', `Parent: ${head.slice(0, 7)}`);
    expect(commit(project, {}, right).exitCode).toBe(0);
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
    expect(project.read(CONFIG)).toContain('\nwho = "agents"\n');
    expect(await runForge(project, ['hooks', 'install', '--who', 'me'])).toMatchObject({ exitCode: 2 });
    const all = await runForge(project, ['hooks', 'install', '--who', 'all', '--yes']);
    expect(all.stderr).toBe('! .forge/config.toml has changed: who = "all". Commit it.\n');
    expect((await runForge(project, ['hooks', 'install', '--who', 'all', '--yes'])).stderr).toBe('');
  });

  it('GIT-08 asks once, at a terminal, whose commits it may reject', async () => {
    const project = makeCommitted();
    const place = { ...project, env: { CLAUDECODE: '', AGENT: '' } };
    // One word each: the question is wrapped.
    const whose = 'agents’?';
    const answers = [[whose, '\u001b[B\r']] as const;
    const { exitCode, shown } = await atTerminal(place, ['hooks', 'install'], answers);
    expect([exitCode, shown]).toEqual([0, expect.stringMatching(/config\.toml has changed: who = "agents"/)]);
    expect(project.read(CONFIG)).toContain('\nwho = "agents"\n');
    project.write(CONFIG, project.read(CONFIG).replace('\nwho = "agents"\n', '\n'));
    const again = await atTerminal(place, ['hooks', 'install']);
    expect([again.exitCode, again.shown.includes(whose)]).toEqual([0, false]);
  });
});

/** The pre-push hook for HEAD and a remote that has nothing; fails when it wrote anything. */
async function pushHead(project: Project) {
  const id = project.git('rev-parse', 'HEAD');
  const stdin = `refs/heads/main ${id} refs/heads/main ${'0'.repeat(40)}\n`;
  const before = snapshot(project.dir);
  const outcome = await runForge(project, ['hook', 'pre-push', 'origin'], { stdin });
  const written = outcome.exitCode === 0 ? ['.git/forge/pushed.json'] : [];
  expect(differences(before, snapshot(project.dir))).toEqual(written);
  return outcome;
}

function commitSecret(project: Project): void {
  project.write('key.txt', `${SAMPLES.secret()}\n`);
  project.git('add', '-A');
  // Past the hook that looks at what is staged.
  project.git('commit', '-q', '--no-verify', '-m', 'Add a key');
}

const SECRET = /^ {2}\w{10} key\.txt:1: /m;

describe('the pre-push hook', () => {
  it.each<[string, (project: Project) => Promise<unknown>]>([
    [
      'the revert of a merge that held records',
      async (project) => {
        project.git('switch', '-q', '-c', 'side');
        await record(project);
        commitAll(project, MESSAGE);
        project.git('switch', '-q', '-');
        project.git('merge', '-q', '--no-ff', '-m', 'Merge', 'side');
        project.git('revert', '-m', '1', '--no-edit', 'HEAD');
      },
    ],
    [
      'git clean in a session',
      async (project) => {
        await runForge(project, ['session', 'start']);
        await record(project);
        project.git('clean', '-fdxq', '.forge');
      },
    ],
  ])('GIT-03 LTM-13 refuses a secret after %s, and notes only what it let through', async (_, happen) => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    await happen(project);
    expect(await pushHead(project)).toMatchObject({ exitCode: 0, stderr: '' });
    commitSecret(project);
    expect(await pushHead(project)).toMatchObject({ exitCode: 5, stderr: expect.stringMatching(SECRET) });
  });

  it('GIT-03 LTM-13 says what to do about a secret, not how to skip the hook', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    commitSecret(project);
    project.git('commit', '-q', '--no-verify', '--amend', '-m', MESSAGE);
    const { stderr } = await pushHead(project);
    const scan =
      /^forge: nothing was pushed\n.* key\.txt:1: .*\n {4}→ the same commit without it; if it is real, revoke it\n {4}→ a false alarm: forge (guard scan --range \w+\^!)\n$/.exec(
        stderr,
      )?.[1];
    const { stdout } = await runForge(project, `${scan}`.split(' '));
    expect(stdout).toContain('\nA false alarm? forge guard allow ');
  });

  it('GIT-03 GIT-01 shows all problems of a message, and the command that shows what to write', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    project.write('src/bad.js', 'x\n');
    project.git('add', '-A');
    const message = `no protocol\nsecond\n\n${'## Odd\n'.repeat(9)}`;
    project.git('commit', '-q', '--no-verify', '--cleanup=verbatim', '-m', message);
    const { exitCode, stderr } = await pushHead(project);
    expect(exitCode).toBe(1);
    expect(stderr.match(/^ {4}line \d+: /gm)).toHaveLength(10);
    const check =
      /\n {4}… 5 more problems\n {4}→ forge (commit check --range \w+\^!) {3}# shows what to write\n/.exec(
        stderr,
      )?.[1];
    const { commits } = await forgeFound<CommitCheck>(project, `${check}`);
    expect(commits.map(({ problems }) => problems.length)).toEqual([15]);
    expect(stderr).toMatch(/\n {2}To skip all hooks: --no-verify\n$/);
  });

  it('GIT-03 LTM-05 refuses halted memory if git cannot show the pushed commits', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'guard.halt_on', 'all']);
    await runForge(project, ['note', 'add', SAMPLES.secret()]);
    project.write('new.txt', 'new\n');
    commitAll(project, MESSAGE);
    const blob = project.git('rev-parse', 'HEAD:new.txt');
    project.git('update-index', '--force-remove', 'new.txt');
    rmSync(project.path('.git/objects', blob.slice(0, 2), blob.slice(2)));
    const { exitCode, stderr } = await pushHead(project);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('  memory: Memory is halted: ')]);
    expect(stderr).toMatch(/^forge: secrets could not be checked: git .*\n/);
  });
});
