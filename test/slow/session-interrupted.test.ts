import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ada, at, bob, type Started, start } from '../support/agents.js';
import { agent, forgeError, forgeJson, runForge } from '../support/forge.js';
import { FOCUS, makeForge, PROGRESS, SESSION, SESSIONS, snapshot } from '../support/forge-project.js';

/** Ada's session with work in it, and with what comes next. */
async function makeHalfDone(...args: string[]) {
  const project = await makeForge();
  const { session } = await start(project, at(ada, 0), ...args);
  await forgeJson(project, ['progress', 'add', 'half of it'], { world: at(ada, 1) });
  await forgeJson(project, ['progress', 'next', 'the other half'], { world: at(ada, 1) });
  return { project, session };
}

describe('an abandoned session', () => {
  it('SES-07 is interrupted as soon as its holder has exited', async () => {
    const { project, session } = await makeHalfDone('--task', 'The work');
    const text = project.read(PROGRESS);
    // Being refused keeps no session alive.
    for (const minute of [6, 14.9])
      expect(await forgeError(project, ['session', 'start'], { world: at(bob, minute) })).toMatchObject({
        exitCode: 3,
        message: expect.stringMatching(/is running/),
      });
    const next = await start(project, at(bob, 14.9, 'gone'));
    expect(next.session.id).toBe('2026-03-01-session-002');
    expect(next.warnings.join()).toMatch(`forge start --resume ${session.id}`);
    const [folder = ''] = Object.keys(snapshot(project.path(SESSIONS))).filter((path) =>
      path.startsWith(session.id),
    );
    const archive = project.json<{ progress: string[] }>(`${SESSIONS}/${folder}`);
    expect(archive.progress.join('\n')).toBe(text);
    expect(archive).toMatchObject({
      status: 'interrupted',
      ended_at: null,
    });
  });

  it('SES-14 SES-07 leaves no archive and no offer if nothing was done in it', async () => {
    const project = await makeForge();
    await start(project, at(ada, 0));
    const next = await start(project, at(bob, 15, 'gone'));
    expect([next.session.id, next.warnings]).toEqual(['2026-03-01-session-002', []]);
    expect(readdirSync(project.path(SESSIONS)).filter((name) => name[0] !== '.')).toEqual([]);
  });

  it('SES-07 without its record: the work is kept, and no other session takes it over', async () => {
    const { project } = await makeHalfDone();
    const text = project.read(PROGRESS);
    rmSync(project.path(SESSION));
    const next = await start(project, at(bob, 20));
    const [folder = '', ...others] = readdirSync(project.path(SESSIONS)).filter((name) => name[0] !== '.');
    expect(others).toEqual([]);
    expect(next.warnings.join()).toContain(
      `Progress without a session was found; it is kept as ${folder.slice(0, -5)}.`,
    );
    const archive = project.json<{ progress: string[] }>(`${SESSIONS}/${folder}`);
    expect(archive.progress.join('\n')).toBe(text);
    expect(archive).toMatchObject({
      id: folder.slice(0, -5),
      status: 'interrupted',
      started_at: expect.any(String),
      ended_at: null,
      next: 'the other half',
    });
    expect(project.read(PROGRESS)).not.toContain('half');
  });

  it('SES-07 at once after a restart, and on another host only after an hour', async () => {
    const { project } = await makeHalfDone();
    const rebooted = at(agent('bob', { boot: 'other' }), 1, 'gone');
    expect((await start(project, rebooted)).warnings.join()).toContain('is gone');
    const far = await makeForge();
    await start(far, at(agent('far', { host: 'elsewhere' }), 0));
    for (const minute of [30, 59])
      expect(
        (await forgeError(far, ['session', 'start'], { world: at(bob, minute, 'unknown') })).message,
      ).toContain('elsewhere');
    expect((await start(far, at(bob, 60, 'unknown'))).session.id).toBe('2026-03-01-session-002');
  });

  it('SES-07 --resume picks up its task and next step, once', async () => {
    const { project, session } = await makeHalfDone('--task', 'The work');
    await forgeJson(project, ['focus', 'set', '--file', 'a.js', '--phase', 'BUILD'], { world: at(ada, 1) });
    expect(await forgeError(project, 'session start --resume latest', { world: at(ada, 3) })).toMatchObject({
      exitCode: 3,
      code: 'session.running',
    });
    const resumed = await start(project, at(bob, 30, 'gone'), '--resume', 'latest');
    expect(resumed.session).toMatchObject({ id: '2026-03-01-session-002', resumed_from: session.id });
    expect(project.json(FOCUS)).toMatchObject({ task: 'The work', files: ['a.js'], phase: 'BUILD' });
    expect(project.read(PROGRESS)).toMatch(
      /\] half of it\n\[10:30\] Resumed 2026-03-01-session-001\n\nNEXT: the other half\n$/,
    );
    const { sessions } = await forgeJson<{ sessions: object[] }>(project, ['session', 'list']);
    expect(sessions).toMatchObject([
      { id: session.id, status: 'interrupted', resumed_by: resumed.session.id },
    ]);
    expect((await runForge(project, ['session', 'list'])).stdout).toMatch(/-session-001 +resumed /);
    await forgeJson(project, ['session', 'end', '--no-commit'], { world: at(bob, 31) });
    for (const [id, code] of [
      ['latest', 'session.none_to_resume'],
      ['2026-03-01-session-002', 'session.not_interrupted'],
      [session.id, 'session.not_interrupted'],
    ])
      expect(
        await forgeError(project, ['session', 'start', '--resume', id as string], { world: at(bob, 32) }),
      ).toMatchObject({
        exitCode: 2,
        code,
      });
  });

  it('SES-07 a discarded one is no longer offered', async () => {
    const { project, session } = await makeHalfDone();
    await start(project, at(bob, 30, 'gone'));
    await forgeJson(project, ['session', 'end', '--no-commit'], { world: at(bob, 31) });
    const offer = `forge start --resume ${session.id}`;
    expect((await forgeJson<{ next: string[] }>(project, [])).next).toContain(offer);
    await forgeJson(project, ['session', 'discard', session.id]);
    expect((await forgeJson<{ next: string[] }>(project, [])).next).not.toContain(offer);
    expect((await runForge(project, ['session', 'show', session.id])).stdout).toContain('discarded');
  });

  it('SES-02 distinguishes two sessions of clones with the same name by their suffix', async () => {
    const project = await makeForge();
    const { session } = await start(project, at(ada, 0));
    await forgeJson(project, ['session', 'end', '--next', 'x', '--no-commit'], { world: at(ada, 1) });
    const [file = ''] = Object.keys(snapshot(project.path(SESSIONS))).filter((path) =>
      path.startsWith(session.id),
    );
    const own = file.slice(0, -'.json'.length);
    const twin = `${session.id}-abc123`;
    project.write(`${SESSIONS}/${twin}.json`, project.read(`${SESSIONS}/${file}`).replace(own, twin));
    const { sessions } = await forgeJson<{ sessions: { id: string }[] }>(project, ['session', 'list']);
    expect(sessions.map(({ id }) => id).sort()).toEqual([own, twin].sort());
    expect(await forgeError(project, ['session', 'show', session.id])).toMatchObject({
      exitCode: 2,
      code: 'session.unknown',
    });
    expect((await forgeJson<Started>(project, ['session', 'show', twin])).session.id).toBe(twin);
    expect((await start(project, at(ada, 2))).session.id).toBe('2026-03-01-session-002');
  });
});
