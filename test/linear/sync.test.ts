import { describe, expect, it } from 'vitest';
import type { EndedSession, Focus, IssueList } from '../../src/index.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { type Fault, startLinear } from '../support/linear-server.js';
import { issues, run } from '../support/linear-sync.js';

const FAULTS: [what: string, fault: Fault, message: RegExp][] = [
  ['B-71 429', 'limit', /limits the rate of requests\. It asked to wait until \d{4}-/],
  ['502', 'error', /answered 502/],
  ['HTML', 'html', /without JSON/],
  ['half an answer', 'half', /without JSON/],
  ['an answer without a field', 'odd', /teams\.nodes\.0\.id is missing/],
  ['a redirect', 'redirect', /cannot be reached at 127\.0\.0\.1:\d+ \(LINEAR_API_URL\): /],
  ['an endless answer', 'huge', /more than \d+ bytes/],
  ['B-70 silence', 'hang', /does not answer/],
  ['LIN-03 an expired key', 'expired', /refused the key/],
];

describe('forge linear, with Linear', () => {
  it('LIN-03 pull takes over all pages of assigned issues, and Linear’s text wins while notes stay', async () => {
    const rest = { description: '- [ ] It works', labels: ['Bug'] };
    const server = await startLinear(
      Array.from({ length: 120 }, (_, i) => ({ title: `Issue ${i + 1}`, ...rest })),
    );
    const project = await makeForge();
    const { value, exitCode } = await run(project, server, 'pull');
    expect([exitCode, value?.pulled.length]).toEqual([0, 120]);
    const [first] = await issues(project);
    expect(first).toMatchObject({
      ...{ linear_id: 'APP-1', title: 'Issue 1', type: 'bug', labels: ['Bug'], priority: 2 },
      ...{ state: 'unstarted', acceptance_criteria: ['It works'], git_refs: { branch: 'ada/app-1' } },
      url: 'https://linear.app/x/APP-1',
    });
    const file = '.forge/linear/active.json';
    const text = project.read(file).replace('"title": "Issue 1"', '"title": "Mine"');
    project.write(file, text.replace('"estimated_complexity": null', '"estimated_complexity": "high"'));
    (server.issues[0] as { title: string }).title = 'Theirs';
    const again = await run(project, server, 'pull');
    expect(again.value?.conflicts).toEqual([{ id: 'APP-1', field: 'title', ours: 'Mine', theirs: 'Theirs' }]);
    const merged = { title: 'Theirs', agent_state: { estimated_complexity: 'high' } };
    expect((await issues(project))[0]).toMatchObject(merged);
  });

  it('LIN-03 a text that was changed only here is not sent: Linear’s stays, and every text of ours is kept', async () => {
    const server = await startLinear([{ title: 'Theirs', description: 'their text' }]);
    const project = await makeForge();
    await run(project, server, 'pull');
    const file = '.forge/linear/active.json';
    for (const [before, after] of [
      ['Theirs', 'Mine'],
      ['their text', 'my text'],
    ] as const) {
      project.write(file, project.read(file).replace(`"${before}"`, `"${after}"`));
      const { value } = await run(project, server, 'pull');
      expect(value?.conflicts).toMatchObject([{ ours: after, theirs: before }]);
    }
    expect((await issues(project))[0]).toMatchObject({
      ...{ title: 'Theirs', description: 'their text' },
      replaced: { title: 'Mine', description: 'my text' },
    });
  });

  it('LIN-03 push creates local issues in Linear; their id changes wherever it is used, and the state stays', async () => {
    const server = await startLinear([{}]);
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Wire the login']);
    await forgeJson(project, ['feature', 'add', 'Login', '--issue', 'LOCAL-9528', '--no-run']);
    await forgeJson(project, ['session', 'start', '--task', 'x']);
    await forgeJson(project, ['linear', 'start', 'LOCAL-9528']);
    expect((await run(project, server, 'push', '-n')).value?.pushed).toEqual(['LOCAL-9528 issue']);
    expect(server.done).toEqual([]);
    expect((await run(project, server, 'sync')).value?.pushed).toEqual([
      ...['APP-2 issue (was LOCAL-9528)', 'APP-2 state'],
    ]);
    const done = ['create APP-2', 'APP-2 started'];
    expect(server.done).toEqual(done);
    expect(await forgeJson<Focus>(project, ['focus', 'show'])).toMatchObject({
      ...{ linear_issue: 'APP-2', task: 'APP-2: Wire the login' },
    });
    expect(project.read('.forge/memory/long-term/features.json')).toContain('"linear_issue": "APP-2"');
    await run(project, server, 'sync');
    expect(server.done).toEqual(done);
    expect((await issues(project)).map(({ state }) => state)).toEqual(['unstarted', 'started']);
  });

  it('LIN-03 LIN-04 SES-06 pull, start, commit, session end: branch, focus and one comment', async () => {
    const server = await startLinear([{}]);
    const project = await makeForge();
    await run(project, server, 'pull');
    await forgeJson(project, ['session', 'start', '--task', 'Login']);
    await forgeJson(project, ['linear', 'start', 'APP-1']);
    const idle = async (): Promise<string[]> =>
      (await forgeJson<IssueList>(project, ['linear', 'list'])).without_commits;
    expect(await idle()).toEqual(['APP-1']);
    project.write('src/login.js', 'export const login = 1;\n');
    project.git('add', 'src/login.js');
    await forgeJson(project, ['commit', '-m', 'feat: add the login', '--why', 'Nobody could log in']);
    const commit = project.git('rev-parse', 'HEAD');
    await forgeJson(project, ['log', 'The login works']);
    server.fault = 'error';
    const end = ['session', 'end', '--next', 'Log out'];
    const ended = await forgeJson<EndedSession>(project, end, { env: server.env });
    expect(ended.linear).toEqual([{ issue: 'APP-1', sent: false }]);
    server.fault = 'none';
    await run(project, server, 'sync');
    await run(project, server, 'sync');
    expect(server.comments.map(({ issue }) => issue)).toEqual(['APP-1']);
    expect(server.comments[0]?.body).toMatch(/^Session .+\n\n(- .+\n)*- The login works\n\nNext: Log out$/);
    const { branch, commits } = (await issues(project))[0]?.git_refs ?? {};
    expect([branch, commits]).toEqual([expect.stringMatching(/app-1/), [commit]]);
    expect(await idle()).toEqual([]);
  });

  it.each(FAULTS)('B-72 %s: exit 6, one clear line, the issue is kept', async (_, fault, expected) => {
    const server = await startLinear();
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Wire the login']);
    server.fault = fault;
    const { exitCode, value, stderr } = await run(project, server, 'push');
    expect(exitCode).toBe(6);
    expect(`${value?.failed.map(({ message }) => message)}${stderr}`).toMatch(expected);
    expect((await issues(project)).map(({ linear_id }) => linear_id)).toEqual(['LOCAL-9528']);
    const dry = await runForge(project, ['linear', 'push', '-n'], { env: server.env });
    expect(dry.stdout).toMatch(/1 would be sent$/m);
    expect((await runForge(project, ['status', '--json'])).stdout).not.toContain('the last sync failed');
    const status = await runForge(project, ['status', '--json'], { env: server.env });
    expect(status.stdout).toMatch(/"name":"linear","color":"red"/);
    const linear = status.stdout.slice(status.stdout.indexOf('"name":"linear"'));
    expect(linear).toContain('"fix":["forge linear sync"]');
  });

  it('B-77 the key is never printed', async () => {
    const server = await startLinear();
    const project = await makeForge();
    const env = { ...server.env, LINEAR_API_KEY: 'lin_api_secret_thing' };
    const { stdout, stderr } = await runForge(project, ['linear', 'pull'], { env });
    expect(stdout + stderr).not.toContain('lin_api_secret_thing');
    const { LINEAR_API_URL, LINEAR_API_KEY } = server.env;
    const command = { LINEAR_API_URL, LINEAR_API_KEY_COMMAND: `printf %s ${LINEAR_API_KEY}` };
    expect((await runForge(project, ['linear', 'pull'], { env: command })).exitCode).toBe(0);
  });

  it('B-76 AGT-04 cleans text of others before storing it', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const description = `Use ${secret} and write to ada.king@babbage-engines.net, soon\u{e0041}`;
    const server = await startLinear([{ title: 'Hello\u202e', description }]);
    const project = await makeForge();
    expect((await run(project, server, 'pull')).exitCode).toBe(0);
    const text = project.read('.forge/linear/active.json');
    expect(text).not.toMatch(/ghp_|ada.king@|\u202e|\u{e0041}/u);
    expect((await run(project, server, 'pull')).exitCode).toBe(0);
    expect(project.read('.forge/linear/active.json')).toBe(text);
  });
});
