import { command, type Group, type Io } from '../cli/spec.js';
import { ForgeError, usage } from '../core/error.js';
import { isObject, oneLine } from '../core/text.js';
import { kindOf } from '../finding/question.js';
import { agentWorld, type Forge, openForge, systemWorld, type World } from '../index.js';
import { AGENT_NAMES, AGENTS, type Agent, eventWord, isAgent, type Moment } from './agents.js';
import {
  type AgentEvent,
  type Answer,
  conversationId,
  MAX_CONTEXT,
  NOTHING,
  parseJson,
  readEvent,
  replyTo,
} from './event.js';

/**
 * `forge hook AGENT EVENT`, which agents call. Agents treat some exit codes as a refusal and show stderr to people, so a
 * failure exits with 0, prints nothing and adds a line to the hook log.
 */
export async function runAgentHook(io: Io, [name = '', word = '']: readonly string[]): Promise<number> {
  const started = Date.now();
  let forge: Forge | null = null;
  try {
    if (!isAgent(name)) return 0;
    const agent = AGENTS[name];
    const known = agent.events[eventWord(word)];
    if (!known) return 0;
    const limit = deadlineAt(known.moment);
    // Another forge, a file system or an open stdin may block for longer.
    io.deadline?.(limit);
    const payload = parseJson((await io.stdin.read(true)).toString('utf8').replace(/^\uFEFF/, ''));
    if (!isObject(payload)) throw usage('hook.input', 'The input is not a JSON object.');
    const event = readEvent(agent, known.moment, payload);
    const id = conversationId(name, event.conversation);
    const world = agentWorld(io.world ?? systemWorld(io.env, false), id, agent.toolPrefix);
    forge = openAt(io, event, world, limit);
    const answer = forge ? await answerEvent(forge, agent, event, id) : NOTHING;
    if (Date.now() - started < limit) io.stdout.write(replyTo(agent, known, answer));
    await answer.after?.();
  } catch (error) {
    await logFault(forge ?? openAt(io, null, systemWorld(io.env, false), 500), `${name} ${word}`, error);
  }
  return 0;
}

/** In ms, a little less than the installed timeout. Claude Code gives all hooks of a session's end 1.5 s together. */
const deadlineAt = (moment: Moment): number => ({ start: 9000, end: 1200 })[moment as string] ?? 4000;

/** Where the agent works, else where its project is, else the current folder. Null where there is no forge. */
function openAt(io: Io, event: AgentEvent | null, world: World, patience: number): Forge | null {
  const { FORGE_DIR, CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR } = io.env;
  for (const place of [FORGE_DIR, event?.cwd, CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR, currentFolder(io)])
    if (place)
      try {
        return openForge(place, { world, patience: Math.floor(patience / 2) });
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
      }
  return null;
}

function currentFolder(io: Io): string | null {
  try {
    return io.cwd();
  } catch {
    return null;
  }
}

/** Logs the code only: a message may quote what someone wrote. */
async function logFault(forge: Forge | null, hook: string, error: unknown): Promise<void> {
  try {
    const { name, code } = error as { name?: string; code?: string };
    await forge?.agent.fault(`${hook}: ${error instanceof ForgeError ? code : `${name} ${code ?? ''}`}`);
  } catch {
    // The log is the last place to report to.
  }
}

/** What forge answers at one moment of an agent's conversation. `id` names the conversation. */
async function answerEvent(forge: Forge, agent: Agent, event: AgentEvent, id: string): Promise<Answer> {
  const { agent: hooks } = forge;
  const { moment, call, transcript, cwd } = event;
  if (moment === 'before-tool') {
    const isReading = call !== null && ['read', 'search', 'list'].includes(kindOf(call.tool));
    const block = isReading ? null : await hooks.gateEdit(event);
    return block === null ? checkKnown(forge, event, id) : { ...NOTHING, block };
  }
  if (event.subagent !== '') return NOTHING;
  if (event.caller !== null && (await hooks.isWired(event.caller))) return NOTHING;
  switch (moment) {
    case 'start':
      return { ...NOTHING, context: await startSession(forge, id) };
    case 'prompt':
      if (!event.isOwnPrompt) await hooks.prompted(id);
      return sendKfr(forge, agent, event, id);
    case 'after-tool': {
      const sent = await sendKfr(forge, agent, event, id);
      if (agent.takes.includes('before-tool') || call === null) return sent;
      const known = await checkKnown(forge, event, id);
      // Only after the check: the call must not look like an earlier one.
      const after = async (): Promise<void> => {
        if (transcript !== null) await hooks.learn(id, transcript);
        else if (call.output !== null) await hooks.observe(id, { ...call, cwd });
      };
      return { ...sent, context: [sent.context, known.context].filter(Boolean).join('\n\n') || null, after };
    }
    case 'compaction': {
      if (transcript !== null) await hooks.learn(id, transcript);
      await hooks.compacts(id);
      if (event.isAsked && agent.blocksCompaction) return { ...NOTHING, block: await hooks.gateCompaction() };
      const answer = await sendKfr(forge, agent, event, id);
      // The summary may lose working memory, so the next hook sends it again.
      if (answer.context !== null) await hooks.compacts(id);
      return answer;
    }
    case 'stop': {
      const after = () => hooks.record(id, event);
      if (event.isInterrupted) return { ...NOTHING, after };
      const { block, unsettled, notice } = await hooks.gateStop(id);
      if (unsettled.length > 0) await forge.kfr.patch({ operations: unsettled.map(park) });
      return { block, context: null, after, ...(notice ? { notice } : {}) };
    }
    case 'end':
      await hooks.record(id, event).catch((error: unknown) => logFault(forge, 'record', error));
      await hooks.ended(event.isCleared);
      return NOTHING;
    default:
      return NOTHING;
  }
}

