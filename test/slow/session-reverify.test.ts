import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Reverified } from '../../src/index.js';
import { claude } from '../support/agent-hooks.js';
import { forgeJson, runForge, startBinary } from '../support/forge.js';
import { FEATURES, makeForge, SESSION, storedFeature } from '../support/forge-project.js';
import { expectEnded } from '../support/kills.js';
import { logOf } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { connect } from '../support/servers.js';
import { makeForgeRepository, typed, typedJson } from '../support/typed.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Started {
  session: { state: string };
  briefing: { text: string; sections: { key: string; items: string[] }[] };
  reverified?: Reverified;
  warnings: string[];
}

/** A script that notes its run, and fails once there is a file of its feature's name. */
const script = (id: string): string => `sh -c 'echo ${id} >>runs; test ! -e ${id}.broken'`;

/** Features that pass, verified in this order, a second apart. */
async function passing(...ids: string[]): Promise<Project> {
  const project = await makeForge();
  for (const [i, id] of ids.entries()) {
    await forgeJson(project, ['feature', 'add', '--no-run', id, `Feature ${id}`, '--test', script(id)]);
    const now = () => new Date(Date.UTC(2026, 0, 1, 0, 0, i));
    await forgeJson(project, ['feature', 'verify', id], { world: { now } });
  }
  project.write('runs', '');
  return project;
}

const runsOf = (project: Project): string[] => project.read('runs').split('\n').filter(Boolean);

const start = (project: Project, ...args: string[]): Promise<Started> =>
  forgeJson<Started>(project, ['session', 'start', ...args]);

const set = (project: Project, key: string, value: string | number): Promise<unknown> =>
  forgeJson(project, ['config', 'set', `session.${key}`, String(value)]);

describe('forge start --reverify', () => {
  it('SES-11 runs the tests of N passing features, and each has its turn', async () => {
    const project = await passing('C', 'A', 'B');
    const { reverified, warnings } = await start(project, '--reverify', '2');
    expect(reverified).toMatchObject({ regressed: [], not_run: [] });
    expect(reverified?.results.map(({ id, status, before }) => [id, status, before])).toEqual([
      ['C', 'passing', 'passing'],
      ['A', 'passing', 'passing'],
    ]);
    expect([runsOf(project), warnings]).toEqual([['C', 'A'], []]);
    await forgeJson(project, ['log', 'some work']);
    await forgeJson(project, ['end']);
    await start(project, '--reverify', '2');
    expect(runsOf(project)).toEqual(['C', 'A', 'B', 'C']);
    await start(project, '--reverify', '9');
    expect(runsOf(project)).toHaveLength(7);
  });

  it('SES-11 records a regression as feature verify does, names it, and makes it the next task', async () => {
    const project = await passing('A', 'B');
    await forgeJson(project, ['feature', 'add', 'C', 'Not begun']);
    project.write('B.broken', '');
    const { stdout, stderr, exitCode } = await runForge(project, ['session', 'start', '--reverify', '5']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/started\n {2}✓ A {2}passing .*\n {2}✗ B {2}passing → failing .*exit code 1/);
    expect(stdout).toContain('Task: B: Feature B\n');
    expect(stderr).toContain('verifying again, 1 of 2 done: B: sh -c');
    expect(storedFeature(project, 'B')).toMatchObject({ status: 'failing' });
    expect(storedFeature(project, 'B')).not.toHaveProperty('verified_by');
    const regressions = (await logOf(project, 'evaluation')).filter(({ kind }) => kind === 'regression');
    expect(regressions.map(({ record }) => record)).toMatchObject([
      { kind: 'regression', feature: 'B', exit_code: 1 },
    ]);
  });

  it('SES-11 FEA-05 lists a test that could not run, and why', async () => {
    const project = await passing('A');
    project.write('t.sh', 'exit 0\n');
    await forgeJson(project, ['feature', 'edit', 'A', '--no-run', '--test', 'sh t.sh']);
    await forgeJson(project, ['feature', 'verify', 'A'], { world: { now: () => new Date(0) } });
    project.write('t.sh', 'no-such-tool\n');
    const { reverified } = await start(project, '--reverify', '1');
    expect(reverified).toMatchObject({
      results: [],
      not_run: [{ id: 'A', code: 'not_run', why: expect.stringContaining('no-such-tool: not found') }],
    });
  });

  it('SES-11 runs nothing that was not approved here, and says so', async () => {
    const project = await passing('A', 'B');
    await runForge(project, ['trust', '--revoke'], { terminal: true });
    await forgeJson(project, ['feature', 'edit', 'B', '--name', 'Other']);
    const { reverified } = await start(project, '--reverify', '5');
    expect(reverified).toEqual({
      results: [],
      regressed: [],
      not_run: ['A', 'B'].map((id) => ({ id, code: 'trust.needed', why: expect.any(String) })),
    });
    expect(runsOf(project)).toEqual([]);
    expect(storedFeature(project, 'A')).toMatchObject({ status: 'passing' });
  });

  it('SES-11 stops at the time limit: interrupted and unreached features keep their status and are named', async () => {
    const project = await passing('A', 'B', 'C');
    await forgeJson(project, [
      'feature',
      'edit',
      'B',
      '--no-run',
      '--test',
      "sh -c 'test ! -e slow || exec sleep 1000'",
    ]);
    await forgeJson(project, ['feature', 'verify', 'B'], {
      world: { now: () => new Date(Date.UTC(2026, 0, 1, 0, 0, 1)) },
    });
    const before = storedFeature(project, 'B');
    project.write('slow', '');
    // Room for the test of A on a slow machine.
    await set(project, 'reverify_seconds', 10);
    // A test that prints much: the garbage collector must not take the limit.
    const collector = setInterval(collectGarbage, 100);
    const { reverified } = await start(project, '--reverify', '3').finally(() => clearInterval(collector));
    expect(reverified?.results.map(({ id }) => id)).toEqual(['A']);
    expect(reverified?.not_run).toEqual([
      { id: 'B', code: 'time', why: 'the time was up' },
      { id: 'C', code: 'time', why: 'the time was up' },
    ]);
    expect(storedFeature(project, 'B')).toEqual(before);
    expect(runsOf(project)).toEqual(['A']);
  });

  it('SES-11 leaves out what a human vouches for, what has no tests, and what only claims to pass', async () => {
    const project = await passing('A', 'B');
    await forgeJson(project, ['feature', 'add', '--no-run', 'H', 'By word', '--test', script('H')]);
    const word = ['feature', 'edit', 'H', '--status', 'passing', '--reason', 'needs the device', '--yes'];
    await runForge(project, word, { terminal: true });
    const file = project.json<{ features: object[] }>(FEATURES);
    file.features.push({
      id: 'N',
      name: 'n',
      status: 'passing',
      verified_at: '2020-01-01T00:00:00.000Z',
      tests: [],
    });
    file.features.push({ id: 'X', name: 'x', status: 'passing', tests: [script('X')] });
    project.write(FEATURES, JSON.stringify(file));
    const { reverified } = await start(project, '--reverify', '9');
    expect(reverified?.results.map(({ id }) => id)).toEqual(['A', 'B']);
    expect(storedFeature(project, 'H')).toMatchObject({ status: 'passing' });
  });
});

