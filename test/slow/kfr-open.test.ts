import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson } from '../support/forge.js';
import { KNOWLEDGE, SESSIONS } from '../support/forge-project.js';
import { add, ask, KFR, list, makeWorking, patch, textsOf } from '../support/kfrs.js';

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
    expect(await forgeError(project, ['session', 'start'])).toMatchObject({
      exitCode: 3,
      code: 'gate.closed',
    });
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
    expect(await forgeError(project, ['session', 'end', '--no-commit'])).toMatchObject({
      exitCode: 3,
      code: 'gate.closed',
    });
    await patch(project, [{ op: 'resolve', id: 'kfr-2', resolution: '8080' }]);
    await forgeJson(project, ['session', 'end', '--no-commit']);
  });
});

describe('a session from a clone', () => {
  it('SES-13 is resumed as data: its entries are shown, to be taken over one by one', async () => {
    const project = await makeWorking('--task', 'logout');
    await patch(project, [add('OpenQuestion', 'which cookie?'), add('Constraint', 'no new dependency')]);
    await forgeJson(project, ['progress', 'add', 'half of it']);
    await forgeJson(project, 'session start --take-over --resume latest', {
      world: { liveness: () => 'gone' },
    }).catch(() => undefined);
    const stored = project.json<{ id: string }>('.forge/memory/short-term/session.json').id;
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
    expect(stored).not.toBe(archive.id);
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
