import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { escapeControls } from '../../src/core/text.js';
import { openForge, type SessionOverview, systemWorld } from '../../src/index.js';
import type { Answers } from '../../src/ui/api.js';
import { forgeJson, runForge } from '../support/forge.js';
import { featureFile, makeForge } from '../support/forge-project.js';
import { NAUGHTY } from '../support/naughty.js';
import {
  askApi,
  closeBrowser,
  faultsOf,
  goTo,
  hasChromium,
  openFile,
  openPage,
  servePage,
  VIEWS,
} from '../support/page.js';
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

/** Two records each. */
const CYCLES = 50_000;
const BATCH = 5000;

/** The page of a project, in a browser. */
async function lookAt(project: Project) {
  const server = await servePage(project);
  const { page, complaints } = await openPage(server.url);
  const card = (name: string) => page.getByRole('region', { name, exact: true });
  return { server, page, complaints, card };
}

describe.skipIf(!hasChromium())('the page in Chromium', () => {
  it('VIS-02 answers within a look: the work, what is proved, memory, and what a person decides', async () => {
    const { card } = await lookAt(await makeLived());
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
    expect(await card('Cycles by result').locator('dl').textContent()).toMatch(/SUCCESS/);
  });

  it('VIS-02 shows the rules, the notes, the work of the day, and all that a session left', async () => {
    const project = await makeLived();
    await runForge(project, ['learn', 'Port 0 lets two runs share a machine', '--as', 'success']);
    await runForge(project, ['learn', 'Never ship on Friday', '--as', 'invariant'], { terminal: true });
    project.write('next.md', '# A\n\n## Invariants\n\n- Never charge twice\n');
    await runForge(project, ['architecture', 'edit', 'next.md']);
    await runForge(project, ['note', 'add', 'The owner of the cart: Mira']);
    await runForge(project, ['kfr', 'patch', '--resolve', 'kfr-2=two days']);
    await runForge(project, ['done', 'CART']);
    const server = await servePage(project);
    const { candidates } = await askApi<Answers['knowledge']>(server, '/api/knowledge');
    const seen = candidates.find(({ pattern }) => pattern === 'keep it in storage')?.id ?? '';
    const { active } = await askApi<Answers['sessions']>(server, '/api/sessions');
    await runForge(project, ['end', '--confirm', seen, '--next', 'retry the payment']);
    const { page } = await openPage(server.url);
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    const done = ['ended: PAY', 'The cart keeps its content passes', 'Port 0 lets two', 'Keep the cart'];
    for (const text of done) await card('Done in the last day').getByText(text).first().waitFor();
    await goTo(page, '#/knowledge');
    await card('Notes').getByText('The owner of the cart: Mira').waitFor();
    expect((await card('Rules').getByRole('listitem').allTextContents()).sort()).toEqual([
      expect.stringMatching(/not approved here\s*Never charge twice/),
      expect.stringMatching(/approved here\s*Never ship on Friday/),
    ]);
    await goTo(page, '#/features/CART');
    await page.getByText('last run').waitFor();
    await goTo(page, `#/sessions/${active?.id}`);
    const facts = (await card(active?.id ?? '').textContent()) ?? '';
    for (const text of ['SUCCESS', 'Port 0 lets two runs', 'How long? → two days'])
      expect(facts).toContain(text);
  });

  it('VIS-02 shows a change after a command by itself, and damage with what to type, and keeps what it showed when the server has ended', async () => {
    const project = await makeLived();
    const { server, page, card } = await lookAt(project);
    await goTo(page, '#/features');
    await page.getByTitle('Changes show by themselves').waitFor();
    await runForge(project, ['feature', 'add', 'NEW', 'Came while you looked']);
    await page.getByText('Came while you looked').waitFor();
    await goTo(page, '#/kfr');
    await runForge(project, ['kfr', 'patch', '--add', 'Constraint:Never charge twice']);
    await card('Entries').getByText('Never charge twice').waitFor();
    await page.getByText(/^\d entries of \d+ tokens\. The agent must/).waitFor();
    project.write('.forge/memory/long-term/features.d/CART.json', '{ broken');
    await goTo(page, '#/features');
    await page.getByRole('alert').getByText('CART.json:1').waitFor();
    await goTo(page, '#/overview');
    await card('Health').getByText('CART.json:1').waitFor();
    await goTo(page, '#/kfr');
    await server.close();
    await page.getByText('not connected').waitFor();
    await page.getByRole('alert').getByText('The server of this page does not answer').waitFor();
    await page.getByText('Never charge twice').first().waitFor();
  });

  it('VIS-02 goes everywhere by keyboard', async () => {
    const { page } = await lookAt(await makeLived());
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the view');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');
    const link = page.getByRole('link', { name: 'Features', exact: true });
    await link.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Features' }).waitFor();
    expect(await link.getAttribute('aria-current')).toBe('page');
    await page.getByRole('link', { name: 'Recall', exact: true }).focus();
    await page.keyboard.press('Enter');
    // The view takes the focus once it is drawn.
    await page.waitForFunction(() => document.activeElement?.tagName === 'MAIN');
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('keep it in storage');
    await page.keyboard.press('Enter');
    await page.getByText('keep it in storage', { exact: false }).first().waitFor();
    expect(page.url()).toContain('#/recall/keep%20it%20in%20storage');
  });

  it('B-97 B-06 shows text of memory as text, whatever it contains', async () => {
    const project = await makeForge();
    const attacks = [
      '<img src=x onerror="window.hit=1">',
      '</script><script>window.hit=1</script>',
      '<a href="javascript:window.hit=1">click</a>',
      '<svg onload="window.hit=1"></svg>',
      '[click](javascript:window.hit=1) <b>bold</b>',
    ];
    // As a clone may bring them: no rule has seen them.
    const features = [...attacks, ...NAUGHTY].map((name, i) => ({ id: `F-${i}`, name }));
    for (const feature of features) {
      const json = JSON.stringify({ schema_version: '1.0', ...feature, status: 'not_implemented' });
      project.write(featureFile(feature.id), json);
    }
    await runForge(project, ['start']);
    for (const text of attacks) await runForge(project, ['kfr', 'patch', '--add', `Constraint:${text}`]);
    const { page, complaints } = await lookAt(project);
    await goTo(page, '#/features');
    const more = page.getByRole('button', { name: /^Show \d+ more/ });
    while ((await more.count()) > 0) await more.first().click();
    const shown = await page.$$eval('.column a', (links) => links.map((link) => link.textContent));
    for (const { id, name } of features) expect(shown).toContain(`${id} ${escapeControls(name)}`);
    await goTo(page, '#/kfr');
    for (const text of attacks)
      expect(await page.getByText(text, { exact: true }).count()).toBeGreaterThan(0);
    await goTo(page, '#/recall/%3Cimg%20src=x%20onerror=window.hit=1%3E');
    expect(await page.evaluate(() => 'hit' in window)).toBe(false);
    const live = page.locator('main img, main script, main svg[onload], main a[href^="javascript"]');
    expect(await live.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('VIS-02 fits each width, whatever a record says, in light and dark; axe finds nothing serious', async () => {
    const project = await makeLived();
    const word = 'word'.repeat(12);
    await forgeJson(project, ['note', 'add', word]);
    const { page, complaints, card } = await lookAt(project);
    for (const view of [...VIEWS, ...(await detailsOf(project))])
      for (const width of [360, 768, 1280, 1920])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await goTo(page, `#/${view}`);
          expect([view, width, colorScheme, await faultsOf(page)]).toEqual([view, width, colorScheme, []]);
        }
    await page.setViewportSize({ width: 390, height: 800 });
    await goTo(page, '#/ledger');
    await card('Log').getByText(word).waitFor();
    expect(await card('Log').evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('VIS-02 shows 100,000 records a page at a time', async () => {
    const project = await makeForge();
    const forge = openForge(project.dir, { world: systemWorld(process.env, true) });
    for (let first = 0; first < CYCLES; first += BATCH)
      await forge.memory.recordMany(
        Array.from({ length: BATCH }, (_, i) => ({
          ...{ task_id: `T-${first + i}`, exit_code: 0, classification: 'SUCCESS' as const },
          environment_valid: true,
        })),
      );
    const { server, page, complaints, card } = await lookAt(project);
    await goTo(page, '#/ledger');
    const log = card('Log');
    const shows = (text: string): Promise<void> => log.getByText(text, { exact: false }).first().waitFor();
    await shows(`T-${CYCLES - 1}`);
    const { records, total } = await askApi<Answers['log']>(server, '/api/log?offset=50&limit=50');
    expect(total).toBeGreaterThanOrEqual(2 * CYCLES);
    await page.getByRole('button', { name: 'Older' }).click();
    await shows(records.at(-1)?.text ?? '');
    expect(await log.getByRole('listitem').count()).toBe(50);
    await page.getByRole('button', { name: 'Newer' }).click();
    await shows(`T-${CYCLES - 1}`);
    expect(complaints).toEqual([]);
  });
});

const focused = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => (document.activeElement as HTMLElement | null)?.textContent ?? undefined);

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('forge export', () => {
  it('VIS-03 B-97 writes the page as one file that runs nothing but its own script', async () => {
    const project = await makeLived();
    await runForge(project, ['feature', 'add', 'EVIL', '</script><script>window.hit=1</script><!--']);
    const { stdout } = await runForge(project, ['export', 'html']);
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(stdout) ?? [];
    const scripts = [...stdout.matchAll(/<script(?<type>[^>]*)>(?<text>.*?)<\/script>/gs)];
    expect(scripts.map(({ groups }) => groups?.type)).toEqual([' type="application/json" id="data"', '']);
    expect(policy).toContain(`script-src ${digest(scripts[1]?.groups?.text ?? '')};`);
    expect(policy).not.toContain('unsafe');
    expect(stdout).not.toMatch(/(?:src|href)="(?!data:)/);
    // The export must not show where on the disk it was made.
    expect(stdout).not.toContain(project.dir);
    if (!hasChromium()) return;
    writeFileSync(project.path('memory.html'), stdout);
    const { page, complaints } = await openFile(project.path('memory.html'));
    await page.getByText('1 of 3 features proved').waitFor();
    const text = await page.textContent('#page');
    expect(text).toContain('by the commands that it names.');
    expect(text).not.toContain('its agent');
    await goTo(page, '#/features');
    await page.getByText('</script><script>window.hit=1</script><!--').waitFor();
    await goTo(page, '#/features/CART');
    await page.getByText('node check.mjs').first().waitFor();
    await goTo(page, '#/ledger');
    await page.getByText('cycle 12', { exact: false }).first().waitFor();
    expect(await page.evaluate(() => 'hit' in window)).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('VIS-03 writes what the page shows as JSON', async () => {
    const project = await makeLived();
    const { stdout } = await runForge(project, ['export', 'json']);
    const json = JSON.parse(stdout) as { schema_version: string; overview: { project: { root: string } } };
    expect(Object.keys(json)).toEqual(
      expect.arrayContaining('overview features kfr sessions knowledge ledger checkpoints'.split(' ')),
    );
    expect(json.overview.project.root).toBe('.');
  });
});