describe('[session] reverify', () => {
  it('SES-11 is off unless it is set; applies to each new session only; the option overrides the setting', async () => {
    const project = await passing('A', 'B');
    expect(await start(project)).not.toHaveProperty('reverified');
    await forgeJson(project, ['session', 'discard']);
    await set(project, 'reverify', 1);
    expect((await start(project)).reverified?.results.map(({ id }) => id)).toEqual(['A']);
    expect(await start(project)).not.toHaveProperty('reverified');
    expect((await start(project, '--reverify', '1')).reverified?.results.map(({ id }) => id)).toEqual(['A']);
    await forgeJson(project, ['session', 'discard']);
    expect(await start(project, '--reverify', '0')).not.toHaveProperty('reverified');
    await forgeJson(project, ['log', 'x']);
    const parked = { at: '2026-03-01T10:00:00.000Z', agent: 'claude-1' };
    project.write(SESSION, JSON.stringify({ ...(project.json(SESSION) as object), parked }));
    expect(await start(project, '--resume', 'latest')).not.toHaveProperty('reverified');
    expect(runsOf(project)).toEqual(['A', 'A']);
  });

  it("SES-11 AGT-01 runs nothing from an agent's start hook, which the agent waits for", async () => {
    const project = await passing('A');
    await set(project, 'reverify', 3);
    await claude(project, 'session-start');
    expect(runsOf(project)).toEqual([]);
  });
});

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
      await expectEnded(project, 'main.pid', 'child.pid');
      expect([project.has(SESSION), statusOf(project, 'A'), statusOf(project, 'B')]).toEqual([
        false,
        'failing',
        'passing',
      ]);
      expect(typed(project, ['session', 'start'])).toContain('Task: A: First');
    }
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
    const again = await call('session_start', { reverify: 5 });
    expect(again.content[0]?.text).toContain('{"passing":["B"],"regressed":[],"not_run":[]}');
  });
});
