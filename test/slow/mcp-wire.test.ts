import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, makeStarted, snapshot } from '../support/forge-project.js';
import { peakMemory } from '../support/kills.js';
import { makePlainProject } from '../support/project.js';
import { CLIENT, greeted, startServer } from '../support/servers.js';

const request = (id: unknown, extra: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', ...extra });

describe('an invalid message', () => {
  it.each([
    ['invalid JSON', '{"jsonrpc":"2.0","id":1', -32700],
    ['binary data', Buffer.from([0xff, 0xfe, 0x00]), -32700],
    ['text that is not UTF-8', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\u00ff"}', 'latin1'), -32700],
    ['a batch', `[${request(1)},${request(2)}]`, -32600],
    ['id null', request(null), -32600],
    ['an id that is an object', request({}), -32600],
    ['an id beyond the largest number', request(1).replace('"id":1,', '"id":1e400,'), -32600],
    ['an id beyond 2^53', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32600],
    ['another version', request(1).replace('2.0', '1.0'), -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['a number', '5', -32600],
  ])('B-78 %s gets an error, and the server continues', async (_name, line, code) => {
    const wire = await greeted(await makeForge());
    wire.write(line);
    wire.write('\n');
    expect(await wire.until(({ error }) => error !== undefined)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code, message: expect.any(String) },
    });
    await wire.lives();
  });

  it('B-78 a line of 100 MB is answered and not kept in memory; one of some megabytes is answered with its id', async () => {
    const wire = await greeted(await makeForge());
    await wire.lives();
    const before = peakMemory(wire.server.pid);
    wire.write(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`);
    const part = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 100; i++)
      await new Promise<void>((done) => wire.server.stdin?.write(part, () => done()));
    wire.write('"}}\n');
    expect(await wire.until(({ error }) => error !== undefined)).toMatchObject({
      id: null,
      error: { code: -32600, message: expect.stringContaining('1048576') },
    });
    const text = 'x'.repeat(3 * 2 ** 20);
    const params = { name: 'progress_add', arguments: { text } };
    wire.write(`${JSON.stringify({ method: 'tools/call', params, jsonrpc: '2.0', id: 'last' })}\n`);
    expect((await wire.until(({ id }) => id === 'last')).error?.code).toBe(-32600);
    wire.write(`${JSON.stringify({ method: 'tools/call', params: { id: 9, text } })}\n`);
    await wire.lives();
    expect(peakMemory(wire.server.pid) - before).toBeLessThan(60);
  });

  it('B-78 chunks with several messages, parts of a message and parts of a character are understood', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    wire.write(`${request('a')}\n\r\n  \n${request('b')}\r\n`);
    await wire.until(({ id }) => id === 'a');
    await wire.until(({ id }) => id === 'b');

    const params = { name: 'progress_add', arguments: { text: 'Grüße 🎉' } };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params });
    for (const byte of Buffer.from(`${message}\n`)) {
      wire.write(Buffer.from([byte]));
      if (byte > 127) await pause(2);
    }
    await wire.until(({ id }) => id === 'c');
    expect(project.read('.forge/memory/short-term/progress.txt')).toContain('Grüße 🎉');
  });

  it('B-78 parameters 100,000 levels deep are refused with their id', async () => {
    const wire = await greeted(await makeForge());
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    wire.write(
      `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"session_working_memory_update","arguments":{"operations":${deep}}}}\n`,
    );
    expect((await wire.until(({ id }) => id === 'deep')).error?.code).toBe(-32602);
    await wire.lives();
  });

  it('B-79 parameters without a needed field are refused in one line, which names it', async () => {
    const wire = startServer(await makeForge());
    const greeting = { ...CLIENT, protocolVersion: undefined };
    const { error } = await wire.ask(1, 'initialize', greeting);
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^params\.protocolVersion: .*string.*$/),
    });
    await wire.ask(2, 'initialize', { ...CLIENT, protocolVersion: '2025-06-18' });
    expect((await wire.ask(3, 'resources/read', {})).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^params\.uri: .*$/),
    });
    await wire.lives();
  });

  it('B-78 an unknown method is refused, and a call before the greeting is answered', async () => {
    const wire = startServer(await makeForge());
    expect((await wire.ask(1, 'tools/list')).error ?? null).toBeNull();
    expect((await wire.ask(2, 'no/such')).error?.code).toBe(-32601);
    await wire.lives();
  });
});

describe('arguments', () => {
  const WRONG: [tool: string, given: string][] = [
    ['progress_add', '{"text":5}'],
    ['progress_add', '{}'],
    ['progress_add', '{"text":"x","also":1}'],
    ['progress_add', '{"text":"x","__proto__":{"next":"y"}}'],
    ['progress_add', '{"text":"x","\\u005f_proto__":1}'],
    ['progress_add', '[]'],
    ['session_working_memory_update', '{"operations":{}}'],
    ['session_working_memory_update', '{"operations":[],"x":1}'],
    ['session_working_memory_update', '{"operations":[{"op":"add","__proto__":{"kind":"Goal"}}]}'],
    ['session_end', '{"learned":"x"}'],
    ['session_end', '{"commit":false}'],
    ['focus_set', '{"files":[1]}'],
    ['feature_verify', '{"ids":["A"],"all":true}'],
    ['memory_record', '{"task_id":"A","exit_code":"0"}'],
    ['memory_record', '{"task_id":"A","exit_code":0,"patterns":[{"pattern":"x"}]}'],
    ['learn', '{"text":null}'],
    ['briefing', '{"budget":1e999}'],
    ['briefing', '{"budget":"500"}'],
    ['no_such_tool', '{}'],
    ['__proto__', '{}'],
  ];

  it('B-79 AGT-02 of a wrong type or too many are a tool error, and nothing is written', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    const before = snapshot(project.dir);
    for (const [i, [tool, given]] of WRONG.entries()) {
      wire.write(
        `{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":{"name":"${tool}","arguments":${given}}}\n`,
      );
      const { error, result } = await wire.until(({ id }) => id === i);
      const isRefused = error?.code === -32602 || result?.isError === true;
      expect([tool, given, isRefused]).toEqual([tool, given, true]);
    }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    expect((await wire.call('good', 'progress_add', { text: 'still here' })).result?.isError).toBeUndefined();
  });

  it('B-79 get an error with the field, the value found, and a valid example', async () => {
    const wire = await greeted(await makeStarted());
    const { result } = await wire.call(1, 'session_end', { learned: 'one' });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { field: 'learned' } } });
    const text = result?.content?.[0]?.text ?? '';
    expect(text).toMatch(/^input\.invalid: learned: found "one", allowed: .*\nExample: \{"learned":\[/);
    const example = JSON.parse(/Example: (.*)$/.exec(text)?.[1] ?? '');
    expect((await wire.call(2, 'session_end', example)).result?.isError).toBeUndefined();
  });

  it('B-83 that name a resource by path or by another scheme: -32602', async () => {
    const project = await makeForge();
    project.write('secret.txt', 'not for anyone');
    const wire = await greeted(project);
    const uris = [
      ...['forge://../../x', 'forge://record/../../secret.txt', 'forge://record/ABCDEF', 'forge://__proto__'],
      ...['forge://briefing/../kfr', 'forge://constructor', 'http://127.0.0.1/', ''],
      `file://${project.dir}/secret.txt`,
    ];
    for (const [i, uri] of uris.entries()) {
      const answer = await wire.ask(i, 'resources/read', { uri });
      expect([uri, answer.error?.code, answer.result]).toEqual([uri, -32602, undefined]);
    }
    const unknown = await wire.ask('unknown', 'resources/read', { uri: `forge://record/${'0'.repeat(64)}` });
    expect(unknown.error?.code).toBe(-32602);
    expect(wire.stdout).not.toContain('not for anyone');
    await wire.lives();
  });
});

