import { describe, expect, it } from 'vitest';
import { runBinary, startBinary } from '../support/forge.js';
import { isAlive } from '../support/kills.js';
import type { Project } from '../support/project.js';
import { connect } from '../support/servers.js';
import { makeForgeRepository, typed, typedJson } from '../support/typed.js';

const SESSION = '.forge/memory/short-term/session.json';
const START = ['session', 'start', '--reverify', '3'];

/** Two features that pass; the second one's test hangs from now on, with a child. */
function hanging(): Project {
  const project = makeForgeRepository();
  project.write(
    'b.sh',
    'test -e hang || exit 0\nsleep 1000 & echo $! >child.pid\necho $$ >main.pid\nsleep 1000\n',
  );
  typed(project, ['feature', 'add', '--no-run', 'A', 'First', '--test', 'test ! -e broken']);
  typed(project, ['feature', 'add', '--no-run', 'B', 'Second', '--test', 'sh b.sh']);
  typed(project, ['feature', 'verify', 'A', 'B']);
  typed(project, ['config', 'set', 'session.reverify_seconds', '3600']);
  project.write('hang', '');
  return project;
}

const isThere = (project: Project, file: string): boolean =>
  project.has(file) && project.read(file).endsWith('\n');

/** Until the test of B runs. */
async function begun(project: Project): Promise<void> {
  await expect.poll(() => isThere(project, 'main.pid')).toBe(true);
}

async function expectGone(project: Project): Promise<void> {
  for (const file of ['main.pid', 'child.pid'])
    await expect.poll(() => isAlive(Number(project.read(file)))).toBe(false);
}

/** Ends what is left of a killed forge's test. forge's own watch may have done that already. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
}

const statusOf = (project: Project, id: string): unknown =>
  typedJson(project, ['feature', 'show', id]).status;

describe.skipIf(process.platform !== 'linux')('session start --reverify that is cut off', () => {
  it('SES-11 B-92 ends the tests, starts no session, and keeps the results so far', async () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const project = hanging();
      project.write('broken', '');
      const child = startBinary(project.dir, START);
      const ended = new Promise((done) => child.on('close', (code, by) => done(code ?? by)));
      await begun(project);
      child.kill(signal);
      expect(await ended).toBe(signal === 'SIGINT' ? 130 : signal);
      await expectGone(project);
      expect([project.has(SESSION), statusOf(project, 'A'), statusOf(project, 'B')]).toEqual([
        false,
        'failing',
        'passing',
      ]);
      expect(typed(project, ['session', 'start'])).toContain('Task: A: First');
    }
  });

  it('SES-11 leaves memory whole when it is killed, and the next start works', async () => {
    const project = hanging();
    const child = startBinary(project.dir, START);
    const ended = new Promise((done) => child.on('close', (_code, by) => done(by)));
    await begun(project);
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    endGroup(Number(project.read('main.pid')));
    expect(project.has(SESSION)).toBe(false);
    expect(runBinary(project.dir, ['memory', 'verify'])).toMatchObject({ exitCode: 0 });
    project.git('clean', '-qf', '--', 'hang');
    expect(typed(project, START)).toMatch(/started\n {2}✓ .*\n {2}✓ /);
  });

  it('SES-11 continues if its output is not read', async () => {
    const project = hanging();
    project.git('clean', '-qf', '--', 'hang');
    const child = startBinary(project.dir, START);
    child.stdout?.destroy();
    child.stderr?.destroy();
    expect(await new Promise((done) => child.on('close', done))).toBe(0);
    expect(project.has(SESSION)).toBe(true);
  });
});

describe.skipIf(process.platform !== 'linux')('session_start of the MCP server', () => {
  it('SES-11 AGT-02 reruns tests on request or by the setting, and reports only ids', async () => {
    const project = hanging();
    project.git('clean', '-qf', '--', 'hang');
    typed(project, ['config', 'set', 'session.reverify', '1']);
    project.write('broken', '');
    const { call } = await connect(project);
    const { content } = await call('session_start');
    expect(content[0]?.text).toContain('Rerun tests: {"passing":[],"regressed":["A"],"not_run":[]}');
    expect(content[0]?.text).toContain('Regressed: A passed until now, and the tests fail.');
    const again = await call('session_start', { reverify: 5 });
    expect(again.content[0]?.text).toContain('{"passing":["B"],"regressed":[],"not_run":[]}');
  });
});
