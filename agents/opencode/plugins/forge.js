// forge's part of opencode, written by "forge agent install opencode". "forge agent uninstall opencode" takes it away.
import { spawn } from 'node:child_process';

const [PROGRAM, ...WORDS] = ['forge'];

/** In ms: a little more than forge gives itself. */
const PATIENCE = { 'session-start': 9500, 'session-end': 1500 };

/** What forge says to an event: { context?, block? }. An agent works without forge, too: {} when anything goes wrong. */
function ask(event, payload) {
  return new Promise((done) => {
    const options = {
      cwd: payload.cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
      // npm's commands are scripts there. All words are forge's own.
      shell: process.platform === 'win32',
    };
    const child = spawn(PROGRAM, [...WORDS, 'hook', 'opencode', event], options);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      done({});
    }, PATIENCE[event] ?? 4500);
    let answer = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    child.on('error', () => done({}));
    child.on('close', () => {
      clearTimeout(timer);
      done(parse(answer));
    });
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}

function parse(answer) {
  try {
    return JSON.parse(answer);
  } catch {
    return {};
  }
}

/** A hook that throws would stop opencode. */
const quiet =
  (work) =>
  async (...input) => {
    try {
      await work(...input);
    } catch {}
  };

/** The sessions of this process. A session that another one started (parentOf) is a part of it, which forge tells nothing. */
function makeSessions(cwd, parentOf) {
  const all = new Map();
  const of = (id) => {
    if (!all.has(id)) all.set(id, { source: 'new' });
    return all.get(id);
  };
  const tell = async (event, id, more = {}) => {
    const session = of(id);
    session.parent ??= (async () => parentOf(id))().catch(() => null);
    const parent = await session.parent;
    session.isPart = Boolean(parent);
    return ask(event, { session_id: id, cwd, ...(parent ? { parent_id: parent } : {}), ...more });
  };
  /** Asked for once: it is put before the model with every call. */
  const briefing = (id) => {
    const session = of(id);
    session.briefing ??= tell('session-start', id, { source: session.source });
    return session.briefing.then(({ context }) => context);
  };
  const compacted = (id) =>
    Object.assign(of(id), { briefing: null, source: 'compact', isBroken: false, isLost: false });
  const isOpen = ({ briefing, isPart }) => briefing && !isPart;
  /** They share one session of forge, which goes over to those that are left. */
  const end = async (id) => {
    const session = all.get(id);
    all.delete(id);
    if (session && isOpen(session)) await ask('session-end', { session_id: id, cwd });
  };
  const endAll = async () => {
    for (const id of [...all.keys()]) await end(id);
  };
  return { of, tell, briefing, compacted, end, endAll };
}