describe('stdout', () => {
  it('B-80 carries only the protocol, even if tests print to stdout', async () => {
    const project = await makeStarted();
    const noise = `node -e "process.stdout.write('NOISE\\x1b[31m\\n{}\\n'); console.error('NOISE')"`;
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', noise]);
    const failing = `${noise.slice(0, -1)}; process.exit(1)"`;
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', failing]);
    await runForge(project, ['trust', '--yes'], { terminal: true });
    const env = { FORCE_COLOR: '3', DEBUG: '*', NODE_DEBUG: 'fs', NO_COLOR: undefined };
    const wire = await greeted(project, env);
    const { result } = await wire.call(1, 'feature_verify');
    expect(result?.structuredContent).toMatchObject({
      results: [{ status: 'passing' }, { status: 'failing' }],
    });
    await wire.call(2, 'progress_add', { text: 'x' });
    await wire.call(3, 'session_end');
    await wire.close();
    // Wire parses every line; what is no message has none of these.
    for (const message of wire.messages)
      expect('result' in message || 'error' in message || 'method' in message).toBe(true);
    expect(wire.stdout).not.toContain('\u001b');
    expect(wire.stdout.endsWith('\n')).toBe(true);
  });

  it('AGT-02 feature_verify reports its progress before its answer', async () => {
    const project = await makeStarted();
    for (const id of ['A', 'B'])
      await forgeJson(project, ['feature', 'add', '--no-run', id, 'x', '--test', 'node -e 0']);
    await runForge(project, ['trust', '--yes'], { terminal: true });
    const wire = await greeted(project);
    await wire.call('run', 'feature_verify', { ids: ['A', 'B'] }, { progressToken: 'p-1' });
    const told = wire.messages.filter(({ method }) => method === 'notifications/progress');
    expect(told.map(({ params }) => params)).toEqual([
      { progressToken: 'p-1', progress: 1, message: 'A: node -e 0' },
      { progressToken: 'p-1', progress: 2, message: 'A: passing' },
      { progressToken: 'p-1', progress: 3, message: 'B: node -e 0' },
      { progressToken: 'p-1', progress: 4, message: 'B: passing' },
    ]);
    expect(wire.messages.at(-1)?.id).toBe('run');

    await wire.call('quiet', 'feature_verify', { ids: ['A'] });
    expect(wire.messages.filter(({ method }) => method !== undefined)).toHaveLength(4);
  });
});

