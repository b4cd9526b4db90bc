import { cpSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionOverview, StartedSession } from '../../src/index.js';
import { Agent } from '../support/e2e-agents.js';
import { makeConflict } from '../support/fixes.js';
import { fixedClock, forgeJson, runBinary, runForge } from '../support/forge.js';
import { makeForge, makeStarted, PROGRESS, SESSION } from '../support/forge-project.js';
import { abandon } from '../support/kills.js';
import { changedPaths, commitAll, makeFolder, projectAt } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson, workAndEnd } from '../support/typed.js';

interface Where {
  root: string | null;
  next: string[];
  session: { id: string; task: string | null } | null;
}

describe('forge alone', () => {
  it('LAY-09 names doctor in a merge and for markers that somebody committed', async () => {
    const project = await makeConflict();
    const nextOf = async (): Promise<string | undefined> => (await forgeJson<Where>(project, [])).next[0];
    expect(await nextOf()).toBe('forge doctor');
    commitAll(project, 'With markers');
    expect(await nextOf()).toBe('forge doctor');
  });

  it('SES-08 shows a session that nobody works in any more as interrupted, and resumes it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['log', 'Half of it']);
    abandon(project);
    const where = await forgeJson<Where>(project, []);
    const resume = `forge start --resume ${where.session?.id}`;
    expect(where.next).toContain(resume);
    const { stdout } = await runForge(project, []);
    expect(stdout).toMatch(/^Session .*; interrupted: process \d+ is gone$/m);
    expect((await runForge(project, resume.split(' ').slice(1))).exitCode).toBe(0);
  });

  it('SES-08 shows the state of the work and three commands that work', async () => {
    const project = await makeForge();
    const world = fixedClock();
    const step = async (): Promise<Where> => {
      const where = await forgeJson<Where>(project, [], { world });
      expect(where.next.length).toBeGreaterThan(0);
      expect(where.next.length).toBeLessThanOrEqual(3);
      return where;
    };
    expect((await step()).next[0]).toMatch(/^forge feature add /);
    await forgeJson(project, 'feature add --no-run FORGE-001 Login --test true', { world });
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'Logout'], { world });
    const idle = await step();
    expect(idle.next).toEqual(['forge start', 'forge briefing']);
    for (const line of idle.next) {
      const words = line.replace(/ +#.*/, '').split(' ').slice(1);
      expect([line, (await runForge(project, words, { world })).exitCode]).toEqual([line, 0]);
    }

    const running = await step();
    expect(running.session).toMatchObject({ id: '2026-03-01-session-001', task: 'FORGE-001: Login' });
    const steps = ['forge log "what you just did"', 'forge done FORGE-001   # Login'];
    expect(running.next.slice(0, 2)).toEqual(steps);
    expect((await runForge(project, [], { world })).stdout).toBe(`Project   ${project.dir} (main)
Session   2026-03-01-session-001, since 10:00 UTC
Task      FORGE-001: Login
Features  2 features: 2 not_implemented
Health    green

Next:
${running.next.map((line) => `  ${line}`).join('\n')}
`);
  });

  it('LAY-05 B-36 a .forge/ that was deleted, or that a commit removed, comes back from git, not from init', async () => {
    const project = await makeForge();
    commitAll(project);
    rmSync(project.path('.forge'), { recursive: true });
    const deleted = await runForge(project, []);
    expect(deleted.stdout).toMatch(/its files were removed here\.\nBegin with: git restore \.forge /);
    project.git('restore', '.forge');
    expect(project.git('status', '--porcelain')).toBe('');
    project.git('rm', '-rqf', '.forge');
    rmSync(project.path('.forge'), { recursive: true, force: true });
    const staged = await runForge(project, []);
    expect(staged.stdout).toMatch(
      /\nBegin with: git restore --staged --worktree -- \.forge {3}# or, to start/,
    );
    project.git('commit', '-qm', 'Drop it');
    project.write('more.txt', '1\n');
    commitAll(project);
    const commit = project.git('rev-parse', '--short', 'HEAD^');
    const command = `git restore --source=${commit}^ -- .forge`;
    const { stdout } = await runForge(project, []);
    expect(stdout).toContain(`Commit ${commit} (Drop it) removed ${project.dir}/.forge/.`);
    expect(stdout).toContain(`Begin with: ${command}   # or, to start anew: forge init `);
    project.git(...command.split(' ').slice(1));
    expect((await runForge(project, ['memory', 'verify'])).exitCode).toBe(0);
    project.git('add', '.forge');
    expect(project.git('diff', '--cached', 'HEAD~2', '--', '.forge')).toBe('');
  });

  it('KFR-09 SES-07 VIS-01 names an open question, also of a session whose files were deleted, and what to type', async () => {
    const project = await makeForge();
    commitAll(project);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:keep me?']);
    const open = (await runForge(project, [])).stdout;
    expect(open).toMatch(/^Open {6}1 open entry in working memory: forge kfr list$/m);
    expect(open).toContain('Next:\n  forge kfr list\n');
    rmSync(project.path('.forge'), { recursive: true });
    project.git('restore', '.forge');
    const { stdout } = await runForge(project, []);
    expect(stdout).toMatch(/session whose record is gone: kfr-1 \(OpenQuestion\) keep me\?/);
    expect(stdout).toMatch(/Next:\n {2}forge start --resume latest\n/);
    expect((await runForge(project, ['kfr', 'list'])).stderr).toContain('forge start --resume latest');
    const { stderr } = await runForge(project, 'start --resume latest');
    expect(stderr).toContain('Working memory without a session was found');
  });
});

