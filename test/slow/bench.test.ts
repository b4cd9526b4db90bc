import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const BENCH = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));

interface Row {
  name: string;
  median?: number;
  skipped?: string;
  failed?: string;
}

/** What the figures are is for an idle machine to say; here it is whether they can be measured at all. */
describe('npm run bench', () => {
  it('measures commands and hooks, and reports where and when', () => {
    const words = ['next', 'commit-msg'];
    const { stdout, stderr } = spawnSync(process.execPath, [BENCH, '--quick', '--json', ...words], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    expect(stdout, stderr).not.toBe('');
    const { run, rows } = JSON.parse(stdout) as { run: Record<string, string>; rows: Row[] };
    expect(rows.filter(({ failed }) => failed !== undefined)).toEqual([]);
    for (const { name, median, skipped } of rows) expect(median ?? skipped, name).toBeDefined();
    const measured = rows.filter(({ median }) => median !== undefined).map(({ name }) => name);
    const own = ['next', 'hook commit-msg'];
    expect(measured).toEqual(expect.arrayContaining(own));
    expect(Object.keys(run)).toEqual(
      expect.arrayContaining(['date', 'machine', 'versions', 'environment', 'load', 'only', 'quick']),
    );
  });
});
