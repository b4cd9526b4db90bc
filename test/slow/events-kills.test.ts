import { describe, expect, it } from 'vitest';
import { forgeJson, startBinary } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { kills as rounds } from '../support/kills.js';
import { client, hasNats, listed, startNats } from '../support/nats-server.js';

const exitOf = (child: ReturnType<typeof startBinary>): Promise<number | null> =>
  new Promise((done) => child.on('close', done));

describe.skipIf(!hasNats)('kills of the server and of commands', () => {
  it('EVT-01 what a command acknowledged is in the stream once, and nothing is there that did not happen', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await forgeJson(project, ['start'], { env: server.env });
    const kept: string[] = [];
    for (let i = 0; i < rounds(15, 100); i++) {
      const child = startBinary(project.dir, ['note', 'add', `note ${i}`], server.env);
      const end = exitOf(child);
      const kind = i % 3;
      // At any moment: before, in the middle of and after the command's work and its sending.
      await new Promise((done) => setTimeout(done, Math.random() * 350));
      if (kind === 0) child.kill('SIGKILL');
      if (kind === 1) {
        await server.kill();
        await server.start();
      }
      if ((await end) === 0) kept.push(`note ${i}`);
    }
    expect(kept.length).toBeGreaterThan(0);
    await forgeJson(project, ['events', 'flush'], { env: server.env });
    const { events } = await listed(project, server, '--type', 'learning');
    const titles = events.map(({ data }) => data.title as string);
    expect(titles.filter((title) => kept.includes(title))).toEqual(kept);
    expect(new Set(titles).size).toBe(titles.length);
    const { notes } = await forgeJson<{ notes: { text: string }[] }>(project, ['note', 'list']);
    const texts = new Set(notes.map(({ text }) => text));
    expect(titles.filter((title) => !texts.has(title))).toEqual([]);
    // Not only the reader has dropped second copies: the stream has none.
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const { state } = await (await jetstreamManager(await client(server))).streams.info('FORGE_MEMORY');
    expect(state.messages).toBe(titles.length + 1);
  });

  it('EVT-03 claims of killed commands are held or free, never held by two', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await forgeJson(project, ['feature', 'add', '--no-run', 'F-1', 'One', '--test', 'true']);
    for (let i = 0; i < rounds(6, 40); i++) {
      const child = startBinary(project.dir, [i % 2 === 0 ? 'claim' : 'release', 'F-1'], server.env);
      const end = exitOf(child);
      await new Promise((done) => setTimeout(done, Math.random() * 300));
      child.kill('SIGKILL');
      await end;
      // The same worktree can always go on.
      expect(await forgeJson(project, ['claim', 'F-1'], { env: server.env })).toMatchObject({
        held_by: 'server',
      });
    }
  });
});
