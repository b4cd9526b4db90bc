import { describe, expect, it } from 'vitest';
import { play } from '../support/ledger-play.js';

/** `FORGE_SOAK=17,18` plays these seeds; 1 plays a hundred, a part of 1 fewer. */
const soak = process.env.FORGE_SOAK ?? '0';
const count = Math.max(3, Math.round(100 * Number(soak)));
const seeds = soak.includes(',')
  ? soak.split(',').map(Number)
  : Array.from({ length: count }, (_, i) => i + 1);
const OPERATIONS = 150;

describe('the ledger under random git operations', () => {
  it.each(seeds)(`LTM-16 LTM-17 LTM-21 loses nothing and raises no false alarm, seed %i`, async (seed) => {
    const { tally, trail, problems } = await play(seed, OPERATIONS);
    process.stderr.write(`seed ${seed}: ${JSON.stringify({ ...tally, counts: undefined })}\n`);
    expect(problems, trail.join('\n')).toEqual([]);
    expect(tally.conflicts).toBe(0);
  });
});
