import { systemWorld, type World } from '../adapters/world.js';

export interface ForgeOptions {
  /** Surroundings: clock, environment, who asks. Default: this process, with no terminal. */
  world?: World;
  /** Decide and report, write nothing. */
  dryRun?: boolean;
  /** How long to wait for another forge that writes here, ms. Default: 5,000. */
  patience?: number;
  /** Told how many bytes of memory were read, of how many, where it has to be verified anew. */
  onProgress?: (read: number, total: number) => void;
}

/** The surroundings that were given, or this process with no terminal. */
export const worldOf = ({ world }: Pick<ForgeOptions, 'world'>): World =>
  world ?? systemWorld(process.env, false);
