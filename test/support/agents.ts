import type { Holder, Liveness } from '../../src/core/holder.js';
import { type StartedSession, systemWorld, type World } from '../../src/index.js';
import { agent, forgeJson } from './forge.js';

export const { boot, host } = systemWorld(process.env, false).holder();

/** An agent at a minute since boot, to whom the other agents look alive, gone or unknown. */
export function at(holder: () => Holder, minute: number, liveness: Liveness = 'alive'): Partial<World> {
  const now = new Date(Date.parse('2026-03-01T10:00:00.000Z') + minute * 60_000);
  return {
    now: () => now,
    holder,
    liveness: () => liveness,
  };
}

export const [ada, bob] = [agent('ada'), agent('bob')];
export const start = (
  project: { dir: string },
  world: Partial<World>,
  ...args: string[]
): Promise<StartedSession> => forgeJson<StartedSession>(project, ['session', 'start', ...args], { world });
