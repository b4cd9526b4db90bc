import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { patternOf, readSeeds, setupBlock } from '../support/seeds.js';

const seeds = readSeeds();

describe('docs/seeds.md', () => {
  it('has lines for each of the five documents', () => {
    const documents = [...new Set(seeds.map(({ document }) => document.split(':')[0]))];
    expect(documents).toEqual(['RFC-9060', 'LTM v0.1', 'AGN-024', 'AGN-025', 'ADR-0003']);
    expect(seeds.length).toBeGreaterThan(200);
  });

  it('each line has a command that bash can read, and says what to see', () => {
    // One shell for all, as hundreds take long. A function is read and not run.
    const read = 'for s; do eval "f() {\n$s\n}" 2>/dev/null || printf "%s\\0" "$s"; done';
    const unreadable = (scripts: readonly string[]): string[] =>
      spawnSync('bash', ['-c', read, '-', ...scripts], { encoding: 'utf8' })
        .stdout.split('\0')
        .slice(0, -1);
    expect(unreadable([setupBlock()])).toEqual([]);
    expect(unreadable(['true', 'if', 'echo "', ...seeds.map(({ command }) => command)])).toEqual([
      'if',
      'echo "',
    ]);
    expect(seeds.filter(({ shown }) => shown.length === 0)).toEqual([]);
    for (const text of seeds.flatMap(({ shown }) => shown)) expect(() => patternOf(text)).not.toThrow();
  });

  it('names no line twice', () => {
    const names = seeds.map(({ document, section, statement }) => `${document} ${section} ${statement}`);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
