import type { Io } from '../cli/io.js';
import { ForgeError } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { kindOf } from '../finding/question.js';
import { agentWorld, type Forge, openForge, systemWorld, type World } from '../index.js';
import {
  AGENTS,
  type Agent,
  conversationId,
  eventWord,
  isAgent,
  type Moment,
  type Payload,
} from './agents.js';
import { type AgentEvent, type Answer, MAX_CONTEXT, NOTHING, readEvent, replyTo } from './event.js';

/** What forge has to say at one moment of an agent's conversation. `id` names the conversation. */
export async function answerEvent(
  forge: Forge,
  agent: Agent,
  event: AgentEvent,
  id: string,
): Promise<Answer> {
  if (event.moment === 'before-tool') {
    const isLook = event.call !== null && ['read', 'search', 'list'].includes(kindOf(event.call.tool));
    const block = isLook ? null : await forge.agent.gateEdit(event);
    return block === null ? known(forge, event, id) : { ...NOTHING, block };
  }
  // It has a context of its own, and what it was asked stands in it.
  if (event.isSubagent) return NOTHING;
  if (event.caller !== null && (await forge.agent.isWired(event.caller))) return NOTHING;
  switch (event.moment) {
    case 'start':
      return { ...NOTHING, context: await greet(forge, id) };
    case 'prompt':
      if (!event.isContinuing) await forge.agent.prompted(id);
      return tell(forge, agent, event, id);
    case 'after-tool': {
      const told = await tell(forge, agent, event, id);
      if (agent.takes.includes('before-tool') || event.call === null) return told;
      const again = await known(forge, event, id);
      const { call, transcript } = event;
      // Only now: the call must not be taken for an earlier one.
      const after = async (): Promise<void> => {
        if (transcript !== null) await forge.agent.learn(id, transcript);
        else if (call.output !== null) await forge.agent.observe(id, { ...call, cwd: event.cwd });
      };
      return { ...told, context: [told.context, again.context].filter(Boolean).join('\n\n') || null, after };
    }
    case 'compaction': {
      await forge.agent.compacts(id);
      if (event.isAsked && agent.blocksCompaction)
        return { ...NOTHING, block: await forge.agent.gateCompaction() };
      const answer = await tell(forge, agent, event, id);
      // A summary may lose the working memory, so the agent gets it again.
      if (answer.context !== null) await forge.agent.compacts(id);
      return answer;
    }
    case 'stop': {
      const after = () => forge.agent.record(id, event);
      if (event.isInterrupted) return { ...NOTHING, after };
      const { stopLimit: limit } = agent;
      const { block, unsettled } = await forge.agent.gateStop(id, {
        limit,
        isContinuing: event.isContinuing,
      });
      if (unsettled.length > 0) await forge.kfr.patch({ operations: unsettled.map(park) });
      return { ...NOTHING, block, after };
    }
    case 'end':
      await forge.agent.record(id, event).catch((error: unknown) => logFault(forge, 'record', error));
      await forge.agent.ended(event.isCleared);
      return NOTHING;
    default:
      return NOTHING;
  }
}

/** EXM-05: what the agent knows already of what it asks. After the call it is too late to refuse it. */
async function known(forge: Forge, event: AgentEvent, id: string): Promise<Answer> {
  const { call, transcript, cwd, part, moment } = event;
  if (call === null) return NOTHING;
  const isAhead = moment === 'before-tool';
  if (isAhead && transcript !== null && part === '') await forge.agent.learn(id, transcript);
  const notice = await forge.agent.repeats(part === '' ? id : `${id} ${part}`, { ...call, cwd, isAhead });
  if (notice === null) return NOTHING;
  const { text, mode } = notice;
  return mode === 'notice' ? { ...NOTHING, context: text } : { ...NOTHING, block: text, ask: mode === 'ask' };
}

const park = (id: string) => ({
  op: 'park' as const,
  id,
  reason: 'The agent was asked to settle it, changed nothing and stopped again.',
});

/** The working memory, where the agent has not seen it as it stands. */
async function tell(forge: Forge, agent: Agent, event: AgentEvent, id: string): Promise<Answer> {
  if (!agent.takes.includes(event.moment)) return NOTHING;
  // After a tool it is only told what it lost; a change it made itself, unless it can be told at no other time.
  const lostOnly = event.moment === 'after-tool' && agent.takes.includes('prompt');
  return { ...NOTHING, context: await forge.agent.unseen(id, lostOnly) };
}

/** The briefing of a session that is started, or goes on; where none can be started, why, and what is known. */
async function greet(forge: Forge, id: string): Promise<string | null> {
  const mark = await forge.agent.mark();
  const { notes, text } = await start(forge);
  const context = await fitted(forge, notes, text);
  await forge.agent.started(id, mark);
  return context;
}

