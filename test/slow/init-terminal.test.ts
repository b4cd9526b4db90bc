import { describe, expect, it } from 'vitest';
import { atTerminal } from '../support/e2e-terminal.js';
import { CONFIG, differences, snapshot } from '../support/forge-project.js';
import { run } from '../support/project.js';
import { makeTelling, settings } from '../support/proposals.js';

const pty = run('/', 'script', ['--version']).exitCode === 0;

describe.skipIf(!pty)('forge init on a terminal', () => {
  it('LAY-04 asks about what it found, one line each, and uses the answers', async () => {
    const project = makeTelling();
    project.write('.claude/settings.json', '{}\n');
    const { shown, exitCode } = await atTerminal(
      project,
      ['init'],
      [
        ['Which stack', '\u001b[B\r'],
        ['Which command runs the tests', '\r'],
        ['issue ids', '\r'],
        ['Add forge to Claude Code', 'y\r'],
        ['without asking each time', '\r'],
        ['Install git hooks', 'y\r'],
      ],
    );
    expect(exitCode).toBe(0);
    expect(shown).not.toContain('merged into');
    // One down from "mixed".
    expect(project.read('.forge/init.sh')).not.toMatch(/^part /m);
    expect(settings(project)).toMatchObject({ checkpoint: { verify: ['npm test'] } });
    expect(project.read('.forge/config.toml')).not.toMatch(/^enforce/m);

    // Nothing is left to ask.
    const again = await atTerminal(project, ['init']);
    expect([again.exitCode, again.shown]).toEqual([0, expect.not.stringContaining('?')]);
  });

  it('LAY-04 proposals can be declined', async () => {
    const project = makeTelling();
    const { exitCode } = await atTerminal(
      project,
      ['init'],
      [
        ['Which stack', '\r'],
        ['Which command runs the tests', '\u007f\r'],
        ['issue ids', '\u007f\r'],
        ['Install git hooks', '\r'],
      ],
    );
    expect(exitCode).toBe(0);
    expect(settings(project)).toMatchObject({ commit: {}, checkpoint: {} });
    expect(project.read(CONFIG)).not.toMatch(/^(id_pattern|verify) =/m);
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('LAY-04 %s at a question says so and leaves nothing behind', async (_, key) => {
    const project = makeTelling();
    const before = snapshot(project.dir);
    for (const answers of [
      [['Which stack', key]],
      [
        ['Which stack', '\r'],
        ['Which command runs the tests', key],
      ],
    ] as [string, string][][]) {
      const { exitCode, shown } = await atTerminal(project, ['init'], answers);
      expect([exitCode, shown]).toEqual([
        130,
        expect.stringContaining('forge: Interrupted; nothing was changed.'),
      ]);
      expect(differences(before, snapshot(project.dir))).toEqual([]);
    }
  });
});
