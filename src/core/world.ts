import type { Activity, Holder, Liveness, ProcessIdentity } from './holder.js';
import {
  activityNow,
  agentProcess,
  isBelow,
  isInSession,
  liveness,
  parent,
  rolesAbove,
  self,
} from './process-identity.js';
import { agentMark } from './role.js';

/** What a routine may ask of its surroundings. Tests give another one. */
export interface World {
  now(): Date;
  env: NodeJS.ProcessEnv;
  /** True when a human is at a terminal (LTM-14). False in a process that an agent started, whatever it writes to. */
  terminal: boolean;
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
  /** FORGE_ROLE as the processes above this one were given it. Asked only where a builder would be refused. */
  rolesAbove(): string[];
  /** True when this process is of the session that the command leads, or led. */
  isInSession(command: ProcessIdentity): boolean;
}

export function systemWorld(env: NodeJS.ProcessEnv, terminal: boolean): World {
  return {
    now: () => new Date(),
    env,
    terminal: terminal && agentMark(env) === null,
    self,
    holder: parent,
    liveness,
    agent: agentProcess,
    isBelow,
    activity: activityNow,
    rolesAbove,
    isInSession,
  };
}

/** The surroundings of a hook: sessions are held by the agent that runs it, in the conversation `id`. */
export function agentWorld(world: World, id: string): World {
  return { ...world, terminal: false, holder: () => ({ ...world.agent(), agent: id }) };
}
