import { describe, expect, it } from 'vitest';
import { readSeeds } from '../support/seeds.js';

const seeds = readSeeds();

describe('docs/seeds.md', () => {
  it('has lines for each of the five documents', () => {
    const documents = [...new Set(seeds.map(({ document }) => document.split(':')[0]))];
    expect(documents).toEqual(['RFC-9060', 'LTM v0.1', 'AGN-024', 'AGN-025', 'ADR-0003']);
    expect(seeds.length).toBeGreaterThan(200);
  });

  it('each line says what to see', () => {
    expect(seeds.filter(({ shown }) => shown.length === 0)).toEqual([]);
  });

  it('names no line twice', () => {
    const names = seeds.map(({ document, section, statement }) => `${document} ${section} ${statement}`);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
