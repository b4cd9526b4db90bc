import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isFar } from '../../support/kills.js';
import { CLIENT_NAMES, type ClientName, fetchClients, NOTES, openDesk } from './clients.js';
import { inTurn, note, STORIES, type Story } from './stories.js';

// Fails where one of them cannot be had.
fetchClients();
rmSync(NOTES, { force: true });

const MAIN_STORIES = 2;

/** The short form plays the main stories in every client, and each of the others in one, which is never opencode: it is slow. */
function isPlayed({ limits = {} }: Story, at: number, client: ClientName): boolean {
  const able = CLIENT_NAMES.filter((name) => name !== 'opencode' && limits[name] === undefined);
  return isFar || at < MAIN_STORIES || able[at % able.length] === client;
}

describe.each(STORIES.map((story, at) => ({ ...story, at })))('$name', (story) => {
  for (const client of CLIENT_NAMES) {
    const limit = story.limits?.[client];
    if (limit !== undefined) note(story.name, client, limit);
    else if (isPlayed(story, story.at, client))
      it(`${story.ids} in ${client}`, async () => {
        await story.play(await openDesk(client, { options: ['--allow'] }));
        note(story.name, client, 'yes');
      });
  }
});

const START = 'ms to the first request, without → with forge: the difference in empty Node starts';

describe.runIf(isFar)('the first request to the model', () => {
  it.each(CLIENT_NAMES)('AGT-07 comes in %s with forge', async (client) => {
    const times: Record<'with' | 'without', number[]> = { with: [], without: [] };
    const node: number[] = [];
    for (let round = 0; round < 5; round++) {
      const begin = performance.now();
      execFileSync(process.execPath, ['-e', '0']);
      node.push(performance.now() - begin);
      for (const kind of ['with', 'without'] as const) {
        const desk = await openDesk(client, { install: kind === 'with' });
        const { firstMs } = await desk.say('Hello', inTurn([{ text: 'Hello.' }]));
        times[kind].push(firstMs);
      }
    }
    // The least of five: other work on the machine only adds to it.
    const [forge, bare, empty] = [times.with, times.without, node].map((all) => Math.min(...all)) as [
      number,
      number,
      number,
    ];
    expect(forge).toBeGreaterThan(0);
    const starts = ((forge - bare) / empty).toFixed(1);
    note(START, client, `${Math.round(bare)} → ${Math.round(forge)}: ${starts}`);
  });
});
