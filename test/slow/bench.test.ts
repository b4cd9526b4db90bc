import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeFolder, run } from '../support/project.js';

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

  it('writes its table into the place that docs/benchmarks.md has for it, and nowhere else', () => {
    const file = makePage();
    // Twice: the second table takes the place of the first.
    for (let time = 0; time < 2; time++)
      expect(bench('a clean kilobyte', '--write', file).stdout).toContain('guard: a clean kilobyte');
    const written = readFileSync(file, 'utf8');
    const [before, table, after] = written.split(/(?<=<!-- figures: .* -->)|(?=<!-- \/figures -->)/);
    expect(PAGE.startsWith(before ?? '-')).toBe(true);
    expect(PAGE.endsWith(after ?? '-')).toBe(true);
    expect(
      table?.match(/^\| guard: a clean kilobyte \| [\d.]+ \| ms \| ≤ 0.25 \| .* \| (ok|missed) \|$/gm),
    ).toHaveLength(1);
    expect(table).toContain(`- versions: Node ${process.versions.node}, git `);
    expect(table).toMatch(/^- machine: \S+ \S+, \d+ cores? \(.*\), \d+ GiB$/m);
    expect(table).toContain('- quick: ');
    expect(table).toContain('- only: a clean kilobyte');
  });

  it('measures nothing for a page that has no place, and none for names that mean nothing', () => {
    const file = makePage('# No place\n');
    const refused = bench('a clean kilobyte', '--write', file);
    expect(refused.stderr).toMatch(/^bench: .*page\.md has no place for the figures/);
    expect(refused.exitCode).toBe(1);
    expect(readFileSync(file, 'utf8')).toBe('# No place\n');
    for (const args of [['no such figure'], ['--no-such-flag']]) {
      const misunderstood = bench(...args);
      expect(misunderstood.stderr).toMatch(/^Usage: npm run bench/);
      expect(misunderstood.exitCode).toBe(2);
      expect(misunderstood.stdout).toBe('');
    }
  });
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs', 'benchmarks.md'), 'utf8');

const bench = (...args: string[]) =>
  run(ROOT, process.execPath, [join(ROOT, 'bench', 'run.mjs'), '--quick', ...args]);

/** A page with a table from before. */
function makePage(text = PAGE) {
  const file = join(makeFolder(), 'page.md');
  writeFileSync(file, text);
  return file;
}
