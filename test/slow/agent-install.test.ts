import { spawn, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringsIn } from '../../src/agent/agents.js';
import { KFR_HEADER } from '../../src/kfr/rules.js';
import { payload } from '../support/agent-hooks.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { hasShim, strikeEach } from '../support/faults.js';
import { BIN, runBinary, SLOW_MOTION } from '../support/forge.js';
import { differences, makeForge, SESSION, snapshot } from '../support/forge-project.js';
import { follow, type Project, run } from '../support/project.js';
import { makeForgeRepository } from '../support/typed.js';

const FORGE = `'${process.execPath}' '${BIN}'`;

/** A hook as agents run it: a line for the shell, which stays between the agent (this process) and forge. */
const hook = (project: Project, event: string, name = event) =>
  run(project.dir, 'sh', ['-c', `${FORGE} hook claude ${event}; exit $?`], {
    input: JSON.stringify(payload('claude', name, { cwd: project.dir })),
    env: SLOW_MOTION,
  });

/** Processes with numbers of their own, as in a container; not every machine lets one make them. */
const CONTAINER = ['-rpf', '--mount-proc'];
const canContain = spawnSync('unshare', [...CONTAINER, 'true']).status === 0;

/** A hook's process that gets this input, and no end of it. */
function hangingHook(project: Project, event: string, input: string) {
  const child = spawn(process.execPath, [BIN, 'hook', 'claude', event], { cwd: project.dir });
  child.stdin.write(input);
  return follow(child).ended;
}

describe('hooks of an agent, as it runs them', () => {
  it('AGT-01 SES-09 the agent holds the session, and commands in its shell work in it', () => {
    const project = makeForgeRepository();
    expect(hook(project, 'session-start')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(project.json(SESSION)).toMatchObject({ holder: { pid: process.pid } });
    const typed = run(project.dir, 'sh', ['-c', `${FORGE} session start --json; exit $?`]);
    expect(JSON.parse(typed.stdout)).toMatchObject({ session: { state: 'running' } });
    // It holds one that it starts in its shell too.
    run(project.dir, 'sh', ['-c', `${FORGE} session discard; ${FORGE} session start; exit $?`]);
    expect(project.json(SESSION)).toMatchObject({
      holder: { pid: process.pid, agent: expect.stringMatching(/^claude-/) },
    });
    const { stdout } = hook(project, 'session-start', 'session-start-compact');
    expect(stdout).toContain('FORGE briefing, ');
    expect(stdout).not.toContain('no session was started');
  });

  it('AGT-01 SES-09 the agent holds the session when npx runs the hook', () => {
    const project = makeForgeRepository();
    project.write('node_modules/.bin/forge', `#!/bin/sh\nexec ${FORGE} "$@"\n`);
    chmodSync(join(project.dir, 'node_modules/.bin/forge'), 0o755);
    const input = JSON.stringify(payload('claude', 'session-start', { cwd: project.dir }));
    const line = 'npx --no-install forge hook claude session-start';
    expect(run(project.dir, 'sh', ['-c', line], { input }).stdout).toContain('FORGE briefing, ');
    expect(project.json(SESSION)).toMatchObject({ holder: { pid: process.pid } });
  });

  it.skipIf(!canContain)('AGT-01 SES-09 in a container the agent may be process 1', () => {
    const project = makeForgeRepository();
    const script = `
      const { spawnSync } = require('node:child_process');
      const sh = (line, input) => spawnSync('sh', ['-c', line + '; exit $?'], { input, encoding: 'utf8' }).stdout;
      sh(${JSON.stringify(`${FORGE} hook claude session-start`)}, ${JSON.stringify(JSON.stringify(payload('claude', 'session-start', { cwd: project.dir })))});
      console.log(sh(${JSON.stringify(`${FORGE} session start --json`)}));`;
    const { stdout } = run(project.dir, 'unshare', [...CONTAINER, process.execPath, '-e', script]);
    expect(JSON.parse(stdout)).toMatchObject({ session: { state: 'running' } });
    expect(project.json(SESSION)).toMatchObject({ holder: { pid: 1 } });
  });

  it('AGT-01 a hook whose input never ends exits silently; after the payload it does not wait for the end', async () => {
    const project = makeForgeRepository();
    const ended = await hangingHook(project, 'session-end', '{"cwd": ');
    expect(ended).toEqual({ exitCode: 0, signal: null, stdout: '', stderr: '' });
    const input = JSON.stringify(payload('claude', 'session-start', { cwd: project.dir }));
    const { exitCode, stdout } = await hangingHook(project, 'session-start', input);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('FORGE briefing')]);
  });
});

/** Where each agent that runs commands looks for them, and its payloads after a compaction and at a stop. */
const AGENTS = [
  ['claude', '.claude/settings.json', 'session-start-compact', 'stop'],
  ['codex', '.codex/hooks.json', 'session-start-compact', 'stop'],
  ['gemini', '.gemini/settings.json', 'before-agent', 'after-agent'],
  ['cursor', '.cursor/hooks.json', 'post-tool-use', 'stop'],
  ['copilot', '.github/hooks/forge.json', 'user-prompt-submitted', 'agent-stop'],
] as const;

/** The command in a file of hooks that calls that event, whatever the file's form. */
const commandFor = (project: Project, file: string, event: string): string =>
  stringsIn(project.json(file)).find((text) => text.includes(` ${event} `)) ?? 'exit 1';

