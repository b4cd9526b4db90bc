import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Issue, Status } from '../../src/index.js';
import { fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  CONFIG,
  FEATURES,
  FOCUS,
  featureFile,
  ISSUES,
  KNOWLEDGE,
  makeForge,
  PASSING_FEATURE,
  PROGRESS,
  putFeatures,
  SESSION,
} from '../support/forge-project.js';
import { KFR } from '../support/kfrs.js';
import { commitAll, component, statusOf } from '../support/statuses.js';

describe('forge status', () => {
  it('VIS-01 is all green when the work is done, and each step was a command that it named', async () => {
    const project = await makeForge();
    const world = fixedClock();
    for (const args of [
      ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true'],
      ['feature', 'verify', 'A'],
      ['session', 'start'],
      ['progress', 'add', 'x'],
    ])
      await forgeJson(project, args, { world });
    commitAll(project);
    await forgeJson(project, ['checkpoint', 'create'], { world });
    const { components, worst } = await statusOf(project, { world });
    expect(worst).toBe('green');
    expect(components.map(({ color }) => color)).toEqual([...Array(4).fill('green'), 'neutral']);
    world.set('2026-03-01T11:01:00.000Z');
    const fix = ['forge log "what you just did"'];
    const stale = { color: 'yellow', reasons: ['progress.txt is stale: last entry 1 h ago'], fix };
    expect(await component(project, 'short-term', { world })).toEqual({ name: 'short-term', ...stale });
    await forgeJson(project, ['progress', 'add', 'y'], { world });
    expect((await component(project, 'short-term', { world })).color).toBe('green');
  });

  it('VIS-01 --exit-code fails if something is red, or with yellow if something is not green', async () => {
    const project = await makeForge();
    const code = async (...args: string[]): Promise<number | null> =>
      (await runForge(project, ['status', ...args])).exitCode;
    project.write('new.txt', 'not committed');
    expect([await code(), await code('--exit-code'), await code('--exit-code', 'yellow')]).toEqual([0, 0, 1]);
    project.write(KNOWLEDGE, '{');
    expect([await code(), await code('--exit-code'), await code('--exit-code', 'red')]).toEqual([0, 1, 1]);
    expect(await code('--short', '--exit-code')).toBe(1);
    expect(await code('--json', '--exit-code')).toBe(1);
    const refused = await forgeError(project, ['status', '--exit-code', 'green']);
    expect(refused).toMatchObject({ exit: 2, code: 'status.exit_code', field: 'exit-code' });
    rmSync(project.path(KNOWLEDGE));
    expect((await component(project, 'long-term')).color).toBe('green');
  });

  it.each([
    [KNOWLEDGE, 'long-term'],
    [PROGRESS, 'short-term'],
    [SESSION, 'short-term'],
    [FOCUS, 'short-term'],
    [KFR, 'short-term'],
    [FEATURES, 'features'],
    [featureFile('A'), 'features'],
    [CONFIG, 'features'],
    [ISSUES, 'linear'],
  ])('VIS-01 B-12 B-13 %s damaged in any way is red, with reason and what to type', async (file, name) => {
    const project = await makeForge();
    putFeatures(project, [PASSING_FEATURE]);
    commitAll(project);
    await forgeJson(project, ['session', 'start']);
    const whole = existsSync(project.path(file)) ? readFileSync(project.path(file)) : null;
    mkdirSync(project.path(file, '..'), { recursive: true });
    const forms: Record<string, () => void> = {
      'no UTF-8': () => writeFileSync(project.path(file), Buffer.from([0x5b, 0xff, 0xfe, 0x31])),
      'a folder': () => {
        rmSync(project.path(file), { force: true });
        mkdirSync(project.path(file));
      },
      ...(file === PROGRESS ? {} : { 'no JSON': () => project.write(file, '{"a": 1,,') }),
    };
    for (const [form, damage] of Object.entries(forms)) {
      damage();
      const { stdout, stderr, exitCode } = await runForge(project, ['status', '--json']);
      expect([form, exitCode, stderr]).toEqual([form, 0, '']);
      const { components, worst } = JSON.parse(stdout) as Status;
      const told = components.find((one) => one.name === name);
      expect([form, worst, told?.color]).toEqual([form, 'red', 'red']);
      expect([form, told?.reasons[0]]).toEqual([form, expect.stringContaining(file)]);
      const fix = form === 'a folder' ? expect.any(String) : 'forge doctor';
      expect([form, told?.fix]).toEqual([form, [fix]]);
      expect((await runForge(project, ['status', '--short'])).stdout, form).toMatch(/^forge [·●◐○]{5}/);
      rmSync(project.path(file), { recursive: true, force: true });
      if (whole) project.write(file, whole);
    }
  });

  it('VIS-01 KNO-01 names an approved invariant that is missing, until a person lets it go', async () => {
    const project = await makeForge();
    const PERSON = { terminal: true };
    for (const text of ['Dates are UTC', 'Names are unique'])
      await runForge(project, ['knowledge', 'add', 'invariant', text], PERSON);
    await runForge(project, ['trust', '--yes'], PERSON);
    const [first] = (await forgeJson<{ learnings: { id: string }[] }>(project, 'knowledge list')).learnings;
    await runForge(project, ['knowledge', 'remove', first?.id ?? ''], PERSON);
    expect((await runForge(project, [])).stdout).not.toMatch(/^For you/m);

    commitAll(project, 'Add a rule');
    project.git('rm', '-rq', '.forge/memory/long-term/learned.d');
    project.git('commit', '-qm', 'Drop it');
    expect((await runForge(project, [])).stdout).toMatch(
      /^For you +1 approved invariant is missing: forge trust$/m,
    );
    const missing = { color: 'yellow', reasons: ['1 approved invariant is missing'], fix: ['forge trust'] };
    expect(await component(project, 'long-term')).toMatchObject(missing);
    const { stdout } = await runForge(project, ['trust', '--show']);
    expect(stdout).toMatch(
      /^invariant {2}approved, and missing now.*\n {2}(?:Dates are UTC|Names are unique)$/m,
    );
    await runForge(project, ['trust', '--yes'], PERSON);
    expect((await runForge(project, [])).stdout).not.toMatch(/^For you/m);
  });

  it('VIS-01 B-12 an empty list of features is neutral, an empty file red; B-15 ten thousand are counted', async () => {
    const project = await makeForge();
    putFeatures(project, []);
    expect((await component(project, 'features')).color).toBe('neutral');
    project.write(FEATURES, '');
    expect((await component(project, 'features')).color).toBe('red');
    const many = Array.from({ length: 10_000 }, (_, i) => ({ ...PASSING_FEATURE, id: `F-${i}` }));
    putFeatures(project, [
      ...many.slice(0, 8000),
      ...many.slice(8000).map(({ id, name }) => ({ id, name, status: 'failing', tests: ['true'] })),
    ]);
    const reasons = ['8000 of 10000 features pass (80 %); failing: F-8000, F-8001, F-8002 and 1997 more'];
    const counted = { color: 'yellow', reasons, fix: ['forge done F-8000'] };
    expect(await component(project, 'features')).toEqual({ name: 'features', ...counted });
  });
});

