import { giveUp, OPERATIONS } from './ledger-operations.js';
import { randomOf, type Tally, World } from './ledger-world.js';

interface Played {
  seed: number;
  tally: Tally;
  trail: string[];
  problems: string[];
}

/** Plays random git operations from a seed, with a verification after each. */
export async function play(seed: number, operations: number): Promise<Played> {
  let random = randomOf(seed);
  // Names of files are random too, and decide what git compares.
  const tokens = randomOf(seed + 1);
  const chance = Math.random;
  Math.random = () => tokens(2 ** 32) / 2 ** 32;
  const world = new World((below) => random(below));
  try {
    for (let step = 0; step < operations && world.problems.length === 0; step++) {
      random = randomOf(seed * 100_003 + step);
      const desk = world.desks[world.random(world.desks.length)];
      const names = Object.keys(OPERATIONS);
      const name = names[world.random(names.length)] as string;
      if (!desk) continue;
      world.tally.operations++;
      world.tally.counts[name] = (world.tally.counts[name] ?? 0) + 1;
      world.trail.push(`${step} ${desk.name} on ${desk.branch() || 'no branch'}: ${name}`);
      await OPERATIONS[name]?.(world, desk);
      for (const one of new Set([desk, world.pick(world.desks) ?? desk]))
        if (world.desks.includes(one)) await world.check(one);
    }
    for (const desk of world.desks) {
      giveUp(desk);
      await world.check(desk);
    }
    return { seed, tally: world.tally, trail: world.trail, problems: world.problems };
  } catch (error) {
    world.problems.push(`step ${world.tally.operations}: ${(error as Error).stack}`);
    return { seed, tally: world.tally, trail: world.trail, problems: world.problems };
  } finally {
    Math.random = chance;
    if (!process.env.FORGE_KEEP) world.remove();
  }
}
