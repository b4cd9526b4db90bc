import { mkdirSync, utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { doctor, SERVERS, SETTINGS, wire } from '../support/doctored.js';
import { BIN, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { makeRepository } from '../support/project.js';

describe('forge doctor', () => {
  it('B-39 names an index.lock that a killed git left, not one of a git at work', async () => {
    const project = await makeForge();
    project.write('.git/index.lock', '');
    expect((await doctor(project)).found).toEqual([]);
    const old = new Date(Date.now() - 120_000);
    utimesSync(project.path('.git/index.lock'), old, old);
    expect(await doctor(project)).toEqual({
      exitCode: 1,
      found: ['blocking: git may have been killed: its index.lock is older than a minute'],
      commands: [`rm ${project.path('.git/index.lock')}   # if no git runs here`],
    });
  });

  it('distinguishes an ignored folder from one that is not committed yet', async () => {
    const fresh = makeRepository();
    await runForge(fresh, ['init', '--yes']);
    expect(await doctor(fresh)).toMatchObject({
      exitCode: 0,
      found: ['advisory: .forge/ is not in git yet'],
    });
    fresh.write('.gitignore', '.forge/\n');
    expect((await doctor(fresh)).found).toEqual(['degraded: git ignores .forge/']);

    const tracked = await makeForge();
    tracked.write('.gitignore', '.forge\n');
    expect((await doctor(tracked)).found).toEqual(['degraded: git ignores .forge/']);
    mkdirSync(tracked.path('src/deep'), { recursive: true });
    expect((await doctor({ dir: tracked.path('src/deep') })).found).toEqual([
      'degraded: git ignores .forge/',
    ]);
  });
});

describe('forge doctor --agent', () => {
  it('AGT-01 finds nothing when forge wired them all', async () => {
    const project = await makeForge();
    await forgeJson(project, ['agent', 'install', 'all']);
    expect(await doctor(project, ['--agent'])).toMatchObject({ exitCode: 0, found: [] });
  });

  it('AGT-01 explains how to start; a named agent has to be wired', async () => {
    const project = await makeForge();
    expect(await doctor(project, ['--agent'])).toMatchObject({
      exitCode: 0,
      found: ['advisory: no agent is wired here'],
    });
    expect(await doctor(project, ['--agent', 'claude'])).toMatchObject({
      exitCode: 1,
      found: ['blocking: Claude Code is not wired'],
      commands: ['forge agent install claude'],
    });
    const error = await forgeError(project, ['doctor', '--agent', 'nobody']);
    expect([error.exitCode, error.code]).toEqual([2, 'agent.unknown']);
  });

  it('AGT-01 checks that the program of a hook exists', async () => {
    const project = await makeForge();
    const start = `node '${BIN}'`;
    wire(project, start);
    expect((await doctor(project, ['--agent'])).found).toEqual([]);
    wire(project, '/gone/forge');
    expect(await doctor(project, ['--agent'])).toMatchObject({
      exitCode: 1,
      found: [SETTINGS, SERVERS].map((path) => `blocking: ${path} starts /gone/forge, which does not exist`),
    });
  });

  it.each<[string, string, string[]]>([
    ['programs that a PATH or a shell finds', 'npx --no-install forge', []],
    [
      'quoted paths that are gone, each once',
      'node "/opt/ab/forge.js"',
      [`blocking: ${SETTINGS} starts node "/opt/ab/forge.js", which does not exist`, expect.any(String)],
    ],
  ])('AGT-01 checks %s', async (_, command, expected) => {
    const project = await makeForge();
    wire(project, command);
    const { found } = await doctor(project, ['--agent']);
    expect(found).toEqual(expected);
  });

  it('AGT-01 reports unapproved tests and failed hooks', async () => {
    const project = await makeForge();
    wire(project);
    await runForge(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true']);
    await runForge(project, ['trust', '--revoke'], { terminal: true });
    const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
    const log = [`${ago(30)} claude stop: disk.full`, `${ago(1)} claude session-start: lock.busy`];
    project.write('.git/forge/hooks.log', `${log.join('\n')}\n`);
    const { found, commands, exitCode } = await doctor(project, ['--agent']);
    expect(found).toEqual([
      expect.stringMatching(/^degraded: not approved: \d of this project's tests, scripts and skills$/),
      'degraded: hooks failed within the last day: session-start: lock.busy',
    ]);
    expect(commands).toEqual(['forge trust', 'tail .git/forge/hooks.log']);
    expect(exitCode).toBe(0);
  });
});
