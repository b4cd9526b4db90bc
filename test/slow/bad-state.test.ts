import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionOverview } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  CONFIG,
  FEATURES,
  FOCUS,
  featureFile,
  KNOWLEDGE,
  makePlainForge,
  SESSION,
} from '../support/forge-project.js';
import { KFR } from '../support/kfrs.js';
import { commitAll, type Project, run } from '../support/project.js';
import { expectDamaged, FILES, prepared } from '../support/state-files.js';

/** Types the hint's command line, as a person would: without the remark behind it. */
const typeIt = (project: Project, hint: string) =>
  run(project.dir, 'sh', ['-c', hint.replace(/ {2,}#.*/, '')]).exitCode;

describe('damaged state files', () => {
  it('B-12 empty, blank or cut off: exit 4 with the place, and the file is kept', async () => {
    const project = await prepared(makePlainForge);
    for (const file of FILES) {
      const good = project.read(file.path);
      await expectDamaged(project, file, '');
      await expectDamaged(project, file, ' \n\t\n');
      const isConfig = file.path === CONFIG;
      await expectDamaged(project, file, isConfig ? `${good}\n[briefing` : good.slice(0, good.length / 2));
      const text = (await expectDamaged(project, file, 'null')).message;
      expect(text).toContain(file.path);
      expect(text).not.toContain('\n');
      await expectDamaged(project, file, '\0'.repeat(100));
      await expectDamaged(project, file, isConfig ? '[session]\ncommit = 1\n' : '{"schema_version":"1.0"}');
    }
  });

  it('B-12 names the newest intact commit of the file, and the command in that line restores it', async () => {
    const project = await prepared();
    await forgeJson(project, ['feature', 'add', 'KEPT', 'kept']);
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'kept']);
    await forgeJson(project, ['config', 'set', 'session.reverify', '9']);
    commitAll(project, 'Whole');
    const whole = project.git('rev-parse', '--short=12', 'HEAD');
    const [learned] = readdirSync(project.path(`${dirname(KNOWLEDGE)}/learned.d`));
    const entries = {
      [featureFile('KEPT')]: FEATURES,
      [`${dirname(KNOWLEDGE)}/learned.d/${learned}`]: KNOWLEDGE,
    };
    for (const [path, view] of Object.entries({ ...entries, [CONFIG]: CONFIG })) {
      const good = project.read(path);
      project.write(path, good.slice(0, -4).concat('\u0001'));
      project.git('commit', '-qam', 'Damaged');
      project.write(path, '');
      const read = FILES.find((file) => file.path === view)?.read ?? [];
      const { hint = '' } = await forgeError(project, read);
      expect(hint).toMatch(
        new RegExp(`^cp ${path} ${path}.damaged && git restore --source=${whole} -- ${path} `),
      );
      expect(typeIt(project, hint)).toBe(0);
      expect(project.read(path)).toBe(good);
      expect((await runForge(project, read)).exitCode).toBe(0);
      project.git('commit', '-qam', 'Mended');
    }
  });

  it('B-12 the command in the error moves a damaged session file aside, and no work is lost', async () => {
    const project = await prepared();
    await forgeJson(project, ['progress', 'add', 'precious']);
    for (const path of [FOCUS, SESSION]) {
      project.write(path, '{');
      const { hint = '' } = await forgeError(project, path === FOCUS ? 'focus show' : 'progress show');
      const [move = '', next = ''] = hint.replace(/ {2,}#.*/, '').split(' && ');
      expect(move).toBe(`mv ${path} ${path}.damaged`);
      project.write(`${path}.damaged`, '{');
      project.git('clean', '-fxq', '--', path);
      expect([next, (await runForge(project, next.split(' ').slice(1))).exitCode]).toEqual([next, 0]);
    }
    await runForge(project, ['start']);
    const { sessions } = await forgeJson<SessionOverview>(project, 'session list');
    expect(sessions).toMatchObject([{ status: 'interrupted' }]);
    const { stdout } = await runForge(project, ['session', 'show', sessions[0]?.id ?? '']);
    expect(stdout).toContain('precious');
  });

  it('B-12 commands that do not need the damaged file still work', async () => {
    const project = await prepared();
    const feature = ['feature', 'list'];
    const knowledge = ['knowledge', 'add', 'invariant', 'i'];
    const focus = ['focus', 'set', '--phase', 'BUILD'];
    const progress = ['progress', 'add', 'p'];
    const setting = ['config', 'set', 'briefing.budget', '900'];
    for (const [path, working] of [
      [FEATURES, [knowledge, focus, progress, setting, ['session', 'status'], ['schema']]],
      [
        KNOWLEDGE,
        [feature, focus, progress, setting, ['next'], ['session', 'status'], ['feature', 'add', 'A', 'a']],
      ],
      [FOCUS, [feature, knowledge, progress, setting, ['next'], ['feature', 'add', 'B', 'b']]],
      [SESSION, [feature, focus, setting, ['next'], ['trust', '--show'], ['memory', 'log']]],
      [KFR, [feature, knowledge, focus, progress, setting, ['next'], ['feature', 'add', 'C', 'c']]],
      [CONFIG, [feature, knowledge, focus, progress, ['next'], ['focus', 'show']]],
    ] as const) {
      const good = project.read(path);
      project.write(path, '{"');
      for (const args of working) {
        const { exitCode, stderr } = await runForge(project, args);
        const said =
          path === CONFIG ? expect.stringMatching(/^(! .* its guard rules did not apply: .*\n)?$/) : '';
        expect([path, args, exitCode, stderr]).toEqual([path, args, 0, said]);
      }
      project.write(path, good);
    }
  });

  it('B-12 names a damaged archive, with the commit that has it intact', async () => {
    const project = await prepared();
    const { archive } = await forgeJson<{ archive: string }>(project, ['session', 'end']);
    const path = archive;
    project.write(path, '{"schema_version":"1.0",');
    for (const args of [['session', 'list'], ['session', 'start'], ['briefing']]) {
      const error = await forgeError(project, args);
      expect([args, error.exitCode, error.file]).toEqual([args, 4, path]);
      expect(error.hint).toMatch(/ && git restore --source=[0-9a-f]{12} -- /);
    }
    const { hint = '' } = await forgeError(project, ['session', 'start']);
    expect(typeIt(project, hint)).toBe(0);
    expect((await runForge(project, ['session', 'start'])).exitCode).toBe(0);
  });
});