describe('forge agent install all', () => {
  it.each(AGENTS)(
    'AGT-01 KFR-09 %s: briefing at the start, working memory after a compaction, the gate at the stop',
    (agent, file, compact, stop) => {
      const project = makeForgeRepository();
      const sh = (command: string, input = '') =>
        run(project.dir, 'sh', ['-c', command], { input, env: SLOW_MOTION });
      const before = snapshot(project.dir);
      expect(sh('forge agent install all')).toMatchObject({ exitCode: 0, stderr: '' });
      const call = (fixture: string) => {
        const place = { cwd: project.dir, workspace_roots: [project.dir] };
        const event = fixture.replace('session-start-compact', 'session-start');
        const known = payload(agent, fixture);
        const kept = Object.fromEntries(Object.entries(place).filter(([field]) => field in known));
        const outcome = sh(commandFor(project, file, event), JSON.stringify({ ...known, ...kept }));
        expect(outcome, fixture).toMatchObject({ exitCode: 0, stderr: '' });
        return outcome.stdout;
      };

      expect(call('session-start')).toContain('FORGE briefing, ');
      expect(call(stop)).not.toContain('requires');
      sh('forge kfr patch --goal "logout works" --add "OpenQuestion:which cookie holds the token?"');
      // What the agent knew is gone: it is told again, in whatever way it can be told.
      sh(`rm -rf .git/forge/agents`);
      const told = call(compact);
      expect(told).toContain(JSON.stringify(KFR_HEADER).slice(1, 60));
      expect(told).toContain('which cookie holds the token?');
      expect(call(stop)).toContain('before you stop, 1 entry of working memory must be settled');
      sh('forge kfr patch --resolve "kfr-2=sid"');
      expect(call(stop)).not.toContain('before you stop');

      expect(sh('forge agent uninstall all')).toMatchObject({ exitCode: 0, stderr: '' });
      const outside = (files: Record<string, string>) =>
        Object.fromEntries(Object.entries(files).filter(([path]) => !/^\.(git|forge)(\/|$)/.test(path)));
      expect(outside(snapshot(project.dir))).toEqual(outside(before));
    },
  );
});

describe('forge agent install at a terminal', () => {
  it.each([
    ['y\r', true],
    ['n\r', false],
  ])('AGT-07 asks about the everyday tools: %j', async (keys, allowed) => {
    const project = await makeForgeRepository();
    // One word of the question, which is wrapped.
    const answers = [['asking?', keys]] as const;
    const { exitCode } = await atTerminal(project, ['agent', 'install', 'claude'], answers);
    const { permissions } = project.json<{ permissions?: object }>('.claude/settings.json');
    expect([exitCode, permissions !== undefined]).toEqual([0, allowed]);
    expect((await atTerminal(project, ['agent', 'install', 'codex'])).shown).not.toContain('asking?');
  });
});

/* `forge agent`, killed or let down by the disk at each call with which it changes something in the project. */

const SETTINGS = '.claude/settings.json';
const MINE = '{\r\n  // mine\r\n  "model": "x",\r\n}';
const INSTALL = ['agent', 'install', 'claude'];
const OTHERWISE = [...INSTALL, '--command', 'npx --no-install forge'];
const UNINSTALL = ['agent', 'uninstall', 'claude'];

/** All but what git keeps for itself. */
const all = (project: Project): Record<string, string> =>
  Object.fromEntries(
    Object.entries(snapshot(project.dir)).filter(([path]) => !/^\.git\/(?!forge)/.test(path)),
  );

const path = '/.claude/|.mcp.json';

async function rig(...before: string[][]): Promise<Project> {
  const project = await makeForge();
  project.write(SETTINGS, MINE);
  project.git('add', '.claude');
  project.git('commit', '-q', '-m', 'Settings');
  for (const args of before) must(project, args);
  return project;
}

const must = (project: Project, args: readonly string[]): void =>
  expect(runBinary(project.dir, args), args.join(' ')).toMatchObject({ exitCode: 0, stderr: '' });

const STEPS: [what: string, before: string[][], args: string[]][] = [
  ['install', [], INSTALL],
  ['install with another command', [INSTALL], OTHERWISE],
  ['uninstall', [INSTALL], UNINSTALL],
];

describe.skipIf(!hasShim)('an interrupted forge agent', () => {
  it.each(STEPS)('AGT-01 %s, killed: another install and uninstall restore all', async (_, before, args) => {
    const [clean, wired] = [all(await rig()), await rig(INSTALL)];
    let count = 0;
    for (const call of ['rename', 'unlink', 'mkdir'])
      count += await strikeEach(
        () => rig(...before),
        args,
        { path, call, kill: true },
        (project, { signal }) => {
          expect(signal).toBe('SIGKILL');
          // Either way from here; the second shows that nothing was left behind.
          if (count % 2 === 0) must(project, UNINSTALL);
          must(project, [...INSTALL, '--command', 'forge']);
          for (const file of [SETTINGS, '.mcp.json']) expect(project.read(file)).toBe(wired.read(file));
          must(project, UNINSTALL);
          expect(differences(clean, all(project))).toEqual([]);
        },
      );
    expect(count).toBeGreaterThan(1);
  });

  it('AGT-01 leaves all files as they were on a full disk', async () => {
    const clean = all(await rig());
    const full = { path, call: 'write', error: 'ENOSPC' } as const;
    const count = await strikeEach(rig, INSTALL, full, (project, { exitCode, stderr }) => {
      expect([exitCode, stderr]).toEqual([6, expect.stringContaining('the disk is full')]);
      const there = [project.read(SETTINGS) !== MINE, project.has('.mcp.json')];
      expect(new Set(there).size).toBe(1);
      must(project, UNINSTALL);
      expect(differences(clean, all(project))).toEqual([]);
    });
    expect(count).toBeGreaterThan(1);
  });
});
