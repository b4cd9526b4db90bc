import { ForgeError } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { Forge } from '../index.js';
import { type AgentAdapter, type AgentEvent, type Answer, MAX_CONTEXT, NOTHING } from './event.js';

/** What forge has to say at one moment of an agent's conversation. `id` names the conversation. */
export async function answerEvent(
  forge: Forge,
  adapter: AgentAdapter,
  event: AgentEvent,
  id: string,
): Promise<Answer> {
  // It has a context of its own, and what it was asked stands in it.
  if (event.isSubagent) return NOTHING;
  if (event.caller !== null && (await forge.agent.isWired(event.caller))) return NOTHING;
  switch (event.moment) {
    case 'start':
      return { ...NOTHING, context: await greet(forge, id) };
    case 'prompt':
      if (!event.isContinuing) await forge.agent.prompted(id);
      return tell(forge, adapter, event, id);
    case 'after-tool':
      return tell(forge, adapter, event, id);
    case 'compaction':
      await forge.agent.compacts(id);
      if (adapter.takes.includes('compaction')) return rescue(forge, adapter, event, id);
      if (!event.isAsked || !adapter.blocksCompaction) return NOTHING;
      return { ...NOTHING, block: await forge.agent.gateCompaction() };
    case 'stop': {
      if (event.isInterrupted) return NOTHING;
      const { stopLimit: limit } = adapter;
      const block = await forge.agent.gateStop(id, { limit, isContinuing: event.isContinuing });
      return { ...NOTHING, block };
    }
    case 'end':
      await forge.agent.ended(event.isCleared);
      return NOTHING;
    default:
      return NOTHING;
  }
}

/** The working memory, where the agent has not seen it as it stands. */
async function tell(forge: Forge, adapter: AgentAdapter, event: AgentEvent, id: string): Promise<Answer> {
  if (!adapter.takes.includes(event.moment)) return NOTHING;
  // After a tool it is only told what it lost; a change it made itself, unless it can be told at no other time.
  const lostOnly = event.moment === 'after-tool' && adapter.takes.includes('prompt');
  return { ...NOTHING, context: await forge.agent.unseen(id, lostOnly) };
}

/** The working memory for a summary. What becomes of it there nobody knows, so the agent is told again. */
async function rescue(forge: Forge, adapter: AgentAdapter, event: AgentEvent, id: string): Promise<Answer> {
  const answer = await tell(forge, adapter, event, id);
  await forge.agent.compacts(id);
  return answer;
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
