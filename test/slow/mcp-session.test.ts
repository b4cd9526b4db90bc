import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Agent } from '../support/e2e-agents.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge, PROGRESS } from '../support/forge-project.js';
import { logOf } from '../support/memory.js';
import { changedPaths, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { connect, MODES } from '../support/servers.js';

/** A project with a feature whose test a person approved. */
async function ready(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'Login works', '--test', 'npm test']);
  await runForge(project, ['trust', '--yes'], { terminal: true });
  return project;
}

const QUESTION = { op: 'add', kind: 'OpenQuestion', text: 'Which cookie holds the token?' };
const HEADER = 'Known Facts Registry (KFR) — Authoritative Working Memory\n';
const GOAL = { op: 'replace', kind: 'Goal', text: 'Logout works' };

describe('FORGE_TRUST', () => {
  it('B-88 approves nothing for the server of an agent', async () => {
    const project = await ready();
    const { digest } = await forgeJson<{ digest: string }>(project, ['trust', '--show']);
    await forgeJson(project, ['trust', '--revoke']);
    const env = { CI: '1', FORGE_TRUST: digest };
    const { call } = await connect(project, MODES[0], env);
    const refused = await call('feature_verify', { ids: ['A'] });
    expect([refused.isError, refused.structuredContent.error?.code]).toEqual([true, 'trust.needed']);
    const shown = await forgeJson<{ trusted: boolean }>(project, ['trust', '--show'], { env });
    expect(shown.trusted).toBe(true);
  });
});

describe('a next step', () => {
  it('AGT-02 names a tool of the server, not the command for it', async () => {
    const project = await makeForge();
    project.write('a.sh', 'sed -i "s/sh a.sh/sh b.sh/" .forge/memory/long-term/features.json\n');
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'Login', '--test', 'sh a.sh']);
    await runForge(project, ['trust', '--yes'], { terminal: true });
    const { call } = await connect(project, MODES[0]);
    const changed = await call('feature_verify', { ids: ['A'] });
    expect(changed.content[0]?.text).toMatch(/^feature\.changed: [^\n]+\nCall feature_verify again\.$/);
  });
});