describe('worktrees, clones and copies', () => {
  it('SES-02 SES-09 never blocks another worktree, and never repeats a number', async () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    const trees = [project];
    for (const name of ['one', 'two', 'three']) {
      const tree = projectAt(join(makeFolder(), name));
      project.git('worktree', 'add', '-q', tree.dir);
      trees.push(tree);
    }

    const agents = trees.map((tree) => new Agent(tree));
    const started = await Promise.all(agents.map((agent) => agent.json<StartedSession>('session', 'start')));

    const names = started.map(({ session }) => session.id.slice('YYYY-MM-DD-'.length)).sort();
    expect(names).toEqual(['session-002', 'session-003', 'session-004', 'session-005']);
    await Promise.all(agents.map((agent) => agent.json('progress', 'add', 'at the same time')));
    for (const tree of trees) expect(tree.read(PROGRESS).match(/at the same time/g)).toHaveLength(1);
    await Promise.all(agents.map((agent) => agent.json('session', 'end')));
    for (const tree of trees) expect(changedPaths(tree)).toEqual([]);
  });

  it('SES-10 two agents in two worktrees get two tasks', async () => {
    const project = makeForgeRepository();
    for (const id of ['F-1', 'F-2']) typed(project, ['feature', 'add', '--no-run', id, `Task ${id}`]);
    project.git('add', '.forge');
    project.git('commit', '-qm', 'Forge');
    const beside = projectAt(join(makeFolder(), 'beside'));
    project.git('worktree', 'add', '-q', beside.dir);
    const [one, two] = [new Agent(project), new Agent(beside)];
    expect((await one.json<StartedSession>('session', 'start')).focus.task).toBe('F-1: Task F-1');
    const { focus, session } = await two.json<StartedSession>('session', 'start');
    expect([focus.task, session.state]).toEqual(['F-2: Task F-2', 'started']);
    const { candidates } = await one.json<{ candidates: { id: string; blocked_by: string[] }[] }>('next');
    expect(candidates).toMatchObject([
      { id: 'F-1', blocked_by: [] },
      { id: 'F-2', blocked_by: [`session ${session.id} in ${beside.dir}`] },
    ]);
    await two.json('session', 'end');
    expect(await one.json<object>('next')).toMatchObject({
      candidates: [{ id: 'F-1' }, { id: 'F-2', blocked_by: [] }],
    });
  });

  it('SES-02 merges the archives of two clones with the same date and number, and distinguishes them', () => {
    const origin = makeForgeRepository();
    origin.git('add', '.forge');
    origin.git('commit', '-qm', 'Forge');
    const [one, two] = [projectAt(join(makeFolder(), 'one')), projectAt(join(makeFolder(), 'two'))];
    const ended = [one, two].map((clone) => {
      origin.git('clone', '-q', origin.dir, clone.dir);
      return workAndEnd(clone);
    });
    const [name] = new Set(ended.map(({ session }) => session.id));
    expect(ended.map(({ session }) => session.id)).toEqual([name, name]);

    two.git('pull', '-q', '--no-rebase', '--no-edit', one.dir, 'main');

    expect(changedPaths(two)).toEqual([]);
    const { sessions } = typedJson<SessionOverview>(two, ['session', 'list']);
    const stored = ended.map(({ archive }) => basename(archive, '.json')).sort();
    expect(sessions.map(({ id }) => id).sort()).toEqual(stored);
    expect(stored.every((id) => id.startsWith(`${name}-`))).toBe(true);
    expect(typedError(two, ['session', 'show', name ?? '']).message).toContain(stored.join(', '));
    for (const id of stored) expect(typed(two, ['session', 'show', id])).toContain('wired the form');
    expect(workAndEnd(two).session.id).toMatch(/-session-002$/);
  });

  it('SES-07 SES-13 a copied folder has its own copy of the session, and work in it does not affect the original', () => {
    const project = makeForgeRepository();
    const { session } = typedJson<StartedSession>(project, ['session', 'start']);
    typed(project, ['progress', 'add', 'before the copy']);
    const copy = projectAt(join(makeFolder(), 'copy'));
    cpSync(project.dir, copy.dir, { recursive: true });
    const original = [project.read(SESSION), project.read(PROGRESS)];

    expect(typed(copy, ['session', 'status'])).not.toContain(project.dir);
    typed(copy, ['progress', 'add', 'in the copy']);
    typed(copy, ['session', 'end']);

    expect(typed(copy, ['session', 'show', session.id])).toContain('before the copy');
    expect([project.read(SESSION), project.read(PROGRESS)]).toEqual(original);
    expect(typedJson<StartedSession>(project, ['session', 'start']).session).toMatchObject({
      id: session.id,
      state: 'running',
    });
  });
});