const park = (id: string) => ({
  op: 'park' as const,
  id,
  reason: 'The agent was asked to settle it, changed nothing and stopped again.',
});

/** EXM-05: reports what the agent already knows about a tool call. After the call it is too late to refuse it. */
async function checkKnown(forge: Forge, event: AgentEvent, id: string): Promise<Answer> {
  const { call, transcript, cwd, subagent, moment } = event;
  if (call === null) return NOTHING;
  const isAhead = moment === 'before-tool';
  if (isAhead && transcript !== null && subagent === '') await forge.agent.learn(id, transcript);
  const reader = subagent === '' ? id : `${id} ${subagent}`;
  const notice = await forge.agent.repeats(reader, { ...call, cwd, isAhead });
  if (notice === null) return NOTHING;
  const { text, mode } = notice;
  return mode === 'notice' ? { ...NOTHING, context: text } : { ...NOTHING, block: text, ask: mode === 'ask' };
}

/** Sends the working memory if the agent has not seen its current state. */
async function sendKfr(forge: Forge, agent: Agent, event: AgentEvent, id: string): Promise<Answer> {
  if (!agent.takes.includes(event.moment)) return NOTHING;
  // After a tool, the change is usually the agent's own. Send it then only if there is no other moment.
  const lostOnly = event.moment === 'after-tool' && agent.takes.includes('prompt');
  return { ...NOTHING, context: await forge.agent.unseen(id, lostOnly) };
}

const MAX_NOTES = 6;

/** The briefing of the session that starts or continues. If none can start, the reason and the last known state. */
async function startSession(forge: Forge, id: string): Promise<string | null> {
  let [why, notes, text]: [string, string[], string] = ['', [], ''];
  try {
    // The agent waits only a few seconds for its hook.
    const { briefing, warnings } = await forge.session.start({ reverify: 0 });
    text = briefing.text;
    notes = warnings.slice(0, MAX_NOTES).map((warning) => `! ${oneLine(warning, 400)}`);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    const { maskError } = await import('../cli/input-guard.js');
    const { message, hint } = await maskError(error);
    const steps = (hint?.split('\n') ?? []).map((line) => `  → ${oneLine(line, 300)}`);
    why = [`! forge: no session was started. ${oneLine(message, 600)}`, ...steps].join('\n');
    // Reading may work where writing does not.
    text = await forge.briefing({}).then(
      (briefing) => briefing.text,
      () => '',
    );
  }
  await forge.agent.started(id);
  return fitContext(
    forge,
    (briefing) => [why, briefing.trimEnd(), ...notes].filter(Boolean).join('\n\n'),
    text,
  );
}

/** Shortens the briefing to what agents accept. Working memory comes first and is not cut. */
async function fitContext(
  forge: Forge,
  compose: (briefing: string) => string,
  text: string,
): Promise<string | null> {
  let context = compose(text);
  if (Buffer.byteLength(context) > MAX_CONTEXT) {
    const bytes = Buffer.byteLength(compose(''));
    const budget = Math.max(500, Math.floor((MAX_CONTEXT - bytes - 100) / 4));
    context = compose((await forge.briefing({ budget })).text);
  }
  const cut = Buffer.from(context).subarray(0, MAX_CONTEXT).toString();
  return cut.replace(/\uFFFD+$/, '') || null;
}

/** What a person sees who types `forge hook`. `main` answers agents and git before it parses options. */
export const hookGroup: Group = [
  command<never>({
    name: 'hook',
    args: ['<agent>', '<event>'],
    values: { agent: { words: AGENT_NAMES } },
    summary: 'Answer a hook of an agent, which sends the event as JSON on stdin',
    example: 'forge hook claude session-start',
    run: async () => {
      throw usage('hook.terminal', 'forge hook is called by agents, with the event as JSON on stdin.', {
        hint: 'forge agent install claude',
      });
    },
    render: () => '',
  }),
];
