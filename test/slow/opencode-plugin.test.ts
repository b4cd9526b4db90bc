import { chmodSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SLOW_MOTION } from '../support/forge.js';
import { HANG, makePlainProject, type Project } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';
import { pluginFor } from '../support/wirings.js';

interface Prompt {
  path: { id: string };
  body: { agent?: string; model?: object; parts: { type: string; text: string }[] };
}
type Work = (input: object, output?: object) => Promise<void>;

// The plugin hands its own environment to forge.
Object.assign(process.env, SLOW_MOTION);

/** The plugin as opencode 1.x loads it, with the built forge, and a client that keeps what it is asked. */
async function load(project: Project, command = 'forge') {
  const file = project.path('.opencode/plugins/forge.mjs');
  // On a slow machine, too, forge answers before either of them has no more patience.
  const text = pluginFor(command).replace('PATIENCE[event] ?? 4500', String(HANG));
  expect(text).toContain(`}, ${HANG});`);
  project.write('.opencode/plugins/forge.mjs', text);
  const { default: plugin, Forge } = await import(pathToFileURL(file).href);
  expect(plugin).toEqual({ id: 'forge', setup: expect.any(Function), server: Forge });
  const prompts: Prompt[] = [];
  const session = {
    get: async ({ path }: Prompt) => ({ data: path.id === 'ses_child' ? { parentID: 'ses_1' } : {} }),
    prompt: async (prompt: Prompt) => void prompts.push(prompt),
  };
  const hooks: Record<string, Work> = await plugin.server({ client: { session }, directory: project.dir });
  return { plugin, hooks, prompts, ...callers(hooks) };
}

/** The hooks with what opencode hands them, returning what they have put into it. */
function callers(hooks: Record<string, Work>) {
  const call = async <T extends object>(name: string, input: object, output: T): Promise<T> => {
    await hooks[name]?.({ sessionID: 'ses_1', ...input }, output);
    return output;
  };
  return {
    system: async (input = {}) =>
      (await call('experimental.chat.system.transform', input, { system: ['You are opencode.'] })).system,
    compacting: async () =>
      (await call('experimental.session.compacting', {}, { context: [] as string[] })).context,
    tool: async () =>
      (
        await call(
          'tool.execute.after',
          { tool: 'bash', args: {} },
          { title: '', output: 'ok', metadata: {} },
        )
      ).output,
    message: async (text: string, sessionID = 'ses_1') => {
      const part = { id: 'prt_1', sessionID, messageID: 'msg_1', type: 'text', text };
      const message = { id: 'msg_1', agent: 'plan', model: { providerID: 'p', modelID: 'm' } };
      return (await call('chat.message', { sessionID }, { message, parts: [part] })).parts;
    },
    event: (type: string, properties: object = { sessionID: 'ses_1' }) =>
      hooks.event?.({ event: { type, properties } }),
  };
}

const goal = (project: Project, text: string) => typed(project, ['kfr', 'patch', '--goal', text]);
const question = (project: Project) => typed(project, 'kfr patch --add "OpenQuestion:which cookie?"');
const sessionOf = (project: Project) => project.json('.forge/memory/short-term/session.json');

