import type { Activity, Holder, Liveness, ProcessIdentity } from '../domain/holder.js';
import { activityNow, liveness, parent, rolesAbove, self } from './process.js';

/** What a routine may ask of its surroundings. Tests give another one. */
export interface World {
  now(): Date;
  env: NodeJS.ProcessEnv;
  /** True when a person sits at a terminal: only then may trust be granted. */
  terminal: boolean;
  /** This process, for locks. */
  self(): ProcessIdentity;
  /** Who would hold a session started now. */
  holder(): Holder;
  liveness(id: ProcessIdentity): Liveness;
  activity(): Activity;
  /** FORGE_ROLE as the processes above this one were given it. Asked only where a builder would be refused. */
  rolesAbove(): string[];
}

export function systemWorld(env: NodeJS.ProcessEnv, terminal: boolean): World {
  return {
    now: () => new Date(),
    env,
    terminal,
    self,
    holder: parent,
    liveness,
    activity: activityNow,
    rolesAbove,
  };
}
