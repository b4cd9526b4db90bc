import { describe, expect, it } from 'vitest';
import { composeScript, isUnedited } from '../../src/init/script.js';

describe('the text of init.sh', () => {
  it('LAY-03 has only the functions of its stacks, and a line for each part', () => {
    const text = composeScript(
      'mixed',
      [
        { stack: 'go', folder: '.', by: 'go.mod' },
        { stack: 'node', folder: "it's a $(folder)", by: 'package.json' },
      ],
      true,
    );
    expect(text).toMatch(/^#!\/bin\/sh\n/);
    expect(text).toContain("\npart go .\npart node 'it'\\''s a $(folder)'\n");
    const [node, go, python] = ['package.json', 'go mod download', 'pyproject.toml'].map((word) =>
      text.includes(word),
    );
    expect([node, go, python]).toEqual([true, true, false]);
    // A chosen stack before there is anything to detect: every function is there to be used.
    expect(composeScript('mixed', [], false)).toContain('pyproject.toml');
  });

  it('LAY-02 distinguishes forge’s own text from edits', () => {
    const parts = [{ stack: 'node' as const, folder: '.', by: '' }];
    const text = composeScript('node', parts, true);
    expect(isUnedited(text)).toBe(true);
    for (const changed of [
      text.replace('part node', 'part  node'),
      text.replaceAll('\n', '\r\n'),
      `${text}make db\n`,
      text.slice(0, -1),
      composeScript('node', parts, false),
      '#!/bin/sh\nnpm ci\n',
      '',
    ])
      expect(isUnedited(changed)).toBe(false);
  });
});
