import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeFolder, run } from '../support/project.js';

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

describe('npm run bench', () => {
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
