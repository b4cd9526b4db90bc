import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../src/index.js';
import { BIN, forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { differences, makeForge, makePlainForge, snapshot } from '../support/forge-project.js';
import { HALT } from '../support/memory.js';
import { makeFolder, makePlainProject, makeRepository, type Project } from '../support/project.js';
import { hookLists, serverFor } from '../support/wirings.js';

const SETTINGS = '.claude/settings.json';
const SERVERS = '.mcp.json';

const NO_HOOKS = "git's hooks are not installed";

interface Doctored {
  exitCode: number | null;
  /** `severity: observed` */
  found: string[];
  commands: string[];
}

async function doctor(
  project: Pick<Project, 'dir'>,
  args: string[] = [],
  options: RunOptions = {},
): Promise<Doctored> {
  const { stdout, stderr, exitCode } = await runForge(project, ['doctor', ...args, '--json'], options);
  expect(stderr).toBe('');
  const all = (JSON.parse(stdout) as Diagnosis).findings;
  // Hardly any of these projects has hooks.
  const findings = all.filter(({ observed }) => observed !== NO_HOOKS);
  for (const finding of findings)
    expect(Object.keys(finding)).toEqual(['observed', 'expected', 'why', 'commands', 'severity']);
  return {
    exitCode,
    found: findings.map(({ severity, observed }) => `${severity}: ${observed}`),
    commands: findings.flatMap(({ commands }) => commands),
  };
}

describe('forge doctor', () => {
  it('reports in one line that nothing is wrong, and changes nothing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    const before = snapshot(project.dir);
    expect(await runForge(project, ['doctor'])).toEqual({
      stdout: '✓ Nothing is wrong.\n',
      stderr: '',
      exitCode: 0,
    });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

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

  it('shows one block per finding', async () => {
    const { stdout, exitCode } = await runForge(makeRepository(), ['doctor']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^✗ There is no \.forge\/ in \S+ or above it\. {2}\(blocking\)\n {4}expected {2}a \.forge.*\n {4}why {7}.*\n {4}type {6}forge init\n$/,
    );
  });

  it('LAY-05 works without git, and reports the consequences', async () => {
    const plain = await makePlainForge();
    expect(await doctor(plain)).toEqual({
      exitCode: 0,
      found: ['advisory: the project is not in a git repository'],
      commands: ['git init'],
    });
    const noGit = { env: { PATH: makeFolder() } };
    expect((await doctor(plain, [], noGit)).found).toEqual([
      'degraded: git was not found',
      'advisory: the project is not in a git repository',
    ]);
    expect(await doctor(await makeForge(), [], noGit)).toMatchObject({
      exitCode: 1,
      found: ['blocking: git was not found'],
    });
  });

  it('works while memory is halted', async () => {
    const project = await makeForge();
    project.write(
      HALT,
      '{"at":"2026-03-01T10:00:00.000Z","reasons":["execution.jsonl:1: record 2 was removed"]}',
    );
    expect(await doctor(project)).toEqual({
      exitCode: 1,
      found: ['blocking: memory is halted: execution.jsonl:1: record 2 was removed'],
      commands: ['forge memory verify'],
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

/** The hooks and the server as forge wires them. */
function wire(project: Project, command = 'forge'): void {
  const hooks = hookLists('claude', command);
  project.write(SETTINGS, JSON.stringify({ hooks }));
  const { value } = serverFor('claude', false, command) ?? {};
  project.write(SERVERS, JSON.stringify({ mcpServers: { forge: value } }));
}

describe('forge doctor --agent', () => {
  it('AGT-01 finds nothing when Claude Code reaches this forge', async () => {
    const project = await makeForge();
    wire(project);
    expect(await doctor(project, ['--agent'])).toEqual({ exitCode: 0, found: [], commands: [] });
  });

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

  it('AGT-01 reports a forge that is missing on the PATH', async () => {
    const project = await makeForge();
    wire(project);
    const git = makeFolder();
    symlinkSync(project.git('--exec-path').concat('/git'), join(git, 'git'));
    const found = (await doctor(project, ['--agent'], { env: { PATH: git } })).found;
    expect(found).toEqual(['blocking: there is no forge on the PATH']);
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

  it('AGT-01 finds missing and damaged parts', async () => {
    const project = await makeForge();
    const found = async (): Promise<string[]> => (await doctor(project, ['--agent'])).found;
    wire(project);
    project.write(SERVERS, '{}');
    expect(await found()).toEqual(['degraded: Claude Code is partly wired: see .mcp.json']);
    project.write(
      SERVERS,
      '\ufeff{ // mine\n "mcpServers": {"forge": {"type": "stdio", "command": "forge", "args": ["mcp"], "alwaysLoad": true,},}, }',
    );
    expect(await found()).toEqual([]);
    project.write(SERVERS, '{ bad');
    expect(await found()).toEqual([expect.stringMatching(/^blocking: \.mcp\.json:1: /)]);
    project.write(SETTINGS, '{"hooks": ');
    expect(await found()).toEqual([
      expect.stringMatching(/^blocking: \.claude\/settings\.json:1: /),
      expect.stringMatching(/^blocking: \.mcp\.json:1: /),
    ]);
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

  it('AGT-01 looks in the home folder for the plugin and for hooks of all projects', async () => {
    const project = await makeForge();
    const home = makeFolder();
    const env = { HOME: home };
    const put = (settings: object): void => {
      mkdirSync(join(home, '.claude'), { recursive: true });
      writeFileSync(join(home, SETTINGS), JSON.stringify(settings));
    };
    put({ hooks: hookLists('claude') });
    expect((await doctor(project, ['--agent'], { env })).found).toEqual([]);
    put({ enabledPlugins: { 'forge-memory@forge': true } });
    expect((await doctor(project, ['--agent'], { env })).found).toEqual([]);
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

  it('AGT-01 checks agents without a .forge/ too', async () => {
    const project = makePlainProject();
    wire(project, '/gone/forge');
    expect((await doctor(project, ['--agent'])).found).toEqual([
      expect.stringMatching(/^blocking: There is no \.forge/),
      ...[SETTINGS, SERVERS].map((path) => `blocking: ${path} starts /gone/forge, which does not exist`),
    ]);
  });
});
