import type { Activity, Holder, Liveness, ProcessIdentity } from './holder.js';
import { activityNow, agentProcess, isBelow, liveness, parent, self } from './process-identity.js';
import { agentMark } from './role.js';

/** What a routine may ask of its surroundings. Tests give another one. */
export interface World {
  now(): Date;
  env: NodeJS.ProcessEnv;
  /** True when a human is at a terminal (LTM-14). False in a process that an agent started, whatever it writes to. */
  terminal: boolean;
  /** True when an agent asks: by its mark in the environment, through its hook or its MCP server. */
  isAgent: boolean;
  /** This process, for locks. */
  self(): ProcessIdentity;
  /** Who would hold a session started now. */
  holder(): Holder;
  liveness(id: ProcessIdentity): Liveness;
  /** The agent that runs this hook. */
  agent(): ProcessIdentity;
  /** True when that process started this one, at whatever remove. */
  isBelow(id: ProcessIdentity): boolean;
  activity(): Activity;
  /** How the agent that asks calls a tool of forge's server; without it, it has a shell alone. */
  tool?(name: string): string;
}

export function systemWorld(env: NodeJS.ProcessEnv, terminal: boolean): World {
  return {
    now: () => new Date(),
    env,
    terminal: terminal && agentMark(env) === null,
    isAgent: agentMark(env) !== null,
    self,
    holder: () => ({ ...parent(), ...(terminal && agentMark(env) === null ? { terminal: true } : {}) }),
    liveness,
    agent: agentProcess,
    isBelow,
    activity: activityNow,
  };
}

/** For an agent's server: no human decides through it, and FORGE_TRUST in its environment approves nothing. */
export function servedWorld(world: World): World {
  const { FORGE_TRUST: _, ...env } = world.env;
  return { ...world, env, terminal: false, isAgent: true, tool: (name) => name };
}

/**
 * The surroundings of a hook: sessions are held by the agent that runs it, in the conversation `id`. The agent puts
 * `toolPrefix` before the names of forge's tools.
 */
export const agentWorld = (world: World, id: string, toolPrefix = ''): World => ({
  ...servedWorld(world),
  tool: (name) => `${toolPrefix}${name}`,
  holder: () => ({ ...world.agent(), agent: id }),
});
