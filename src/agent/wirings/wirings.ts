import { AGENT_NAMES, type AgentName } from '../event.js';
import type { AgentWiring } from '../wiring-rules.js';

/** How each agent is wired, loaded on use: a line an agent. */
const WIRINGS: Record<AgentName, () => Promise<AgentWiring>> = {
  claude: async () => (await import('./claude.js')).claudeWiring,
  codex: async () => (await import('./codex.js')).codexWiring,
  gemini: async () => (await import('./gemini.js')).geminiWiring,
  cursor: async () => (await import('./cursor.js')).cursorWiring,
  opencode: async () => (await import('./opencode.js')).opencodeWiring,
  copilot: async () => (await import('./copilot.js')).copilotWiring,
};

export const wiringOf = (name: AgentName): Promise<AgentWiring> => WIRINGS[name]();

export type Wirings = ReadonlyMap<AgentName, AgentWiring>;

/** All of them: what one agent has in a file may be another's as well. */
export async function loadWirings(): Promise<Wirings> {
  const wirings = await Promise.all(AGENT_NAMES.map(wiringOf));
  return new Map(wirings.map((wiring) => [wiring.name, wiring]));
}
