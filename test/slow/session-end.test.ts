import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Briefing } from '../../src/index.js';
import { agent, expectError, fixedClock, forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, SESSION, SESSIONS, snapshot } from '../support/forge-project.js';
import { changedPaths } from '../support/project.js';
import { type Ended, withFeature } from '../support/session-ends.js';

describe('forge end', () => {
  it('SES-06 SES-08 KNO-01 is about the feature that was verified instead of the one in focus, and keeps answers', async () => {
    const project = await withFeature();
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'Logout works', '--test', 'true', '--no-run']);
    await forgeJson(project, ['session', 'start', 'FORGE-001']);
    await forgeJson(project, ['feature', 'verify', 'FORGE-002']);
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:which cookie?']);
    await forgeJson(project, ['kfr', 'patch', '--resolve', 'kfr-1=sid']);
    const { commit } = await forgeJson<Ended>(project, ['session', 'end', '--learned', 'no cache']);
    const shown = await runForge(project, ['session', 'show', 'latest']);
    expect(shown.stdout).toContain('answered: which cookie? → sid\n');
    expect(commit?.subject).toBe('[FORGE-002] Session end: Logout works');
    const report = (await runForge(project, ['memory', 'report'])).stdout;
    expect(report).toMatch(/FORGE-002.*SUCCESS/);
    expect(report).not.toMatch(/FORGE-001.*SUCCESS/);
    await forgeJson(project, ['session', 'start', '--task', 'something else']);
    await forgeJson(project, ['focus', 'set', '--task', 'FORGE-002']);
    await forgeJson(project, ['session', 'end', '--learned', 'no cache']);
    const { stdout } = await runForge(project, ['knowledge', 'list', '--json']);
    expect(stdout.match(/"context": ?"[^"]*"/g)).toEqual([
      expect.stringContaining('FORGE-002: Logout works'),
    ]);
  });

  it('SES-06 archives a session that verified a feature without a log line, and names uncommitted files', async () => {
    const project = await withFeature();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['feature', 'verify', 'FORGE-001']);
    project.write('src/app.js', 'changed\n');
    const { stdout } = await runForge(project, ['session', 'end']);
    expect(stdout).toMatch(/archive {2}.*session-001/);
    expect(stdout).toMatch(/! 1 file outside \.forge\/ not committed: git add -A && forge commit/);
    const listed = await forgeJson<{ sessions: unknown[] }>(project, ['session', 'list']);
    expect(listed.sessions).toHaveLength(1);
  });

  it('SES-05 a session without a task takes that of a second start, but not a removed feature', async () => {
    const project = await withFeature();
    await forgeJson(project, ['feature', 'edit', 'FORGE-001', '--status', 'blocked']);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['focus', 'clear']);
    const { stderr } = await runForge(project, ['session', 'start', 'forge-001']);
    expect(stderr).not.toContain('goes on with its task');
    const task = async () => (await forgeJson<{ task: string | null }>(project, ['focus', 'show'])).task;
    expect(await task()).toBe('FORGE-001: Login works');
    await forgeJson(project, ['feature', 'remove', 'FORGE-001']);
    expect(await task()).toBeNull();
    const doctor = await runForge(project, ['doctor']);
    expect(doctor.stdout).not.toContain('gone');
  });

  it('SES-06 --no-commit and the setting leave the commit out; -n leaves everything out', async () => {
    const project = await withFeature();
    const world = fixedClock();
    const head = project.git('rev-parse', 'HEAD');
    await forgeJson(project, ['session', 'start'], { world });
    const before = snapshot(project.dir);
    const dry = await runForge(project, ['session', 'end', '-n', '--learned', 'x'], { world });
    expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining('no commit: dry run')]);
    expect(dry.stderr).toMatch(/nothing was written/);
    expect(dry.stderr).toMatch(/sessions\/2026-03-01-session-001-[0-9a-f]{6}\.json/);
    expect(dry.stderr).not.toMatch(/\.tmp|\.git/);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const ended = await forgeJson<Ended>(project, 'session end --no-commit --next x', { world });
    expect([ended.commit, ended.commit_skipped]).toEqual([undefined, 'not asked for']);
    await forgeJson(project, ['config', 'set', 'session.commit', 'false']);
    await forgeJson(project, ['session', 'start'], { world });
    expect((await forgeJson<Ended>(project, ['session', 'end'], { world })).commit).toBeUndefined();
    expect(project.git('rev-parse', 'HEAD')).toBe(head);
    expect(changedPaths(project).some((path) => path.includes(SESSIONS))).toBe(true);
  });
});

