import { describe, expect, it } from 'vitest';
import type { ForgeEvent } from '../../src/index.js';
import { tail } from '../support/event-tail.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { hasNats, startNats } from '../support/nats-server.js';

describe.skipIf(!hasNats)('forge events', () => {
  it('EVT-02 tail shows events as they happen, filtered, as lines or JSON, until Ctrl-C', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    const [lines, json] = [
      tail(project, server.env),
      tail(project, server.env, '--type', 'learning', '--json'),
    ];
    await expect.poll(() => lines.stderr).toContain('Listening to nats://127.0.0.1');
    // With --json nothing is said, so it is asked until it listens.
    let n = 0;
    await expect
      .poll(async () => {
        await forgeJson(project, ['note', 'add', `again ${++n}`], { env: server.env });
        return json.stdout;
      })
      .toContain('again');
    await forgeJson(project, ['start', '--task', 'Login'], { env: server.env });
    await forgeJson(project, ['note', 'add', 'Redis'], { env: server.env });
    await expect.poll(() => json.stdout).toContain('"title":"Redis"');
    await expect
      .poll(() => lines.stdout)
      .toMatch(/session\.start .* session started: Login\n.* note: Redis\n/);
    const events = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ForgeEvent);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['learning']));
    lines.child.kill('SIGINT');
    await expect.poll(() => lines.code).toBe(130);
  });

  it('EVT-02 list and replay filter by type, session and time', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    const { env } = server;
    await forgeJson(project, ['start', '--task', 'Login'], { env });
    for (const text of ['one', 'two', 'three']) await forgeJson(project, ['note', 'add', text], { env });
    const titles = async (...args: string[]): Promise<unknown[]> =>
      (await forgeJson<{ events: ForgeEvent[] }>(project, ['events', 'list', ...args], { env })).events.map(
        ({ data }) => ('title' in data ? data.title : null),
      );
    expect(await titles('--type', 'learning')).toEqual(['one', 'two', 'three']);
    expect(await titles('--limit', '2')).toEqual(['two', 'three']);
    expect(await titles('--session', '2026')).toHaveLength(4);
    expect(await titles('--session', '1999')).toEqual([]);
    expect(await titles('--since', '1h')).toHaveLength(4);
    expect(await titles('--since', '2199-01-01')).toEqual([]);
    for (const task of 'abcdef') await forgeJson(project, ['focus', 'set', '--task', task], { env });
    expect(await titles('--type', 'learning', '--limit', '1')).toEqual(['three']);
    const { stdout } = await runForge(project, ['events', 'replay', '--since', '1d', '--json'], { env });
    expect(stdout.trimEnd().split('\n')).toHaveLength(10);
    expect(await forgeError(project, ['events', 'list', '--since', 'soon'], { env })).toMatchObject({
      ...{ exitCode: 2, field: 'since' },
    });
    await expectError(project, ['events', 'replay'], '2', { env });
    await expectError(project, 'events list --type x', '2', { env });
  });
});
