import { createHash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { closeBrowser, goTo, hasChromium, openFile } from '../support/page.js';
import { makeLived } from '../support/page-project.js';

afterAll(closeBrowser);

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
    await goTo(page, '#/features');
    await page.getByText('</script><script>window.hit=1</script><!--').waitFor();
    await goTo(page, '#/features/CART');
    await page.getByText('node check.mjs').first().waitFor();
    await goTo(page, '#/ledger');
    await page.getByText('cycle 12', { exact: false }).first().waitFor();
    expect(await page.evaluate(() => 'hit' in window)).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('VIS-03 writes what the page shows as JSON, and replaces no file by itself', async () => {
    const project = await makeLived();
    const { stdout } = await runForge(project, ['export', 'json']);
    const json = JSON.parse(stdout) as { schema_version: string; overview: { project: { root: string } } };
    expect(Object.keys(json)).toEqual(
      expect.arrayContaining([
        'overview',
        'features',
        'kfr',
        'sessions',
        'knowledge',
        'ledger',
        'checkpoints',
      ]),
    );
    expect(json.overview.project.root).toBe('.');
    const written = await forgeJson(project, ['export', 'json', '--to', 'out.json']);
    expect(written).toMatchObject({ format: 'json', file: 'out.json' });
    expect(statSync(project.path('out.json')).mode & 0o022).toBe(0);
    const again = await forgeError(project, ['export', 'json', '--to', 'out.json']);
    expect([again.exitCode, again.code]).toEqual([3, 'export.in_the_way']);
    expect((await runForge(project, ['export', 'json', '--to', 'out.json', '--yes'])).exitCode).toBe(0);
    await runForge(project, ['export', 'html', '--to', 'none.html', '--dry-run']);
    expect(project.has('none.html')).toBe(false);
    expect((await forgeError(project, ['export', 'html', '--to', 'no/such/folder.html'])).exitCode).toBe(6);
  });
});
