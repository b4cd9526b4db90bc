import { createHash } from 'node:crypto';
import { AGENT_NAMES, type AgentAdapter, type AgentName } from './event.js';

/** Loaded on use: a hook serves one agent. */
const ADAPTERS: Record<AgentName, () => Promise<AgentAdapter>> = {
  claude: async () => (await import('./claude.js')).claude,
  codex: async () => (await import('./codex.js')).codex,
  gemini: async () => (await import('./gemini.js')).gemini,
  cursor: async () => (await import('./cursor.js')).cursor,
  opencode: async () => (await import('./opencode.js')).opencode,
  copilot: async () => (await import('./copilot.js')).copilot,
};

export const isAgent = (word: string): word is AgentName => (AGENT_NAMES as readonly string[]).includes(word);

export const adapterOf = (name: AgentName): Promise<AgentAdapter> => ADAPTERS[name]();

/** An event's word, in whatever case it was written: `SessionStart`, `sessionStart` and `session-start` are one. */
export const eventWord = (word: string): string =>
  word
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

/** A conversation as a file name, whatever the agent calls it. */
export function conversationId(agent: AgentName, conversation: string): string {
  if (conversation === '') return `${agent}-unnamed`;
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(conversation)) return `${agent}-${conversation}`;
  return `${agent}-${createHash('sha256').update(conversation).digest('hex').slice(0, 32)}`;
}
