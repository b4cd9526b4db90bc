/** The agents that forge wires itself into (AGT-01). */
export const AGENT_NAMES = ['claude', 'codex', 'gemini', 'cursor', 'opencode', 'copilot'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** When a hook is called, in one set of words for all agents. */
export type Moment = 'start' | 'prompt' | 'before-tool' | 'after-tool' | 'compaction' | 'stop' | 'end';

/** What an agent hands to a hook, by the fields that its vendor documents. */
export type Payload = Record<string, unknown>;

/** A tool call, as far as the agent tells of it. */
export interface ToolCall {
  name: string;
  input: unknown;
  /** Only after the call. */
  response?: unknown;
}

/** What forge makes of a payload. */
export interface AgentEvent {
  moment: Moment;
  /** The agent's own id of the conversation, whatever stands in it; '' when it names none. */
  conversation: string;
  /** Where the agent works; null when it does not say. */
  cwd: string | null;
  /** At the start: why a conversation starts. A compaction starts it again with little of what it knew. */
  source: 'new' | 'resume' | 'clear' | 'compact';
  /** A part of the agent with a context of its own: what it does is no stop and no start of the conversation. */
  isSubagent: boolean;
  /** At a stop or a prompt: the agent is only here because a stop was blocked before. Null when it does not say. */
  isContinuing: boolean | null;
  /** At a stop: somebody or an error stopped it. Nothing may make it go on. */
  isInterrupted: boolean;
  /** At a compaction: a person asked for it. */
  isAsked: boolean;
  /** At the end of a conversation: only its context was cleared, and the agent goes on at once. */
  isCleared: boolean;
  tool: ToolCall | null;
  /** Another agent, which runs the hooks of this one as well as its own. */
  caller: 'cursor' | 'copilot' | null;
}

/** What forge answers. Both null: nothing. */
export interface Answer {
  /** What the agent is to know from here on. */
  context: string | null;
  /** Why it may not stop or compact now. */
  block: string | null;
}

export const NOTHING: Answer = { context: null, block: null };

/** What one agent calls its events, sends, and understands. Pure. */
export interface AgentAdapter {
  name: AgentName;
  /** As it is shown to people. */
  title: string;
  /** Its events by the word that `forge hook` takes: what it is to forge, and how the agent spells it. */
  events: Readonly<Record<string, { moment: Moment; name: string }>>;
  read(payload: Payload, moment: Moment): AgentEvent;
  /** What it expects on stdout; '' for nothing. `name` is its own spelling of the event. */
  reply(answer: Answer, moment: Moment, name: string): string;
  /** When it takes context from a hook. At a compaction: for its summary. */
  takes: readonly Moment[];
  /** After so many blocked stops in a row it is let go: what the vendor documents, or less. */
  stopLimit: number;
  /** A compaction that a person asked for can be refused. */
  blocksCompaction: boolean;
}

/**
 * The most that any of them takes as it is, in bytes, with some room: Claude Code documents 10,000 characters, and Codex
 * cuts the middle out of what has more than 2,500 tokens, of four bytes each.
 */
export const MAX_CONTEXT = 9500;
