import { describe, expect, it } from 'vitest';
import type { Issue } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { startLinear } from '../support/linear-server.js';
import { issues, run } from '../support/linear-sync.js';
import { commitAll } from '../support/project.js';
import { hasTool } from '../support/tools.js';

describe('forge linear, with Linear', () => {
  it('LIN-03 LIN-04 a pull keeps the states that wait to be sent, unless Linear has ended the issue', async () => {
    const server = await startLinear([{}, {}, {}]);
    const project = await makeForge();
    await run(project, server, 'pull');
    await forgeJson(project, ['session', 'start', '--task', 'x']);
    await forgeJson(project, ['linear', 'start', 'APP-1']);
    await forgeJson(project, ['linear', 'start', 'APP-3']);
    await forgeJson(project, ['linear', 'done', 'APP-2', '--summary', 'A lock was missing']);
    const history = project.read('.forge/linear/history/APP-2.json');
    (server.issues[2] as { type: string }).type = 'canceled';
    expect((await run(project, server, 'pull')).value).toMatchObject({ closed: ['APP-3'], queued: 4 });
    const states = async () => (await issues(project)).map(({ linear_id, state }) => [linear_id, state]);
    expect(await states()).toEqual([['APP-1', 'started']]);
    expect(project.read('.forge/linear/history/APP-2.json')).toBe(history);
    await run(project, server, 'sync');
    expect(server.issues.map(({ type }) => type)).toEqual(['started', 'completed', 'canceled']);
    expect(await states()).toEqual([['APP-1', 'started']]);
  });

  it('LIN-03 LIN-04 an issue that is reopened, here or in Linear, is active again on both sides; one that is done in Linear moves to history', async () => {
    const server = await startLinear([{}]);
    const project = await makeForge();
    await run(project, server, 'pull');
    await forgeJson(project, ['linear', 'done', 'APP-1']);
    // Linear does not know yet that it is done.
    expect((await run(project, server, 'pull')).value?.reopened).toEqual([]);
    await run(project, server, 'push');
    Object.assign(server.issues[0] as object, { type: 'started', updatedAt: '2100-01-01T00:00:00.000Z' });
    const { stdout } = await runForge(project, ['linear', 'pull'], { env: server.env });
    expect(stdout).toContain('APP-1 was reopened in Linear, and is active again');
    expect((await issues(project)).map(({ state }) => state)).toEqual(['started']);
    expect(project.has('.forge/linear/history/APP-1.json')).toBe(false);
    await forgeJson(project, ['linear', 'done', 'APP-1']);
    await run(project, server, 'push');
    await forgeJson(project, ['linear', 'start', 'APP-1']);
    expect((await run(project, server, 'sync')).value?.closed).toEqual([]);
    expect(server.issues[0]?.type).toBe('started');
    expect((await issues(project)).map(({ state }) => state)).toEqual(['started']);
    (server.issues[0] as { type: string }).type = 'completed';
    const ended = await runForge(project, ['linear', 'pull'], { env: server.env });
    expect(ended.stdout).toContain('APP-1 was ended in Linear');
    expect(await issues(project)).toEqual([]);
    expect(JSON.parse(project.read('.forge/linear/history/APP-1.json'))).toMatchObject({ state: 'done' });
  });

  it('LIN-03 B-75 start, comment and done arrive exactly once, also when every second request fails', async () => {
    const server = await startLinear([{}]);
    const project = await makeForge();
    await run(project, server, 'pull');
    await forgeJson(project, ['session', 'start', '--task', 'x']);
    await forgeJson(project, ['linear', 'start', 'APP-1']);
    await forgeJson(project, ['linear', 'done', 'APP-1', '--summary', 'A lock was missing']);
    server.fault = 'every second';
    let rest = 1;
    for (let i = 0; i < 12 && rest > 0; i++) rest = (await run(project, server, 'push')).value?.queued ?? 1;
    expect(rest).toBe(0);
    const comments = server.comments.map(({ issue, body }) => [issue, body]);
    expect(comments).toEqual([['APP-1', 'A lock was missing']]);
    expect(server.done).toEqual(['comment APP-1', 'APP-1 completed']);
  });

  it('B-75 a lost response after a completed request creates no duplicate', async () => {
    const server = await startLinear();
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Wire the login']);
    server.fault = 'lost';
    expect((await run(project, server, 'push')).exitCode).toBe(6);
    server.fault = 'none';
    await run(project, server, 'push');
    expect(server.issues.map(({ title }) => title)).toEqual(['Wire the login']);
    expect((await issues(project))[0]?.linear_id).toBe('APP-1');
  });

  it('B-75 two clones with the same local issue create it once', async () => {
    const server = await startLinear();
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Wire the login']);
    commitAll(project, 'Plan');
    const clone = cloneOf(project);
    for (const each of [project, clone]) {
      expect((await run(each, server, 'push')).value?.pushed).toHaveLength(1);
      expect((await issues(each)).map(({ linear_id }) => linear_id)).toEqual(['APP-1']);
    }
    expect(server.issues).toHaveLength(1);
  });

  it('VIS-01 LIN-03 status is red after a pull that failed, until one succeeds', async () => {
    const server = await startLinear([{ title: 'Wire the login' }]);
    const project = await makeForge();
    await run(project, server, 'pull');
    const colorOf = async () =>
      /"name":"linear","color":"(\w+)"/.exec(
        (await runForge(project, ['status', '--json'], { env: server.env })).stdout,
      )?.[1];
    const before = await colorOf();
    server.fault = 'error';
    for (const command of ['pull', 'sync']) {
      expect((await run(project, server, command)).exitCode).toBe(6);
      expect(await colorOf()).toBe('red');
      server.fault = 'none';
      expect((await run(project, server, command)).exitCode).toBe(0);
      expect(await colorOf()).toBe(before);
      server.fault = 'error';
    }
  });

  it('B-71 after 429 the next push waits as long as the server asked', async () => {
    const server = await startLinear();
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Wire the login']);
    server.fault = 'limit';
    await run(project, server, 'push');
    server.fault = 'none';
    const before = server.requests;
    const { value, exitCode } = await run(project, server, 'push');
    expect([exitCode, server.requests]).toEqual([6, before]);
    expect(value?.failed[0]?.message).toMatch(/asked to wait until/);
  });

  it('B-73 B-74 only https, and never an address from the repository', async () => {
    const project = await makeForge();
    const env = { LINEAR_API_KEY: 'x', LINEAR_API_URL: 'http://evil.example/graphql' };
    const { exitCode, stderr } = await runForge(project, ['linear', 'pull'], { env });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('must be https')]);
    const server = await startLinear([{}]);
    const { LINEAR_API_KEY, LINEAR_API_URL } = server.env;
    const config = project.read('.forge/config.toml');
    project.write('.forge/config.toml', `${config}\n[linear]\nurl = "${LINEAR_API_URL}"\n`);
    await runForge(project, ['linear', 'list'], { env: { LINEAR_API_KEY } });
    expect(server.requests).toBe(0);
  });
});

const pty = hasTool('script');

describe.skipIf(!pty)('forge linear at a terminal', () => {
  it('LIN-02 new --template bug asks the questions of the form and refuses wrong answers by rule', async () => {
    const project = await makeForge();
    const { shown, exitCode } = await atTerminal(
      project,
      ['linear', 'new', '--template', 'bug'],
      [
        ['title', 'Save fails\r'],
        ['does not match [BUG] *', '[BUG] Save fails\r'],
        ['reproduction steps', '\r'],
        ['reproduction_steps needs an answer', 'Press save\r'],
        ['expected behavior', 'A file\r'],
        ['actual behavior', '\r'],
        ['git bisect range', 'main..dev\r'],
        ['does not match [a-f0-9]', 'a1b2c3d..e4f5a6b\r'],
      ],
    );
    expect([exitCode, shown]).toEqual([0, expect.stringContaining('LOCAL-1135')]);
    expect(await issues(project)).toMatchObject([
      {
        title: '[BUG] Save fails',
        type: 'bug',
        fields: {
          reproduction_steps: 'Press save',
          expected_behavior: 'A file',
          git_bisect_range: 'a1b2c3d..e4f5a6b',
        },
      } satisfies Partial<Issue>,
    ]);
  });
});
