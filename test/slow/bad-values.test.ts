import { describe, expect, it } from 'vitest';
import { fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, makeStarted, snapshot } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

async function prepared(): Promise<Project> {
  const project = await makeStarted({ world: fixedClock() });
  await forgeJson(project, ['feature', 'add', 'FORGE-001', 'first']);
  return project;
}

describe('bad values', () => {
  it('B-05 refuses NUL, lone surrogates and megabytes in every text', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    // Linux takes no argument above 128 KiB.
    const bad = ['a\u0000b', 'a\ud800b', '\udc00', 'x'.repeat(130_000), 'é'.repeat(40_000)];
    const places = [
      ['progress', 'add', 'TEXT'],
      ['progress', 'next', 'TEXT'],
      ['knowledge', 'add', 'invariant', 'TEXT'],
      ['knowledge', 'add', 'success', 'x', '--context', 'TEXT'],
      ['knowledge', 'add', 'failure', 'x', '--resolution', 'TEXT'],
      ['knowledge', 'search', 'TEXT'],
      ['feature', 'add', 'A', 'TEXT'],
      ['feature', 'add', '--no-run', 'A', 'a', '--test', 'TEXT'],
      ['feature', 'edit', 'FORGE-001', '--name', 'TEXT'],
      ['focus', 'set', '--task', 'TEXT'],
      ['focus', 'set', '--file', 'TEXT'],
      ['focus', 'set', '--blocker', 'TEXT'],
      ['focus', 'set', '--phase', 'TEXT'],
      ['session', 'start', '--task', 'TEXT'],
      ['session', 'end', '--learned', 'TEXT'],
      ['session', 'end', '--next', 'TEXT'],
      ['config', 'set', 'project.name', 'TEXT'],
      ['config', 'set', 'TEXT', '1'],
      ['schema', 'TEXT'],
      ['init', '--name', 'TEXT'],
      ['init', '--stack', 'TEXT'],
    ];
    for (const text of bad)
      for (const place of places) {
        const { exitCode, stderr } = await runForge(
          project,
          place.map((word) => (word === 'TEXT' ? text : word)),
        );
        expect([place, text.length, exitCode]).toEqual([place, text.length, 2]);
        expect(stderr.length).toBeLessThan(1000);
        expect(stderr.isWellFormed()).toBe(true);
      }
    for (const stdin of [
      Buffer.from('a\0b'),
      Buffer.alloc(10_000_000, 'x'),
      Buffer.alloc(17 * 1024 * 1024, 'x'),
    ])
      expect((await forgeError(project, ['progress', 'add', '-'], { stdin })).exitCode).toBe(2);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-08 refuses anything but a plain whole number in its range, with the allowed values', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    const bad = [
      '-1',
      '0',
      '1e999',
      '1e2',
      '0x10',
      'NaN',
      'Infinity',
      ' 5 ',
      '',
      '+3',
      '1.5',
      '٣',
      '1_0',
      '1,000',
      '0b1',
      '5\n',
      '99999999999999999999',
      '--',
    ];
    for (const [place, allowed] of [
      [['feature', 'edit', 'FORGE-001', '--priority'], /from 1 to 4/],
      [['session', 'list', '--limit'], /from 1 to/],
      [['briefing', '--budget'], /from \d+ to/],
      [['session', 'start', '--budget'], /from \d+ to/],
      [['config', 'set', 'briefing.budget'], /whole number|at least/],
      [['config', 'set', 'features.timeout_seconds'], /whole number|at least/],
    ] as const)
      for (const value of bad) {
        const { exitCode, stderr } = await runForge(project, [...place, value]);
        expect([place, value, exitCode]).toEqual([place, value, 2]);
        if (!value.startsWith('-')) expect(stderr).toMatch(allowed);
      }
    expect(
      (await forgeError(project, ['feature', 'edit', 'FORGE-001', '--priority', '5'])).message,
    ).toContain('from 1 to 4');
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});
