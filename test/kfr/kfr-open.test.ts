import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { add, ask, KFR, list, makeWorking, patch, textsOf } from '../support/kfrs.js';
import type { Project } from '../support/project.js';

const END = ['session', 'end', '--no-commit'];
const SHORT_TERM = '.forge/memory/short-term';
const rewrite = (project: Project, from: string, to: string): void =>
  project.write(KFR, project.read(KFR).replace(from, to));

describe('a question whose entry was taken out of kfr.json by something else than forge', () => {
  it.each<[string, (project: Project) => void]>([
    ['the file is deleted', (project) => rmSync(project.path(KFR))],
    ['it is emptied', (project) => project.write(KFR, project.read(KFR).replace(/\{\s*"id"[^}]*\}/, ''))],
    [
      'it becomes what needs no answer',
      (project) => {
        rewrite(project, '"OpenQuestion"', '"Constraint"');
        rewrite(project, '"requires_resolution": true', '"requires_resolution": false');
      },
    ],
    ['the file names another session', (project) => rewrite(project, '"session": "', '"session": "no-')],
  ])('KFR-09 KFR-08 stays open, and can be settled: %s', async (_, change) => {
    const project = await makeWorking();
    await ask(project);
    change(project);
    for (const words of [END, ['session', 'discard'], ['kfr', 'clear', '--yes']])
      expect(await forgeError(project, words)).toMatchObject({ exitCode: 3, code: 'kfr.gate' });
    expect(textsOf(await list(project))).toEqual(['kfr-1 which cookie?']);
    const { entries } = await patch(project, [
      { op: 'resolve', id: 'kfr-1', resolution: 'sid' },
      add('Goal', 'g'),
    ]);
    expect(entries).toMatchObject([{ id: 'kfr-2' }]);
    expect((await runForge(project, END)).exitCode).toBe(0);
  });

  it('KFR-09 KFR-02 a goal that another was put in the place of is back, and the file can still be read', async () => {
    const project = await makeWorking();
    await patch(project, [{ ...add('Goal', 'ship it'), requires_resolution: true }]);
    rewrite(project, 'kfr-1', 'kfr-2');
    rewrite(project, 'ship it', 'rest');
    rewrite(project, '"requires_resolution": true', '"requires_resolution": false');
    await patch(project, [add('Constraint', 'no more')]);
    expect(textsOf(await list(project))).toEqual(['kfr-1 ship it', 'kfr-3 no more']);
    expect(await forgeError(project, END)).toMatchObject({ exitCode: 3, code: 'kfr.gate' });
  });

  it('KFR-09 SES-07 no new session begins over one that was cleaned away, and --resume takes it along', async () => {
    const project = await makeWorking('--goal', 'logout');
    await ask(project);
    rmSync(project.path(SHORT_TERM), { recursive: true });
    expect(await forgeError(project, ['session', 'start'])).toMatchObject({ exitCode: 3, code: 'kfr.gate' });
    await forgeJson(project, ['session', 'start', '--resume', 'latest']);
    expect(textsOf(await list(project))).toEqual(['kfr-1 which cookie?']);
    rmSync(project.path(KFR));
    expect(await forgeError(project, END)).toMatchObject({ code: 'kfr.gate' });
  });

  it('KFR-13 what was settled, or ended with its session, never comes back', async () => {
    const project = await makeWorking();
    await ask(project);
    await patch(project, [{ op: 'dismiss', id: 'kfr-1', reason: 'no such route' }]);
    rmSync(project.path(KFR));
    expect((await list(project)).entries).toEqual([]);
    await forgeJson(project, END);
    await forgeJson(project, ['session', 'start']);
    expect((await list(project)).entries).toEqual([]);
  });
});
