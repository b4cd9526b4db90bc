import { afterAll, describe, expect, it } from 'vitest';
import { closeBrowser, hasChromium, openPage, servePage } from '../support/page.js';
import { makeLived } from '../support/page-project.js';

afterAll(closeBrowser);

describe.skipIf(!hasChromium())('the page in Chromium', () => {
  it('VIS-02 answers within a look: the work, what is proved, memory, and what a person decides', async () => {
    const server = await servePage(await makeLived());
    const { page } = await openPage(server.url);
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    expect(await card('Being worked on').textContent()).toContain('PAY: Payment is retried');
    expect(await card('Proved').textContent()).toContain('1 of 2 features proved by tests that forge ran');
    expect(await card('Memory').textContent()).toContain('Intact');
    const decisions = await card('Waits for a person').textContent();
    expect(decisions).toContain('How long?');
    expect(decisions).toContain('forge kfr patch --resolve "kfr-2=TEXT"');
    for (const name of ['long-term', 'short-term', 'features', 'git', 'linear'])
      expect(await card('Health').textContent()).toContain(name);
    // The charts' numbers can be read without the picture.
    await card('Cycles by result').getByText('Numbers').click();
    expect(await card('Cycles by result').getByRole('table').textContent()).toMatch(/SUCCESS/);
  });
});
