import { describe, expect, it } from 'vitest';
import { openForge, type StartedSession } from '../../src/index.js';
import { expectError, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FOCUS,
  KNOWLEDGE,
  makeForge,
  PROGRESS,
  SESSION,
  SESSIONS,
  snapshot,
} from '../support/forge-project.js';
import { withFeature } from '../support/session-ends.js';

describe('forge start', () => {
  it('SES-01 reads memory and git, chooses the task, opens the log and prints the briefing', async () => {
    const project = await withFeature();
    project.write(
      '.forge/linear/active.json',
      '{"schema_version":"1.0","issues":[{"linear_id":"SX9-1","title":"Issue"}]}',
    );
    await forgeJson(project, ['feature', 'edit', 'FORGE-001', '--issue', 'SX9-1']);
    const world = fixedClock();
    const started = await forgeJson<StartedSession>(project, ['session', 'start'], { world });
    expect(started.session).toEqual({
      id: '2026-03-01-session-001',
      started_at: '2026-03-01T10:00:00.000Z',
      branch: 'main',
      head: project.git('rev-parse', 'HEAD'),
      state: 'started',
    });
    expect(project.read(PROGRESS)).toBe(
      '=== FORGE Session 2026-03-01 ===\n(times in UTC)\n\n[10:00] Started - branch: main\n[10:00] Active issues: 1\n',
    );
    expect(project.json(FOCUS)).toMatchObject({
      task: 'FORGE-001: Login works',
      linear_issue: 'SX9-1',
      phase: 'PLAN',
    });
    expect(started.focus).toEqual(project.json(FOCUS));
    expect(started.integrity.status).toBe('intact');
    for (const word of [
      'Task: FORGE-001: Login works',
      'Plan',
      'SX9-1 Issue',
      '1 feature: 1 not_implemented',
    ])
      expect(started.briefing.text).toContain(word);
  });

  it('SES-01 prints the id and the briefing for a person, in the format asked for', async () => {
    const project = await withFeature();
    const { stdout, exitCode } = await runForge(project, 'session start --format markdown', {
      world: fixedClock(),
    });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^✓ Session 2026-03-01-session-001 started\n\n# FORGE briefing, 2026-03-01-session-001\n\n[\s\S]*?\n--- data [0-9a-f]{12} ---\n\n## Focus\n/,
    );
    expect(await forgeError(project, ['session', 'start', '--format', 'pdf'])).toMatchObject({
      exitCode: 2,
      field: 'format',
    });
  });

  it('SES-01 names the command that finishes the task, which differs for a feature and an issue', async () => {
    const project = await withFeature();
    const next = async (...task: string[]): Promise<string> => {
      const { stdout } = await runForge(project, ['session', 'start', ...task], { terminal: true });
      await runForge(project, ['session', 'discard']);
      return /^Next:\n[\s\S]*/m.exec(stdout)?.[0] ?? '';
    };
    expect(await next('FORGE-001')).toContain('  forge done FORGE-001\n');
    await forgeJson(project, ['linear', 'new', 'Wire the logout']);
    expect(await next('LOCAL-7943')).toContain('  forge linear done LOCAL-7943\n');
    // Nothing finishes a text that begins like an id, or a feature without tests.
    await forgeJson(project, ['feature', 'add', 'UNTESTED', 'No tests']);
    expect(await next('--task', 'fix: the form')).not.toMatch(/ done /);
    expect(await next('UNTESTED')).not.toMatch(/ done /);
  });

  it('SES-01 --task is the task; a focus that was set before is kept', async () => {
    const goal = await withFeature();
    await forgeJson(goal, ['session', 'start', '--task', 'Tidy up']);
    expect(goal.json(FOCUS)).toMatchObject({ task: 'Tidy up' });
    const standing = await withFeature();
    await forgeJson(standing, ['focus', 'set', '--task', 'My own', '--file', 'a.js']);
    await forgeJson(standing, ['session', 'start']);
    expect(standing.json(FOCUS)).toMatchObject({ task: 'My own', files: ['a.js'] });
  });

  it('SES-01 accepts the id of a feature or an issue, in any case, and no other', async () => {
    const project = await withFeature();
    const issues = [{ linear_id: 'SX9-1', title: 'Issue' }];
    project.write('.forge/linear/active.json', JSON.stringify({ schema_version: '1.0', issues }));
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'Logout']);
    for (const args of [['FORGE-9'], ['FORGE-002', '--task', 'x']])
      await expectError(project, ['session', 'start', ...args], '2');
    expect(project.has(SESSION)).toBe(false);
    const { focus } = await forgeJson<StartedSession>(project, ['session', 'start', 'forge-002']);
    expect(focus.task).toBe('FORGE-002: Logout');
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:which cookie?']);
    const { stderr } = await runForge(project, ['session', 'start', 'sx9-1']);
    expect(stderr).toMatch(/its task: kfr-1 .* settled first \(forge kfr list\)/);
    expect(project.json(FOCUS)).toMatchObject({ task: 'FORGE-002: Logout' });
    await forgeJson(project, ['kfr', 'patch', '--resolve', 'kfr-1=sid']);
    await forgeJson(project, ['session', 'start', 'sx9-1']);
    expect(project.json(FOCUS)).toMatchObject({ task: 'SX9-1: Issue', linear_issue: 'SX9-1' });
    const { stdout } = await runForge(project, ['session', 'end', '--no-commit', '--next', 'wire it']);
    expect(stdout).toMatch(/^ {2}next {5}wire it$/m);
    expect((await runForge(project, [])).stdout).toMatch(/^NEXT +wire it$/m);
    await forgeJson(project, ['focus', 'clear']);
    await forgeJson(project, ['session', 'start', 'SX9-1']);
    expect(project.json(FOCUS)).toMatchObject({ task: 'SX9-1: Issue', linear_issue: 'SX9-1' });
  });

  it('SES-07 a resumed session turns to the task that was named, unless a question is open', async () => {
    const project = await withFeature();
    const interrupt = async (): Promise<void> => {
      await forgeJson(project, ['log', 'x']);
      const parked = { at: '2026-03-01T10:00:00.000Z', agent: 'claude-1' };
      project.write(SESSION, JSON.stringify({ ...(project.json(SESSION) as object), parked }));
    };
    const resume = ['session', 'start', '--resume', 'latest', '--task'];
    await forgeJson(project, ['session', 'start']);
    await interrupt();
    const { session, focus } = await forgeJson<StartedSession>(project, [...resume, 'Tidy up']);
    expect([session.state, focus.task]).toEqual(['started', 'Tidy up']);
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:which cookie?']);
    await interrupt();
    const { stderr } = await runForge(project, [...resume, 'Rest']);
    expect(stderr).toMatch(/goes on with its task: kfr-1 .* settled first \(forge kfr list\)/);
    expect(project.json(FOCUS)).toMatchObject({ task: 'Tidy up' });
  });

  it('SES-01 damaged memory stops it with exit 4, and nothing is started', async () => {
    const project = await withFeature();
    // So that what the start remembers of the ledgers is there already.
    await forgeJson(project, ['memory', 'verify']);
    project.write(KNOWLEDGE, '{"schema_version":"1.0",');
    const before = snapshot(project.dir);
    expect(await forgeError(project, ['session', 'start'])).toMatchObject({ exitCode: 4, file: KNOWLEDGE });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('SES-02 ids count by UTC day, are stored with a suffix and shown without', async () => {
    const project = await withFeature();
    const world = fixedClock('2026-03-01T23:59:00.000Z');
    const ids: string[] = [];
    for (const at of ['2026-03-01T23:59:00.000Z', '2026-03-01T23:59:30.000Z', '2026-03-02T00:00:30.000Z']) {
      world.set(at);
      ids.push((await forgeJson<StartedSession>(project, ['session', 'start'], { world })).session.id);
      expect(project.json<{ id: string }>(SESSION).id).toMatch(new RegExp(`^${ids.at(-1)}-[0-9a-f]{6}$`));
      await forgeJson(project, ['session', 'end', '--next', 'x', '--no-commit'], { world });
    }
    expect(ids).toEqual(['2026-03-01-session-001', '2026-03-01-session-002', '2026-03-02-session-001']);
    const archived = snapshot(project.path(SESSIONS));
    expect(Object.keys(archived).filter((path) => /^[^/]*-[0-9a-f]{6}\.json$/.test(path))).toHaveLength(3);
  });

  it('SES-03 accepts the limits of the briefing only', async () => {
    const { dir } = await makeForge();
    const error = await openForge(dir)
      .session.start({ budget: -5 })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'usage', details: { field: 'budget' } });
  });

  it('SES-02 --dry-run issues no id and writes nothing, not even in the git dir', async () => {
    const project = await withFeature();
    const world = fixedClock();
    const before = snapshot(project.dir);
    const { stderr, stdout, exitCode } = await runForge(project, ['session', 'start', '-n'], { world });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2026-03-01-session-001 started')]);
    expect(stderr).toMatch(
      /nothing was written. 3 files would change: .*progress\.txt.*focus\.json.*session\.json\n$/,
    );
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    expect((await forgeJson<StartedSession>(project, ['session', 'start'], { world })).session.id).toBe(
      '2026-03-01-session-001',
    );
  });
});
