import type { Io } from '../cli/io.js';
import { ForgeError } from '../core/error.js';
import { agentWorld, type Forge, openForge, systemWorld, type World } from '../index.js';
import { adapterOf, conversationId, eventWord, isAgent } from './agents.js';
import { answerEvent } from './command-answer.js';
import { type AgentAdapter, type AgentEvent, type Moment, NOTHING, type Payload } from './event.js';
import { bareEvent } from './payload.js';

/**
 * `forge hook AGENT EVENT`: what agents call. An agent takes some exit codes for a refusal and shows stderr to people,
 * so nothing that goes wrong here is heard: exit 0, no output, one line in the log of the git dir.
 */
export async function runAgentHook(io: Io, [agent = '', word = '']: readonly string[]): Promise<number> {
  const started = Date.now();
  let forge: Forge | null = null;
  try {
    if (!isAgent(agent)) return 0;
    const adapter = await adapterOf(agent);
    const known = adapter.events[eventWord(word)];
    if (!known) return 0;
    const limit = DEADLINES[known.moment];
    // Whatever waits longer (another forge, a file system, an open stdin) is left waiting.
    io.deadline?.(limit);
    const event = readEvent(adapter, known.moment, await (io.stdin.readObject ?? io.stdin.read)());
    if (!event) return 0;
    const id = conversationId(agent, event.conversation);
    const world = agentWorld(io.world ?? systemWorld(io.env, false), id);
    forge = openAt(io, event, world, limit);
    const answer = forge ? await answerEvent(forge, adapter, event, id) : NOTHING;
    if (Date.now() - started < limit) io.stdout.write(adapter.reply(answer, known.moment, known.name));
  } catch (error) {
    await logFault(forge, `${agent} ${word}`, error);
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

/** Null for what is no JSON object: a hook that knows nothing says nothing. */
function readEvent(adapter: AgentAdapter, moment: Moment, bytes: Buffer): AgentEvent | null {
  let payload: unknown;
  try {
    payload = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return null;
  }
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return isObject ? { ...bareEvent(moment), ...adapter.read(payload as Payload, moment) } : null;
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