const LOG = '.forge/git/commits.log';
const BRANCHES = '.forge/git/branches.json';

describe('commits.log and branches.json without hooks', () => {
  it('GIT-04 are written when a session starts and ends', async () => {
    const project = await makeForge();
    project.git('commit', '-q', '--allow-empty', '-m', 'Before the session');
    await forgeJson(project, ['session', 'start']);
    expect(project.read(LOG).split('\n')[0]).toMatch(/^[0-9a-f]{7,} \S+ Before the session$/);
    project.git('commit', '-q', '--allow-empty', '-m', 'In the session');
    project.git('branch', 'topic');
    await forgeJson(project, ['progress', 'add', 'done']);
    const { commit } = await forgeJson<{ commit: { short: string } }>(project, ['session', 'end']);
    const lines = project.read(LOG).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${commit.short} \\S+ \\[FORGE\\] Session end`));
    expect(lines[1]).toMatch(/ In the session$/);
    expect(project.json<{ branches: { name: string }[] }>(BRANCHES).branches).toMatchObject([
      { name: 'main', current: true },
      { name: 'topic', current: false },
    ]);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('GIT-04 stay as they are where nothing changed, in a dry run, and without git', async () => {
    const project = await makeStarted();
    const { ino } = statSync(project.path(LOG));
    await forgeJson(project, ['session', 'start']);
    expect(statSync(project.path(LOG)).ino).toBe(ino);
    project.git('commit', '-q', '--allow-empty', '-m', 'More');
    await runForge(project, ['session', 'start', '-n']);
    expect(project.read(LOG)).not.toContain('More');

    const plain = projectAt(makeFolder());
    await runForge(plain, ['init', '--stack', 'none']);
    await forgeJson(plain, ['session', 'start']);
    expect(plain.read(LOG)).toBe('');
  });
});

/**
 * Loaded before the built command. Once that has answered, it waits only for what keeps Node running: with no timer among
 * it, no time limit delays the exit. It exits at once, so no machine is too slow for this test.
 */
const REPORT_TIMERS = `process.on('newListener', (event) => {
  if (event !== 'beforeExit') return;
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  require('node:fs').writeSync(1, 'timers: ' + timers.length);
  process.exit();
});`;

it.each([
  ['status', 0, /long-term +red +git was not found/],
  ['status --short', 0, /^forge /],
  ['doctor', 1, /git was not found +\(blocking\)/],
  ['session start', 6, /git was not found/],
])('LAY-05 B-38 `forge %s` ends once it has answered without a git program', (line, exitCode, answer) => {
  const project = makeForgeRepository();
  const folder = makeFolder();
  writeFileSync(join(folder, 'report.cjs'), REPORT_TIMERS);
  const env = { PATH: folder, NODE_OPTIONS: `--require ${join(folder, 'report.cjs')}` };
  const { stdout, stderr, ...end } = runBinary(project.dir, line.split(' '), { env });
  expect(stdout + stderr).toMatch(answer);
  expect(stdout).toMatch(/timers: 0$/);
  expect(end).toEqual({ exitCode, signal: null });
});