describe('forge status and Linear', () => {
  it('VIS-01 orphan commits since forge was set up are yellow once Linear is used; forge itself makes none', async () => {
    const project = await makeForge();
    project.git('commit', '-q', '--allow-empty', '-m', 'No issue');
    const issues = [{ linear_id: 'SX9-1', title: 'An issue' }];
    project.write(ISSUES, JSON.stringify({ schema_version: '1.0', issues }));
    const told = await component(project, 'linear');
    expect(told.color).toBe('yellow');
    expect(told.reasons[0]).toMatch(/^the last commit names no issue: [0-9a-f]{7,} No issue$/);
    for (let i = 0; i < 9; i++) commitAll(project, `[SX9-1] Step ${i}`);
    expect((await component(project, 'linear')).reasons[0]).toMatch(/10 commits, 1 names no issue/);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'end']);
    const good = { color: 'green', reasons: ['1 active issue; each of the last 9 commits names one'] };
    expect(await component(project, 'linear')).toMatchObject(good);
  });

  it('VIS-01 conventional commits of forge name their issue in the Backtrace', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    const { linear_id: id } = await forgeJson<Issue>(project, ['linear', 'new', 'Wire the login']);
    await forgeJson(project, ['linear', 'start', id]);
    for (let i = 0; i < 9; i++) {
      project.write('src/login.js', `${i}\n`);
      project.git('add', 'src/login.js');
      await forgeJson(project, ['commit', '--why', 'Nobody could log in']);
    }
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'end']);
    expect(project.git('log', '-2', '--format=%s')).toMatch(/^chore: save memory\nfeat: wire the login$/);
    expect((await component(project, 'linear')).color).toBe('green');
  });
});