describe('past sessions', () => {
  it('SES-06 says that a commit is on no branch', async () => {
    const project = await withFeature();
    project.git('checkout', '-q', '--detach');
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['log', 'The rest']);
    const { stderr } = await runForge(project, ['session', 'end']);
    expect(stderr).toContain(`To keep it: git branch NAME ${project.git('rev-parse', 'HEAD')}`);
    expect(project.git('branch', '--contains', 'HEAD')).not.toContain('main');
  });

  it('SES-08 a damaged archive does not hide the others', async () => {
    const project = await makeForge();
    for (const next of ['one', 'two']) {
      await forgeJson(project, ['session', 'start']);
      await forgeJson(project, ['session', 'end', '--no-commit', '--next', next]);
    }
    const [one = '', two = ''] = readdirSync(project.path('.forge/memory/sessions'))
      .filter((name) => !name.startsWith('.'))
      .map((name) => name.replace(/\.json$/, ''))
      .sort();
    project.write(`.forge/memory/sessions/${two}.json`, 'no JSON');
    const shown = await forgeJson(project, ['session', 'show', one]);
    expect(shown).toMatchObject({ session: { next: 'one' } });
    await expectError(project, ['session', 'discard', one], 'session.not_interrupted');
    await expectError(project, ['session', 'show', two], '4');
  });

  it('SES-14 SES-05 a session with files or a blocker in focus, or a note, is not empty', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start', '--task', 'Fix the flaky cache']);
    await forgeJson(project, 'focus set --file src/cache.js --blocker "waiting for Ada"');
    const { archive } = await forgeJson<Ended>(project, ['session', 'end']);
    expect(project.json(archive)).toMatchObject({ focus: { blockers: ['waiting for Ada'] } });
    await forgeJson(project, ['focus', 'set', '--file', 'src/other.js']);
    await forgeJson(project, ['session', 'start']);
    expect(await forgeJson(project, ['session', 'end'])).toMatchObject({ archive: null });
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['learn', 'The cache is cold at night', '--as', 'note']);
    expect((await forgeJson<Ended>(project, ['session', 'end'])).archive).toMatch(/-session-\d+-/);
  });

  it('FEA-02 VIS-01 GIT-07 says that a feature passed with changes that are gone, until it passes without them', async () => {
    const project = await makeForge();
    const told = 'A passed with changes that are';
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test -e src/a']);
    project.write('src/a', '');
    await forgeJson(project, ['done', 'A']);
    expect((await runForge(project, ['status'])).stdout).not.toContain(told);
    rmSync(project.path('src/a'));
    expect((await runForge(project, ['status'])).stdout).toContain(told);
    const { stdout } = await runForge(project, ['ci']);
    expect(stdout).toContain('A passed with changes that are not in this commit');
    await forgeJson(project, ['feature', 'edit', 'A', '--test', 'true']);
    await runForge(project, ['feature', 'confirm', 'A', '--yes'], { terminal: true });
    expect((await runForge(project, ['status'])).stdout).not.toContain(told);
  });

  it('SES-03 forge’s own commits are not among the last ones of the briefing', async () => {
    const project = await makeForge();
    for (let n = 1; n <= 4; n++) {
      project.git('commit', '-q', '--allow-empty', '-m', `work ${n}`);
      await forgeJson(project, ['session', 'start']);
      await forgeJson(project, ['session', 'end', '--next', `step ${n}`]);
    }
    expect(project.git('log', '--format=%s')).toContain('Session end');
    const { sections } = await forgeJson<Briefing>(project, 'briefing');
    const commits = sections.find(({ key }) => key === 'commits')?.items.join('\n');
    expect(commits).toMatch(/work 4\n.*work 3\n.*work 2\n.*work 1\n/);
    expect(commits).not.toContain('Session end');
  });

  it('SES-03 the next step stays until a later session has ended and a feature has passed, which is said', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'a', 'A', '--test', 'test -e done']);
    const world = fixedClock();
    let minute = 10;
    const run = (args: string[]) => {
      world.set(`2026-03-01T10:${++minute}:00.000Z`);
      return forgeJson(project, args, { world });
    };
    const next = async (): Promise<string | undefined> => {
      const { sections } = await forgeJson<Briefing>(project, 'briefing');
      return sections.find(({ key }) => key === 'next')?.items[0];
    };
    await run(['session', 'start', '--task', 'plan']);
    await run(['session', 'end', '--next', 'build a']);
    await run(['session', 'start', '--task', 'a question']);
    await run(['progress', 'add', 'answered it']);
    await run(['session', 'end']);
    expect(await next()).toBe('build a (from 2026-03-01-session-001)');
    await run(['session', 'start', '--task', 'again']);
    await run(['session', 'end', '--next', 'build a now']);
    await run(['session', 'start', '--task', 'a']);
    project.write('done', '');
    await run(['feature', 'verify', 'a']);
    expect(await next()).toBe('build a now (from 2026-03-01-session-003 on again; a passed since)');
    expect((await runForge(project, [])).stdout).toMatch(/^NEXT +build a now \(a passed since\)/m);
    await run(['session', 'end', '--next', 'build a now']);
    // The session that left it last knew of the pass.
    expect(await next()).toBe('build a now (from 2026-03-01-session-004)');
    await forgeJson(project, ['feature', 'add', 'b', 'B', '--test', 'test -e done', '--no-run']);
    await run(['session', 'start', '--task', 'b']);
    await run(['feature', 'verify', 'b']);
    await run(['session', 'end']);
    expect(await next()).toBeUndefined();
    expect(await forgeJson(project, [])).toMatchObject({ step: null });
  });

  it('SES-03 forge and its briefing name the same next step after an interrupted session', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'end', '--next', 'wire logout']);
    await forgeJson(project, ['session', 'start', '--task', 'look']);
    await forgeJson(project, ['progress', 'add', 'looked']);
    const other = { holder: agent('other'), liveness: () => 'gone' as const };
    expect((await runForge(project, ['session', 'list'], { world: other })).stdout).toMatch(
      /^interrupted {2}/,
    );
    await forgeJson(project, ['session', 'start'], { world: other });
    rmSync(project.path(SESSION));
    const { step } = await forgeJson<{ step: string | null }>(project, []);
    expect(step).toBe('wire logout');
    expect((await runForge(project, ['briefing'])).stdout).toContain('wire logout (from ');
  });
});
