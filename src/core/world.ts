import { agentMark } from './environment.js';
import type { Holder, Liveness, ProcessIdentity } from './holder.js';
import { agentProcess, isBelow, liveness, parent, self } from './process-identity.js';

/** The surroundings of an operation. Tests replace them. */
export interface World {
  now(): Date;
  env: NodeJS.ProcessEnv;
  /** True when a human is at a terminal (LTM-14). False in a process that an agent started. */
  terminal: boolean;
  /** True for a call by an agent: by its mark in the environment, its hook or its MCP server. */
  isAgent: boolean;
  /** This process, for locks. */
  self(): ProcessIdentity;
  /** Who would hold a session started now. */
  holder(): Holder;
  liveness(id: ProcessIdentity): Liveness;
  /** The agent that runs this hook. */
  agent(): ProcessIdentity;
  /** True when that process is an ancestor of this one. */
  isBelow(id: ProcessIdentity): boolean;
  /** How the calling agent names a tool of forge's server. Absent when it has only a shell. */
  tool?(name: string): string;
}

export function systemWorld(env: NodeJS.ProcessEnv, isTerminal: boolean): World {
  const isAgent = agentMark(env) !== null;
  const terminal = isTerminal && !isAgent;
  return {
    now: () => new Date(),
    env,
    terminal,
    isAgent,
    self,
    holder: () => ({ ...parent(), ...(terminal ? { terminal } : {}) }),
    liveness,
    agent: agentProcess,
    isBelow,
  };
}

/** For an agent's server: no human decides through it, and FORGE_TRUST in its environment approves nothing. */
export function servedWorld(world: World): World {
  const { FORGE_TRUST: _, ...env } = world.env;
  return { ...world, env, terminal: false, isAgent: true, tool: (name) => name };
}

/** For a hook in the conversation `id`: its agent holds sessions, and puts `toolPrefix` before the names of tools. */
export const agentWorld = (world: World, id: string, toolPrefix = ''): World => ({
  ...servedWorld(world),
  tool: (name) => `${toolPrefix}${name}`,
  holder: () => ({ ...world.agent(), agent: id }),
});