async function start(forge: Forge): Promise<{ notes: string[]; text: string }> {
  try {
    const { briefing, warnings } = await forge.session.start({}, { isHook: true });
    return { notes: warnings.slice(0, MAX_NOTES).map(noteLine), text: briefing.text };
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    const { maskError } = await import('../cli/input-guard.js');
    const { message, hint } = await maskError(error);
    const why = `! forge: no session was started. ${oneLine(message, 600)}`;
    return { notes: [hint ? `${why}\n  → ${oneLine(hint, 300)}` : why], text: await lastKnown(forge) };
  }
}

const MAX_NOTES = 6;
const noteLine = (warning: string): string => `! ${oneLine(warning, 400)}`;

/** Reading may work where writing may not. */
async function lastKnown(forge: Forge): Promise<string> {
  try {
    return (await forge.briefing({})).text;
  } catch {
    return '';
  }
}

/** Working memory stands first and is never cut; what agents cut off they cut without a word. */
async function fitted(forge: Forge, notes: readonly string[], text: string): Promise<string | null> {
  const whole = (briefing: string): string => [briefing.trimEnd(), ...notes].filter(Boolean).join('\n\n');
  let context = whole(text);
  const isLong = (): boolean => Buffer.byteLength(context) > MAX_CONTEXT;
  for (let budget = 1600; isLong() && budget >= 100; budget = Math.floor(budget / 1.5))
    context = whole((await forge.briefing({ budget })).text);
  if (isLong())
    context = Buffer.from(context)
      .subarray(0, MAX_CONTEXT)
      .toString()
      .replace(/\uFFFD+$/, '');
  return context === '' ? null : context;
}

/**
 * `forge hook AGENT EVENT`: what agents call. An agent takes some exit codes for a refusal and shows stderr to people,
 * so nothing that goes wrong here is heard: exit 0, no output, one line in the log of the git dir.
 */
export async function runAgentHook(io: Io, [name = '', word = '']: readonly string[]): Promise<number> {
  const started = Date.now();
  let forge: Forge | null = null;
  try {
    if (!isAgent(name)) return 0;
    const agent = AGENTS[name];
    const known = agent.events[eventWord(word)];
    if (!known) return 0;
    const limit = DEADLINES[known.moment];
    // Another forge, a file system or an open stdin may block for longer.
    io.deadline?.(limit);
    const payload = parsePayload(await io.stdin.read(true));
    if (!payload) return 0;
    const event = readEvent(agent, known.moment, payload);
    const id = conversationId(name, event.conversation);
    const world = agentWorld(io.world ?? systemWorld(io.env, false), id, agent.toolPrefix);
    forge = openAt(io, event, world, limit);
    const answer = forge ? await answerEvent(forge, agent, event, id) : NOTHING;
    if (Date.now() - started < limit) io.stdout.write(replyTo(agent, known, answer));
    await answer.after?.();
  } catch (error) {
    await logFault(forge, `${name} ${word}`, error);
  }
  return 0;
}

/** In ms: a little less than what each agent allows, or is installed with; nobody waits longer for a prompt. */
const DEADLINES: Record<Moment, number> = {
  start: 9000,
  prompt: 4000,
  'before-tool': 4000,
  'after-tool': 4000,
  compaction: 4000,
  stop: 4000,
  // Claude Code gives all hooks of the session's end 1.5 s together.
  end: 1200,
};

/** Null for anything but a JSON object: the hook answers nothing. */
function parsePayload(bytes: Buffer): Payload | null {
  try {
    const payload: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
    return typeof payload === 'object' && !Array.isArray(payload) ? (payload as Payload) : null;
  } catch {
    return null;
  }
}

/** Where the agent says it works, else where its project is, else here; null where there is no forge. */
function openAt(io: Io, { cwd }: AgentEvent, world: World, patience: number): Forge | null {
  const { FORGE_DIR, CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR } = io.env;
  const places = [FORGE_DIR, cwd, CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR, here(io)];
  for (const place of places)
    if (place)
      try {
        return openForge(place, { world, patience: Math.floor(patience / 2) });
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
      }
  return null;
}

function here(io: Io): string | null {
  try {
    return io.cwd();
  } catch {
    return null;
  }
}

/** The code alone: a message may hold what someone wrote. */
async function logFault(forge: Forge | null, hook: string, error: unknown): Promise<void> {
  try {
    const { name, code } = error as { name?: string; code?: string };
    await forge?.agent.fault(`${hook}: ${error instanceof ForgeError ? code : `${name} ${code ?? ''}`}`);
  } catch {
    // There is nowhere left to say so.
  }
}