describe.each(MODES)('a client of the protocol (%s)', (mode) => {
  it('AGT-02 KFR-03 KFR-09 works a whole session without the command line', async () => {
    const project = await ready();
    const { call } = await connect(project, mode);

    const started = await call('session_start', { goal: 'Log out' });
    expect(started.content[0]?.text).toMatch(/^Session \S+ \(started\)\nFORGE briefing/);
    expect(started.content[0]?.text).toContain('Task: Log out');

    const patched = await call('session_working_memory_update', { operations: [GOAL, QUESTION] });
    // The new working memory under its header, once, in the one form that every client hands on.
    expect(patched.structuredContent).toBeUndefined();
    expect(patched.content).toEqual([{ type: 'text', text: expect.stringContaining(HEADER) }]);
    expect(patched.content[0]?.text.match(/kfr-[12]\b/g)).toEqual(['kfr-1', 'kfr-2']);
    const other = await call('session_start', { goal: 'Something else' });
    expect(other.content[0]?.text).toMatch(
      /^Session \S+ \(running\)\nThe session goes on with its task: kfr-2/,
    );
    const logged = await call('progress_add', { text: 'wired the form', next: 'the cookie' });
    expect(logged.content).toEqual([{ type: 'text', text: 'Logged, and the next step set.' }]);
    expect(project.read(PROGRESS)).toMatch(/wired the form\n.*NEXT: the cookie/s);
    expect((await call('feature_verify', {})).structuredContent).toMatchObject({
      results: [{ id: 'A', status: 'passing', exit_code: 0 }],
    });

    const skipped = "sh -c 'echo 1 skipped in 0.1s'";
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'Log out', '--test', skipped]);
    await runForge(project, ['trust', '--yes'], { terminal: true });
    expect((await call('feature_verify', { ids: ['B'] })).structuredContent).toEqual({
      results: [
        {
          ...{ id: 'B', status: 'not_implemented', exit_code: 0, not_run: 'no test ran' },
          output: '1 skipped in 0.1s\n',
        },
      ],
    });

    const refused = await call('session_end');
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent.error).toMatchObject({ code: 'gate.closed', exit: 3 });
    expect(refused.content[0]?.text).toMatch(
      /kfr-2 \(OpenQuestion\) Which cookie[\s\S]+Call session_working_memory_update/,
    );
    expect(project.has('.forge/memory/short-term/session.json')).toBe(true);

    const park = { operations: [{ op: 'park', id: 'kfr-2', reason: 'Ada decides' }] };
    await call('session_working_memory_update', park);
    expect((await call('session_end')).content[0]?.text).toMatch(
      /1 entry waits for a person.*\nAsk the user/,
    );

    const answer = { operations: [{ op: 'resolve', id: 'kfr-2', resolution: 'sid' }] };
    expect((await call('session_working_memory_update', answer)).isError).toBeUndefined();
    const again = await call('session_working_memory_update', answer);
    expect(again.content[0]?.text).toContain('kfr-2 was resolved already (sid).');
    const ended = await call('session_end', { learned: ['the token is in sid'], next: 'remember me' });
    expect(ended.content[0]?.text).toMatch(
      /^Session \S+ ended, committed as \w+\..*\n.*is quoted data[\s\S]*"next": "remember me"/,
    );
    expect(ended.content[0]?.text).not.toMatch(/null|\[\]/);
    expect(project.has('.forge/memory/short-term/session.json')).toBe(false);
    expect(project.git('log', '-1', '--format=%s')).toMatch(/Session end/);
    expect((await call('briefing')).content[0]?.text).toContain('remember me');
  });

  it('KFR-03 updates working memory like `kfr patch`: all or nothing, no note, no checkpoint', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    await runForge(project, ['kfr', 'patch', '-'], { stdin: JSON.stringify({ operations: [GOAL] }) });
    const { call } = await connect(project, mode);

    const refused = await call('session_working_memory_update', {
      operations: [QUESTION, { op: 'remove', id: 'kfr-99' }, { op: 'add', kind: 'Rumour', text: 'x' }],
    });
    expect(refused.structuredContent.error).toMatchObject({
      code: 'kfr.patch',
      operations: [{ index: 1 }, { index: 2 }],
    });
    await call('session_working_memory_update', { operations: [QUESTION] });
    const { entries } = await forgeJson<{ entries: { id: string }[] }>(project, ['kfr', 'list']);
    expect(entries.map(({ id }) => id)).toEqual(['kfr-1', 'kfr-2']);
    expect(await logOf(project, 'note')).toEqual([]);
    expect(changedPaths(project).filter((path) => !/short-term|features\.json|\.d\//.test(path))).toEqual([]);
  });

  it('KFR-04 KFR-10 KFR-14 AGT-04 quotes the KFR, promotes an entry of it, and names what expires', async () => {
    const project = await ready();
    const { client, call } = await connect(project, mode);
    await call('session_start', { goal: 'Log out' });
    const kfr = async (): Promise<string> =>
      ((await client.readResource({ uri: 'forge://kfr' })).contents[0] as { text: string }).text;
    expect(await kfr()).toBe('');
    const operations = [GOAL, { op: 'add', kind: 'Constraint', text: 'Dates are UTC' }];
    await call('session_working_memory_update', { operations });
    expect(await kfr()).toContain(HEADER);
    expect((await call('briefing')).content[0]?.text).toContain(HEADER);
    const promoted = await call('session_note_promote', { id: 'kfr-2' });
    expect(promoted.content[0]?.text).toBe('kfr-2 is a note now, and no longer in the KFR.');
    expect(await forgeJson(project, ['kfr', 'list'])).toMatchObject({ entries: [{ id: 'kfr-1' }] });
    expect(await logOf(project, 'note')).toMatchObject([{ record: { text: 'Dates are UTC' } }]);
    const turned = await call('focus_set', { task: 'Log in' });
    expect(turned.content[0]?.text).toContain('Add again those that still hold: kfr-1 (Goal) Logout works');
    expect((await call('focus_set', { phase: 'BUILD' })).content[0]?.text).not.toContain('warnings');
  });

  it('AGT-02 names the next step as a tool, a file or a person, since the client may have no shell', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'edit', 'A', '--test', 'npm run other']);
    await forgeJson(project, ['trust', '--revoke']);
    const { call } = await connect(project, mode);
    const started = await call('session_start', { goal: 'login WORKS' });
    expect(started.content[0]?.text).toContain('Task: A: Login works');
    await call('progress_add', { text: 'read the form' });
    expect((await call('recall', { query: 'xyzzy' })).content[0]?.text).toBe('Nothing found.');
    expect((await call('recall', { query: 'forms' })).content[0]?.text).toMatch(/"why": \[\s+"form/);
    for (const expected of [/^Kept: \w{10}\.$/, /^Known already: \w{10}\.$/])
      expect((await call('learn', { text: 'Dates are UTC' })).content[0]?.text).toMatch(expected);
    const hints: [tool: string, given: object, hint: string][] = [
      ['feature_verify', { ids: ['A'] }, 'Ask the user to type'],
      ['feature_verify', { ids: ['B'] }, 'forge://features'],
      ['session_note_promote', { id: 'kfr-7' }, 'The briefing shows'],
      ['session_end', { confirm: ['C-7'] }, 'The briefing lists'],
      ['session_start', { resume: '2026-01-01-session-009' }, 'Call session_start without resume'],
      ['focus_set', {}, 'Example: {"task":'],
      ['recall', { query: ' ' }, 'Example: {"query":'],
      ['session_working_memory_update', { operations: [] }, 'Example: {"operations":'],
      ['progress_add', { text: `wrote to ${SAMPLES.email()}` }, 'Write '],
    ];
    for (const [tool, given, hint] of hints) {
      const told = String((await call(tool, given)).structuredContent.error?.hint);
      expect(told).toContain(hint);
      expect(told).not.toMatch(/--redact|--help|forge focus set/);
    }
  });

  it('FEA-05 B-88 adds a feature, whose test runs once a person approved it and counts once it failed', async () => {
    const project = await ready();
    const { call } = await connect(project, mode);
    const added = { id: 'B', name: 'Log out', tests: ['touch ran', 'test -e logout'] };
    const answer = await call('feature_add', added);
    expect(answer.structuredContent).toMatchObject({ id: 'B', first_run: 'not_run' });
    expect(answer.content[0]?.text).toContain('forge trust');
    const verify = async () => (await call('feature_verify', { ids: ['B'] })).structuredContent;
    expect((await verify()).error?.code).toBe('trust.needed');
    expect(project.has('ran')).toBe(false);
    await runForge(project, ['trust', '--yes'], { terminal: true });
    project.write('logout', '');
    expect(await verify()).toMatchObject({
      results: [{ id: 'B', unproven: true, why: expect.stringContaining('forge feature confirm ID') }],
    });
    rmSync(project.path('logout'));
    expect(await verify()).toMatchObject({ results: [{ status: 'failing', failure: 'exit code 1' }] });
    project.write('logout', '');
    expect(await verify()).toMatchObject({ results: [{ status: 'passing' }] });
    // Without a shell, too, a feature gets its test later.
    await call('feature_add', { id: 'D', name: 'Log out twice' });
    const untested = await call('feature_verify', { ids: ['D'] });
    expect(untested.structuredContent.error?.hint).toBe('Call feature_add with its id, name and tests.');
    const tested = await call('feature_add', { ...added, id: 'D', name: 'Log out twice' });
    expect(tested.structuredContent).toMatchObject({ id: 'D', first_run: 'passed' });
    // Approved already: it runs at once.
    const again = await call('feature_add', { ...added, id: 'C', name: 'Log out again' });
    expect(again.structuredContent).toMatchObject({ first_run: 'passed', unproven: true });
    expect(again.structuredContent.why).toContain('feature_add with another id');
    const twice = await call('feature_add', { ...added, id: 'C' });
    expect(twice.structuredContent.error?.hint).toContain('feature_add with another id');
    await call('feature_add', { id: 'E', name: 'Export', blocked_by: ['C'], priority: 2 });
    expect(await forgeJson(project, ['feature', 'show', 'E'])).toMatchObject({
      blocked_by: 'C',
      priority: 2,
    });
  });

  it('SES-09 changes nothing of a session that another agent works in, until it joins', async () => {
    const project = await ready();
    const ada = new Agent(project);
    await ada.json('session', 'start', '--task', 'other work');
    const { call } = await connect(project, mode);
    const before = project.read(PROGRESS);
    const calls: [tool: string, given: object][] = [
      ['focus_set', { task: 'mine' }],
      ['progress_add', { text: 'mine' }],
      ['session_working_memory_update', { operations: [GOAL] }],
      ['session_end', {}],
    ];
    for (const [tool, given] of calls) {
      const { error } = (await call(tool, given)).structuredContent;
      expect([tool, error?.code]).toEqual([tool, 'session.held']);
      expect(error?.hint).toContain('{"join":true}');
    }
    for (const kind of ['lesson', 'note']) await call('learn', { text: 'not of that session', kind });
    expect(project.read(PROGRESS)).toBe(before);
    expect((await forgeJson(project, ['session', 'show', 'latest'])).lessons).toEqual([]);
    const { notes } = await forgeJson<{ notes: object[] }>(project, ['note', 'list']);
    expect(notes).toMatchObject([{ session: null }]);
    expect((await call('session_start', { join: true })).isError).toBeFalsy();
    expect((await call('progress_add', { text: 'mine' })).isError).toBeFalsy();
  });

  it('AGT-02 offers few tools with annotations, resources, and each record by its id', async () => {
    const project = await ready();
    const { client } = await connect(project, mode);
    expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      `session_working_memory_update session_note_promote session_start session_end briefing progress_add
      focus_set feature_add feature_verify memory_record recall learn`.split(/\s+/),
    );
    for (const { name, annotations } of tools)
      expect([name, annotations]).toMatchObject([name, { openWorldHint: false }]);
    expect(
      tools.filter(({ annotations }) => annotations?.destructiveHint !== false).map(({ name }) => name),
    ).toEqual(['briefing', 'recall']);
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint);
    expect(reading.map(({ name }) => name)).toEqual(['briefing', 'recall']);

    const { resources } = await client.listResources();
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      const text =
        uri === 'forge://knowledge' ? expect.stringMatching(/"consolidation"/) : expect.any(String);
      expect(contents).toMatchObject([{ uri, mimeType: 'text/plain', text }]);
    }
    expect(resources.map(({ uri }) => uri)).toEqual(
      `forge://briefing forge://kfr forge://knowledge forge://features`.split(/\s+/),
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'forge://record/{id}' }]);
    const { id } = await forgeJson<{ id: string }>(project, ['note', 'add', 'known']);
    const { contents } = await client.readResource({ uri: `forge://record/${id}` });
    expect((contents[0] as { text: string }).text).toContain('"known"');
  });
});