/** opencode 1.x (@opencode-ai/plugin 1.18). */
export const Forge = async ({ client, directory }) => {
  const parentOf = (id) => client.session.get({ path: { id } }).then(({ data }) => data?.parentID);
  const sessions = makeSessions(directory, parentOf);

  /** The agent stopped: what is open has to be settled first. */
  const stopped = async (id) => {
    const session = sessions.of(id);
    // Somebody or an error stopped it.
    if (session.isBroken) return;
    const { commands } = session;
    session.commands = [];
    const { block } = await sessions.tell('stop', id, { commands });
    if (!block) return;
    // It ends with the first stop, whatever is asked of it.
    if (process.argv[2] === 'run') return console.error(block.split('\n')[0]);
    const { agent, model } = session;
    const body = { ...(agent && { agent }), ...(model && { model }), parts: [{ type: 'text', text: block }] };
    await client.session.prompt({ path: { id }, body });
  };

  const EVENTS = {
    'session.idle': ({ sessionID }) => stopped(sessionID),
    'session.error': ({ sessionID }) => sessionID && Object.assign(sessions.of(sessionID), { isBroken: true }),
    'session.compacted': ({ sessionID }) => sessions.compacted(sessionID),
    'session.deleted': ({ info }) => sessions.end(info.id),
  };

  return {
    event: quiet(({ event }) => EVENTS[event.type]?.(event.properties)),

    'chat.message': quiet(async ({ sessionID }, { message, parts }) => {
      const { agent, model } = message;
      Object.assign(sessions.of(sessionID), { agent, model, isBroken: false });
      // It holds the working memory; the prompt is for what has changed since.
      await sessions.briefing(sessionID);
      const prompt = parts.map(({ text }) => text ?? '').join('\n');
      const { context } = await sessions.tell('prompt', sessionID, { prompt });
      const last = parts.at(-1);
      // Parts are sorted by id.
      if (context && last)
        parts.push({ ...own(last), id: last.id + 'forge', type: 'text', text: context, synthetic: true });
    }),

    'experimental.chat.system.transform': quiet(async ({ sessionID }, { system }) => {
      const context = sessionID && (await sessions.briefing(sessionID));
      if (context) system.push(context);
    }),

    'experimental.session.compacting': quiet(async ({ sessionID }, output) => {
      const { context } = await sessions.tell('compacting', sessionID);
      sessions.of(sessionID).isLost = true;
      if (context) output.context.push(context);
    }),

    // Not quiet: what it throws is what the agent reads instead of a result.
    'tool.execute.before': async ({ tool, sessionID }, { args }) => {
      if (!/memory/.test(JSON.stringify(args ?? ''))) return;
      if (!['edit', 'write', 'patch', 'multiedit', 'apply_patch'].includes(tool)) return;
      const { block } = await sessions.tell('before-tool', sessionID, { tool_name: tool, tool_input: args });
      if (block) throw new Error(block);
    },

    'tool.execute.after': quiet(async ({ tool, sessionID, args }, output) => {
      const session = sessions.of(sessionID);
      const { exit } = output.metadata ?? {};
      if (typeof args?.command === 'string' && typeof exit === 'number')
        session.commands = [...(session.commands ?? []), { command: args.command, exit }].slice(-50);
      // A compaction took working memory from the agent; what it reads is remembered.
      if (!session.isLost && !['read', 'grep', 'glob', 'list', 'bash'].includes(tool)) return;
      session.isLost = false;
      const call = { tool_name: tool, tool_input: args, tool_output: output.output };
      const { context } = await sessions.tell('after-tool', sessionID, call);
      if (context && typeof output.output === 'string') output.output += '\n\n' + context;
    }),

    dispose: quiet(sessions.endAll),
  };
};

const own = ({ sessionID, messageID }) => ({ sessionID, messageID });

/** opencode 2.x: the briefing and the working memory; its sessions end with it. 1.x has no such hooks, and calls server. */
async function setup(ctx) {
  if (typeof ctx.session?.hook !== 'function') return;
  const parentOf = (sessionID) => ctx.session.get({ sessionID }).then((session) => session?.parentID);
  const sessions = makeSessions(ctx.location?.directory ?? process.cwd(), parentOf);
  const add = (event, context) => context && event.system.push({ type: 'text', text: context });

  const context = quiet(async (event) => {
    add(event, await sessions.briefing(event.sessionID));
    add(event, sessions.of(event.sessionID).told);
  });
  const changes = quiet(async ({ sessionID, prompt }) => {
    await sessions.briefing(sessionID);
    const { context: told } = await sessions.tell('prompt', sessionID, { prompt: prompt?.text });
    if (told) sessions.of(sessionID).told = told;
  });
  const compaction = quiet(async (event) => {
    add(event, (await sessions.tell('compacting', event.sessionID)).context);
    Object.assign(sessions.compacted(event.sessionID), { told: null });
  });
  await ctx.session.hook('context', context);
  await ctx.session.hook('prompt', changes);
  await ctx.session.hook('compaction', compaction);
  return quiet(sessions.endAll);
}

export default { id: 'forge', setup, server: Forge };
