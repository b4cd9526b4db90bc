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
    const isReadable = (script: string): boolean =>
      spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' }).status === 0;
    expect(isReadable(setupBlock())).toBe(true);
    expect(isReadable('if')).toBe(false);
    // Hundreds of shells take long, so all are read at once. One by one only names the one that is wrong.
    if (!isReadable(seeds.map(({ command }) => `(\n${command}\n)`).join('\n')))
      expect(seeds.filter(({ command }) => !isReadable(command))).toEqual([]);
    expect(seeds.filter(({ shown }) => shown.length === 0)).toEqual([]);
    for (const text of seeds.flatMap(({ shown }) => shown)) expect(() => patternOf(text)).not.toThrow();
  });

  it('names no line twice', () => {
    const names = seeds.map(({ document, section, statement }) => `${document} ${section} ${statement}`);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
