import { spawn, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { payload } from '../support/agent-hooks.js';
import { BIN, SLOW_MOTION } from '../support/forge.js';
import { SESSION } from '../support/forge-project.js';
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

/** The hook's process, which gets no end of its input. */
function hangingHook(project: Project, event: string) {
  const child = spawn(process.execPath, [BIN, 'hook', 'claude', event], { cwd: project.dir });
  child.stdin.write('{"cwd": ');
  return child;
}

describe('hooks of an agent, as it runs them', () => {
  it('AGT-01 SES-09 the agent holds the session, and commands in its shell work in it', () => {
    const project = makeForgeRepository();
    expect(hook(project, 'session-start')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(project.json(SESSION)).toMatchObject({ holder: { pid: process.pid } });
    const typed = run(project.dir, 'sh', ['-c', `${FORGE} session start --json; exit $?`]);
    expect(JSON.parse(typed.stdout)).toMatchObject({ session: { state: 'running' } });
  });

  it('AGT-01 SES-09 the agent holds a session that it starts in its shell', () => {
    const project = makeForgeRepository();
    hook(project, 'session-start');
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

  it('AGT-01 a hook whose input never ends exits silently', async () => {
    const project = makeForgeRepository();
    const child = hangingHook(project, 'session-end');
    expect(await follow(child).ended).toEqual({ exitCode: 0, signal: null, stdout: '', stderr: '' });
  });

  it('AGT-01 a hook does not wait for the end of input after the payload', async () => {
    const project = makeForgeRepository();
    const child = spawn(process.execPath, [BIN, 'hook', 'claude', 'session-start'], { cwd: project.dir });
    child.stdin.write(JSON.stringify(payload('claude', 'session-start', { cwd: project.dir })));
    const { exitCode, stdout } = await follow(child).ended;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('FORGE briefing')]);
  });
});
