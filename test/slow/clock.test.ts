import { describe, expect, it } from 'vitest';
import { fixedClock, forgeJson, runBinary, runForge } from '../support/forge.js';
import { FEATURES, KNOWLEDGE, makeForge, PROGRESS } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

interface Listed {
  sessions: { id: string; next: string; status: string }[];
}

/** One session at a time of the clock, with its NEXT line; returns its warnings. */
async function session(project: Project, at: string, next: string): Promise<string[]> {
  const world = fixedClock(at);
  const { warnings } = await forgeJson<{ warnings: string[] }>(project, ['session', 'start'], { world });
  await forgeJson(project, ['progress', 'add', `at ${at}`], { world });
  await forgeJson(project, ['session', 'end', '--no-commit', '--next', next], { world });
  return warnings;
}

const AT = [
  '2026-03-01T10:00:00.000Z',
  '2026-03-02T10:00:00.000Z',
  '2026-03-03T10:00:00.000Z',
  '2026-03-04T10:00:00.000Z',
  '2026-03-05T10:00:00.000Z',
  '2026-03-04T10:00:00.000Z',
  '1970-01-01T00:00:00.000Z',
  '2038-01-19T03:14:08.000Z',
  '2100-02-28T23:59:59.999Z',
  '2026-03-06T10:00:00.000Z',
];

describe('the clock', () => {
  it('B-67 set to yesterday, 1970, 2038 and 2100: sessions keep their order, and the jump is reported', async () => {
    const project = await makeForge();
    for (const [n, at] of AT.entries()) {
      const warnings = await session(project, at, `step ${n}`);
      const back = n > 0 && at < (AT[n - 1] as string);
      expect([at, warnings.some((text) => text.startsWith('clock.skew'))]).toEqual([at, back]);
      // The briefing shows the last session's NEXT, whatever the dates are.
      const { sections } = await forgeJson<{ sections: { key: string; items: string[] }[] }>(project, [
        'briefing',
      ]);
      expect([at, sections.find(({ key }) => key === 'next')?.items]).toEqual([
        at,
        [expect.stringContaining(`step ${n} (from ${at.slice(0, 10)}-session-`)],
      ]);
    }
    const { sessions } = await forgeJson<Listed>(project, ['session', 'list']);
    expect(sessions.map(({ next }) => next)).toEqual(AT.map((_, n) => `step ${AT.length - 1 - n}`));
    expect(sessions.find(({ next }) => next === 'step 5')?.id).toBe('2026-03-04-session-002');
    const { sessions: three } = await forgeJson<Listed>(project, ['session', 'list', '--limit', '3']);
    expect(three.map(({ next }) => next)).toEqual(['step 9', 'step 8', 'step 7']);
    expect(
      (await runForge(project, 'session start', { world: fixedClock('1970-01-01T00:00:00.000Z') })).stderr,
    ).toMatch(
      /^! clock\.skew: the clock says 1970-01-01T00:00:00\.000Z, but the last session was at 2026-03-06/m,
    );
  });

  it('B-67 set back into the last session: the jump is reported', async () => {
    const project = await makeForge();
    const world = fixedClock('2026-03-01T10:00:00.000Z');
    await forgeJson(project, ['session', 'start'], { world });
    await forgeJson(project, ['progress', 'add', 'work'], { world });
    world.set('2026-03-01T12:00:00.000Z');
    await forgeJson(project, ['session', 'end', '--no-commit'], { world });
    expect((await session(project, '2026-03-01T11:00:00.000Z', 'go on')).join()).toMatch(/^clock\.skew/);
  });

  it('B-67 other commands work at any time, and times are RFC 3339 in UTC', async () => {
    for (const at of ['1970-01-01T00:00:00.000Z', '2038-01-19T03:14:08.000Z', '2100-12-31T23:59:59.000Z']) {
      const project = await makeForge();
      const world = fixedClock(at);
      await forgeJson(project, ['session', 'start'], { world });
      await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true'], { world });
      await forgeJson(project, ['feature', 'verify', 'A'], { world });
      await forgeJson(project, ['knowledge', 'add', 'success', 's'], { world });
      await forgeJson(project, ['progress', 'add', 'x'], { world });
      expect(project.read(PROGRESS)).toContain(`=== FORGE Session ${at.slice(0, 10)} ===`);
      expect(project.read(PROGRESS)).toContain(`[${at.slice(11, 16)}] x\n`);
      expect(project.json(FEATURES)).toMatchObject({ features: [{ created_at: at, verified_at: at }] });
      expect(project.json(KNOWLEDGE)).toMatchObject({ patterns: { successful: [{ learned_at: at }] } });
      expect((await runForge(project, ['session', 'end'], { world })).exitCode).toBe(0);
    }
  });

  it('B-68 time zone and locale change no byte of what forge prints or writes', async () => {
    const project = await makeForge();
    await session(project, AT[0] as string, 'İstanbul ıi');
    for (const id of ['i', 'I2', 'ITEM'])
      await forgeJson(project, ['feature', 'add', '--no-run', id, `TITLE ıİ ${id}`, '--test', 'true'], {
        world: fixedClock(),
      });
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'IĞDIR ıi'], { world: fixedClock() });
    const settings: NodeJS.ProcessEnv[] = [
      { TZ: 'UTC', LANG: 'C' },
      { TZ: 'Asia/Kolkata', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', LANGUAGE: 'tr' },
      { TZ: 'America/St_Johns', LC_ALL: 'C', LANG: '' },
    ];
    for (const args of [
      ['briefing'],
      ['feature', 'list', '--json'],
      ['session', 'show', '2026-03-01-session-001'],
      ['knowledge', 'add', 'invariant', 'ANOTHER ıİ I', '-n', '--json'],
      ['feature', 'add', 'I', 'twin of i'],
      ['status'],
      ['next'],
      [],
    ]) {
      const outcomes = settings.map((env) => {
        const outcome = runBinary(project.dir, args, { env });
        // The marks around the briefing's data and the times differ between runs.
        const stdout = outcome.stdout
          .replaceAll(/(data|end) [0-9a-f]{12}\b/g, '$1 MARK')
          .replace(/"learned_at":"[\d-]{10}T[\d:.]{12}Z"/, '"learned_at":"NOW"');
        return { ...outcome, stdout };
      });
      expect([args, outcomes[1]]).toEqual([args, outcomes[0]]);
      expect([args, outcomes[2]]).toEqual([args, outcomes[0]]);
    }
    const before = Date.now();
    for (const env of settings)
      expect(runBinary(project.dir, ['feature', 'add', `Z-${env.LANG?.length}`, 'z'], { env }).exitCode).toBe(
        0,
      );
    const after = Date.now();
    const { features } = project.json<{ features: { created_at: string }[] }>(FEATURES);
    for (const { created_at } of features.slice(3)) {
      expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(created_at)).toBeLessThanOrEqual(after);
    }
  });
});
