import { afterAll, describe, expect, it } from 'vitest';
import { openForge, systemWorld } from '../../src/index.js';
import type { Answers } from '../../src/ui/api.js';
import { makeForge } from '../support/forge-project.js';
import { askApi, closeBrowser, goTo, hasChromium, openPage, servePage } from '../support/page.js';

afterAll(closeBrowser);

/** Two records each. */
const CYCLES = 50_000;
const BATCH = 5000;

describe.skipIf(!hasChromium())('the page with 100,000 records', () => {
  it('VIS-02 scrolls through all of them, and has only those in sight', async () => {
    const project = await makeForge();
    const forge = openForge(project.dir, { world: systemWorld(process.env, true) });
    for (let first = 0; first < CYCLES; first += BATCH)
      await forge.memory.recordMany(
        Array.from({ length: BATCH }, (_, i) => ({
          ...{ task_id: `T-${first + i}`, exit_code: 0, classification: 'SUCCESS' as const },
          environment_valid: true,
        })),
      );
    const server = await servePage(project);
    const { page, complaints } = await openPage(server.url);
    await goTo(page, '#/ledger');
    const log = page.getByRole('table', { name: 'Records of the ledger' });
    const total = Number(await log.getAttribute('aria-rowcount'));
    expect(total).toBeGreaterThanOrEqual(2 * CYCLES);
    await log
      .getByText(`T-${CYCLES - 1}`, { exact: false })
      .first()
      .waitFor();
    // The middle, then the end.
    for (const part of [0.5, 1]) {
      await log.evaluate((node, to) => node.scrollTo(0, node.scrollHeight * to), part);
      const row = log.getByRole('row').last();
      await expect
        .poll(async () => Number(await row.getAttribute('aria-rowindex')) / total)
        .toBeCloseTo(part, 3);
      const n = Number(await row.getAttribute('aria-rowindex'));
      const { records } = await askApi<Answers['log']>(server, `/api/log?offset=${n - 1}&limit=1`);
      await expect.poll(() => row.textContent()).toContain(records[0]?.text);
      expect(await log.getByRole('row').count()).toBeLessThan(60);
    }
    await page.getByRole('searchbox', { name: 'Text' }).fill('T-31415');
    await log.getByText('T-31415 exit 0', { exact: false }).waitFor();
    expect(complaints).toEqual([]);
  });
});
