import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Briefing, SessionOverview } from '../../src/index.js';
import { agent, expectError, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FEATURES,
  KNOWLEDGE,
  makeForge,
  makeStarted,
  SESSION,
  snapshot,
} from '../support/forge-project.js';
import { repair } from '../support/ledgers.js';
import { containersOf } from '../support/memory.js';
import { changedPaths } from '../support/project.js';
import { type Ended, withFeature } from '../support/session-ends.js';

describe('forge end', () => {
  it('SES-06 archives under the id, stores learnings, and commits only .forge/', async () => {
    const project = await withFeature();
    const world = fixedClock();
    await forgeJson(project, ['session', 'start'], { world });
    await forgeJson(project, ['progress', 'add', 'wired the form'], { world });
    await forgeJson(project, ['feature', 'verify', 'FORGE-001'], { world });
    project.write('src/app.js', 'changed\n');
    project.write('staged.txt', 'x\n');
    project.git('add', 'staged.txt');
    const parent = project.git('rev-parse', 'HEAD');
    world.set('2026-03-01T11:30:00.000Z');
    const args = ['--learned', 'use a CSRF token', '--failed', 'the first try', '--next', 'logout'];
    const ended = await forgeJson<Ended>(project, ['session', 'end', ...args], { world });

    expect(ended.session).toEqual({ id: '2026-03-01-session-001', ended_at: '2026-03-01T11:30:00.000Z' });
    expect(ended.archive).toMatch(/^\.forge\/memory\/sessions\/2026-03-01-session-001-[0-9a-f]{6}\.json$/);
    const archive = project.json<{ progress: string[]; learned: string[] }>(ended.archive);
    expect(archive.progress.join('\n')).toBe(
      '=== FORGE Session 2026-03-01 ===\n(times in UTC)\n\n[10:00] Started - branch: main\n[10:00] Active issues: 0\n[10:00] wired the form\n[11:30] Session ending\n\nNEXT: logout\n',
    );
    expect(archive).toMatchObject({
      status: 'ended',
      started_at: '2026-03-01T10:00:00.000Z',
      ended_at: '2026-03-01T11:30:00.000Z',
      branch: 'main',
      head: parent,
      next: 'logout',
      focus: { task: 'FORGE-001: Login works' },
    });
    // A learning is stored once: the archive names it.
    expect(archive.learned).toEqual([expect.stringMatching(/^[0-9a-f]{10}$/), expect.any(String)]);
    expect(project.read(ended.archive)).not.toContain('CSRF');
    const shown = await forgeJson(project, ['session', 'show', '2026-03-01-session-001']);
    expect(shown).toMatchObject({ session: { learned: ['use a CSRF token'], failed: ['the first try'] } });
    expect(project.json(KNOWLEDGE)).toMatchObject({
      patterns: {
        successful: [{ context: 'FORGE-001: Login works', approach: 'use a CSRF token' }],
        failed: [{ issue: 'the first try', resolution: '' }],
      },
    });
    // The machine is not in what is committed.
    expect(project.read(ended.archive)).not.toMatch(/holder|"pid"|"root"/);

    expect(project.git('log', '-1', '--format=%H %P')).toBe(`${ended.commit?.hash} ${parent}`);
    expect(project.git('log', '-1', '--format=%B')).toBe(`[FORGE-001] Session end: Login works

## What
- wired the form

## Why
FORGE-001: Login works

## Memory
- Learned: use a CSRF token
- Learned: This failed: the first try
- Updated: features.json (FORGE-001 now passing)

## Backtrace
- Parent: ${project.git('rev-parse', '--short', parent)}
- Linear: none
- Session: 2026-03-01-session-001

Forge-Ledger: ${project.git('log', '-1', '--format=%(trailers:key=Forge-Ledger,valueonly)')}`);
    const files = project.git('show', '--name-only', '--format=', 'HEAD').split('\n');
    expect(files.filter((path) => !path.startsWith('.forge/'))).toEqual([]);
    expect(changedPaths(project).sort()).toEqual([' M src/app.js', 'A  staged.txt']);
    expect(project.has(SESSION)).toBe(false);
    expect((await runForge(project, ['session', 'status'])).stdout).toMatch(/^No session is running/);
  });

  it('SES-06 without a session it is refused; invalid input leaves the session running', async () => {
    const project = await withFeature();
    await expectError(project, 'session end', '3 session.none');
    await forgeJson(project, ['session', 'start']);
    const before = snapshot(project.dir);
    for (const flags of [
      ['--learned', ''],
      ['--failed', '\u001b[2J'],
      ['--next', ' '],
    ])
      expect((await forgeError(project, ['session', 'end', ...flags])).exitCode).toBe(2);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});

describe('past sessions', () => {
  it('SES-08 are listed newest first and shown; status says what runs', async () => {
    const project = await withFeature();
    const world = { ...fixedClock(), holder: agent('ada') };
    for (const next of ['one', 'two', 'three']) {
      await forgeJson(project, ['session', 'start', '--task', `goal ${next}`], { world });
      await forgeJson(
        project,
        ['session', 'end', '--no-commit', '--next', next, '--learned', `learned ${next}`],
        { world },
      );
    }
    await forgeJson(project, ['session', 'start', '--task', 'now'], { world });
    await forgeJson(project, ['progress', 'add', 'swept the floor'], { world });
    const { active, sessions } = await forgeJson<SessionOverview>(project, 'session list', { world });
    expect(active).toMatchObject({
      id: '2026-03-01-session-004',
      holder: 'you',
      task: 'now',
      status: 'running',
    });
    expect(sessions).toMatchObject([
      { id: '2026-03-01-session-003', status: 'ended', next: 'three' },
      { id: '2026-03-01-session-002', status: 'ended', next: 'two' },
      { id: '2026-03-01-session-001', status: 'ended', next: 'one' },
    ]);
    const limited = await runForge(project, ['session', 'list', '--limit', '2'], { world });
    expect(limited.stdout).toMatch(/session-003.*session-002/s);
    expect(limited.stdout).not.toContain('session-001 ');
    expect(limited.stdout).toMatch(/older ones: --limit N/);

    const shown = await forgeJson<{ session: object; focus: object; progress: { lines: object[] } }>(
      project,
      'session show 2026-03-01-session-002',
    );
    expect(shown.session).toMatchObject({
      id: '2026-03-01-session-002',
      learned: ['learned two'],
      goal: 'goal two',
      next: 'two',
    });
    expect(shown.progress.lines.at(-1)).toEqual({ time: '10:00', text: 'Session ending' });
    const { stdout } = await runForge(project, ['session', 'show', '2026-03-01-session-002']);
    expect(stdout).toMatch(/task: goal two\n[\s\S]*learned: learned two\nNEXT: two\n$/);
    for (const short of ['2', '002'])
      expect((await runForge(project, ['session', 'show', short])).stdout).toBe(stdout);
    const latest = (await runForge(project, ['session', 'show', 'latest'], { world })).stdout;
    for (const text of ['2026-03-01-session-004  running', 'task: now', 'swept the floor'])
      expect(latest).toContain(text);
    const status = await runForge(project, ['session', 'status'], { world });
    expect(status.stdout).toBe(
      'running  2026-03-01-session-004  since 2026-03-01 10:00 UTC\nholder: you\ntask: now\n',
    );
    const list = await runForge(project, ['session', 'list'], { world });
    expect(list.stdout).toMatch(/2026-03-01-session-002 +ended +2026-03-01 10:00 +goal two +next: two\n/);
    expect(await forgeError(project, ['session', 'show', '2026-03-01-session-009'])).toMatchObject({
      exitCode: 2,
      hint: 'forge session list',
    });
  });

  it('SES-08 discard ends the running one without a commit and keeps its archive', async () => {
    const project = await withFeature();
    const world = fixedClock();
    await forgeJson(project, ['session', 'start'], { world });
    await forgeJson(project, ['progress', 'add', 'not wanted'], { world });
    const head = project.git('rev-parse', 'HEAD');
    const before = snapshot(project.dir);
    expect((await runForge(project, ['session', 'discard', '-n'], { world })).exitCode).toBe(0);
    // Only a whole name means it.
    for (const part of ['2026', '2026-03-01', '2026-03-01-session', '2026-03-01-session-00'])
      expect([part, (await forgeError(project, ['session', 'discard', part], { world })).exitCode]).toEqual([
        part,
        2,
      ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    await forgeJson(project, ['session', 'discard', '2026-03-01-session-001'], { world });
    const { sessions } = await forgeJson<{ sessions: unknown[] }>(project, ['session', 'list']);
    expect(sessions).toMatchObject([{ id: '2026-03-01-session-001', status: 'discarded' }]);
    expect((await runForge(project, 'session show 2026-03-01-session-001')).stdout).toContain('not wanted');
    expect(project.git('rev-parse', 'HEAD')).toBe(head);
    await expectError(project, 'session discard', '3 session.none');
  });

  it('SES-06 B-12 does not end with damaged features, and keeps the session', async () => {
    const project = await makeStarted();
    project.write(FEATURES, '{');
    const refused = await forgeError(project, ['session', 'end', '--next', 'x']);
    expect(refused).toMatchObject({ exitCode: 4, file: FEATURES });
    rmSync(project.path(FEATURES));
    await forgeJson(project, ['session', 'end', '--next', 'x']);
  });

  it('SES-06 after hundreds of files, a removed feature stays removed, and a new one is no foreign edit', async () => {
    const project = await withFeature();
    // As long as the names of many files.
    project.write('.git/forge/written.json', `{"${'x'.repeat(65_480)}":""}\n`);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['feature', 'remove', 'FORGE-001', '--yes']);
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'Logout works']);
    expect((await runForge(project, 'doctor')).stdout).not.toContain('edited outside forge');
    const { stderr } = await runForge(project, ['session', 'end']);
    expect(stderr).toBe('');
    const { features } = await forgeJson<{ features: { id: string }[] }>(project, 'feature list');
    expect(features.map(({ id }) => id)).toEqual(['FORGE-002']);
  });

  it('SES-14 SES-06 an empty session leaves no archive and no commit', async () => {
    const project = await makeForge();
    const head = project.git('rev-parse', 'HEAD');
    await forgeJson(project, ['session', 'start']);
    const ended = await forgeJson<Ended>(project, ['session', 'end']);
    expect([ended.archive, ended.commit]).toEqual([null, undefined]);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'discard']);
    expect(project.git('rev-parse', 'HEAD')).toBe(head);
    expect(changedPaths(project)).toEqual([]);
    expect((await forgeJson<{ sessions: object[] }>(project, ['session', 'list'])).sessions).toEqual([]);
  });

  it('LTM-21 after git rm of a file of the ledger it prints a command that brings the records back', async () => {
    const project = await makeStarted();
    await forgeJson(project, 'note add kept');
    await forgeJson(project, 'session end');
    await forgeJson(project, 'session start');
    project.git('rm', '-q', ...containersOf(project));
    const { exitCode, stderr } = await runForge(project, ['end', '--next', 'x']);
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/^! commit \w{7} \(.*\) removed 1 record; .*: forge memory repair\n$/),
    ]);
    await repair(project);
    expect((await runForge(project, 'note list')).stdout).toContain('kept');
  });

  it('SES-14 SES-06 an empty session says that nothing of it is kept, and commits what else was changed', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['config', 'set', 'kfr.tokens', '900']);
    const { stdout } = await runForge(project, ['session', 'end']);
    expect(stdout).toMatch(
      /^✓ Session \S+ ended\. Nothing was done in it, so nothing of it is kept\n {2}commit /,
    );
    expect(project.git('log', '-1', '--format=%s')).toBe('[FORGE] Save memory');
    const { sections } = await forgeJson<Briefing>(project, 'briefing');
    expect(JSON.stringify(sections)).not.toContain('Save memory');
  });

  it('SES-08 shows times to people as in the rest of the output', async () => {
    const project = await makeForge();
    const world = fixedClock();
    await forgeJson(project, ['session', 'start'], { world });
    await forgeJson(project, ['log', 'x'], { world });
    const running = project.json(SESSION) as object;
    const parked = { at: '2026-03-01T10:05:32.428Z', agent: 'claude-1' };
    project.write(SESSION, JSON.stringify({ ...running, parked }));
    for (const command of ['where', 'session list', 'session status']) {
      const { stdout } = await runForge(project, command, { world });
      expect(stdout).toContain(' ended at 2026-03-01 10:05');
      expect(stdout).not.toContain('32.428Z');
    }
    project.write(SESSION, JSON.stringify(running));
    await forgeJson(project, ['session', 'end'], { world });
    const { stdout } = await runForge(project, ['session', 'show', '1']);
    expect(stdout).toMatch(/^2026-03-01-session-001 {2}ended {2}2026-03-01 10:00 – 2026-03-01 10:00\n/);
  });

  it('SES-09 an agent that writes into the session of another agent is warned, and cannot end it; a person can', async () => {
    const project = await makeForge();
    await forgeJson(project, 'session start', { world: { holder: agent('ada'), liveness: () => 'alive' } });
    const bob = { holder: agent('bob'), liveness: () => 'alive' as const, isBelow: () => false };
    const gone = { ...bob, isAgent: true, liveness: () => 'gone' as const };
    expect((await runForge(project, ['log', 'w'], { world: gone })).stderr).toMatch(
      /^! Session \S+ belongs to another agent: process \d+ is gone\. What you write here goes into it\.\n$/,
    );
    const write = async (isAgent: boolean) => {
      const lines: string[] = [];
      for (const command of [
        ['log', 'x'],
        ['progress', 'next', 'y'],
        ['kfr', 'patch', '--goal', isAgent ? 'z' : 'Z'],
      ])
        lines.push((await runForge(project, command, { world: { ...bob, isAgent } })).stderr);
      return lines;
    };
    for (const line of await write(true))
      expect(line).toMatch(
        /^! Session \S+ belongs to another agent: process \d+ is running\. What you write here goes into it\.\n$/,
      );
    expect(await write(false)).toEqual(['', '', '']);
    await expectError(project, ['session', 'end'], '3 session.held', { world: bob });
    await forgeJson(project, ['session', 'end'], { world: bob, terminal: true });
  });
});
