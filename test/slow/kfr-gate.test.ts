import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ada, at, bob, start } from '../support/agents.js';
import { expectError, forgeError, forgeJson } from '../support/forge.js';
import { FOCUS, KNOWLEDGE, SESSION, SESSIONS } from '../support/forge-project.js';
import { makeInterrupted } from '../support/gates.js';
import { add, ask, clear, KFR, list, makeWorking, OPEN, patch, textsOf } from '../support/kfrs.js';

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
    await expectError(project, ['session', 'discard', id], '2 session.not_interrupted');
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
    await expectError(project, ['session', 'start', '--resume', id], '3 session.running', {
      world: at(bob, 31),
    });
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
    await expectError(project, ['focus', 'set', '--task', 'another'], '3 file.changed', { world: { now } });
    expect(textsOf(await list(project))).toEqual(['kfr-1 g']);
  });
});

describe('working memory whose file is lost', () => {
  it('SES-13 KFR-09 the next command names what is open, and a start takes it along', async () => {
    const project = await makeWorking('--task', 'logout');
    await ask(project);
    await patch(project, [add('Constraint', 'no new dependency')]);
    project.git('clean', '-fdxq');
    expect(await forgeError(project, ['progress', 'add', 'x'])).toMatchObject({
      message: expect.stringMatching(/are gone; still open: kfr-1 "which cookie\?"\.$/),
      hint: 'forge start --resume latest',
    });
    await expectError(project, 'session start', '3 gate.closed');
    await forgeJson(project, ['session', 'start', '--resume', 'latest']);
    expect(textsOf(await list(project))).toEqual(['kfr-1 which cookie?']);
    expect(project.has(KNOWLEDGE)).toBe(true);
  });

  it('SES-13 KFR-09 if only the file is lost, the gate stays closed', async () => {
    const project = await makeWorking();
    await ask(project);
    await ask(project, 'which port?');
    await patch(project, [{ op: 'dismiss', id: 'kfr-1', reason: 'no such route' }]);
    project.git('clean', '-fdxq', '.forge/local');
    expect(textsOf(await list(project))).toEqual(['kfr-2 which port?']);
    await expectError(project, ['session', 'end', '--no-commit'], '3 gate.closed');
    await patch(project, [{ op: 'resolve', id: 'kfr-2', resolution: '8080' }]);
    await forgeJson(project, ['session', 'end', '--no-commit']);
  });
});

describe('a session from a clone', () => {
  it('SES-13 is resumed as data: its entries are shown, to be taken over one by one', async () => {
    const project = await makeWorking('--task', 'logout');
    await patch(project, [add('OpenQuestion', 'which cookie?'), add('Constraint', 'no new dependency')]);
    await forgeJson(project, ['progress', 'add', 'half of it']);
    const archive = {
      schema_version: '1.0',
      id: '2026-01-01-session-001-abcdef',
      seq: 0,
      started_at: '2026-01-01T10:00:00.000Z',
      branch: 'main',
      head: null,
      status: 'interrupted',
      ended_at: null,
      learned: [],
      next: 'wire it',
      progress: ['=== FORGE Session 2026-01-01 ===', '', '[10:00] began', ''],
      kfr: { ...project.json(KFR), session: '2026-01-01-session-001-abcdef' },
    };
    await forgeJson(project, ['kfr', 'clear', '--yes', '--dismiss-all', 'done']);
    await forgeJson(project, ['session', 'end', '--no-commit']);
    project.write(`${SESSIONS}/${archive.id}.json`, JSON.stringify(archive));
    const { briefing } = await forgeJson<{
      briefing: { text: string; sections: { key: string; items: string[] }[] };
    }>(project, 'session start --resume 2026-01-01-session-001');
    expect((await list(project)).entries).toEqual([]);
    const offered = briefing.sections.find(({ key }) => key === 'offered');
    expect(offered?.items).toEqual(['OpenQuestion: which cookie?', 'Constraint: no new dependency']);
    expect(briefing.text).not.toContain('Known Facts Registry');
    expect(textsOf(await patch(project, [add('OpenQuestion', 'which cookie?')]))).toEqual([
      'kfr-1 which cookie?',
    ]);
    const again = await forgeJson<{ sections: { key: string; items: string[] }[] }>(project, ['briefing']);
    expect(again.sections.find(({ key }) => key === 'offered')?.items).toEqual([
      'Constraint: no new dependency',
    ]);
    expect(
      readdirSync(project.path(SESSIONS)).filter((name) => name.endsWith('.json')).length,
    ).toBeGreaterThan(1);
  });
});
