import { describe, expect, it } from 'vitest';
import { checkSeed, makeSeedHome, readSeeds } from '../support/seeds.js';

const seeds = readSeeds();

describe('docs/seeds.md: the command of each line shows its statement', () => {
  it.each([...new Set(seeds.map(({ document }) => document))])('%s', (document) => {
    const home = makeSeedHome();
    const failures = seeds
      .filter((seed) => seed.document === document)
      .flatMap((seed) => checkSeed(seed, home) ?? []);
    expect(failures).toEqual([]);
  });

  it('a command that does not show its statement is reported', () => {
    const home = makeSeedHome();
    const seed = { document: 'D', section: '1', statement: 's', exitCode: 0 };
    expect(checkSeed({ ...seed, command: 'echo a  b', shown: ['a b', '/^a/'] }, home)).toBeNull();
    expect(checkSeed({ ...seed, command: 'echo a', shown: ['b'] }, home)).toContain('not shown: b');
    expect(checkSeed({ ...seed, command: 'echo a', shown: ['/^b/'] }, home)).toContain('not shown: /^b/');
    expect(checkSeed({ ...seed, command: 'echo a; false', shown: ['a'] }, home)).toContain('exit 1');
    expect(checkSeed({ ...seed, command: 'echo a; exit', shown: ['a'] }, home)).toContain('the shell ended');
    expect(checkSeed({ ...seed, command: 'rm -r .forge; echo a', shown: ['a'] }, home)).toBeNull();
    expect(checkSeed({ ...seed, command: 'ls .forge/init.sh', shown: ['init.sh'] }, home)).toBeNull();
  });
});