describe("forge's plugin for opencode, with the built forge", () => {
  it('AGT-01 SES-01 puts the briefing before the model with each call, and asks for it once', async () => {
    const project = makeForgeRepository();
    const { system, tool } = await load(project);
    const [own, briefing] = await system();
    expect(own).toBe('You are opencode.');
    expect(briefing).toMatch(/^FORGE briefing, .*-session-001\n/);
    expect(sessionOf(project)).toMatchObject({ holder: { agent: 'opencode-ses_1' } });
    goal(project, 'logout works');
    expect(await system()).toEqual([own, briefing]);
    expect(await system({ sessionID: undefined })).toEqual([own]);
    expect(await system({ sessionID: 'ses_child' })).toEqual([own]);
    expect(await tool()).toBe('ok');
  });

  it('KFR-04 adds working memory to a prompt when it has changed, behind what the person wrote', async () => {
    const project = makeForgeRepository();
    const { message } = await load(project);
    expect(await message('Hello')).toHaveLength(1);
    goal(project, 'logout works');
    const [first, second] = await message('Go on');
    expect(first).toMatchObject({ text: 'Go on' });
    expect(second).toMatchObject({
      sessionID: 'ses_1',
      messageID: 'msg_1',
      type: 'text',
      synthetic: true,
      text: expect.stringContaining('logout works'),
    });
    expect(second && second.id > 'prt_1').toBe(true);
    expect(await message('Go on')).toHaveLength(1);
    expect(await message('Explore', 'ses_child')).toHaveLength(1);
  });

  it('KFR-04 AGT-01 adds it to a compaction, and briefs again afterward; after a tool it restores what was lost', async () => {
    const project = makeForgeRepository();
    const { message, system, compacting, tool, event } = await load(project);
    await message('Hello');
    expect(await compacting()).toEqual([]);
    goal(project, 'logout works');
    expect(await compacting()).toEqual([expect.stringContaining('logout works')]);
    expect(await tool()).toMatch(/^ok\n\n[\s\S]*logout works/);
    await event('session.compacted');
    expect((await system())[1]).toContain('logout works');
    expect(await tool()).toBe('ok');
  });

  it('KFR-09 sends an agent on that stops with a question open, as who it was, and not for ever', async () => {
    const project = makeForgeRepository();
    const { message, event, prompts } = await load(project);
    await message('Hello');
    await event('session.idle');
    expect(prompts).toEqual([]);
    question(project);
    for (let i = 0; i < 7; i++) {
      await event('session.idle');
      const text = prompts[i]?.body.parts[0]?.text;
      // opencode hands it to this hook like any other.
      if (text) await message(text);
    }
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toEqual({
      path: { id: 'ses_1' },
      body: {
        agent: 'plan',
        model: { providerID: 'p', modelID: 'm' },
        parts: [{ type: 'text', text: expect.stringContaining('- kfr-1 (OpenQuestion) which cookie?') }],
      },
    });
    await message('Then?');
    await event('session.idle');
    // It is parked for a human.
    expect(prompts).toHaveLength(1);
  });

  it('KFR-09 does not block if a person or an error stopped it, or in a sub-session', async () => {
    const project = makeForgeRepository();
    const { message, event, prompts } = await load(project);
    await message('Hello');
    question(project);
    await event('session.error', { sessionID: 'ses_1', error: { name: 'MessageAbortedError' } });
    await event('session.idle');
    await event('session.error', {});
    await message('Explore', 'ses_child');
    await event('session.idle', { sessionID: 'ses_child' });
    expect(prompts).toEqual([]);
    await message('Go on');
    await event('session.idle');
    expect(prompts).toHaveLength(1);
  });

  it('AGT-01 SES-07 parks the session when it is deleted, and when opencode goes', async () => {
    for (const end of [{ type: 'session.deleted' }, null]) {
      const project = makeForgeRepository();
      const { system, event, hooks } = await load(project);
      await event('session.deleted', { info: { id: 'ses_never_seen' } });
      await system();
      project.write('work.txt', 'x');
      await system({ sessionID: 'ses_child' });
      await system({ sessionID: 'ses_2' });
      // They share one session of forge.
      await event('session.deleted', { info: { id: 'ses_2' } });
      expect(sessionOf(project)).not.toHaveProperty('parked');
      if (end) await event(end.type, { info: { id: 'ses_1' } });
      else await hooks.dispose?.({});
      expect(sessionOf(project)).toMatchObject({ parked: { agent: 'opencode-ses_1' } });
    }
  });

  it('AGT-01 is silent without a forge, without a project, and with one that fails or prints what it should not', async () => {
    const project = makePlainProject();
    project.write('bad', '#!/bin/sh\nprintf "%s" "{not json"\nexit 3\n');
    chmodSync(project.path('bad'), 0o755);
    for (const command of ['no-such-forge', project.path('bad'), project.path(''), 'forge']) {
      const { system, message, compacting, tool, event, prompts } = await load(project, command);
      expect(await system()).toHaveLength(1);
      expect(await message('Hello')).toHaveLength(1);
      expect([await compacting(), await tool()]).toEqual([[], 'ok']);
      await event('session.idle');
      await event('session.deleted', null as unknown as object);
      expect(prompts).toEqual([]);
    }
    expect(project.has('.forge')).toBe(false);
  });

  it('AGT-01 adds its context to what opencode 2.x sends, and does nothing where that has no such hooks', async () => {
    const project = makeForgeRepository();
    const { plugin } = await load(project);
    expect(await plugin.setup({ options: {} })).toBeUndefined();
    const hooks: Record<string, Work> = {};
    const session = {
      hook: async (name: string, work: Work) => void Object.assign(hooks, { [name]: work }),
      get: async () => ({}),
    };
    const cleanUp = await plugin.setup({ session, location: { directory: project.dir } });
    const call = async (name: string) => {
      const event = { sessionID: 'ses_1', system: [] as { text: string }[], prompt: { text: 'Go on' } };
      await hooks[name]?.(event);
      return event.system.map(({ text }) => text);
    };
    expect(await call('context')).toEqual([expect.stringMatching(/^FORGE briefing/)]);
    goal(project, 'logout works');
    await call('prompt');
    const both = [expect.stringMatching(/^FORGE briefing/), expect.stringContaining('logout works')];
    expect(await call('context')).toEqual(both);
    expect(await call('compaction')).toEqual([expect.stringContaining('logout works')]);
    expect(await call('context')).toEqual([expect.stringMatching(/^FORGE briefing[\s\S]*logout works/)]);
    await cleanUp();
    expect(sessionOf(project)).toHaveProperty('parked');
  });
});
