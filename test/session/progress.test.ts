import { describe, expect, it } from 'vitest';
import { expectError, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, PROGRESS, snapshot } from '../support/forge-project.js';
import { changedPaths } from '../support/project.js';

const START = `=== FORGE Session 2026-03-01 ===
(times in UTC)

[10:00] Started - branch: main
[10:00] Active issues: 0
`;

async function started() {
  const project = await makeForge();
  const world = fixedClock();
  await forgeJson(project, ['session', 'start'], { world });
  return { project, world };
}

describe('forge progress', () => {
  it('SES-04 writes the file of the RFC, byte for byte', async () => {
    const { project, world } = await started();
    expect(project.read(PROGRESS)).toBe(START);
    world.set('2026-03-01T10:05:59.999Z');
    const added = await runForge(project, ['progress', 'add', 'Fixed the import'], { world });
    expect(added).toEqual({ stdout: '[10:05] Fixed the import\n', stderr: '', exitCode: 0 });
    world.set('2026-03-01T10:30:00.000Z');
    await forgeJson(project, ['progress', 'add', 'it compiles, tests pass', '--checkpoint'], { world });
    expect((await runForge(project, ['progress', 'next', 'Wire ATLAS (see SX9-1)'], { world })).stdout).toBe(
      'NEXT: Wire ATLAS (see SX9-1)\n',
    );
    const log = `${START}[10:05] Fixed the import\n[10:30] CHECKPOINT: it compiles, tests pass\n`;
    expect(project.read(PROGRESS)).toBe(`${log}\nNEXT: Wire ATLAS (see SX9-1)\n`);

    // NEXT stays last, and there is one of it; another day says which.
    world.set('2026-03-02T00:01:00.000Z');
    await forgeJson(project, ['progress', 'add', 'past midnight'], { world });
    await forgeJson(project, ['progress', 'next', 'Sleep'], { world });
    expect(project.read(PROGRESS)).toBe(
      `${log}\n=== 2026-03-02 ===\n\n[00:01] past midnight\n\nNEXT: Sleep\n`,
    );
  });

  it('SES-04 shows the log as text and as JSON', async () => {
    const { project, world } = await started();
    await forgeJson(project, ['progress', 'add', 'one'], { world });
    await forgeJson(project, ['progress', 'next', 'two\nlines'], { world });
    const shown = await forgeJson(project, ['progress', 'show']);
    expect(shown).toEqual({
      session: '2026-03-01-session-001',
      date: '2026-03-01',
      lines: [
        { time: '10:00', text: 'Started - branch: main' },
        { time: '10:00', text: 'Active issues: 0' },
        { time: '10:00', text: 'one' },
      ],
      next: 'two\nlines',
    });
    const { stdout } = await runForge(project, ['progress', 'show']);
    expect((await runForge(project, ['log'])).stdout).toBe(stdout);
    await expectError(project, ['log', '--checkpoint'], '2 log.text');
    expect(stdout).toMatch(/2026-03-01-session-001.*\[10:00\] one\n\nNEXT: two\nlines\n/s);
  });

  it('SES-04 takes a text from stdin and after -- literally', async () => {
    const { project, world } = await started();
    await forgeJson(project, ['progress', 'add', '-'], { world, stdin: '  from stdin \r\n' });
    for (const text of ['--checkpoint', '-n', '-', '--', '--json'])
      expect((await runForge(project, ['progress', 'add', '--', text], { world })).stdout).toBe(
        `[10:00] ${text}\n`,
      );
    const { lines } = await forgeJson<{ lines: { text: string }[] }>(project, ['progress', 'show']);
    expect(lines.map(({ text }) => text).slice(2)).toEqual([
      '  from stdin ',
      '--checkpoint',
      '-n',
      '-',
      '--',
      '--json',
    ]);
  });

  it('B-13 SES-04 names the character that cannot be stored, and says to remove it', async () => {
    const { project } = await started();
    for (const [text, name] of [
      ['done\u0007', 'U+0007'],
      ['a \u202e b', 'U+202E'],
    ] as const)
      for (const input of [{ args: [text] }, { args: ['-'], stdin: text }])
        expect(await forgeError(project, ['log', ...input.args], input)).toMatchObject({
          code: 'text.hidden_character',
          hint: `Remove the character ${name}.`,
        });
  });

  it('SES-04 without a session nothing is written, and the message says how to start one', async () => {
    const project = await makeForge();
    const before = snapshot(project.dir);
    for (const args of [['add', 'x'], ['next', 'x'], ['show']])
      expect(await forgeError(project, ['progress', ...args])).toMatchObject({
        exitCode: 3,
        code: 'session.none',
        hint: 'forge start',
      });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    expect(changedPaths(project)).toEqual([]);
  });

  it('SES-04 reads what a person wrote into the file', async () => {
    const { project, world } = await started();
    project.write(PROGRESS, `${START}NEXT: by hand\n[11:00] written below it\n`);
    await forgeJson(project, ['progress', 'add', 'one'], { world });
    expect(project.read(PROGRESS)).toBe(`${START}[11:00] written below it\n[10:00] one\n\nNEXT: by hand\n`);
  });
});

describe('times', () => {
  it('SES-04 are UTC in the file, which says so, and in a pipe; a terminal shows local ones', async () => {
    const { TZ } = process.env;
    process.env.TZ = 'Asia/Kolkata';
    try {
      const { project, world } = await started();
      const add = ['progress', 'add', 'wired the form'];
      expect((await runForge(project, add, { world, terminal: true })).stdout).toBe(
        '[15:30] wired the form\n',
      );
      expect(project.read(PROGRESS)).toMatch(/^=== FORGE Session 2026-03-01 ===\n\(times in UTC\)\n/);
      expect(project.read(PROGRESS)).toContain('[10:00] wired the form\n');
      const shown = async (...args: string[]): Promise<string[]> =>
        Promise.all(
          [true, false].map(async (terminal) => (await runForge(project, args, { world, terminal })).stdout),
        );
      const both = [expect.stringContaining('[15:30] wired'), expect.stringContaining('[10:00] wired')];
      expect(await shown('progress', 'show')).toEqual(both);
      await forgeJson(project, ['session', 'end'], { world });
      expect(await shown('session', 'show', '2026-03-01-session-001')).toEqual(both);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });
});
