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
  it('VIS-02 shows a page of them at a time, and finds an old one', async () => {
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
    const log = page.getByRole('region', { name: 'Records of the ledger' });
    const shows = (text: string): Promise<void> => log.getByText(text, { exact: false }).first().waitFor();
    await shows(`T-${CYCLES - 1}`);
    const { records, total } = await askApi<Answers['log']>(server, '/api/log?offset=100&limit=100');
    expect(total).toBeGreaterThanOrEqual(2 * CYCLES);
    await page.getByRole('button', { name: 'Older' }).click();
    await shows(records.at(-1)?.text ?? '');
    expect(await log.getByRole('row').count()).toBe(101);
    await page.getByRole('button', { name: 'Newer' }).click();
    await shows(`T-${CYCLES - 1}`);
    await page.getByRole('searchbox', { name: 'Text' }).fill('T-31415');
    await shows('T-31415 exit 0');
    expect(complaints).toEqual([]);
  });
});
