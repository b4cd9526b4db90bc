import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { EndedSession } from '../../src/index.js';
import { ada, at, bob, start } from '../support/agents.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { FOCUS, makeForge, SESSION, SESSIONS } from '../support/forge-project.js';
import { makeInterrupted } from '../support/gates.js';
import { add, clear, KFR, list, makeWorking, OPEN, patch, textsOf } from '../support/kfrs.js';

describe('the resolution gate', () => {
  it('KFR-09 SES-07 clearing opens the gate immediately and does not count as activity of the former holder', async () => {
    const { project, id } = await makeInterrupted();
    await forgeJson(project, 'kfr clear --yes --dismiss-all "given up"', { world: at(bob, 30, 'gone') });
    const next = await start(project, at(bob, 30.5, 'gone'));
    expect(next.session.id).not.toBe(id);
    expect((await list(project)).entries).toEqual([]);
  });

  it('KFR-09 an archived interrupted session cannot be discarded or abandoned until it was resumed', async () => {
    const { project, id } = await makeInterrupted();
    await start(project, at(bob, 30, 'gone'), '--resume', id);
    const stored = project.json<{ id: string }>(SESSION);
    // As a crash between archiving and starting would leave it: the archive is there, nobody runs.
    const file = `${SESSIONS}/${readdirSync(project.path(SESSIONS)).find((name) => name.startsWith(id))}`;
    const { resumed_by, ...rest } = project.json<{ resumed_by: string; id: string }>(file);
    expect(resumed_by).toBe(stored.id);
    project.write(file, JSON.stringify(rest));
    for (const path of [SESSION, KFR, OPEN]) rmSync(project.path(path));
    project.write('.forge/memory/short-term/progress.txt', '');
    for (const words of [['discard', id], ['start']])
      expect(await forgeError(project, ['session', ...words], { world: at(bob, 31) })).toMatchObject({
        exitCode: 3,
        code: 'gate.closed',
        hint: expect.stringContaining(`--resume ${id}`),
      });
    await start(project, at(bob, 31), '--resume', 'latest');
    expect(textsOf(await list(project))).toEqual(['kfr-1 which cookie?', 'kfr-2 logout works']);
    expect((await runForge(project, ['session', 'discard', id])).exitCode).toBe(0);
  });

  it('KFR-09 B-12 a session with a missing record leaves its questions to --resume latest', async () => {
    const { project } = await makeInterrupted();
    await forgeJson(project, ['progress', 'add', 'half of it'], { world: at(ada, 1) });
    rmSync(project.path(SESSION));
    const error = await forgeError(project, ['session', 'start'], { world: at(bob, 2) });
    expect(error).toMatchObject({
      exitCode: 3,
      code: 'gate.closed',
      hint: expect.stringContaining('--resume latest'),
    });
    await start(project, at(bob, 2), '--resume', 'latest');
    expect(textsOf(await list(project))).toEqual(['kfr-1 which cookie?', 'kfr-2 logout works']);
  });

  it('KFR-13 resuming another session keeps the working memory of the running one', async () => {
    const { project, id } = await makeInterrupted();
    await clear(project, '--yes', '--dismiss-all', 'given up');
    await start(project, at(bob, 30, 'gone'));
    await patch(project, [add('Goal', 'other')], { world: at(bob, 30) });
    expect(
      await forgeError(project, ['session', 'start', '--resume', id], { world: at(bob, 31) }),
    ).toMatchObject({ exitCode: 3, code: 'session.running' });
  });
});

describe('working memory and sessions', () => {
  it('KFR-14 B-21 no entry expires if the focus cannot be written', async () => {
    const project = await makeWorking('--task', 'logout');
    await patch(project, [add('Goal', 'g')]);
    const before = project.read(FOCUS);
    let count = 0;
    const now = (): Date => {
      project.write(FOCUS, before.replace('logout', `logout ${++count}`));
      return new Date();
    };
    expect(
      await forgeError(project, ['focus', 'set', '--task', 'another'], { world: { now } }),
    ).toMatchObject({ exitCode: 3, code: 'file.changed' });
    expect(textsOf(await list(project))).toEqual(['kfr-1 g']);
  });

  it('KFR-13 a session without working memory leaves no file', async () => {
    const project = await makeWorking();
    expect(project.has(KFR)).toBe(false);
    const { archive } = await forgeJson<EndedSession>(project, 'session end --next x --no-commit');
    expect(project.json(archive as string)).not.toHaveProperty('kfr');
  });

  it('KFR-13 SES-07 offers an interrupted session without open questions with its working memory', async () => {
    const project = await makeForge();
    const { session } = await start(project, at(ada, 0));
    await patch(project, [add('Goal', 'g')], { world: at(ada, 0) });
    const next = await start(project, at(bob, 30, 'gone'));
    expect(next.warnings.join()).toContain(`Pick it up with: forge start --resume ${session.id}`);
    expect((await list(project)).entries).toEqual([]);
    await start(project, at(bob, 31), '--resume', session.id);
    expect(textsOf(await list(project))).toEqual(['kfr-1 g']);
  });
});
