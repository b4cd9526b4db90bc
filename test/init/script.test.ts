import { describe, expect, it } from 'vitest';
import { composeScript } from '../../src/init/init.js';

describe('the text of init.sh', () => {
  it('LAY-03 has only the functions of its stacks, and a line for each part', () => {
    const text = composeScript('mixed', [
      { stack: 'go', folder: '.', by: 'go.mod' },
      { stack: 'node', folder: "it's a $(folder)", by: 'package.json' },
    ]);
    expect(text).toMatch(/^#!\/bin\/sh\n/);
    expect(text).toContain("\npart go .\npart node 'it'\\''s a $(folder)'\n");
    const [node, go, python] = ['package.json', 'go mod download', 'pyproject.toml'].map((word) =>
      text.includes(word),
    );
    expect([node, go, python]).toEqual([true, true, false]);
    // A chosen stack before there is anything to detect: every function is there to be used.
    expect(composeScript('mixed', [])).toContain('pyproject.toml');
  });
});
