import { describe, expect, it } from 'vitest';
import { kills } from '../support/kills.js';
import { tamperedWorld } from '../support/ledger-tamper.js';

/** `FORGE_SOAK=17,18` plays these seeds. */
const soak = process.env.FORGE_SOAK ?? '';
const seeds = soak.includes(',') ? soak.split(',').map(Number) : [1, 2, 3];
/** Per seed: 300 of them in the long run. */
const EDITS = kills(25, 100);

describe('the ledger under random edits', () => {
  it.each(seeds)('LTM-03 LTM-04 never calls an edited ledger intact, seed %i', async (seed) => {
    const world = tamperedWorld(seed);
    const intact: string[] = [];
    for (let i = 0; i < EDITS; ) {
      const result = await world.tamper();
      if (!result) continue;
      i++;
      if (result.isCalledIntact) intact.push(result.what);
    }
    world.remove();
    expect(intact).toEqual([]);
  });
});
