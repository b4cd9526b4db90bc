import { describe, it } from 'vitest';
import { Walk } from '../support/walk.js';

/** `FORGE_SOAK=1` walks far, from seeds of its own, a part of it less often; `FORGE_SOAK=17,18` from these. */
const soak = process.env.FORGE_SOAK;
const first = Date.now() % 1_000_000;
const far = soak?.includes(',')
  ? soak.split(',').map(Number)
  : Array.from({ length: Number(soak) < 0.1 ? 1 : Number(soak) < 1 ? 3 : 7 }, (_, i) => first + i);
const [seeds, operations] = soak ? [far, Number(soak) < 0.1 ? 150 : 300] : [[1], 60];

describe('memory on a random walk through git', () => {
  it.each(seeds)(
    `LTM-17 LTM-16 loses nothing and never stands in the way: ${operations} operations, seed %i`,
    async (seed) => {
      const walk = await Walk.begin(seed);
      await walk.run(operations);
      if (soak) process.stderr.write(`seed ${seed}: ${JSON.stringify(walk.tally)}\n`);
    },
  );
});