describe('outside of a .forge/', () => {
  it('AGT-02 every call reports it, and calls work as soon as there is one', async () => {
    const folder = makePlainProject();
    const wire = await greeted(folder);
    const calls: [string, object][] = [
      ['briefing', {}],
      ['session_start', {}],
      ['progress_add', { text: 'x' }],
      ['session_working_memory_update', { operations: [{ op: 'replace', kind: 'Goal', text: 'x' }] }],
    ];
    for (const [i, [name, given]] of calls.entries()) {
      const { result } = await wire.call(i, name, given);
      expect([name, result?.isError]).toEqual([name, true]);
      expect(result?.content?.[0]?.text).toMatch(
        /^not_a_forge: There is no \.forge\/ .*\nAsk the user .*: forge init$/,
      );
    }
    const { error } = await wire.ask('r', 'resources/read', { uri: 'forge://briefing' });
    expect(error?.message).toMatch(/^not_a_forge/);
    await runForge(folder, ['init']);
    expect((await wire.call('now', 'session_start')).result?.isError).toBeUndefined();
  });

  it('AGT-02 answers in the protocol version that the client requests', async () => {
    const folder = makePlainProject();
    for (const version of ['2025-06-18', '2025-11-25']) {
      const wire = startServer(folder);
      const { result } = await wire.ask(1, 'initialize', { ...CLIENT, protocolVersion: version });
      expect(result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'forge' } });
      expect(await wire.close()).toBe(0);
    }
  });
});