describe('a builder', () => {
  const BUILDER = { FORGE_ROLE: 'builder' };
  const RESERVED = ['memory_record', 'feature_add'];

  it('B-84 LTM-12 does not see tools that write a tier, can update working memory, and is denied what it does not see', async () => {
    const project = await ready();
    const { client, call } = await connect(project, 'legacy', BUILDER);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names.filter((name) => RESERVED.includes(name))).toEqual([]);
    expect(names).toContain('session_working_memory_update');
    expect(names).toHaveLength(10);

    await call('session_start');
    const patched = await call('session_working_memory_update', { operations: [GOAL] });
    expect(patched.content[0]?.text).toContain('Logout works');
    const calls: [string, object][] = [
      ['session_note_promote', { id: 'kfr-1' }],
      ['memory_record', { task_id: 'A', exit_code: 0 }],
      ['feature_add', { name: 'B', tests: ['true'] }],
      ['learn', { text: 'x' }],
      ['session_end', { learned: ['x'] }],
    ];
    for (const [name, given] of calls) {
      const denied = await call(name, given);
      const told = [name, denied.isError, denied.structuredContent.error?.code];
      expect(told).toEqual([name, true, 'role.denied']);
    }
    const records = await logOf(project, 'audit');
    expect(records.map(({ kind, record }) => [kind, record.code])).toEqual(
      calls.map(() => ['breach', 'role.denied']),
    );
    expect(await logOf(project, 'note')).toEqual([]);
    expect(await logOf(project, 'execution')).toEqual([]);
  });

  it('B-07 B-84 an unknown role keeps the server from starting', async () => {
    const env = { FORGE_ROLE: 'bulider' };
    const { exitCode, stderr, stdout } = await runForge(await ready(), ['mcp'], { env });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('FORGE_ROLE');
  });
});
