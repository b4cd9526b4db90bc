import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { firstCommands, makeHome, makeShop, retype, type } from '../support/console.js';

const pageAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const [PAGE, TOUR, README] = [pageAt('docs/tutorial.md'), pageAt('docs/tour.md'), pageAt('README.md')];

describe('docs/tutorial.md', () => {
  it('prints the documented output, line by line', async () => {
    const place = makeHome();
    const page = readFileSync(PAGE, 'utf8');
    // `FORGE_SOAK=1 npx vitest run test/slow/tutorial.test.ts -u` writes what is printed now into the page.
    await expect(retype(page, place)).toMatchFileSnapshot(PAGE);
  });
});

describe('docs/tour.md', () => {
  it('prints the documented output after the first commands of the README', async () => {
    const place = makeShop();
    const readme = readFileSync(README, 'utf8');
    type(firstCommands(readme), place);
    retype(readme, place);
    await expect(retype(readFileSync(TOUR, 'utf8'), place)).toMatchFileSnapshot(TOUR);
  });
});
