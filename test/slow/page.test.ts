import { afterAll, describe, expect, it } from 'vitest';
import type { SessionOverview } from '../../src/index.js';
import { forgeJson } from '../support/forge.js';
import { closeBrowser, faultsOf, goTo, hasChromium, openPage, servePage, VIEWS } from '../support/page.js';
import { knownId, makeLived } from '../support/page-project.js';
import type { Project } from '../support/project.js';

afterAll(closeBrowser);

async function detailsOf(project: Project): Promise<string[]> {
  const { records } = await forgeJson<{ records: { id: string }[] }>(project, ['memory', 'log']);
  const { active, sessions } = await forgeJson<SessionOverview>(project, ['session', 'list']);
  return [
    ...['features/CART', `sessions/${active?.id}`, `sessions/${sessions[0]?.id}`],
    ...[`knowledge/${await knownId(project)}`, `ledger/${records.at(-1)?.id}`, 'recall/cart'],
  ];
}

describe.skipIf(!hasChromium())('every view in Chromium', () => {
  it('VIS-02 fits each width, in light and dark; axe finds nothing serious', async () => {
    const project = await makeLived();
    const server = await servePage(project);
    const { page, complaints } = await openPage(server.url);
    for (const view of [...VIEWS, ...(await detailsOf(project))])
      for (const width of [360, 768, 1280, 1920])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await goTo(page, `#/${view}`);
          expect([view, width, colorScheme, await faultsOf(page)]).toEqual([view, width, colorScheme, []]);
        }
    expect(complaints).toEqual([]);
  });

  it('VIS-02 says that the server has ended, and keeps what it showed', async () => {
    const server = await servePage(await makeLived());
    const { page } = await openPage(server.url);
    await goTo(page, '#/features');
    await server.close();
    await page.getByRole('alert').getByText('The server of this page does not answer').waitFor();
    await page.getByText('The cart keeps its content').waitFor();
  });
});
