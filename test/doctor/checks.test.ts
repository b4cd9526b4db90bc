import { describe, expect, it } from 'vitest';
import { runChecks } from '../../src/doctor/checks.js';
import { MACHINE_CHECKS } from '../../src/doctor/doctor.js';

describe('the machine checks', () => {
  const WELL = { node: '20.19.0', git: 'git version 2.39.5', problem: null, needsGit: true };

  it.each<[Partial<Parameters<(typeof MACHINE_CHECKS)[0]['look']>[0]>, string[]]>([
    [{}, []],
    [{ node: '24.0.0', git: 'git version 2.50.1 (Apple Git-155)' }, []],
    [{ node: '20.9.1' }, ['blocking: Node 20.9.1 → nvm install 22']],
    // The README asks for 2.39.
    [{ git: 'git version 2.38.9' }, ['degraded: git 2.38.9 → git --version']],
    [{ git: null }, ['blocking: git was not found → git --version']],
    [{ git: null, needsGit: false }, ['degraded: git was not found → git --version']],
    [{ problem: { message: 'None here.', hint: 'forge init' } }, ['blocking: None here. → forge init']],
    [{ problem: { message: 'A link.' } }, ['blocking: A link. → forge init']],
    [{ problem: { message: 'A link.', hint: 'ls -l' } }, ['blocking: A link. → ls -l']],
    [
      { git: null, needsGit: false, problem: { message: 'None here.' } },
      ['degraded: git was not found → git --version', 'blocking: None here. → forge init'],
    ],
  ])('%j', async (change, expected) => {
    const found = await runChecks(MACHINE_CHECKS, { ...WELL, ...change });
    expect(
      found.map(({ severity, observed, commands }) => `${severity}: ${observed} → ${commands[0]}`),
    ).toEqual(expected);
  });
});
