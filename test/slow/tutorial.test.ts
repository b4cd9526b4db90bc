import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { firstCommands, isAsPrinted, makeHome, makeShop, retype, type } from '../support/console.js';

const pageAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const [PAGE, TOUR, README] = [pageAt('docs/tutorial.md'), pageAt('docs/tour.md'), pageAt('README.md')];

describe('a page that is typed into a terminal', () => {
  const page = (...lines: string[]) => ['# A page', '```console', ...lines, '```', 'The end.', ''].join('\n');

  it('keeps matching output, and replaces the rest with the current output', () => {
    const kept = page('$ cat <<END', '> one', '> END', 'one', '$ cd / && pwd', '/', '$ pwd', '/');
    expect(retype(kept, makeHome())).toBe(kept);
    expect(retype(page('$ echo one', 'two', '$ false', '$ echo $?', '0'), makeHome())).toBe(
      page('$ echo one', 'one', '$ false', '$ echo $?', '1'),
    );
    const bar = String.raw`$ printf '\rbar 1%%\rbar 2%%\r\033[Kdone\n'`;
    expect(retype(page(bar, 'done'), makeHome())).toBe(page(bar, 'done'));
    expect(retype(page('$ exit', '$ echo one', 'one'), makeHome())).toContain('the shell ended before this');
  });

  it('ignores hashes, times and omissions, but nothing else', () => {
    const said = 'commit 0123abc at 10:00, 1.5 s\nsecond line\nthird line\n';
    expect(isAsPrinted('commit 4567def at 23:59, 20 ms\nsecond line\nthird line\n', said)).toBe(true);
    expect(isAsPrinted('commit … at 10:00, 1.5 s\n…\nthird line\n', said)).toBe(true);
    expect(isAsPrinted('…\nsecond line\nthird line\n…\n', said)).toBe(true);
    expect(isAsPrinted('commit 4567def on 23:59, 20 ms\nsecond line\nthird line\n', said)).toBe(false);
    expect(isAsPrinted('commit … at 10:00, 1.5 s\nthird line\n', said)).toBe(false);
    expect(isAsPrinted('', said)).toBe(false);
  });
});

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
